//! What programs asked for and were not granted, so that whoever runs one can be told what to grant.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Something that a program asked for and was not granted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Denial {
    /// What it asked for: `to connect to 192.0.2.1:80`.
    pub what: String,
    /// The flag of `cargo hostcall run` that grants it. The builder's methods are of the same names.
    pub flag: String,
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the program asked {}, which is not granted: `{}` grants it", self.what, self.flag)
    }
}

/// The denials of one server, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Denials(Arc<Mutex<BTreeSet<Denial>>>);

impl Denials {
    /// Different denials that are kept.
    const KEEP: usize = 32;

    pub(crate) fn note(&self, what: impl Into<String>, flag: impl Into<String>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < Self::KEEP {
            kept.insert(Denial { what: what.into(), flag: flag.into() });
        }
    }

    /// What was denied since this was last asked.
    pub(crate) fn take(&self) -> Vec<Denial> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().collect()
    }
}
