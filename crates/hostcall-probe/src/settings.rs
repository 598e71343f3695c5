//! What `cargo hostcall probe` says to the library in the program that it starts, and to that program's children.

use std::env;
use std::fs;
use std::ops::Range;
use std::path::PathBuf;

use hostcall_build::Instrument;
use hostcall_build::ptx::{Library, PtxError};
use hostcall_stream::{NamedFilter, Policy};
use regex_lite::Regex;

/// The settings.
#[derive(Debug)]
pub(crate) struct Settings {
    /// What is to be told of.
    pub(crate) instrument: Instrument,
    /// Kernels that are meant, by their symbols; none: all.
    pub(crate) kernels: Vec<Regex>,
    /// Launches of each kernel that are meant, counted from 0; `None`: all.
    pub(crate) launches: Option<Range<u64>>,
    /// A recording of all messages.
    pub(crate) record: Option<PathBuf>,
    pub(crate) filters: Vec<NamedFilter>,
    pub(crate) policy: Option<Policy>,
    /// Bytes of the rings of each module.
    pub(crate) memory: usize,
    /// hostcall's functions.
    pub(crate) library: Library,
}

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingsError {
    #[error("{variable} is not set: start the program by `cargo hostcall probe`")]
    Missing { variable: &'static str },
    #[error("{variable}={value}: {problem}; start the program by `cargo hostcall probe`")]
    Bad { variable: &'static str, value: String, problem: String },
    #[error("cannot read {}, which hostcall's functions are in: {source}", path.display())]
    Library { path: PathBuf, source: std::io::Error },
    #[error("{}: {source}", path.display())]
    Ptx { path: PathBuf, source: PtxError },
}

/// Bytes of the rings of each module, if nothing is said: programs have hundreds of modules.
const MEMORY: usize = 16 << 20;

const INSTRUMENT: &str = "HOSTCALL_PROBE_INSTRUMENT";
const LIBRARY: &str = "HOSTCALL_PROBE_LIBRARY";

/// What a variable says; `None`: nothing.
fn variable(name: &'static str) -> Option<String> {
    env::var_os(name).filter(|value| !value.is_empty()).map(|value| value.to_string_lossy().into_owned())
}

/// What a variable says, read by `read`.
fn read<T, E: std::fmt::Display>(name: &'static str, read: impl FnOnce(&str) -> Result<T, E>) -> Result<Option<T>, SettingsError> {
    let bad = |value: &str, error: E| SettingsError::Bad { variable: name, value: value.to_owned(), problem: error.to_string() };
    variable(name).map(|value| read(&value).map_err(|error| bad(&value, error))).transpose()
}

/// The lines of a variable, each read by `one`.
fn lines<T, E: std::fmt::Display>(name: &'static str, one: impl Fn(&str) -> Result<T, E>) -> Result<Vec<T>, SettingsError> {
    Ok(read(name, |text| text.lines().map(one).collect::<Result<_, _>>())?.unwrap_or_default())
}

/// `A..B`, as Rust writes it.
fn range(text: &str) -> Result<Range<u64>, String> {
    let (start, end) = text.split_once("..").ok_or("no range, as 3..5")?;
    let number =
        |text: &str, otherwise| if text.is_empty() { Ok(otherwise) } else { text.parse::<u64>().map_err(|error| error.to_string()) };
    Ok(number(start, 0)?..number(end, u64::MAX)?)
}

impl Settings {
    /// Reads them from the environment.
    pub(crate) fn from_environment() -> Result<Self, SettingsError> {
        let path = PathBuf::from(env::var_os(LIBRARY).ok_or(SettingsError::Missing { variable: LIBRARY })?);
        let text = fs::read_to_string(&path).map_err(|source| SettingsError::Library { path: path.clone(), source })?;
        let policy = |name: &str| Policy::CHOICES.into_iter().find(|policy| policy.name() == name).ok_or("there is no such policy");
        Ok(Self {
            instrument: read(INSTRUMENT, str::parse)?.ok_or(SettingsError::Missing { variable: INSTRUMENT })?,
            kernels: lines("HOSTCALL_PROBE_KERNELS", Regex::new)?,
            launches: read("HOSTCALL_PROBE_LAUNCHES", range)?,
            record: env::var_os("HOSTCALL_PROBE_RECORD").map(PathBuf::from),
            filters: lines("HOSTCALL_PROBE_FILTERS", str::parse)?,
            policy: read("HOSTCALL_PROBE_POLICY", policy)?,
            memory: read("HOSTCALL_PROBE_MEMORY", str::parse)?.unwrap_or(MEMORY),
            library: Library::new(&text).map_err(|source| SettingsError::Ptx { path, source })?,
        })
    }

    /// Whether a kernel is meant.
    pub(crate) fn is_meant(&self, kernel: &str) -> bool {
        self.kernels.is_empty() || self.kernels.iter().any(|wanted| wanted.is_match(kernel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_launches_are_read_as_rust_writes_them() {
        assert_eq!((range("3..5"), range("..2"), range("7.."), range("..")), (Ok(3..5), Ok(0..2), Ok(7..u64::MAX), Ok(0..u64::MAX)));
        for bad in ["", "3", "a..b", "-1..2"] {
            assert!(range(bad).is_err(), "{bad}");
        }
    }
}
