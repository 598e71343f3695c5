//! One image: what a device can load, and how to know that it is intact.

use std::borrow::Cow;
use std::fmt;

use sha2::Digest;

/// What an image is, and so which kind of device can run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ImageKind {
    /// A shared library for the CPU simulator; its architecture is a target triple.
    Sim,
    /// PTX text, compiled by NVIDIA's driver when loaded; its architecture is the least `sm_…` that it runs on.
    Ptx,
    /// NVIDIA machine code; its architecture is the `sm_…` that it runs on.
    Cubin,
    /// An AMD code object (ELF); its architecture is the `gfx…` that it runs on.
    AmdCodeObject,
}

impl ImageKind {
    pub(crate) fn to_wire(self) -> u32 {
        match self {
            ImageKind::Sim => 1,
            ImageKind::Ptx => 2,
            ImageKind::Cubin => 3,
            ImageKind::AmdCodeObject => 4,
        }
    }

    pub(crate) fn from_wire(kind: u32) -> Option<ImageKind> {
        Some(match kind {
            1 => ImageKind::Sim,
            2 => ImageKind::Ptx,
            3 => ImageKind::Cubin,
            4 => ImageKind::AmdCodeObject,
            _ => return None,
        })
    }
}

impl fmt::Display for ImageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ImageKind::Sim => "simulator",
            ImageKind::Ptx => "PTX",
            ImageKind::Cubin => "cubin",
            ImageKind::AmdCodeObject => "AMD code object",
        })
    }
}

/// A SHA-256, printed in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sha256(pub [u8; 32]);

impl Sha256 {
    /// The hash of `bytes`.
    pub fn of(bytes: &[u8]) -> Sha256 {
        Sha256(sha2::Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One image of a program.
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    /// What it is.
    pub kind: ImageKind,
    /// What it runs on, in the words of its kind: see [`ImageKind`].
    pub arch: Cow<'static, str>,
    /// The image. PTX has no terminating zero.
    pub bytes: Cow<'static, [u8]>,
    /// The hash of `bytes` when it was built; [`ProgramBundle::verify`](crate::ProgramBundle::verify) compares.
    pub sha256: Sha256,
}

impl Image {
    /// An image of `bytes`, hashed now.
    pub fn new(kind: ImageKind, arch: impl Into<Cow<'static, str>>, bytes: impl Into<Cow<'static, [u8]>>) -> Image {
        let bytes = bytes.into();
        Image { kind, arch: arch.into(), sha256: Sha256::of(&bytes), bytes }
    }
}

impl fmt::Debug for Image {
    /// Without the bytes: an image is megabytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image")
            .field("kind", &self.kind)
            .field("arch", &self.arch)
            .field("len", &self.bytes.len())
            .field("sha256", &self.sha256)
            .finish()
    }
}
