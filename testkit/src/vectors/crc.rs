//! Check values of cyclic redundancy checks.

/// The four CRCs that the engine has, under the names of the catalogue of
/// parametrised CRC algorithms (reveng.sourceforge.io/crc-catalogue).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrcName {
    /// CRC-32 of Ethernet and gzip.
    Crc32IsoHdlc,
    /// CRC-32C.
    Crc32Iscsi,
    /// The CRC of NVMe's 64-bit protection information.
    Crc64Nvme,
    /// CRC-64 of .xz.
    Crc64Xz,
}

/// One known answer of a CRC.
#[derive(Clone, Debug)]
pub struct CrcCase {
    /// The publication.
    pub source: &'static str,
    /// Which CRC.
    pub crc: CrcName,
    /// What the message is, for messages.
    pub name: &'static str,
    /// The input.
    pub message: Vec<u8>,
    /// The output; 32-bit ones are not filled up.
    pub value: u64,
}

impl CrcName {
    /// The generator polynomial without its highest term, lowest power in the
    /// highest bit of the width, as all four process bits from the lowest up.
    #[must_use]
    pub const fn reflected_polynomial(self) -> u64 {
        match self {
            Self::Crc32IsoHdlc => 0xedb8_8320,
            Self::Crc32Iscsi => 0x82f6_3b78,
            Self::Crc64Nvme => 0x9a6c_9329_ac4b_c9b5,
            Self::Crc64Xz => 0xc96c_5795_d787_0f42,
        }
    }

    /// 32 or 64.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Crc32IsoHdlc | Self::Crc32Iscsi => 32,
            Self::Crc64Nvme | Self::Crc64Xz => 64,
        }
    }
}

/// The catalogue's check values (the CRC of the digits 1 to 9), the examples of
/// RFC 3720, appendix B.4, for CRC-32C, and those of the NVM Command Set
/// Specification 1.0, section 5.2.1.3.5, for CRC-64/NVME.
#[must_use]
pub fn published() -> Vec<CrcCase> {
    use CrcName::{Crc32Iscsi, Crc32IsoHdlc, Crc64Nvme, Crc64Xz};
    let check = [
        (Crc32IsoHdlc, 0xcbf4_3926),
        (Crc32Iscsi, 0xe306_9283),
        (Crc64Nvme, 0xae8b_1486_0a79_9888),
        (Crc64Xz, 0x995d_c9bb_df19_39fa),
    ];
    let up = |len: usize| (0..=255).cycle().take(len).collect::<Vec<u8>>();
    let down = |len: usize| up(len).into_iter().rev().collect::<Vec<u8>>();
    let iscsi = [
        ("32 zeros", vec![0; 32], 0x8a91_36aa),
        ("32 ones", vec![0xff; 32], 0x62a8_ab43),
        ("00 to 1f", up(32), 0x46dd_794e),
        ("1f to 00", down(32), 0x113f_db5c),
        ("SCSI Read (10)", ISCSI_READ_10.to_vec(), 0xd996_3a56),
    ];
    let nvme = [
        ("4096 zeros", vec![0; 4096], 0x6482_d367_eb22_b64e),
        ("4096 ones", vec![0xff; 4096], 0xc0dd_ba73_02ec_a3ac),
        ("00 to ff, 16 times", up(4096), 0x3e72_9f5f_6750_449c),
        ("ff to 00, 16 times", down(4096), 0x9a2d_f64b_8e9e_517e),
    ];
    let mut list = Vec::new();
    for (crc, value) in check {
        list.push(CrcCase {
            source: "CRC catalogue",
            crc,
            name: "check",
            message: b"123456789".to_vec(),
            value,
        });
    }
    for (name, message, value) in iscsi {
        list.push(CrcCase { source: "RFC 3720", crc: Crc32Iscsi, name, message, value });
    }
    for (name, message, value) in nvme {
        list.push(CrcCase { source: "NVM Command Set", crc: Crc64Nvme, name, message, value });
    }
    list
}

/// An iSCSI SCSI Read (10) Command PDU (RFC 3720, appendix B.4).
const ISCSI_READ_10: [u8; 48] = [
    0x01, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, //
    0x14, 0, 0, 0, 0, 0, 0x04, 0, 0, 0, 0, 0x14, 0, 0, 0, 0x18, //
    0x28, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_hold_bit_by_bit() {
        let cases = published();
        assert_eq!(cases.len(), 13);
        for case in &cases {
            let ones = u64::MAX >> (64 - case.crc.bits());
            let value = case.message.iter().fold(ones, |crc, byte| {
                (0..8).fold(crc ^ u64::from(*byte), |crc, _| {
                    crc >> 1 ^ if crc & 1 == 1 { case.crc.reflected_polynomial() } else { 0 }
                })
            });
            assert_eq!(value ^ ones, case.value, "{:?} {}", case.crc, case.name);
        }
    }
}
