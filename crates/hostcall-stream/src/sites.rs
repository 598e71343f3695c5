//! Places in the source that messages name.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use hostcall_abi::Shown;
use hostcall_abi::stream::log::Argument;
use hostcall_abi::stream::site::MAX_SITE;
use hostcall_abi::stream::{Log, SiteText};

use crate::format::format;
use crate::name::Name;

/// How important a line of a log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Something went wrong.
    Error = 1,
    /// Something may be wrong.
    Warn = 2,
    /// Something happened.
    Info = 3,
    /// For who looks for a fault.
    Debug = 4,
    /// Everything.
    Trace = 5,
}

impl Level {
    const ALL: [Self; 5] = [Self::Error, Self::Warn, Self::Info, Self::Debug, Self::Trace];

    /// The level with a number; `None`: there is none.
    pub fn new(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|level| *level as u32 == number)
    }

    /// In a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// A place in a program's source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// The file, as its compiler was given it.
    pub file: Name,
    /// Line, from 1 on.
    pub line: u32,
    /// Column, from 1 on.
    pub column: u32,
    /// The module's path.
    pub module: Name,
    /// The level of a line of a log; `None`: it is none.
    pub level: Option<Level>,
    /// The name of an interval, the format of a line, or nothing.
    pub text: String,
    /// The symbol of the only kernel that comes here, where the program says so; else empty.
    pub kernel: Name,
}

impl Site {
    /// The line of a log from here, whose arguments are in a lane's units; `None`: they are none.
    pub fn line(&self, units: &[Log]) -> Option<String> {
        let (arguments, count) = Argument::parse(units)?;
        Some(format(&self.text, &arguments[..count]))
    }
}

impl From<SiteText<'_>> for Site {
    fn from(SiteText { file, line, column, module, level, text, kernel }: SiteText<'_>) -> Self {
        let (file, module, kernel) = (file.into(), module.into(), kernel.into());
        Self { file, line, column, module, level: Level::new(level), text: text.into(), kernel }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// All places of the attached programs, by number from 1 on. None ever goes.
#[derive(Debug, Default)]
pub struct Sites {
    known: RwLock<Known>,
    /// Whether one of them says its kernel.
    say_kernels: AtomicBool,
}

#[derive(Debug, Default)]
struct Known {
    all: BTreeMap<u32, Arc<Site>>,
    numbers: HashMap<Arc<Site>, u32>,
}

impl Sites {
    /// The place with a number; `None`: there is none.
    pub fn get(&self, number: u32) -> Option<Arc<Site>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).all.get(&number).cloned()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.known.read().unwrap_or_else(PoisonError::into_inner).all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them, in the order of their numbers.
    pub fn all(&self) -> Vec<(u32, Arc<Site>)> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.all.iter().map(|(number, site)| (*number, site.clone())).collect()
    }

    /// What a report says of a place: where it is, and its text; or `site 7` of one that is not known, and nothing
    /// where there is none.
    pub fn name(&self, number: u32) -> String {
        match self.get(number) {
            Some(site) if site.text.is_empty() => site.to_string(),
            Some(site) => format!("{} ({site})", Shown(&site.text)),
            None if number == 0 => String::new(),
            None => format!("site {number}"),
        }
    }

    /// The number of a place, which may be new; 0 if there is none left.
    pub(crate) fn number(&self, site: Site) -> u32 {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = known.numbers.get(&site) {
            return *number;
        }
        let number = known.all.last_key_value().map_or(1, |(last, _)| last + 1);
        if number > MAX_SITE {
            return 0;
        }
        let site = Arc::new(site);
        self.hear(&site);
        known.all.insert(number, site.clone());
        known.numbers.insert(site, number);
        number
    }

    fn hear(&self, site: &Site) {
        if !site.kernel.is_empty() {
            // Pairs with the load in `say_kernels`. Relaxed: no message is from here yet.
            self.say_kernels.store(true, Ordering::Relaxed);
        }
    }

    /// Whether any place says its kernel.
    #[inline(always)]
    pub(crate) fn say_kernels(&self) -> bool {
        // Pairs with the store in `hear`.
        self.say_kernels.load(Ordering::Relaxed)
    }

    /// The kernel that a place says of itself; `None`: it says none.
    pub(crate) fn kernel(&self, number: u32) -> Option<&'static str> {
        self.get(number).filter(|site| !site.kernel.is_empty()).and_then(|site| crate::dispatch::name(site.kernel.as_str()))
    }

    /// Takes a place with the number that it has in a recording. The place that had the number before is forgotten.
    pub fn insert(&self, number: u32, site: Site) {
        self.hear(&site);
        self.known.write().unwrap_or_else(PoisonError::into_inner).all.insert(number, Arc::new(site));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(line: u32) -> Site {
        Site { file: "src/lib.rs".into(), line, column: 5, module: "a".into(), level: None, text: String::new(), kernel: Name::default() }
    }

    #[test]
    fn a_place_has_one_number_whoever_names_it() {
        let sites = Sites::default();
        assert_eq!([1, 2, 1].map(|line| sites.number(site(line))), [1, 2, 1]);
        assert_eq!(sites.get(2).as_deref(), Some(&site(2)));
        assert_eq!((sites.get(0), sites.get(3)), (None, None));
        let named = sites.number(Site { text: "softmax".into(), ..site(1) });
        assert_eq!([0, 1, named, 9].map(|number| sites.name(number)), ["", "src/lib.rs:1:5", "softmax (src/lib.rs:1:5)", "site 9"]);
    }

    #[test]
    fn there_are_as_many_places_as_a_message_can_name() {
        let sites = Sites::default();
        assert!((1..=MAX_SITE).all(|line| sites.number(site(line)) == line));
        assert_eq!((sites.number(site(0)), sites.number(site(7))), (0, 7));
    }
}
