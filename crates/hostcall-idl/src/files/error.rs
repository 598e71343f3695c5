//! Why no bindings can be made of a file.

use std::fmt;

/// What is wrong, and where.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {kind}")]
pub struct Error {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1 on.
    pub line: usize,
    /// The column, from 1 on, in characters.
    pub column: usize,
    /// What is wrong.
    pub kind: ErrorKind,
}

hostcall_error::readable!(Error);

/// What is wrong with a definition.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// It is not Rust.
    #[error("not Rust: {message}")]
    Syntax {
        /// The parser's words.
        message: String,
    },
    /// What the macro would refuse as well.
    #[error("{message}")]
    Definition {
        /// The macro's words.
        message: String,
    },
    /// No type of this name is in the files.
    #[error("no type `{name}` is in the files: name the file that defines it as well")]
    UnknownType {
        /// The name, as written.
        name: String,
    },
    /// The type is imported, and none of the files defines it.
    #[error("`{name}` comes from elsewhere (`{path}`): name the file that defines it as well")]
    Elsewhere {
        /// The name, as written.
        name: String,
        /// What is imported.
        path: String,
    },
    /// Several types of this name are in the files.
    #[error("`{name}` is defined {count} times in the files: name fewer files, or write which one is meant (`crate::module::{name}`)")]
    Ambiguous {
        /// The name, as written.
        name: String,
        /// How many there are.
        count: usize,
    },
    /// The type has parameters.
    #[error("`{text}` is generic, and other languages have no such types: define a struct for each use")]
    Generic {
        /// The type, as written.
        text: String,
    },
    /// `Option` or `Result` with another number of types.
    #[error("`{name}` has {expected} here: an alias of that name, such as `io::Result`, is not known")]
    Parameters {
        /// `Option` or `Result`.
        name: &'static str,
        /// What it has.
        expected: &'static str,
    },
    /// `usize` or `isize` in a struct.
    #[error("`{name}` in a struct is of another size elsewhere: take `u64` or `u32`")]
    AddressSized {
        /// `usize` or `isize`.
        name: &'static str,
    },
    /// An element or a field that is not its bytes.
    #[error("`{text}` cannot be {place}: plain are numbers, arrays of them, and structs under `#[derive(hostcall::Plain)]`")]
    NotPlain {
        /// The type, as written.
        text: String,
        /// Where it stands.
        place: &'static str,
    },
    /// A struct without the derive, an enum or a union.
    #[error("`{name}` is {what} and cannot be on the wire: make it a `#[repr(C)]` struct under `#[derive(hostcall::Plain)]`")]
    NotDerived {
        /// Its name.
        name: String,
        /// What it is.
        what: &'static str,
    },
    /// A struct without a fixed layout.
    #[error("`{name}` needs `#[repr(C)]`: without it host and device may order its fields differently")]
    NotReprC {
        /// Its name.
        name: String,
    },
    /// A struct with padding.
    #[error("`{name}` has padding before {before}: order the fields from large to small, or add explicit fields (`_pad: [u8; N]`)")]
    Padding {
        /// The struct's name.
        name: String,
        /// The field before which it is, in quotes, or `its end`.
        before: String,
    },
    /// A struct that contains itself.
    #[error("`{name}` contains itself")]
    Recursive {
        /// Its name.
        name: String,
    },
    /// A type without bytes.
    #[error("`{text}` has no bytes, and C and C++ have no such types: leave it out")]
    Empty {
        /// The type, as written.
        text: String,
    },
    /// The number of elements cannot be found out.
    #[error("the length `{text}` is not known here: write a number, or name constants of these files")]
    Length {
        /// The expression, as written.
        text: String,
    },
    /// A tuple of more than 8.
    #[error("a tuple has at most 8 members, and this one {members}: take a struct")]
    LongTuple {
        /// How many it has.
        members: usize,
    },
    /// More than one message can carry.
    #[error("{units} units of 4 bytes are more than one message carries {what}: at most {max}; pass large data as a slice")]
    TooManyUnits {
        /// How many there are.
        units: usize,
        /// The most.
        max: usize,
        /// `as arguments` or `as a result`.
        what: &'static str,
    },
    /// A message that cannot be sent.
    #[error("a message has 4 to 124 bytes, a multiple of 4, and `{name}` has {bytes}: add a field for the rest, or send several")]
    MessageSize {
        /// The struct's name.
        name: String,
        /// Its size.
        bytes: usize,
    },
    /// Two services or structs of one name.
    #[error("`{name}` is there twice: a binding has one name for each service and each struct")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// Nothing to bind.
    #[error("no `#[hostcall::service]` trait is in the file, nor, for kernels, a `#[hostcall::stream]` struct")]
    NoService,
}

hostcall_error::readable!(ErrorKind);

/// All errors of all files.
#[derive(Clone, PartialEq, Eq)]
pub struct Errors(pub Vec<Error>);

hostcall_error::readable!(Errors);

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}
