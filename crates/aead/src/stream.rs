//! Messages piece by piece: one [`Sealer`] and one [`Opener`] for all algorithms.

use alloc::vec::Vec;
use core::fmt;

use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::LONGEST_TAG;
use lanelock_core::{
    Error, InOut,
    parts::{Length, authenticate_wiping},
};

/// One message on its way through an algorithm: what a [`Sealer`] and an [`Opener`] drive, and what is
/// behind `dyn` where the algorithm is chosen at run time. Its methods are called in order, by nobody
/// else: they check nothing.
pub trait Stream: fmt::Debug + ZeroizeOnDrop {
    /// More AAD: at most [`aad_left`](Self::aad_left) bytes. All of it comes before the text.
    fn aad(&mut self, aad: &[u8]);
    /// Encrypts more text, and authenticates it: at most [`text_left`](Self::text_left) bytes.
    fn encrypt(&mut self, data: InOut<'_, '_>);
    /// Decrypts more text, and authenticates it: at most [`text_left`](Self::text_left) bytes.
    fn decrypt(&mut self, data: InOut<'_, '_>);
    /// The most bytes of AAD that may still come.
    fn aad_left(&self) -> u64 {
        u64::MAX
    }
    /// The most bytes of text that may still come.
    fn text_left(&self) -> u64;
    /// Whether the lengths were announced: what is left has to come then.
    fn announced(&self) -> bool {
        false
    }
    /// The tag over all of it, cut to the length of `tag`. Wipes the message: no other method may follow.
    fn finish(&mut self, tag: &mut [u8]);
}

/// How far a message has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Aad,
    Text,
    Finished,
}

impl Phase {
    /// Checks that so many bytes of AAD may come.
    fn check_aad(self, stream: &(impl Stream + ?Sized), bytes: usize) -> Result<(), Error> {
        match self {
            Self::Finished => Err(Error::Finished),
            Self::Aad if bytes as u64 <= stream.aad_left() => Ok(()),
            _ => Err(Error::AadLength),
        }
    }

    /// Checks that so many bytes of text may come.
    fn check_text(self, stream: &(impl Stream + ?Sized), bytes: usize) -> Result<(), Error> {
        if self == Self::Finished {
            Err(Error::Finished)
        } else if stream.announced() && stream.aad_left() > 0 {
            Err(Error::AadLength)
        } else if bytes as u64 > stream.text_left() {
            Err(Error::MessageLength)
        } else {
            Ok(())
        }
    }

    /// Checks that the message may end, with a tag of so many bytes; the key's tags have `expected`.
    fn check_end(
        self,
        stream: &(impl Stream + ?Sized),
        tag: usize,
        expected: usize,
    ) -> Result<(), Error> {
        self.check_text(stream, 0)?;
        if stream.announced() && stream.text_left() > 0 {
            Err(Error::MessageLength)
        } else if tag != expected {
            Err(Error::TagLength)
        } else {
            Ok(())
        }
    }
}

/// Seals one message piece by piece: first all AAD, then the text, then the tag.
///
/// ```
/// use lanelock::aead::{Aead, Aes128Gcm};
///
/// # fn main() -> Result<(), lanelock::Error> {
/// let key = Aes128Gcm::new(&[7; 16])?;
/// let mut sealer = key.sealer(&[1; 12])?;
/// sealer.aad(b"header")?;
/// let mut pieces = [*b"one piece,", *b"and ten by"];
/// for piece in &mut pieces {
///     sealer.update(piece)?; // in place
/// }
/// let mut tag = [0; 16];
/// sealer.finish(&mut tag)?;
///
/// let mut opener = key.opener(&[1; 12])?;
/// opener.aad(b"header")?;
/// pieces.iter().try_for_each(|piece| opener.update(piece))?;
/// assert_eq!(opener.finish(&tag)?, b"one piece,and ten by");
/// # Ok(())
/// # }
/// ```
///
/// Where the algorithm is chosen at run time, a sealer of any of them is a `Sealer<dyn Stream>`, behind a
/// reference or a box:
///
/// ```
/// use lanelock::aead::{Aegis128L, Aes128Ccm, Sealer, Stream};
///
/// # fn main() -> Result<(), lanelock::Error> {
/// let ccm = Aes128Ccm::new(&[7; 16])?;
/// let aegis = Aegis128L::new(&[7; 16])?.with_tag_length(16)?;
/// let mut sealers: Vec<Box<Sealer<dyn Stream + '_>>> = Vec::new();
/// sealers.push(Box::new(ccm.sealer(&[1; 12], 0, 4)?));
/// sealers.push(Box::new(aegis.sealer(&[1; 16])?));
/// for sealer in &mut sealers {
///     sealer.update(&mut [0; 4])?;
///     sealer.finish(&mut [0; 16])?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// An error leaves the sealer as it was, and the call may be made again as it should be. After
/// [`finish`](Self::finish) nothing of the message stays in it, and every call is [`Error::Finished`].
/// Zeroised on drop too. A sealer that is moved leaves a copy where it was, as every value does.
pub struct Sealer<S: Stream + ?Sized> {
    tag_length: usize,
    phase: Phase,
    stream: S,
}

impl<S: Stream> Sealer<S> {
    pub(crate) fn new(stream: S, tag_length: usize) -> Self {
        Self { tag_length, phase: Phase::Aad, stream }
    }
}

impl<S: Stream + ?Sized> Sealer<S> {
    /// More AAD.
    ///
    /// # Errors
    /// [`Error::AadLength`] after the first text, since AAD comes before it, or if it is more than was
    /// announced; [`Error::Finished`].
    pub fn aad(&mut self, aad: &[u8]) -> Result<(), Error> {
        self.phase.check_aad(&self.stream, aad.len())?;
        self.stream.aad(aad);
        Ok(())
    }

    /// Encrypts the next piece of the text in place.
    ///
    /// # Errors
    /// [`Error::MessageLength`] if the message becomes too long, or longer than was announced;
    /// [`Error::AadLength`] if announced AAD is missing; [`Error::Finished`]. Nothing is written then.
    pub fn update(&mut self, data: &mut [u8]) -> Result<(), Error> {
        self.update_inout(data.into())
    }

    /// [`update`](Self::update), in place or from one buffer to another.
    pub fn update_inout(&mut self, data: InOut<'_, '_>) -> Result<(), Error> {
        self.phase.check_text(&self.stream, data.len())?;
        self.phase = Phase::Text;
        self.stream.encrypt(data);
        Ok(())
    }

    /// Writes the tag, and ends the message.
    ///
    /// # Errors
    /// [`Error::TagLength`] if `tag` has not the length of the key's tags; [`Error::AadLength`] or
    /// [`Error::MessageLength`] if fewer bytes came than were announced; [`Error::Finished`].
    pub fn finish(&mut self, tag: &mut [u8]) -> Result<(), Error> {
        self.phase.check_end(&self.stream, tag.len(), self.tag_length)?;
        self.phase = Phase::Finished;
        self.stream.finish(tag);
        Ok(())
    }
}

impl<S: Stream + ?Sized> ZeroizeOnDrop for Sealer<S> {}

impl<S: Stream + ?Sized> fmt::Debug for Sealer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer")
            .field("stream", &&self.stream)
            .field("tag_length", &self.tag_length)
            .field("phase", &self.phase)
            .finish()
    }
}

/// Opens one message piece by piece: first all AAD, then the text, then the tag. The plaintext is
/// kept until the tag has been checked, so a message takes as much memory as it is long. [`Sealer`] has
/// examples, and what holds after an error and after the end.
pub struct Opener<S: Stream + ?Sized> {
    tag_length: usize,
    phase: Phase,
    plaintext: Zeroizing<Vec<u8>>,
    stream: S,
}

impl<S: Stream> Opener<S> {
    pub(crate) fn new(stream: S, tag_length: usize) -> Self {
        Self { tag_length, phase: Phase::Aad, plaintext: Zeroizing::new(Vec::new()), stream }
    }
}

impl<S: Stream + ?Sized> Opener<S> {
    /// More AAD.
    ///
    /// # Errors
    /// [`Error::AadLength`] after the first text, since AAD comes before it, or if it is more than was
    /// announced; [`Error::Finished`].
    pub fn aad(&mut self, aad: &[u8]) -> Result<(), Error> {
        self.phase.check_aad(&self.stream, aad.len())?;
        self.stream.aad(aad);
        Ok(())
    }

    /// The next piece of the ciphertext.
    ///
    /// # Errors
    /// [`Error::MessageLength`] if the message becomes too long, or longer than was announced;
    /// [`Error::AadLength`] if announced AAD is missing; [`Error::Finished`].
    pub fn update(&mut self, ciphertext: &[u8]) -> Result<(), Error> {
        self.phase.check_text(&self.stream, ciphertext.len())?;
        self.phase = Phase::Text;
        let start = self.plaintext.len();
        let needed = start + ciphertext.len();
        if needed > self.plaintext.capacity() {
            // A vector that grows by itself leaves a copy of the plaintext behind.
            let mut larger = Zeroizing::new(Vec::with_capacity(needed.next_power_of_two()));
            larger.extend_from_slice(&self.plaintext);
            self.plaintext = larger;
        }
        self.plaintext.resize(needed, 0);
        let output = &mut self.plaintext[start..];
        let data = InOut::new(ciphertext, output)?;
        self.stream.decrypt(data);
        Ok(())
    }

    /// The plaintext, if the tag is right. Ends the message, whether it is right or wrong: a wrong tag
    /// cannot be followed by another try.
    ///
    /// # Errors
    /// [`Error::Authentication`] if the tag is wrong; [`Error::TagLength`] if it has not the length of the
    /// key's tags; [`Error::AadLength`] or [`Error::MessageLength`] if fewer bytes came than were
    /// announced; [`Error::Finished`].
    pub fn finish(&mut self, tag: &[u8]) -> Result<Vec<u8>, Error> {
        self.phase.check_end(&self.stream, tag.len(), self.tag_length)?;
        self.phase = Phase::Finished;
        let mut plaintext = core::mem::replace(&mut self.plaintext, Zeroizing::new(Vec::new()));
        let mut expected = Zeroizing::new([0; LONGEST_TAG]);
        let expected = &mut expected[..tag.len()];
        self.stream.finish(expected);
        authenticate_wiping(expected, tag, &mut plaintext)?;
        Ok(core::mem::take(&mut plaintext))
    }
}

impl<S: Stream + ?Sized> ZeroizeOnDrop for Opener<S> {}

impl<S: Stream + ?Sized> fmt::Debug for Opener<S> {
    /// The length of the plaintext up to here, never its bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opener")
            .field("stream", &&self.stream)
            .field("tag_length", &self.tag_length)
            .field("plaintext", &Length::of(&*self.plaintext))
            .field("phase", &self.phase)
            .finish()
    }
}
