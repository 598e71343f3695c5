//! The bundle of images that a program is, until `offload-image` exports its own.

/// What an image is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImageKind {
    /// A shared library for the CPU simulator.
    Sim,
    /// PTX text.
    Ptx,
    /// An NVIDIA device binary.
    Cubin,
    /// An AMD code object.
    CodeObject,
}

/// One build of a program.
#[derive(Clone, Debug)]
pub struct Image {
    /// What it is for.
    pub kind: ImageKind,
    /// The architecture: `"x86_64-linux"`, `"sm_90"`, `"gfx90a"`.
    pub arch: String,
    /// Contents.
    pub bytes: Vec<u8>,
    /// SHA-256 of `bytes`.
    pub sha256: [u8; 32],
}

/// A device program: one image for each kind of device.
#[derive(Clone, Debug)]
pub struct ProgramBundle {
    /// The program's name.
    pub name: String,
    /// Its images.
    pub images: Vec<Image>,
    /// What is missing and why.
    pub note: Option<String>,
}
