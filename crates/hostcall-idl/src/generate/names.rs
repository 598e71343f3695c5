//! Names of Rust in languages that reserve other words.

use std::collections::HashSet;

/// Whose words are reserved.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reserved {
    C,
    Cpp,
    Python,
}

/// Words of C, up to C23, that C++ has not.
const C: &[&str] = &["_Atomic", "_Bool", "_Complex", "_Generic", "_Imaginary", "_Noreturn", "restrict", "typeof", "typeof_unqual"];

/// Words of C++, up to C++26, most of which are words of C too.
const CPP: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "contract_assert",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];

/// Macros of the usual headers that look like names.
const MACROS: &[&str] = &[
    "EOF",
    "I",
    "INFINITY",
    "NAN",
    "NULL",
    "assert",
    "complex",
    "errno",
    "i386",
    "imaginary",
    "linux",
    "major",
    "makedev",
    "minor",
    "offsetof",
    "stderr",
    "stdin",
    "stdout",
    "unix",
];

/// Words of Python, and the names that a module of ours uses itself.
const PYTHON: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
    "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try",
    "while", "with", "yield", "hc", "np",
];

/// Names that the bindings themselves use where a definition's could stand.
const OURS: &[&str] = &["hc_port", "hostcall", "std"];

impl Reserved {
    fn has(self, name: &str) -> bool {
        let words: &[&[&str]] = match self {
            Self::C => &[C, CPP, MACROS, OURS],
            Self::Cpp => &[CPP, MACROS, OURS],
            Self::Python => &[PYTHON],
        };
        words.iter().any(|words| words.contains(&name))
    }
}

/// The names of one scope, so that none is given twice.
pub(super) struct Names {
    reserved: Reserved,
    given: HashSet<String>,
}

impl Names {
    pub(super) fn new(reserved: Reserved) -> Self {
        Self { reserved, given: HashSet::new() }
    }

    /// With names that others have already.
    pub(super) fn taken(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.given.extend(names);
        self
    }

    /// The name, with as many underscores behind it as it needs to be one.
    pub(super) fn give(&mut self, name: &str) -> String {
        let mut name = name.to_owned();
        while self.reserved.has(&name) || self.given.contains(&name) {
            name.push('_');
        }
        self.given.insert(name.clone());
        name
    }
}

/// What a comment says of names that had to change: pairs of Rust's name and the one given.
pub(super) fn renamed<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    pairs.into_iter().filter(|(old, new)| old != new).map(|(old, new)| format!("`{new}` is `{old}` in Rust.")).collect()
}
