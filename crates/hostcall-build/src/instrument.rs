//! What `--instrument` asks for.
//!
//! A program that is instrumented is compiled like any other, but that its crates keep their line tables, that
//! `hostcall-device` has the functions which the pass calls (`cfg(hostcall_probe)`), and that the [pass](crate::probe)
//! runs when its module has been optimised. It is built in a directory of its own, so no other build changes.

use std::fmt;
use std::str::FromStr;

/// What kernels are to tell of themselves, as streams, though their source says nothing of it.
///
/// As text it is a list: `access`, `blocks`, `loops`, `barriers`, at least one of them, and `kernel=NAME` for each
/// kernel that is meant; without any, all are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Instrument {
    /// Each load, store and atomic operation on memory of the device or of the workgroup, as an `Access`.
    pub accesses: bool,
    /// The beginning of each kernel and of each block of instructions, as a `Step`, and kernels as `Interval`s.
    pub blocks: bool,
    /// The same of kernels and of loops.
    pub loops: bool,
    /// How long each wave waits at each barrier, as an `Interval`.
    pub barriers: bool,
    /// The kernels that are meant; none: all. The code of others is what it would be without.
    pub kernels: Vec<String>,
}

/// A list that asks for something that there is not.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseInstrumentError {
    /// A word that means nothing.
    #[error("`{word}` is none of access, blocks, loops, barriers and kernel=NAME")]
    Unknown {
        /// The word.
        word: String,
    },
    /// Only kernels.
    #[error("say what is to be told of: some of access, blocks, loops and barriers")]
    Nothing,
    /// A name that no kernel has.
    #[error("`{name}` is not a kernel's name: letters, digits and `_`")]
    Name {
        /// The name.
        name: String,
    },
}

hostcall_error::readable!(ParseInstrumentError);

impl FromStr for Instrument {
    type Err = ParseInstrumentError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut all = Self::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word {
                "access" => all.accesses = true,
                "blocks" => all.blocks = true,
                "loops" => all.loops = true,
                "barriers" => all.barriers = true,
                _ => match word.strip_prefix("kernel=") {
                    Some(name) if is_symbol(name) => all.kernels.push(name.to_owned()),
                    Some(name) => return Err(ParseInstrumentError::Name { name: name.into() }),
                    None => return Err(ParseInstrumentError::Unknown { word: word.into() }),
                },
            }
        }
        all.kernels.sort();
        all.kernels.dedup();
        if all.accesses || all.blocks || all.loops || all.barriers { Ok(all) } else { Err(ParseInstrumentError::Nothing) }
    }
}

fn is_symbol(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl Instrument {
    pub(crate) fn words(&self) -> impl Iterator<Item = String> {
        let asked = [("access", self.accesses), ("blocks", self.blocks), ("loops", self.loops), ("barriers", self.barriers)];
        let asked = asked.into_iter().filter(|(_, asked)| *asked).map(|(word, _)| word.to_owned());
        asked.chain(self.kernels.iter().map(|name| format!("kernel={name}")))
    }
}

impl fmt::Display for Instrument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().collect::<Vec<_>>().join(","))
    }
}

/// Holds what an [`Instrument`] is as text, for cargo's builds of programs with std and for build scripts.
pub const INSTRUMENT_VARIABLE: &str = "HOSTCALL_INSTRUMENT";

/// The directory of instrumented builds, in the one of all others.
pub const INSTRUMENTED_DIR: &str = "instrumented";

/// Flags of each crate of an instrumented program: the functions that are called, and line tables.
pub(crate) fn flags() -> impl Iterator<Item = String> {
    ["--cfg", "hostcall_probe", "--check-cfg", "cfg(hostcall_probe)", "-Cdebuginfo=1"].map(String::from).into_iter()
}

/// Flags besides for the simulator's processor: bitcode instead of machine code, and no pass before all are together.
pub(crate) const AS_BITCODE: [&str; 3] = ["-Clinker-plugin-lto", "-Cembed-bitcode=yes", "-Cno-prepopulate-passes"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_read_and_written_alike() {
        for (text, written) in [
            ("access", "access"),
            (" barriers ,access,", "access,barriers"),
            ("loops,kernel=b,blocks,kernel=a,kernel=b", "blocks,loops,kernel=a,kernel=b"),
        ] {
            let read: Instrument = text.parse().expect("good");
            assert_eq!((read.to_string().as_str(), read.to_string().parse()), (written, Ok(read.clone())), "{text}");
        }
    }

    #[test]
    fn a_list_that_means_nothing_is_told_so() {
        let error = |text: &str| text.parse::<Instrument>().expect_err("bad").to_string();
        assert_eq!(error("acess"), "`acess` is none of access, blocks, loops, barriers and kernel=NAME");
        assert_eq!(error("kernel=a"), "say what is to be told of: some of access, blocks, loops and barriers");
        assert_eq!(error(""), error("kernel=a"));
        // What the pass's own list is separated by is in no name.
        for name in ["", "a;b", "a>", "a b"] {
            assert_eq!(format!("access,kernel={name}").parse::<Instrument>(), Err(ParseInstrumentError::Name { name: name.trim().into() }));
        }
    }
}
