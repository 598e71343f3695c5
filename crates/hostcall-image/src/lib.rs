//! The bundle of images that a device program is.
//!
//! One kernel crate becomes several *images*: a shared library for the simulator, PTX (and perhaps cubins) for
//! NVIDIA, a code object for each AMD architecture. A [`ProgramBundle`] holds them all, each with its SHA-256, and
//! a device picks the one that it can run. `hostcall-build` writes bundles; `offload` loads them.
//!
//! * [`Image`]: one image, its kind, its architecture and its hash.
//! * [`ProgramBundle`]: the images of one program, and the bytes they are stored as.
//! * [`include_program!`]: the bundle that a `build.rs` wrote, inside the binary.
//!
//! A bundle is input: [`ProgramBundle::from_bytes`] answers anything that is not one with a [`BundleError`], and takes
//! memory in proportion to the input's length. What it reads as a name is one: it can be printed, and leads nowhere as
//! a part of a path.

mod bundle;
mod error;
mod image;
mod wire;

pub use bundle::ProgramBundle;
pub use error::BundleError;
pub use image::{Image, ImageKind, Sha256};

/// The [`ProgramBundle`] that this package's `build.rs` wrote with `hostcall_build::program(…).emit()`.
///
/// The argument is the program's name: the kernel crate's package name. The images stay in the binary's read-only
/// data and are not copied.
///
/// ```ignore
/// let bundle = offload_image::include_program!("wordcount");
/// ```
///
/// # Panics
///
/// If the build script's `NAME.program` is not a bundle; the file is written by the build of the same package, so this
/// means a damaged build directory, or a `hostcall-build` of another version.
#[macro_export]
macro_rules! include_program {
    ($name:literal) => {{
        static BYTES: &[u8] = ::core::include_bytes!(::core::env!(
            ::core::concat!("HOSTCALL_PROGRAM_", $name),
            ::core::concat!(
                "this package's build script has built no program `",
                $name,
                "`: the name is the package's in `hostcall_build::program(\"DIRECTORY\").emit()`, as its Cargo.toml has it"
            )
        ));
        match $crate::ProgramBundle::from_static(BYTES) {
            Ok(bundle) => bundle,
            Err(error) => ::core::panic!("{}.program, written by this package's build script: {error}", $name),
        }
    }};
}
