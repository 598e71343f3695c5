//! Why bytes are not a bundle, or an image is not what it says.

use crate::{ImageKind, Sha256};

/// Why bytes are not a bundle, or an image is not what it says.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// The bytes do not begin as a bundle does.
    #[error("not a program bundle: it does not begin with {:?}; build one with `cargo hostcall build`", String::from_utf8_lossy(&crate::wire::MAGIC))]
    NotABundle,
    /// Written by another version of the format.
    #[error(
        "the program bundle has format version {found}, and this program reads version {supported}: build it again with the same release of hostcall"
    )]
    Version {
        /// The version found.
        found: u32,
        /// The version this crate reads.
        supported: u32,
    },
    /// The bytes end before the bundle does.
    #[error(
        "the program bundle is cut short: {field} needs {needed} bytes at offset {offset}, {left} are left: the file is damaged; copy it again, or build it again"
    )]
    Truncated {
        /// What was being read.
        field: &'static str,
        /// Where.
        offset: usize,
        /// How many bytes it needs.
        needed: u64,
        /// How many there are.
        left: usize,
    },
    /// There are bytes after the last image.
    #[error("the program bundle has {extra} bytes after its last image: the file is damaged; copy it again, or build it again")]
    TrailingBytes {
        /// How many.
        extra: usize,
    },
    /// A text that is not UTF-8.
    #[error("{field} of the program bundle is not UTF-8: the file is damaged; copy it again, or build it again")]
    NotText {
        /// Which text.
        field: &'static str,
    },
    /// A text that names something, and cannot be a name: it would lead somewhere as a part of a path, or steer a
    /// terminal.
    #[error(
        "{field} of the program bundle is {text:?}, and names have no `/`, no `\\` and nothing that is not printed: the file is damaged; copy it again, or build it again"
    )]
    NotAName {
        /// Which text.
        field: &'static str,
        /// It.
        text: String,
    },
    /// A flag that is neither 0 nor 1.
    #[error("{field} of the program bundle is {value}, neither 0 nor 1: the file is damaged; copy it again, or build it again")]
    NotAFlag {
        /// Which flag.
        field: &'static str,
        /// Its value.
        value: u32,
    },
    /// A kind of image that this version does not know.
    #[error("the program bundle has an image of unknown kind {kind}: it is damaged, or of a later release of hostcall; build it again")]
    UnknownKind {
        /// The kind's number.
        kind: u32,
    },
    /// An image's bytes are not those that were hashed when it was built.
    #[error(
        "{kind} image for {arch} of program {program:?} is damaged: its SHA-256 is {found}, the bundle says {expected}; copy the file again, or build it again"
    )]
    HashMismatch {
        /// The program's name.
        program: String,
        /// The image's kind.
        kind: ImageKind,
        /// The image's architecture.
        arch: String,
        /// What the bundle says.
        expected: Sha256,
        /// What the bytes hash to.
        found: Sha256,
    },
}

hostcall_error::readable!(BundleError);
