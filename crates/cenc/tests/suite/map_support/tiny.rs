//! The smallest AVC stream that the tests write by hand.

use super::bits::{Bits, avcc};

pub(crate) fn tiny_avcc() -> Vec<u8> {
    avcc(&[&tiny_sps(4)], &[&tiny_pps()])
}

pub(crate) fn tiny_sps(frame_num_bits: u64) -> Vec<u8> {
    let mut bits = Bits::new();
    bits.u(8, 77).u(8, 0).u(8, 30).ues(&[0, frame_num_bits - 4, 2, 1]).u(1, 0);
    bits.ues(&[19, 11]).flags(&[1, 1, 0, 0]).stop().nal(&[0x67], &[])
}

/// CABAC, no deblocking control.
pub(crate) fn tiny_pps() -> Vec<u8> {
    let mut bits = Bits::new();
    bits.ues(&[0, 0]).flags(&[1, 0]).ues(&[0, 0, 0]).u(3, 0);
    bits.se(0).se(0).se(0).flags(&[0, 0, 0]).stop().nal(&[0x68], &[])
}

/// An IDR slice with a header of 13 bits behind its NAL header, and so many bytes of data, all of
/// them ones.
pub(crate) fn tiny_slice(data: usize) -> Vec<u8> {
    let mut bits = Bits::new();
    // first_mb_in_slice, slice_type 2, PPS 0, frame_num, idr_pic_id, marking, slice_qp_delta
    bits.ues(&[0, 2, 0]).u(4, 0).ue(0).u(2, 0).se(0);
    assert_eq!(bits.len(), 13);
    bits.ones().nal(&[0x65], &vec![0xff; data])
}
