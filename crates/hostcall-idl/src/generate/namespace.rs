//! Namespaces of C++.

use std::str::FromStr;

use super::names::{Names, Reserved};
use super::writer::Writer;

/// A namespace of C++, `a::b`, or the global one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Namespace(Vec<String>);

/// A text that names no namespace.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no namespace of C++: name one such as `services`, or `mine::services`")]
pub struct NamespaceError {
    /// The text.
    pub text: String,
}

hostcall_error::readable!(NamespaceError);

impl FromStr for Namespace {
    type Err = NamespaceError;

    fn from_str(text: &str) -> Result<Self, NamespaceError> {
        let is_name = |name: &str| {
            let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            begins && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && Names::new(Reserved::Cpp).give(name) == name
        };
        let names: Vec<String> = text.split("::").map(str::to_owned).collect();
        if names.iter().all(|name| is_name(name)) { Ok(Self(names)) } else { Err(NamespaceError { text: text.to_owned() }) }
    }
}

impl Namespace {
    /// A name in it, from the outermost on: `::a::b::name`.
    pub(super) fn full(&self, name: &str) -> String {
        let outer: String = self.0.iter().map(|part| format!("::{part}")).collect();
        format!("{outer}::{name}")
    }

    /// Writes what belongs into it.
    pub(super) fn write(&self, out: &mut Writer, inner: impl FnOnce(&mut Writer)) {
        let path = self.0.join("::");
        if path.is_empty() {
            return inner(out);
        }
        out.line(format!("namespace {path} {{"));
        out.gap();
        inner(out);
        out.gap();
        out.line(format!("}} // namespace {path}"));
    }
}
