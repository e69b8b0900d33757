//! Records that an AEAD protects (RFC 5246, 6.2.3.3; RFC 8446, 5.2).
//!
//! ```text
//!   TLS 1.2    type | version | length | explicit nonce | ciphertext of the content | tag
//!   TLS 1.3    23 | 0x0303 | length | ciphertext of (content | type | zeros) | tag
//! ```

use alloc::vec::Vec;
use core::{fmt, num::NonZeroU16};

use lanelock_aead::{
    Aead,
    batch::{self, Batch, Message},
};
use lanelock_core::{
    Error,
    parts::{ZeroizeOnDrop, authenticate_beside, equal, public_length},
};
use lanelock_isa::wipe;

use crate::header::{ContentType, Header, MOST_CONTENT, Version};

/// Bytes of the header of a record.
const HEADER: usize = 5;
/// Bytes of a nonce.
const NONCE: usize = 12;
/// The bytes of it that TLS 1.2 sends with GCM and CCM.
const EXPLICIT: usize = 8;

/// How records are protected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// TLS 1.2, GCM and CCM (RFC 5288, 3; RFC 6655, 3): four bytes of the nonce are a secret, eight are sent.
    Explicit,
    /// TLS 1.2, ChaCha20-Poly1305 (RFC 7905, 2): nothing is sent.
    Implicit,
    /// TLS 1.3 (RFC 8446, 5.2): the type of the content is encrypted.
    Inner,
}

/// The keys of one direction of a connection, with the number of its next record: what one side seals with, or what
/// the other opens with.
///
/// A number is never used twice: when all are used up, that is an error. So it is not `Clone`.
///
/// ```
/// use lanelock::{Error, aead::Aes128Gcm};
/// use lanelock::record::{AeadRecords, ContentType};
///
/// # fn main() -> Result<(), Error> {
/// let records = || Ok::<_, Error>(AeadRecords::tls13(Aes128Gcm::new(&[1; 16])?, [2; 12]));
/// let mut stream = Vec::new();
/// records()?.seal_write(ContentType::APPLICATION_DATA, &[3; 40_000], &mut stream)?; // three records
///
/// let (mut receiver, mut rest) = (records()?, &mut stream[..]);
/// let mut received = Vec::new();
/// while let Some(length) = AeadRecords::<Aes128Gcm>::record_length(rest) {
///     let (record, later) = rest.split_at_mut(length);
///     let (_, content) = receiver.open(record)?;
///     received.extend_from_slice(content);
///     rest = later;
/// }
/// assert_eq!(received, [3; 40_000]);
/// # Ok(())
/// # }
/// ```
pub struct AeadRecords<A> {
    key: A,
    form: Form,
    iv: [u8; NONCE],
    /// None if the last one was used.
    next: Option<u64>,
    /// Contents are padded to a multiple of so many bytes.
    multiple: NonZeroU16,
}

impl<A: Aead> AeadRecords<A> {
    /// TLS 1.2 with GCM (RFC 5288) or CCM (RFC 6655): `salt` is the fixed part of the nonces.
    pub fn tls12(key: A, salt: [u8; 4]) -> Self {
        let [a, b, c, d] = salt;
        Self::new(key, Form::Explicit, [a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0])
    }

    /// TLS 1.2 with ChaCha20-Poly1305 (RFC 7905).
    pub fn tls12_without_explicit_nonce(key: A, iv: [u8; 12]) -> Self {
        Self::new(key, Form::Implicit, iv)
    }

    /// TLS 1.3 (RFC 8446).
    pub fn tls13(key: A, iv: [u8; 12]) -> Self {
        Self::new(key, Form::Inner, iv)
    }

    fn new(key: A, form: Form, iv: [u8; NONCE]) -> Self {
        Self { key, form, iv, next: Some(0), multiple: NonZeroU16::MIN }
    }

    /// The same from another number on: of a connection that is taken over.
    #[must_use]
    pub fn with_sequence(mut self, next: u64) -> Self {
        self.next = Some(next);
        self
    }

    /// The same with contents padded by zeros to a multiple of so many bytes (RFC 8446, 5.4), though not beyond
    /// [`MOST_CONTENT`]: whoever sees the records learns less of the lengths of what is sent. A record that is opened may
    /// have any padding up to there. TLS 1.2 has none with AEADs, and nothing changes there.
    #[must_use]
    pub fn with_padding(mut self, multiple: NonZeroU16) -> Self {
        self.multiple = multiple;
        self
    }

    /// The number of the next record; none if all were used.
    pub fn sequence(&self) -> Option<u64> {
        self.next
    }

    /// The bytes of a record with so many bytes of content, header, padding and all.
    pub fn sealed_length(&self, content: usize) -> usize {
        self.before() + self.padded(content) + self.behind()
    }

    /// The bytes of content with its padding.
    fn padded(&self, content: usize) -> usize {
        if self.form != Form::Inner || content > MOST_CONTENT {
            return content;
        }
        content.next_multiple_of(self.multiple.get().into()).min(MOST_CONTENT)
    }

    /// The bytes of a record without content.
    fn least(&self) -> usize {
        self.before() + self.behind()
    }

    /// The bytes of the record that `stream` begins with, header and all, if the stream has it whole.
    pub fn record_length(stream: &[u8]) -> Option<usize> {
        let [_, _, _, high, low, rest @ ..] = stream else { return None };
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        (rest.len() >= length).then_some(HEADER + length)
    }

    /// Appends one record with `content` to `output`.
    ///
    /// # Errors
    /// [`Error::MessageLength`] if it has more than [`MOST_CONTENT`] bytes, [`Error::KeyExhausted`] if there is no
    /// number left, and those of the algorithm. Nothing is appended then.
    pub fn seal(
        &mut self,
        content_type: ContentType,
        content: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<(), Error> {
        if content.len() > MOST_CONTENT {
            return Err(Error::MessageLength);
        }
        let number = self.next.ok_or(Error::KeyExhausted)?;
        let start = output.len();
        output.resize(start + self.sealed_length(content.len()), 0);
        let record = &mut output[start..];
        let framed = self.frame(number, content_type, content, record);
        let (text, tag) = self.text_and_tag(record);
        let result = self.key.seal(&framed.nonce, framed.aad(), text, tag);
        if result.is_err() {
            wipe(record);
            output.truncate(start);
        } else {
            self.next = number.checked_add(1);
        }
        result
    }

    /// Appends the records of a whole write to `output`: `data` in pieces of [`MOST_CONTENT`] bytes, and one with the
    /// rest. No data are no record.
    ///
    /// # Errors
    /// As [`seal`](Self::seal). Nothing is appended then; numbers that records had are used up.
    pub fn seal_write(
        &mut self,
        content_type: ContentType,
        data: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let start = output.len();
        output.reserve(self.written_length(data.len()));
        for piece in data.chunks(MOST_CONTENT) {
            if let Err(error) = self.seal(content_type, piece, output) {
                output.truncate(start);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Appends the records of many writes to `output`, all of them sealed at once: see
    /// [`lanelock::aead::batch`](lanelock_aead::batch). That is for short writes, and for algorithms that have one
    /// chain in each message, as CCM has.
    ///
    /// # Errors
    /// As [`seal`](Self::seal). Nothing is appended, and no number is used, then.
    pub fn seal_writes(
        &mut self,
        content_type: ContentType,
        writes: &[&[u8]],
        output: &mut Vec<u8>,
    ) -> Result<(), Error>
    where
        A: Batch,
    {
        let pieces = || writes.iter().flat_map(|data| data.chunks(MOST_CONTENT));
        let Some(more) = (pieces().count() as u64).checked_sub(1) else { return Ok(()) };
        let first = self.next.ok_or(Error::KeyExhausted)?;
        let last = first.checked_add(more).ok_or(Error::KeyExhausted)?;
        let start = output.len();
        let bytes: usize = writes.iter().map(|data| self.written_length(data.len())).sum();
        output.resize(start + bytes, 0);
        let (mut records, mut rest) = (Vec::new(), &mut output[start..]);
        for (number, piece) in (first..=last).zip(pieces()) {
            let (record, later) = rest.split_at_mut(self.sealed_length(piece.len()));
            let framed = self.frame(number, content_type, piece, record);
            records.push((framed, self.text_and_tag(record)));
            rest = later;
        }
        let mut messages: Vec<_> = records
            .iter_mut()
            .map(|(framed, (text, tag))| {
                Message::new(&self.key, &framed.nonce, framed.aad(), text, tag)
            })
            .collect();
        let result = batch::seal(&mut messages);
        if result.is_err() {
            wipe(&mut output[start..]);
            output.truncate(start);
        } else {
            self.next = last.checked_add(1);
        }
        result
    }

    /// Opens one whole record in place, with its header. Gives the type and the content, in the middle of the record.
    ///
    /// # Errors
    /// [`Error::MessageLength`] if the length is not that of a record, [`Error::Authentication`], after which all that
    /// was encrypted is zero, and [`Error::KeyExhausted`]. The connection has to end then.
    pub fn open<'r>(&mut self, record: &'r mut [u8]) -> Result<(ContentType, &'r mut [u8]), Error> {
        let most = MOST_CONTENT + if self.form == Form::Inner { 256 } else { 2048 };
        if Self::record_length(record) != Some(record.len())
            || record.len() > HEADER + most
            || record.len() < self.least()
        {
            return Err(Error::MessageLength);
        }
        let number = self.next.ok_or(Error::KeyExhausted)?;
        let framed = self.read_frame(number, record);
        let outer = ContentType(record[0]);
        let (text, tag) = self.text_and_tag(record);
        self.key.open(&framed.nonce, framed.aad(), text, tag)?;
        let (content_type, length) = match self.form {
            Form::Inner => remove_padding(text)?,
            _ => (outer, text.len()),
        };
        // Padding does not change how long a record may be: with its type, all of it counts (RFC 8446, 5.4).
        let most = MOST_CONTENT + usize::from(self.form == Form::Inner);
        // The type of records is a part of what TLS 1.3 authenticates, but has one value.
        let is_outer = self.form != Form::Inner || outer == ContentType::APPLICATION_DATA;
        if text.len() > most || !is_outer {
            wipe(text);
            return Err(Error::Authentication);
        }
        self.next = number.checked_add(1);
        Ok((content_type, &mut text[..length]))
    }

    /// Bytes of all records of a write.
    fn written_length(&self, data: usize) -> usize {
        let (whole, rest) = (data / MOST_CONTENT, data % MOST_CONTENT);
        whole * self.sealed_length(MOST_CONTENT)
            + if rest > 0 { self.sealed_length(rest) } else { 0 }
    }

    /// Bytes of a record before its text.
    fn before(&self) -> usize {
        HEADER + if self.form == Form::Explicit { EXPLICIT } else { 0 }
    }

    /// Bytes of a record behind its content.
    fn behind(&self) -> usize {
        usize::from(self.form == Form::Inner) + self.key.tag_length()
    }

    /// What is encrypted of a record, and its tag.
    fn text_and_tag<'r>(&self, record: &'r mut [u8]) -> (&'r mut [u8], &'r mut [u8]) {
        let rest = &mut record[self.before()..];
        rest.split_at_mut(rest.len() - self.key.tag_length())
    }

    /// Writes all of a record that is there before it is sealed, into zeros.
    fn frame(
        &self,
        number: u64,
        content_type: ContentType,
        content: &[u8],
        record: &mut [u8],
    ) -> Framed {
        let outer =
            if self.form == Form::Inner { ContentType::APPLICATION_DATA } else { content_type };
        let [low, high, ..] = (record.len() - HEADER).to_le_bytes();
        let [major, minor] = Version::TLS_1_2.0.to_be_bytes();
        record[..HEADER].copy_from_slice(&[outer.0, major, minor, high, low]);
        let before = self.before();
        // The number is unique: it may be the explicit part as well (RFC 5288, 3).
        record[HEADER..before].copy_from_slice(&number.to_be_bytes()[8 - (before - HEADER)..]);
        record[before..][..content.len()].copy_from_slice(content);
        if self.form == Form::Inner {
            record[before + content.len()] = content_type.0;
        }
        self.read_frame(number, record)
    }

    /// The nonce and the AAD of a record.
    fn read_frame(&self, number: u64, record: &[u8]) -> Framed {
        let (mut nonce, mut aad) = (self.iv, [0; Header::AAD]);
        let from = match self.form {
            Form::Explicit => *record[HEADER..].first_chunk().unwrap_or(&[0; EXPLICIT]),
            _ => number.to_be_bytes(),
        };
        for (byte, from) in nonce[NONCE - EXPLICIT..].iter_mut().zip(from) {
            *byte ^= from;
        }
        let aad_bytes = if self.form == Form::Inner {
            aad[..HEADER].copy_from_slice(&record[..HEADER]);
            HEADER
        } else {
            let version = Version(u16::from_be_bytes([record[1], record[2]]));
            let header = Header::new(number, ContentType(record[0]), version);
            aad = header.aad(record.len() - self.least());
            Header::AAD
        };
        Framed { nonce, aad, aad_bytes }
    }
}

/// What goes with the text of a record into the AEAD.
struct Framed {
    nonce: [u8; NONCE],
    aad: [u8; Header::AAD],
    aad_bytes: usize,
}

impl Framed {
    fn aad(&self) -> &[u8] {
        &self.aad[..self.aad_bytes]
    }
}

/// The type behind the content of an authentic text, and the bytes of the content: what is before the last byte that is
/// not zero (RFC 8446, 5.4). How long the padding is comes out with the length of the content; nothing else of it does.
fn remove_padding(text: &mut [u8]) -> Result<(ContentType, usize), Error> {
    let (mut length, mut content_type) = (0, 0);
    for (number, part) in text.chunks(PART).enumerate().rev() {
        let any = part.iter().fold(0, |any, byte| any | byte);
        if public_length(equal(any.into(), 0).into()) != 0 {
            continue;
        }
        let mut place = 0_u8;
        for (at, byte) in (0..).zip(part) {
            let is_text = !equal((*byte).into(), 0);
            content_type ^= (content_type ^ byte) & is_text;
            place ^= (place ^ at) & is_text;
        }
        length = number * PART + public_length(place.into());
        break;
    }
    // A text of zeros has no type.
    authenticate_beside(&mut [equal(content_type.into(), 0)], &[0], text)?;
    let [content_type, ..] = public_length(content_type.into()).to_le_bytes();
    Ok((ContentType(content_type), length))
}

/// Bytes that are looked at together.
const PART: usize = 64;

impl<A: ZeroizeOnDrop> ZeroizeOnDrop for AeadRecords<A> {}

impl<A> Drop for AeadRecords<A> {
    fn drop(&mut self) {
        wipe(&mut self.iv);
    }
}

impl<A: fmt::Debug> fmt::Debug for AeadRecords<A> {
    /// Says which algorithm it is and the number of the next record, never the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AeadRecords")
            .field("key", &self.key)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}
