//! Which level of a family to use: the override in `LANELOCK_LEVEL`, else the fastest within the policy.
//!
//! The value is a list of entries with commas between them: `FAMILY=LEVEL`, `LEVEL` alone (of the first
//! family), `max=BITS`, or `processor=NAME`. All of it is checked whichever family asks: a mistake is an error for every
//! family, never a silent fallback.

use alloc::{borrow::ToOwned, string::String, vec::Vec};
use core::fmt;

use crate::policy::{PROCESSOR, Policy, Processor, VARIABLE, VECTOR_BITS};

/// A level as a build knows it, whether the processor has it or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LevelInfo {
    /// The name that the family's `from_str` takes.
    pub name: &'static str,
    /// The CPU features that it requires, with commas between them, or `nothing`.
    pub requires: &'static str,
    /// The length of its vectors in bits, for the policy; 0 for code without vectors.
    pub bits: u32,
    /// Whether this build has its kernels. All but test builds have those of all levels.
    pub(crate) is_built: bool,
}

impl LevelInfo {
    pub(crate) const fn new(name: &'static str, requires: &'static str, bits: u32) -> Self {
        Self { name, requires, bits, is_built: true }
    }
}

/// A set of instructions that kernels of one sort need, in levels that are slow or fast.
#[derive(Clone, Copy)]
pub struct Family {
    pub(crate) name: &'static str,
    pub(crate) levels: &'static [LevelInfo],
    pub(crate) has: fn(&str) -> bool,
    pub(crate) choose: fn() -> Result<Choice, LevelError>,
}

impl Family {
    /// The name that `LANELOCK_LEVEL` takes.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The levels of this build, slowest first.
    pub fn levels(&self) -> &'static [LevelInfo] {
        self.levels
    }

    /// Whether this processor has the level of that name.
    pub fn has(&self, name: &str) -> bool {
        (self.has)(name)
    }

    /// The level to use, and why: what the `best` of the family's levels finds.
    ///
    /// # Errors
    /// `LANELOCK_LEVEL` has a mistake, of this family or another.
    pub fn choice(&self) -> Result<Choice, LevelError> {
        (self.choose)()
    }

    fn level(&self, name: &str) -> Option<&'static LevelInfo> {
        self.levels.iter().find(|level| level.name == name)
    }

    /// What is wrong with a name of which there is no level here.
    fn fault(&'static self, name: &str) -> Fault {
        match self.level(name) {
            Some(level) => Fault::Absent(self, level),
            None => Fault::UnknownLevel(self, name.to_owned()),
        }
    }

    /// The fastest level that is here and within the policy.
    pub(crate) fn fastest(&self, policy: Policy) -> Choice {
        let (mut level, mut why) = (&self.levels[0], Why::Fastest);
        for wider in self.levels.iter().filter(|wider| self.has(wider.name)) {
            if policy.allows(wider.bits) {
                (level, why) = (wider, Why::Fastest);
            } else {
                why = Why::Policy;
            }
        }
        Choice { level, why }
    }
}

impl PartialEq for Family {
    /// Names are unique.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Family {}

impl fmt::Debug for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The level of a family that is used, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Choice {
    /// The level.
    pub level: &'static LevelInfo,
    /// Why this one.
    pub why: Why,
}

/// Why a level was chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Why {
    /// It is the fastest that this processor has.
    Fastest,
    /// It is the fastest that the policy allows; the processor has a wider one.
    Policy,
    /// `LANELOCK_LEVEL` names it.
    Override,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fastest => f.write_str("the fastest that this processor has"),
            Self::Policy => f.write_str("the fastest with vectors that the policy allows"),
            Self::Override => write!(f, "{VARIABLE} names it"),
        }
    }
}

/// What `LANELOCK_LEVEL` asks for.
#[derive(Default, Debug, PartialEq)]
pub(crate) struct Overrides {
    levels: Vec<(&'static Family, &'static LevelInfo)>,
    max_bits: Option<u32>,
    /// Kept to find a second one; [`Processor::host`] is what it says.
    processor: Option<Processor>,
}

impl Overrides {
    /// What the environment of this process says; without the standard library there is none.
    pub(crate) fn of_environment(families: &'static [&'static Family]) -> Result<Self, LevelError> {
        #[cfg(feature = "std")]
        return match std::env::var(VARIABLE) {
            Ok(value) => Self::parse(&value, families),
            Err(std::env::VarError::NotPresent) => Ok(Self::default()),
            Err(std::env::VarError::NotUnicode(_)) => {
                Err(LevelError { entry: None, fault: Fault::NotUtf8 })
            }
        };
        #[cfg(not(feature = "std"))]
        return Self::parse("", families);
    }

    /// A name alone is a level of the first of the families. An empty value asks for nothing: what sets
    /// variables may set them to nothing.
    pub(crate) fn parse(
        value: &str,
        families: &'static [&'static Family],
    ) -> Result<Self, LevelError> {
        let mut overrides = Self::default();
        if value.is_empty() {
            return Ok(overrides);
        }
        for (at, entry) in value.split(',').enumerate() {
            if entry.is_empty() {
                return Err(LevelError::of_entry(value, Fault::Empty(at + 1)));
            }
            overrides.add(entry, families).map_err(|fault| LevelError::of_entry(entry, fault))?;
        }
        if let Some(max) = overrides.max_bits
            && let Some((family, level)) = overrides.levels.iter().find(|(_, l)| l.bits > max)
        {
            return Err(LevelError::of_entry(value, Fault::TooWide(family, level, max)));
        }
        Ok(overrides)
    }

    fn add(&mut self, entry: &str, families: &'static [&'static Family]) -> Result<(), Fault> {
        let (family, name) = match entry.split_once('=') {
            None => (families.first().copied(), entry),
            Some(("max", bits)) => {
                if self.max_bits.is_some() {
                    return Err(Fault::Twice("max"));
                }
                // Compared as text: a number may be written in one way only.
                let known = VECTOR_BITS.into_iter().zip(["128", "256", "512"]);
                self.max_bits = known.into_iter().find(|(_, text)| *text == bits).map(|(n, _)| n);
                return match self.max_bits {
                    Some(_) => Ok(()),
                    None => Err(Fault::Bits(bits.to_owned())),
                };
            }
            Some((PROCESSOR, name)) => {
                if self.processor.is_some() {
                    return Err(Fault::Twice(PROCESSOR));
                }
                self.processor = Processor::of_name(name);
                return match self.processor {
                    Some(_) => Ok(()),
                    None => Err(Fault::UnknownProcessor(name.to_owned())),
                };
            }
            Some((family, name)) => (families.iter().copied().find(|f| f.name == family), name),
        };
        let Some(family) = family else {
            return Err(Fault::UnknownFamily(families));
        };
        if self.level(family).is_some() {
            return Err(Fault::Twice(family.name));
        }
        let level = family.level(name).filter(|_| family.has(name));
        self.levels.push((family, level.ok_or_else(|| family.fault(name))?));
        Ok(())
    }

    fn level(&self, family: &Family) -> Option<&'static LevelInfo> {
        self.levels.iter().find(|(named, _)| *named == family).map(|(_, level)| *level)
    }

    /// The policy for this host, with the override's `max` in place of its own.
    pub(crate) fn policy(&self) -> Policy {
        let host = Policy::host();
        self.max_bits.map_or(host, |bits| host.with_max_bits(bits))
    }

    /// The level of `family` to use.
    pub(crate) fn choice(&self, family: &Family) -> Choice {
        match self.level(family) {
            Some(level) => Choice { level, why: Why::Override },
            None => family.fastest(self.policy()),
        }
    }
}

/// A level was asked for by a name that is unknown, or that this processor lacks; or `LANELOCK_LEVEL` has
/// another mistake. The message names the entry and what there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelError {
    /// The entry of the environment variable, or all of it where the fault is between entries.
    entry: Option<String>,
    fault: Fault,
}

impl LevelError {
    fn of_entry(entry: &str, fault: Fault) -> Self {
        Self { entry: Some(entry.to_owned()), fault }
    }

    /// The error of a name that a program gave, of which `family` has no level here.
    pub(crate) fn of_name(family: &'static Family, name: &str) -> Self {
        Self { entry: None, fault: family.fault(name) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Fault {
    #[cfg(feature = "std")]
    NotUtf8,
    /// The number of the entry, from 1.
    Empty(usize),
    UnknownFamily(&'static [&'static Family]),
    UnknownLevel(&'static Family, String),
    Absent(&'static Family, &'static LevelInfo),
    /// The last is `max`.
    TooWide(&'static Family, &'static LevelInfo, u32),
    Twice(&'static str),
    Bits(String),
    UnknownProcessor(String),
}

impl fmt::Display for LevelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.entry {
            Some(entry) => write!(f, "{VARIABLE}, \"{entry}\": {}", self.fault)?,
            // A program gave the name: no variable is to blame.
            None => return self.fault.fmt(f),
        }
        write!(
            f,
            " (it takes a name, or a list as aes=NAME,hash=NAME,max=BITS,processor=NAME; unset it for the best)"
        )
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(feature = "std")]
            Self::NotUtf8 => write!(f, "{VARIABLE} is not UTF-8"),
            Self::Empty(at) => write!(f, "entry {at} is empty"),
            Self::UnknownFamily(families) => {
                f.write_str("no family has that name; there are")?;
                families.iter().try_for_each(|family| write!(f, " {}", family.name))?;
                f.write_str(", max for the most bits of a vector, and processor")
            }
            Self::UnknownLevel(family, name) => {
                write!(f, "\"{name}\" is not the name of a level of the family {}", family.name)?;
                available(f, family, u32::MAX)
            }
            Self::Absent(family, LevelInfo { name, is_built: false, .. }) => {
                write!(f, "this build leaves out the level \"{name}\"")?;
                available(f, family, u32::MAX)
            }
            Self::Absent(family, LevelInfo { name, requires, .. }) => {
                write!(f, "this processor lacks the level \"{name}\" (it requires {requires})")?;
                available(f, family, u32::MAX)
            }
            Self::TooWide(family, LevelInfo { name, bits, .. }, max) => {
                write!(f, "the level \"{name}\" has vectors of {bits} bits, and max is {max}")?;
                available(f, family, *max)
            }
            Self::Twice(name) => write!(f, "{name} is given twice"),
            Self::Bits(text) => {
                write!(f, "max is \"{text}\", which is no length of vectors in bits; there are")?;
                VECTOR_BITS.iter().try_for_each(|bits| write!(f, " {bits}"))
            }
            Self::UnknownProcessor(name) => {
                write!(f, "\"{name}\" is no family of processors; there are")?;
                Processor::all().try_for_each(|processor| write!(f, " {}", processor.name()))
            }
        }
    }
}

/// The levels that are here with vectors of at most `max` bits.
fn available(f: &mut fmt::Formatter<'_>, family: &Family, max: u32) -> fmt::Result {
    f.write_str("; available here:")?;
    let mut here = family.levels.iter().filter(|level| level.bits <= max && family.has(level.name));
    here.try_for_each(|level| write!(f, " {}", level.name))
}

impl core::error::Error for LevelError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Families of a processor that is the same wherever the tests run.
    static FAMILIES: &[&Family] = &[
        &Family {
            name: "one",
            levels: &[
                LevelInfo::new("portable", "nothing", 0),
                LevelInfo::new("small", "little", 128),
                LevelInfo::new("wide", "much", 512),
                LevelInfo::new("future", "more", 512),
            ],
            has: |name| ["portable", "small", "wide"].contains(&name),
            choose: || choose(0),
        },
        &Family {
            name: "two",
            levels: &[
                LevelInfo::new("portable", "nothing", 0),
                LevelInfo::new("middle", "some", 256),
                LevelInfo::new("large", "much", 512),
            ],
            has: |name| name != "nothing",
            choose: || choose(1),
        },
    ];

    fn choose(at: usize) -> Result<Choice, LevelError> {
        Overrides::parse("", FAMILIES).map(|overrides| overrides.choice(FAMILIES[at]))
    }

    /// What both families choose, and why.
    fn chosen(value: &str) -> [(&'static str, Why); 2] {
        let overrides = Overrides::parse(value, FAMILIES).unwrap();
        [0, 1].map(|at| {
            let Choice { level, why } = overrides.choice(FAMILIES[at]);
            (level.name, why)
        })
    }

    #[test]
    fn levels_are_the_fastest_of_the_policy_or_those_named() {
        use Why::{Fastest, Override, Policy};
        for (value, one, two) in [
            ("", ("wide", Fastest), ("large", Fastest)),
            ("small", ("small", Override), ("large", Fastest)),
            ("one=wide", ("wide", Override), ("large", Fastest)),
            ("two=middle", ("wide", Fastest), ("middle", Override)),
            ("two=middle,one=small", ("small", Override), ("middle", Override)),
            ("max=512", ("wide", Fastest), ("large", Fastest)),
            ("max=256", ("small", Policy), ("middle", Policy)),
            ("max=128", ("small", Policy), ("portable", Policy)),
            ("max=256,portable", ("portable", Override), ("middle", Policy)),
            ("processor=zen5", ("wide", Fastest), ("large", Fastest)),
            ("processor=intel,max=256,small", ("small", Override), ("middle", Policy)),
            ("one=small,two=middle,max=256", ("small", Override), ("middle", Override)),
        ] {
            assert_eq!(chosen(value), [one, two], "{value}");
        }
        assert_eq!(FAMILIES[1].choice().unwrap().level.name, "large");
    }

    #[test]
    fn mistakes_name_the_entry_and_what_there_is() {
        for (value, entry, there) in [
            ("tiny", "\"tiny\"", "available here: portable small wide ("),
            ("two=wide", "\"two=wide\"", "available here: portable middle large"),
            ("two=middle,one=tiny", "\"one=tiny\"", "available here: portable small wide ("),
            ("Small", "\"Small\"", "portable small"),
            ("small ", "\"small \"", "portable small"),
            ("max", "\"max\"", "portable small"),
            ("one=", "\"one=\"", "portable small"),
            ("future", "\"future\"", "requires more"),
            ("three=small", "\"three=small\"", "there are one two, max"),
            ("=small", "\"=small\"", "there are one two, max"),
            ("one =small", "\"one =small\"", "there are one two, max"),
            ("processor=zen", "\"processor=zen\"", "there are zen4 zen5 intel arm unknown"),
            ("processor=", "\"processor=\"", "there are zen4 zen5 intel arm unknown"),
            ("processor=arm,processor=arm", "\"processor=arm\"", "processor is given twice"),
            ("max=100", "\"max=100\"", "there are 128 256 512"),
            ("max=", "\"max=\"", "there are 128 256 512"),
            ("max=+256", "\"max=+256\"", "there are 128 256 512"),
            ("max=0256", "\"max=0256\"", "there are 128 256 512"),
            ("one=small,one=small", "\"one=small\"", "one is given twice"),
            ("small,one=wide", "\"one=wide\"", "one is given twice"),
            ("max=256,max=256", "\"max=256\"", "max is given twice"),
            (",", "\",\"", "entry 1 is empty"),
            ("small,", "\"small,\"", "entry 2 is empty"),
            ("small,,max=256", "\"small,,max=256\"", "entry 2 is empty"),
            (
                "wide,max=256",
                "\"wide,max=256\"",
                "512 bits, and max is 256; available here: portable small (",
            ),
            ("max=128,two=middle", "\"max=128,two=middle\"", "available here: portable ("),
        ] {
            let error = Overrides::parse(value, FAMILIES).unwrap_err().to_string();
            assert!(error.starts_with("LANELOCK_LEVEL") && error.contains(entry), "{error}");
            assert!(error.contains(there), "{value}: {error}");
        }
    }
}
