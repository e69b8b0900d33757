//! `sgpd`/`sbgp` of grouping type `seig`: parameters that override `tenc` for runs of samples
//! (ISO/IEC 14496-12, 8.9; ISO/IEC 23001-7, 6).

use super::TrackEncryption;
use crate::{
    BoxRef, ErrorKind, FourCc, Result,
    header::Header,
    source::{Records, be32},
};

/// In a `traf`, group indices above this refer to the `sgpd` of the same `traf`.
const LOCAL: u32 = 0x1_0000;

/// Whether an `sgpd`, `sbgp` or `csgp` box is about `seig`. Too short a box is not.
pub(crate) fn is_seig(group: &BoxRef<'_>) -> bool {
    // The grouping type follows version and flags in all three.
    matches!(&group.kind().0, b"sgpd" | b"sbgp" | b"csgp")
        && group.payload().get(4..8) == Some(b"seig")
}

/// Entries of a `seig` group description box.
#[derive(Clone, Debug, Default)]
pub(crate) struct Descriptions {
    pub(crate) entries: Vec<TrackEncryption>,
    /// Index (from 1) of the entry for samples that no `sbgp` covers; 0 is none.
    default_index: u32,
}

impl Descriptions {
    pub(crate) fn from_box(sgpd: &BoxRef<'_>) -> Result<Self> {
        let mut reader = sgpd.reader();
        let (version, _) = reader.version_upto(3)?;
        reader.u32("grouping_type")?;
        let fixed = if version >= 1 { reader.u32("default_length")? } else { 0 };
        let default_index = if version >= 2 { reader.u32("default index")? } else { 0 };
        let count = reader.u32("entry_count")?;
        // 20 bytes is the least an entry has, so this bounds what is allocated.
        let before = reader.clone();
        reader.records(count, 20, "seig entries")?;
        reader = before;
        let mut entries = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let len = match (version, fixed) {
                (0, _) => None,
                (_, 0) => Some(reader.u32("description_length")?),
                (_, len) => Some(len),
            };
            let start = reader.position();
            entries.push(TrackEncryption::fields(&mut reader)?);
            let used = reader.position() - start;
            if let Some(len) = len {
                // Later editions may append fields to an entry.
                match (len as usize).checked_sub(used) {
                    Some(more) => reader.bytes(more, "seig entry")?,
                    None => {
                        return Err(reader.error(ErrorKind::Mismatch {
                            what: "length of a seig entry",
                            expected: used as u64,
                            found: u64::from(len),
                        }));
                    }
                };
            }
        }
        if default_index as usize > entries.len() {
            let value = u64::from(default_index);
            return Err(sgpd.error(ErrorKind::InvalidValue { what: "default group index", value }));
        }
        Ok(Self { entries, default_index })
    }

    fn get(&self, index: u32) -> Option<&TrackEncryption> {
        self.entries.get((index as usize).checked_sub(1)?)
    }
}

/// The `seig` runs of one `traf` or `stbl`, with the descriptions it brings itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeigMap<'a> {
    pub(crate) local: Option<Descriptions>,
    /// Pairs of sample count and group index.
    runs: &'a [u8],
}

impl<'a> SeigMap<'a> {
    /// Reads the boxes; `in_fragment` selects the index rule, `global` the track's descriptions.
    ///
    /// Every index is checked here, so that iteration cannot fail.
    pub(crate) fn new(
        sgpd: Option<BoxRef<'a>>,
        sbgp: Option<BoxRef<'a>>,
        global: Option<&Descriptions>,
        samples: u64,
    ) -> Result<Self> {
        let local = sgpd.as_ref().map(Descriptions::from_box).transpose()?;
        let mut map = Self { local, runs: &[] };
        let Some(sbgp) = sbgp else { return Ok(map) };
        let records = Self::runs_of(&sbgp)?;
        let len = records.count as usize * 8;
        map.runs = &sbgp.source.bytes[records.at..records.at + len];
        let mut covered = 0_u64;
        for (number, run) in map.runs.chunks_exact(8).enumerate() {
            covered += u64::from(be32(run, 0));
            let index = be32(run, 4);
            if index != 0 && resolve(index, map.local.as_ref(), global).is_none() {
                let what = "group_description_index";
                let kind = ErrorKind::InvalidValue { what, value: u64::from(index) };
                return Err(sbgp.error_at(records.at + number * 8 + 4, kind));
            }
        }
        if covered > samples {
            return Err(sbgp.error(ErrorKind::Mismatch {
                what: "samples covered by `sbgp`",
                expected: samples,
                found: covered,
            }));
        }
        Ok(map)
    }

    fn runs_of(sbgp: &BoxRef<'_>) -> Result<Records> {
        let mut reader = sbgp.reader();
        let (version, _) = reader.version_upto(1)?;
        reader.u32("grouping_type")?;
        if version == 1 {
            reader.u32("grouping_type_parameter")?;
        }
        let count = reader.u32("entry_count")?;
        reader.records(count, 8, "sample groups")
    }

    /// Parameters of the samples as runs.
    pub(crate) fn iter<'s>(
        &'s self,
        track_default: Option<&'s TrackEncryption>,
        global: Option<&'s Descriptions>,
        samples: u64,
    ) -> EncryptionRuns<'s> {
        let local = self.local.as_ref();
        EncryptionRuns { runs: self.runs, local, track_default, global, left: samples }
    }
}

/// Parameters as runs of a movie's track; `sbgp` is the start of the box, which parsing the
/// movie has checked.
pub(crate) fn movie_runs<'s>(
    moov: &'s [u8],
    sbgp: Option<usize>,
    track_default: Option<&'s TrackEncryption>,
    global: Option<&'s Descriptions>,
    samples: u64,
) -> EncryptionRuns<'s> {
    let runs = sbgp.and_then(|start| {
        let at = start + Header::parse(&moov[start..]).ok()?.len;
        let fields = if moov[at] == 1 { 12 } else { 8 };
        let len = be32(moov, at + fields) as usize * 8;
        moov.get(at + fields + 4..)?.get(..len)
    });
    EncryptionRuns {
        runs: runs.unwrap_or_default(),
        local: None,
        track_default,
        global,
        left: samples,
    }
}

/// Finds the entry of a non-zero group index.
fn resolve<'s>(
    index: u32,
    local: Option<&'s Descriptions>,
    global: Option<&'s Descriptions>,
) -> Option<&'s TrackEncryption> {
    match index.checked_sub(LOCAL) {
        Some(entry) if entry > 0 => local?.get(entry),
        _ => global?.get(index),
    }
}

/// Runs of samples that share their parameters: iterator of `(sample count, parameters)`.
///
/// `None` stands for samples of a clear sample entry that no group covers.
/// Never yields an empty run; the counts add up to the samples of the track or fragment.
/// [`AuxInfo`](crate::AuxInfo) has an example.
#[derive(Clone, Debug)]
pub struct EncryptionRuns<'s> {
    runs: &'s [u8],
    local: Option<&'s Descriptions>,
    track_default: Option<&'s TrackEncryption>,
    global: Option<&'s Descriptions>,
    left: u64,
}

impl<'s> Iterator for EncryptionRuns<'s> {
    type Item = (u64, Option<&'s TrackEncryption>);

    fn next(&mut self) -> Option<Self::Item> {
        while self.left > 0 {
            let Some((run, rest)) = self.runs.split_first_chunk::<8>() else {
                let rest = std::mem::take(&mut self.left);
                let uncovered = self.global.and_then(|global| global.get(global.default_index));
                return Some((rest, uncovered.or(self.track_default)));
            };
            self.runs = rest;
            // The sum was checked against the sample count.
            let count = u64::from(be32(run, 0)).min(self.left);
            if count > 0 {
                self.left -= count;
                let group = resolve(be32(run, 4), self.local, self.global);
                return Some((count, group.or(self.track_default)));
            }
        }
        None
    }
}

/// Refuses the compact form of `sbgp`, whose runs this crate does not read.
pub(crate) fn refuse_compact(group: &BoxRef<'_>) -> Result<()> {
    if group.kind() == FourCc::new(b"csgp") && is_seig(group) {
        return Err(group.error(ErrorKind::Unsupported("compact sample groups of type `seig`")));
    }
    Ok(())
}
