//! The bundle as bytes.
//!
//! All integers are little-endian, nothing is aligned, and nothing follows the last image:
//!
//! ```text
//! magic     8 bytes, "hcbundle"
//! version   u32
//! name      text        text = u32 length, UTF-8; names and archs have no `/`, no `\` and
//!                                     nothing that is not printed
//! has note  u32         0 or 1
//! note      text        only if there is one
//! images    u32
//! each:     kind u32, arch text, SHA-256 32 bytes, length u64, bytes
//! ```

use std::borrow::Cow;

use hostcall_abi::Shown;

use crate::{BundleError, Image, ImageKind, ProgramBundle, Sha256};

pub(crate) const MAGIC: [u8; 8] = *b"hcbundle";
const VERSION: u32 = 1;

pub(crate) fn write(bundle: &ProgramBundle) -> Vec<u8> {
    let mut out = Vec::with_capacity(256 + bundle.images.iter().map(|image| image.bytes.len() + 128).sum::<usize>());
    out.extend_from_slice(&MAGIC);
    number(&mut out, VERSION);
    text(&mut out, &bundle.name);
    number(&mut out, u32::from(bundle.note.is_some()));
    if let Some(note) = &bundle.note {
        text(&mut out, note);
    }
    number(&mut out, bundle.images.len() as u32);
    for image in &bundle.images {
        number(&mut out, image.kind.to_wire());
        text(&mut out, &image.arch);
        out.extend_from_slice(&image.sha256.0);
        out.extend_from_slice(&(image.bytes.len() as u64).to_le_bytes());
        out.extend_from_slice(&image.bytes);
    }
    out
}

fn number(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    number(out, text.len() as u32);
    out.extend_from_slice(text.as_bytes());
}

/// Reads a bundle; `text` and `data` decide whether its parts are borrowed or copied.
pub(crate) fn read<'a>(
    bytes: &'a [u8],
    text: impl Fn(&'a str) -> Cow<'static, str>,
    data: impl Fn(&'a [u8]) -> Cow<'static, [u8]>,
) -> Result<ProgramBundle, BundleError> {
    let mut reader = Reader { bytes, at: 0 };
    if !bytes.starts_with(&MAGIC) {
        return Err(BundleError::NotABundle);
    }
    reader.at = MAGIC.len();
    let found = reader.number("the version")?;
    if found != VERSION {
        return Err(BundleError::Version { found, supported: VERSION });
    }
    let name = text(reader.name("name")?);
    let note = match reader.number("the note's presence")? {
        0 => None,
        1 => Some(text(reader.text("note")?)),
        value => return Err(BundleError::NotAFlag { field: "note's presence", value }),
    };
    // The count is not trusted with an allocation: the vector grows by images that were really there.
    let count = reader.number("the number of images")?;
    let mut images = Vec::new();
    for _ in 0..count {
        let kind = reader.number("an image's kind")?;
        let kind = ImageKind::from_wire(kind).ok_or(BundleError::UnknownKind { kind })?;
        let arch = text(reader.name("an image's architecture")?);
        let mut sha256 = [0; 32];
        sha256.copy_from_slice(reader.take("an image's SHA-256", 32)?);
        let mut len = [0; 8];
        len.copy_from_slice(reader.take("an image's length", 8)?);
        let bytes = data(reader.take("an image", u64::from_le_bytes(len))?);
        images.push(Image { kind, arch, bytes, sha256: Sha256(sha256) });
    }
    match bytes.len() - reader.at {
        0 => Ok(ProgramBundle { name, images, note }),
        extra => Err(BundleError::TrailingBytes { extra }),
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, field: &'static str, needed: u64) -> Result<&'a [u8], BundleError> {
        let rest = &self.bytes[self.at..];
        let taken = usize::try_from(needed).ok().and_then(|needed| rest.get(..needed)).ok_or(BundleError::Truncated {
            field,
            offset: self.at,
            needed,
            left: rest.len(),
        })?;
        self.at += taken.len();
        Ok(taken)
    }

    fn number(&mut self, field: &'static str) -> Result<u32, BundleError> {
        let mut word = [0; 4];
        word.copy_from_slice(self.take(field, 4)?);
        Ok(u32::from_le_bytes(word))
    }

    /// A text that is printed, and may become a part of a path.
    fn name(&mut self, field: &'static str) -> Result<&'a str, BundleError> {
        let text = self.text(field)?;
        let is_name = Shown(text).is_plain() && !text.contains(['/', '\\']);
        if is_name { Ok(text) } else { Err(BundleError::NotAName { field, text: text.into() }) }
    }

    fn text(&mut self, field: &'static str) -> Result<&'a str, BundleError> {
        let len = self.number(field)?;
        std::str::from_utf8(self.take(field, len.into())?).map_err(|_| BundleError::NotText { field })
    }
}
