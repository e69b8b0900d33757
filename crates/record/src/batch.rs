//! Many CBC records side by side: hashes in lanes, then the cipher.

use alloc::vec::Vec;
use core::{fmt, ops::Range};

use lanelock_core::{
    Block, Error, Pattern, SizedCipher,
    lanes::{self, Job, LaneCipher},
};
use lanelock_digest::{HmacJob, PrefixJob, algorithm::MerkleDamgard, hmac_all, hmac_prefixes};
use zeroize::Zeroize;

use crate::{
    cbc_hmac::{CbcHmac, IV, MacOrder, finish_text, pad},
    header::Header,
    padding::Unpadded,
};

/// So many records go through the hash before they go through the cipher: enough for all lanes, and few enough that
/// records of any length are still in the second cache then.
const AT_ONCE: usize = 32;

/// One record of a batch. Keys may differ, and their order.
#[non_exhaustive]
pub struct Record<'a, C: SizedCipher<Cipher: LaneCipher>, A: MerkleDamgard> {
    /// The keys.
    pub key: &'a CbcHmac<C, A>,
    /// What is authenticated beside the content.
    pub header: Header,
    /// What follows the header of the record: see [`CbcHmac`].
    pub fragment: &'a mut [u8],
    /// Where in the fragment the content is, from byte 16 on: of a record to seal what was put there, of one that was
    /// opened what was found.
    pub content: Range<usize>,
    /// What became of the record. Whatever is there before is overwritten.
    pub result: Result<(), Error>,
}

impl<'a, C: SizedCipher<Cipher: LaneCipher>, A: MerkleDamgard> Record<'a, C, A> {
    /// A record to seal: see [`CbcHmac::seal`]. `iv` is written into the fragment, if it has room for that.
    pub fn to_seal(
        key: &'a CbcHmac<C, A>,
        header: Header,
        iv: &Block,
        fragment: &'a mut [u8],
        content: usize,
    ) -> Self {
        if let Some(place) = fragment.first_chunk_mut() {
            *place = *iv;
        }
        Self { key, header, fragment, content: IV..IV + content, result: Ok(()) }
    }

    /// A record to open: see [`CbcHmac::open`].
    pub fn to_open(key: &'a CbcHmac<C, A>, header: Header, fragment: &'a mut [u8]) -> Self {
        Self { key, header, fragment, content: 0..0, result: Ok(()) }
    }

    /// The part that is encrypted, and behind it the MAC where that comes last.
    fn parts(&mut self) -> (&mut [u8], &mut [u8]) {
        let end = match self.key.order {
            MacOrder::MacThenEncrypt => self.fragment.len(),
            MacOrder::EncryptThenMac => self.fragment.len() - CbcHmac::<C, A>::MAC,
        };
        self.fragment.split_at_mut(end)
    }

    /// What an HMAC in lanes covers, with its header: the content, or what was sealed.
    fn authenticated(&self) -> ([u8; Header::AAD], Range<usize>) {
        let range = match self.key.order {
            MacOrder::MacThenEncrypt => IV..IV + self.content.len(),
            MacOrder::EncryptThenMac => 0..self.fragment.len() - CbcHmac::<C, A>::MAC,
        };
        (self.header.aad(range.len()), range)
    }

    fn finish(&mut self, opened: Result<usize, Error>) {
        if let Ok(length) = opened {
            self.content = IV..IV + length;
        }
        self.result = opened.map(drop);
    }
}

impl<C: SizedCipher<Cipher: LaneCipher>, A: MerkleDamgard> fmt::Debug for Record<'_, C, A> {
    /// Lengths, never bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("key", &self.key)
            .field("header", &self.header)
            .field("bytes", &self.fragment.len())
            .field("result", &self.result)
            .finish_non_exhaustive()
    }
}

/// Seals all records, each as [`CbcHmac::seal`] would.
///
/// ```
/// use lanelock::{Aes, Error, hash::algorithm::Sha1};
/// use lanelock::record::{CbcHmac, ContentType, Header, MacOrder, Record, Version, open_all, seal_all};
///
/// # fn main() -> Result<(), Error> {
/// let key = CbcHmac::<Aes<128>, Sha1>::new(MacOrder::EncryptThenMac, &[1; 16], &[2; 20])?;
/// let header = |number| Header::new(number, ContentType::APPLICATION_DATA, Version::TLS_1_2);
/// let mut fragments = vec![vec![0; key.sealed_length(1000)]; 40]; // content: 1000 bytes behind 16
/// let ivs = (0..40).map(|number| [number; 16]); // random ones
/// let mut records: Vec<_> = (0..)
///     .zip(&mut fragments)
///     .zip(ivs)
///     .map(|((number, fragment), iv)| Record::to_seal(&key, header(number), &iv, fragment, 1000))
///     .collect();
/// seal_all(&mut records)?;
///
/// let mut records: Vec<_> = (0..)
///     .zip(&mut fragments)
///     .map(|(number, fragment)| Record::to_open(&key, header(number), fragment))
///     .collect();
/// open_all(&mut records)?;
/// assert_eq!(records[39].fragment[records[39].content.clone()], [0; 1000]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The first error of any record; which ones failed is in their `result`, and the others are done.
pub fn seal_all<C: SizedCipher<Cipher: LaneCipher>, A: MerkleDamgard>(
    records: &mut [Record<'_, C, A>],
) -> Result<(), Error> {
    for record in &mut *records {
        record.result = record.key.check_sealing(record.fragment.len(), record.content.len());
    }
    for records in records.chunks_mut(AT_ONCE) {
        let (mut inside, mut behind) = by_order(records);
        let tags = tags(&inside);
        for (record, tag) in inside.iter_mut().zip(&tags) {
            finish_text(&mut record.fragment[IV..], record.content.len(), tag.as_ref());
        }
        for record in &mut behind {
            let content = record.content.len();
            pad(&mut record.parts().0[IV..], content);
        }
        encrypt([&mut inside, &mut behind]);
        let tags = self::tags(&behind);
        for (record, tag) in behind.iter_mut().zip(tags) {
            record.parts().1.copy_from_slice(tag.as_ref());
        }
    }
    first_error(records)
}

/// Opens all records, each as [`CbcHmac::open`] would: the fragments of those that are not authentic are zeroed.
///
/// # Errors
/// The first error of any record; which ones failed is in their `result`, and the others are done.
pub fn open_all<C: SizedCipher<Cipher: LaneCipher>, A: MerkleDamgard>(
    records: &mut [Record<'_, C, A>],
) -> Result<(), Error> {
    for record in &mut *records {
        record.result = record.key.check_opening(record.fragment);
    }
    for records in records.chunks_mut(AT_ONCE) {
        let (mut inside, mut behind) = by_order(records);
        let mut tags = tags(&behind);
        for (record, tag) in behind.iter_mut().zip(&mut tags) {
            let checked = CbcHmac::<C, A>::check_mac(tag, record.fragment);
            let opened = checked.and_then(|()| record.key.decrypt_authentic(record.fragment));
            record.finish(opened);
        }
        open_inside(&mut inside);
    }
    first_error(records)
}

/// Opens records whose MACs are encrypted.
fn open_inside<C: SizedCipher<Cipher: LaneCipher>, A: MerkleDamgard>(
    records: &mut [&mut Record<'_, C, A>],
) {
    let found: Vec<Result<Unpadded, Error>> =
        records.iter_mut().map(|record| record.key.decrypt(record.fragment)).collect();
    // A fragment whose length was checked can be decrypted.
    let found: Vec<Unpadded> = found.into_iter().flatten().collect();
    let heads: Vec<_> =
        records.iter().zip(&found).map(|(record, found)| record.header.aad(found.length)).collect();
    let mut jobs: Vec<PrefixJob<'_, A>> = records
        .iter()
        .zip(&heads)
        .zip(&found)
        .map(|((record, head), found)| record.key.prefix(head, record.fragment, *found))
        .collect();
    hmac_prefixes(&mut jobs);
    let mut tags: Vec<_> = jobs.iter().map(|job| job.tag).collect();
    drop(jobs);
    for ((record, tag), found) in records.iter_mut().zip(&mut tags).zip(found) {
        let opened = CbcHmac::<C, A>::judge(tag, found, record.fragment);
        record.finish(opened);
    }
}

/// The records that are to be processed, by the order of their keys: with the MAC inside, and with it behind.
#[expect(clippy::type_complexity, reason = "two lists")]
fn by_order<'r, 'a, C: SizedCipher<Cipher: LaneCipher>, A: MerkleDamgard>(
    records: &'r mut [Record<'a, C, A>],
) -> (Vec<&'r mut Record<'a, C, A>>, Vec<&'r mut Record<'a, C, A>>) {
    let records = records.iter_mut().filter(|record| record.result.is_ok());
    records.partition(|record| record.key.order == MacOrder::MacThenEncrypt)
}

/// The MACs of records that are to be sealed, or whose MACs are behind them.
fn tags<C: SizedCipher<Cipher: LaneCipher>, A: MerkleDamgard>(
    records: &[&mut Record<'_, C, A>],
) -> Vec<A::Digest> {
    let parts: Vec<_> = records.iter().map(|record| record.authenticated()).collect();
    let mut jobs: Vec<_> = records
        .iter()
        .zip(&parts)
        .map(|(record, (head, range))| {
            HmacJob::new(&record.key.mac, &record.fragment[range.clone()]).with_head(head)
        })
        .collect();
    hmac_all(&mut jobs);
    let tags = jobs.iter().map(|job| job.tag).collect();
    for job in &mut jobs {
        job.tag.zeroize();
    }
    tags
}

/// Encrypts records that are padded.
fn encrypt<C: SizedCipher<Cipher: LaneCipher>, A: MerkleDamgard>(
    records: [&mut [&mut Record<'_, C, A>]; 2],
) {
    let mut jobs: Vec<_> = records
        .into_iter()
        .flatten()
        .filter_map(|record| {
            let key = &record.key.cipher;
            let (iv, text) = record.parts().0.split_first_chunk_mut::<IV>()?;
            Some(Job::new(key, *iv, Pattern::ALL, text))
        })
        .collect();
    lanes::encrypt(&mut jobs);
}

fn first_error<C: SizedCipher<Cipher: LaneCipher>, A: MerkleDamgard>(
    records: &[Record<'_, C, A>],
) -> Result<(), Error> {
    records.iter().try_for_each(|record| record.result)
}
