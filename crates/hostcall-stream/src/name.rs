//! Names that somebody else chose.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

use hostcall_abi::Shown;
use serde::{Deserialize, Deserializer, Serialize};

/// A name that a program or a recording says: of a stream, a field, a type, a kernel, a device, a file. It is
/// [shown](Shown) wherever it goes, from the moment it is one: what would steer a terminal or break a line is an escape
/// in it, so it can be printed by anything.
///
/// It is no path: whoever names a file after a stream makes a word of it first, as the sinks of `hostcall-sinks` do.
///
/// ```
/// use hostcall_stream::Name;
///
/// assert_eq!(Name::from("Loss"), "Loss");
/// assert_eq!(Name::from("\u{1b}]0;mine\u{7}"), "\\u{1b}]0;mine\\u{7}");
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Name(String);

impl Name {
    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        // Mostly it is as it should be.
        let shown = Shown(&text);
        if shown.is_plain() { Self(text) } else { Self(shown.to_string()) }
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self(Shown(text).to_string())
    }
}

impl From<&String> for Name {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl PartialEq<String> for Name {
    fn eq(&self, other: &String) -> bool {
        self.0 == *other
    }
}

impl PartialEq<Name> for String {
    fn eq(&self, other: &Name) -> bool {
        *self == other.0
    }
}

impl PartialEq<Name> for &str {
    fn eq(&self, other: &Name) -> bool {
        *self == other.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_file_is_shown_from_the_moment_it_is_one() {
        let odd = "a\u{1b}[2J\n\u{202e}b";
        let name: Name = serde_json::from_str(&serde_json::to_string(odd).expect("a string")).expect("a name");
        assert_eq!(name, "a\\u{1b}[2J\\n\\u{202e}b");
        assert_eq!([Name::from(odd), Name::from(odd.to_owned())], [name.clone(), name.clone()]);
        // What is shown is shown once.
        assert_eq!(Name::from(name.as_str()), name);
        assert_eq!(format!("{:>4}|", Name::from("ab")), "  ab|");
    }
}
