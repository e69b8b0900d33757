//! What a record says of itself.

/// The most bytes of content in a record (RFC 5246, 6.2.1; RFC 8446, 5.1).
pub const MOST_CONTENT: usize = 1 << 14;

/// What a record carries (RFC 5246, 6.2.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ContentType(pub u8);

impl ContentType {
    /// `change_cipher_spec`.
    pub const CHANGE_CIPHER_SPEC: Self = Self(20);
    /// `alert`.
    pub const ALERT: Self = Self(21);
    /// `handshake`.
    pub const HANDSHAKE: Self = Self(22);
    /// `application_data`.
    pub const APPLICATION_DATA: Self = Self(23);
}

/// The version in the header of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Version(pub u16);

impl Version {
    /// TLS 1.1.
    pub const TLS_1_1: Self = Self(0x0302);
    /// TLS 1.2, and 1.3, whose records say the same.
    pub const TLS_1_2: Self = Self(0x0303);
    /// DTLS 1.2.
    pub const DTLS_1_2: Self = Self(0xfefd);
}

/// What of a record is authenticated beside its content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Header {
    /// The number of the record among those of its direction and key. It is not sent in TLS; in DTLS it begins with
    /// the two bytes of the epoch.
    pub sequence: u64,
    /// What it carries.
    pub content_type: ContentType,
    /// The version.
    pub version: Version,
}

impl Header {
    /// Bytes of [`aad`](Self::aad).
    pub(crate) const AAD: usize = 13;

    /// A header.
    pub const fn new(sequence: u64, content_type: ContentType, version: Version) -> Self {
        Self { sequence, content_type, version }
    }

    /// What comes before `length` bytes where they are authenticated (RFC 5246, 6.2.3.1): sequence number, type,
    /// version, length. Only the lower 16 bits of the length count.
    pub(crate) fn aad(self, length: usize) -> [u8; Self::AAD] {
        let mut aad = [0; Self::AAD];
        let [low, high, ..] = length.to_le_bytes();
        aad[..8].copy_from_slice(&self.sequence.to_be_bytes());
        aad[8] = self.content_type.0;
        aad[9..11].copy_from_slice(&self.version.0.to_be_bytes());
        aad[11..].copy_from_slice(&[high, low]);
        aad
    }
}
