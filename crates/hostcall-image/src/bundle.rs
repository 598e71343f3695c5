//! The images of one program.

use std::borrow::Cow;

use crate::{BundleError, Image, ImageKind, Sha256, wire};

/// The images of one program, one for each kind of device that it was built for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramBundle {
    /// The program's name: the kernel crate's package name.
    pub name: Cow<'static, str>,
    /// Its images, in the order in which they were built.
    pub images: Vec<Image>,
    /// Why images that somebody may look for are missing, for the error of whoever finds none.
    pub note: Option<Cow<'static, str>>,
}

impl ProgramBundle {
    /// A bundle of `images`, without a note.
    pub fn new(name: impl Into<Cow<'static, str>>, images: Vec<Image>) -> ProgramBundle {
        ProgramBundle { name: name.into(), images, note: None }
    }

    /// Whether these bytes begin as a bundle does: others are an image, or nothing of this project's.
    pub fn is_one(bytes: &[u8]) -> bool {
        bytes.starts_with(&wire::MAGIC)
    }

    /// Reads a bundle, copying its images. The hashes are not compared: [`ProgramBundle::verify`] does, or
    /// [`ProgramBundle::checked`] for the one image that is going to be loaded.
    ///
    /// # Errors
    ///
    /// Any [`BundleError`] but [`BundleError::HashMismatch`].
    pub fn from_bytes(bytes: &[u8]) -> Result<ProgramBundle, BundleError> {
        wire::read(bytes, |text| Cow::Owned(text.to_owned()), |bytes| Cow::Owned(bytes.to_owned()))
    }

    /// [`ProgramBundle::from_bytes`] of bytes that live for ever, which are not copied.
    ///
    /// # Errors
    ///
    /// As [`ProgramBundle::from_bytes`].
    pub fn from_static(bytes: &'static [u8]) -> Result<ProgramBundle, BundleError> {
        wire::read(bytes, Cow::Borrowed, Cow::Borrowed)
    }

    /// The bundle's bytes: what [`ProgramBundle::from_bytes`] reads. Equal bundles give equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        wire::write(self)
    }

    /// The images of one kind.
    pub fn images_of(&self, kind: ImageKind) -> impl Iterator<Item = &Image> {
        self.images.iter().filter(move |image| image.kind == kind)
    }

    /// `image`, after its bytes have been hashed and the hash compared.
    ///
    /// # Errors
    ///
    /// [`BundleError::HashMismatch`].
    pub fn checked<'a>(&self, image: &'a Image) -> Result<&'a Image, BundleError> {
        let found = Sha256::of(&image.bytes);
        if found == image.sha256 {
            return Ok(image);
        }
        Err(BundleError::HashMismatch {
            program: self.name.to_string(),
            kind: image.kind,
            arch: image.arch.to_string(),
            expected: image.sha256,
            found,
        })
    }

    /// Compares every image with its hash.
    ///
    /// # Errors
    ///
    /// [`BundleError::HashMismatch`] for the first that differs.
    pub fn verify(&self) -> Result<(), BundleError> {
        self.images.iter().try_for_each(|image| self.checked(image).map(drop))
    }
}
