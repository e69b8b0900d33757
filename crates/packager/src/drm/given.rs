//! What others made for protection systems.

/// What a key server says of a key for a protection system. It is used as it is: nothing is made for this key
/// and system.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GivenSystem {
    /// The SystemID.
    pub id: [u8; 16],
    /// The key.
    pub kid: [u8; 16],
    /// A whole `pssh` box: for the movie, and where keys change for the fragments that have this key.
    pub pssh: Option<Vec<u8>>,
    /// A whole `pssh` box for DASH manifests (`cenc:pssh`); [`pssh`](Self::pssh) if there is none.
    pub dash_pssh: Option<Vec<u8>>,
    /// The PlayReady Object for manifests (`mspr:pro`); that of the boxes if there is none.
    pub playready_object: Option<Vec<u8>>,
    /// URL of the licence server (`dashif:Laurl`), where [`PackageOptions`](crate::package::PackageOptions) has
    /// none.
    pub license_url: Option<String>,
    /// Lines of HLS media playlists: `#EXT-X-KEY:...`.
    pub hls_media: Vec<String>,
    /// Lines of HLS multivariant playlists: `#EXT-X-SESSION-KEY:...`.
    pub hls_multivariant: Vec<String>,
    /// URI of the key for HLS, where there are no lines.
    pub key_uri: Option<String>,
}

impl GivenSystem {
    /// A system that is told nothing.
    pub fn new(id: [u8; 16], kid: [u8; 16]) -> Self {
        Self {
            id,
            kid,
            pssh: None,
            dash_pssh: None,
            playready_object: None,
            license_url: None,
            hls_media: Vec::new(),
            hls_multivariant: Vec::new(),
            key_uri: None,
        }
    }
}
