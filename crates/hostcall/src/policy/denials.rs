//! What programs asked for and were not granted, so that whoever runs a program can be told what to grant.
//!
//! A program may ask for the same thing in every lane. A request that is known already, or for which there is no room,
//! costs neither a lock nor an allocation.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::record::tally::{Counted, Tally};

/// Something that a program asked for and was not granted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Denial {
    /// What it asked for: `to connect to 192.0.2.1:80`.
    pub what: String,
    /// The flag of `cargo hostcall run` that grants it. The builder's methods are of the same names. Where it says
    /// `HOST`, only whoever runs the program knows which directory is meant.
    pub flag: String,
    /// The flag that has to be left out for it: what is granted is granted otherwise.
    pub instead_of: Option<String>,
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, flag, instead_of } = self;
        write!(f, "the program asked {what}, which is not granted: `{flag}`")?;
        if let Some(other) = instead_of {
            write!(f, " instead of `{other}`")?;
        }
        f.write_str(" grants it")?;
        match flag.strip_prefix("--dir HOST::") {
            Some("/") => f.write_str(" (HOST: the directory that it is in)"),
            Some(_) => f.write_str(" (HOST: the directory that the program is to see there)"),
            None => Ok(()),
        }
    }
}

/// The denials of one server, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Denials(Arc<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// As many as the tally has places, at most.
    list: Mutex<Vec<Denial>>,
    tally: Tally,
}

impl Denials {
    /// Notes what was asked for, if it is new, with the flag that `flag` finds out.
    pub(crate) fn note(&self, what: impl fmt::Display, flag: impl FnOnce() -> String) {
        self.keep(what, || (flag(), None));
    }

    /// As [`Denials::note`], with the flag that grants it and the one in whose place it comes.
    pub(crate) fn instead(&self, what: impl fmt::Display, flags: impl FnOnce() -> [String; 2]) {
        self.keep(what, || {
            let [flag, other] = flags();
            (flag, Some(other))
        });
    }

    fn keep(&self, what: impl fmt::Display, flags: impl FnOnce() -> (String, Option<String>)) {
        let Kept { list, tally } = &*self.0;
        let tag = tally.tag((), &what);
        if tally.count(tag, 1) == Counted::New {
            let (flag, instead_of) = flags();
            let denial = Denial { what: what.to_string(), flag, instead_of };
            let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
            if tally.insert(tag, 1, list.len()) == Counted::New {
                list.push(denial);
            }
        }
    }

    /// What was denied since this was last asked.
    pub(crate) fn take(&self) -> Vec<Denial> {
        let Kept { list, tally } = &*self.0;
        let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
        (0..list.len()).for_each(|place| {
            tally.take(place);
        });
        let mut all = std::mem::take(&mut *list);
        drop(list);
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tally::KEEP;

    #[test]
    fn a_flood_of_denials_waits_for_no_lock_and_each_is_kept_once() {
        let denials = Denials::default();
        (0..KEEP).for_each(|i| denials.note(format_args!("for {i}"), || "--net".into()));
        {
            // Whoever wanted the lock now would wait for ever.
            let _held = denials.0.list.lock().unwrap();
            (0..1000).for_each(|i| denials.note(format_args!("for {i}"), || "--net".into()));
        }
        assert_eq!(denials.take().len(), KEEP);
        denials.note("for 3", || "--net".into());
        denials.note("for 3", || "--net".into());
        assert_eq!(denials.take(), [Denial { what: "for 3".into(), flag: "--net".into(), instead_of: None }]);
        assert!(denials.take().is_empty());
    }
}
