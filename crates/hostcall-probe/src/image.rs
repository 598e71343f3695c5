//! What a program hands to the driver as a module: an address, behind which lies text, machine code, or a fatbin with
//! some of each.
//!
//! A fatbin's layout is not documented. What is used of it was read off files of `nvcc` 13 in each of its modes of
//! compression: a head of the word [`FATBIN`], with its own bytes at 6 and those behind it at 8; then parts, each with
//! its kind at 0 (1: PTX), its own bytes at 4, those behind it at 8, those of them that were compressed at 16, the
//! number of its architecture at 28, flags at 40, and how many bytes come out at 56. A part that says anything else is
//! passed over.

use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_void};
use std::io::Read as _;

/// What a fatbin begins with.
const FATBIN: u32 = 0xba55_ed50;
/// What the object begins with by which compilers hand fatbins to the runtime: two words, and then the fatbin's address
/// (`fatbinary_section.h` of CUDA's toolkit).
const WRAPPER: u32 = 0x4662_43b1;
const ELF: [u8; 4] = *b"\x7fELF";

/// A part is compressed as one block of LZ4.
const LZ4: u64 = 0x2000;
/// A part is compressed as a frame of Zstandard.
const ZSTD: u64 = 0x8000;
/// The most that PTX may come to.
const LARGEST: u64 = 1 << 30;

/// What lies at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Image<'a> {
    /// PTX: as it came, or out of a fatbin.
    Ptx(Cow<'a, [u8]>),
    /// Machine code, the whole of it.
    Code(&'a [u8]),
    /// A fatbin in which no PTX is for this GPU.
    NoPtx,
    /// Something else.
    Unknown,
}

impl<'a> Image<'a> {
    /// Looks at what a program gives to the driver, on a GPU of that capability (90: 9.0).
    ///
    /// # Safety
    /// `at` is null or what one may give to `cuModuleLoadData`, and stays so for `'a`.
    pub(crate) unsafe fn at(at: *const c_void, capability: u32) -> Image<'a> {
        if at.is_null() {
            return Image::Unknown;
        }
        // SAFETY: an image has a first byte, and each further one is read only behind one that is no zero: what ends
        // before its fourth byte is text, which ends in a zero.
        let head = unsafe { first_bytes(at.cast()) };
        match u32::from_le_bytes(head) {
            WRAPPER => {
                // SAFETY: behind the wrapper's two words lies the address of a fatbin.
                unsafe { Image::at(at.byte_add(8).cast::<*const c_void>().read_unaligned(), capability) }
            }
            FATBIN => {
                // SAFETY: a fatbin has a head of 16 bytes.
                let head = unsafe { std::slice::from_raw_parts(at.cast::<u8>(), 16) };
                let bytes = u64::from(half(head, 6).unwrap_or_default()).saturating_add(long(head, 8).unwrap_or_default());
                let Ok(bytes) = usize::try_from(bytes) else { return Image::Unknown };
                // SAFETY: it is as long as its head says: the driver goes by that, too.
                Image::in_fatbin(unsafe { std::slice::from_raw_parts(at.cast(), bytes) }, capability)
            }
            _ if head == ELF => {
                // SAFETY: an ELF file, whose header has 64 bytes.
                let header = unsafe { std::slice::from_raw_parts(at.cast::<u8>(), 64) };
                match elf_bytes(header) {
                    // SAFETY: the table of sections is the last part of what assemblers of CUDA's write, or the table
                    // of segments is: both lie in the file.
                    Some(bytes) => Image::Code(unsafe { std::slice::from_raw_parts(at.cast(), bytes) }),
                    None => Image::Unknown,
                }
            }
            // SAFETY: the only other form that the driver takes is text, which ends in a zero.
            _ => Image::of_text(unsafe { CStr::from_ptr(at.cast()) }.to_bytes()),
        }
    }

    /// Looks at a file that a program has the driver load.
    pub(crate) fn of_file(bytes: &'a [u8], capability: u32) -> Image<'a> {
        match bytes.first_chunk::<4>() {
            Some(head) if u32::from_le_bytes(*head) == FATBIN => Image::in_fatbin(bytes, capability),
            Some(&ELF) => Image::Code(bytes),
            _ => Image::of_text(bytes.split(|byte| *byte == 0).next().unwrap_or_default()),
        }
    }

    fn of_text(text: &'a [u8]) -> Image<'a> {
        let is_ptx = text.windows(8).any(|word| word == b".version");
        if is_ptx { Image::Ptx(Cow::Borrowed(text)) } else { Image::Unknown }
    }

    /// The PTX of the latest architecture that this GPU is not older than.
    fn in_fatbin(fatbin: &'a [u8], capability: u32) -> Image<'a> {
        let fitting = parts(fatbin).filter(|part| part.kind == 1 && part.arch <= capability);
        let mut fitting: Vec<Part<'_>> = fitting.collect();
        fitting.sort_by_key(|part| std::cmp::Reverse(part.arch));
        fitting.into_iter().find_map(|part| part.text()).map_or(Image::NoPtx, Image::Ptx)
    }
}

/// The first bytes of what may be a shorter text.
///
/// # Safety
/// There is a byte at `at`, and one behind each of the first three that is no zero.
unsafe fn first_bytes(at: *const c_char) -> [u8; 4] {
    let mut head = [0; 4];
    for (index, byte) in head.iter_mut().enumerate() {
        // SAFETY: the caller's.
        *byte = unsafe { at.add(index).cast::<u8>().read() };
        if *byte == 0 {
            break;
        }
    }
    head
}

/// Bytes of an ELF file, by its header: as far as its tables of sections and of segments reach.
fn elf_bytes(header: &[u8]) -> Option<usize> {
    let end = |at: usize, size: usize, count: usize| {
        let (at, size, count) = (long(header, at)?, u64::from(half(header, size)?), u64::from(half(header, count)?));
        at.checked_add(size * count)
    };
    let (segments, sections) = (end(32, 54, 56)?, end(40, 58, 60)?);
    usize::try_from(segments.max(sections)).ok().filter(|bytes| *bytes >= 64)
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// A part of a fatbin.
struct Part<'a> {
    kind: u16,
    arch: u32,
    flags: u64,
    /// Bytes that come out, if it is compressed.
    inflated: u64,
    bytes: &'a [u8],
}

/// A fatbin's parts, up to the first that does not lie in it.
fn parts(fatbin: &[u8]) -> impl Iterator<Item = Part<'_>> {
    let mut at = half(fatbin, 6).map_or(fatbin.len(), usize::from);
    std::iter::from_fn(move || {
        let head = fatbin.get(at..)?;
        let (own, behind) = (word(head, 4)? as usize, usize::try_from(long(head, 8)?).ok()?);
        let bytes = head.get(own..)?.get(..behind)?;
        let packed = word(head, 16)? as usize;
        let part = Part {
            kind: half(head, 0)?,
            arch: word(head, 28)?,
            flags: long(head, 40)?,
            inflated: long(head, 56)?,
            bytes: if packed == 0 { bytes } else { bytes.get(..packed)? },
        };
        // A part without a head would be there for ever.
        at = at.checked_add(own.checked_add(behind)?).filter(|_| own >= 64)?;
        Some(part)
    })
}

impl<'a> Part<'a> {
    /// Its text, without the zeros behind it.
    fn text(&self) -> Option<Cow<'a, [u8]>> {
        let whole = match self.flags & (LZ4 | ZSTD) {
            0 => Cow::Borrowed(self.bytes),
            _ if self.inflated > LARGEST => return None,
            LZ4 => Cow::Owned(lz4_flex::block::decompress(self.bytes, self.inflated as usize).ok()?),
            ZSTD => {
                let mut text = Vec::new();
                let frame = ruzstd::decoding::StreamingDecoder::new(self.bytes).ok()?;
                frame.take(self.inflated).read_to_end(&mut text).ok()?;
                Cow::Owned(text)
            }
            _ => return None,
        };
        let is_whole = self.flags & (LZ4 | ZSTD) == 0 || whole.len() as u64 == self.inflated;
        let text = match whole {
            Cow::Borrowed(text) => Cow::Borrowed(text.split(|byte| *byte == 0).next().unwrap_or_default()),
            Cow::Owned(mut text) => {
                text.truncate(text.iter().position(|byte| *byte == 0).unwrap_or(text.len()));
                Cow::Owned(text)
            }
        };
        (is_whole && text.windows(8).any(|word| word == b".version")).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b".version 8.4\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";

    fn part(kind: u16, arch: u32, flags: u64, inflated: u64, bytes: &[u8]) -> Vec<u8> {
        let padded = bytes.len().next_multiple_of(8);
        let packed = if flags == 0 { 0 } else { bytes.len() as u32 };
        let mut part = [&kind.to_le_bytes()[..], &[1, 1], &64u32.to_le_bytes(), &(padded as u64).to_le_bytes()].concat();
        part.extend([&packed.to_le_bytes()[..], &[0; 8], &arch.to_le_bytes(), &[0; 8], &flags.to_le_bytes(), &[0; 8]].concat());
        part.extend(inflated.to_le_bytes());
        part.extend(bytes);
        part.resize(64 + padded, 0);
        part
    }

    fn fatbin(parts: &[Vec<u8>]) -> Vec<u8> {
        let all = parts.concat();
        [&FATBIN.to_le_bytes()[..], &1u16.to_le_bytes(), &16u16.to_le_bytes(), &(all.len() as u64).to_le_bytes(), &all].concat()
    }

    fn text_of(arch: u32) -> Vec<u8> {
        String::from_utf8_lossy(TEXT).replace("sm_80", &format!("sm_{arch}")).into_bytes()
    }

    /// What is at an address, as a program gives it.
    fn at(bytes: &[u8], capability: u32) -> Image<'_> {
        // SAFETY: these tests give images, or text with a zero behind it.
        unsafe { Image::at(bytes.as_ptr().cast(), capability) }
    }

    #[test]
    fn the_latest_ptx_that_fits_is_taken_out_of_a_fatbin_however_it_is_packed() {
        let lz4 = |text: &[u8]| {
            // A block of literals alone.
            let mut block = vec![0xf0, (text.len() - 15) as u8];
            block.extend(text);
            block
        };
        // A frame of one block as it is: its size in two bytes, then the block's in three.
        let zstd = |text: &[u8]| {
            let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x60];
            frame.extend((text.len() as u16).wrapping_sub(256).to_le_bytes());
            frame.extend(&(((text.len() as u32) << 3) | 1).to_le_bytes()[..3]);
            frame.extend(text);
            frame
        };
        let long = |arch| [text_of(arch), vec![b' '; 256]].concat();
        let file = fatbin(&[
            part(2, 90, 0, 0, b"\x7fELF"),
            part(1, 80, 0x11, 0, &text_of(80)),
            part(1, 90, 0x11 | LZ4, text_of(90).len() as u64, &lz4(&text_of(90))),
            part(1, 100, 0x11 | ZSTD, long(100).len() as u64, &zstd(&long(100))),
        ]);
        for (capability, found) in [(80, text_of(80)), (89, text_of(80)), (90, text_of(90)), (120, long(100))] {
            assert_eq!(at(&file, capability), Image::Ptx(found.clone().into()), "{capability}");
            assert_eq!(Image::of_file(&file, capability), Image::Ptx(found.into()), "{capability}");
        }
        assert_eq!(at(&file, 75), Image::NoPtx);
        // By the object that compilers make of it.
        let mut wrapper = [WRAPPER.to_le_bytes(), 1u32.to_le_bytes()].concat();
        wrapper.extend((file.as_ptr() as usize).to_le_bytes());
        assert_eq!(at(&wrapper, 90), Image::Ptx(text_of(90).into()));
    }

    #[test]
    fn what_is_damaged_has_no_ptx_and_nothing_is_read_beyond_it() {
        let parts =
            [part(1, 90, LZ4, TEXT.len() as u64, b"\xff\xff\xff"), part(1, 80, ZSTD, 9, b"(\xb5/\xfd no"), part(1, 70, 3 << 14, 9, b"")];
        assert_eq!(at(&fatbin(&parts), 90), Image::NoPtx);
        // More than anybody has, and another size than is said.
        for inflated in [u64::MAX, TEXT.len() as u64 + 1] {
            let block = [&[0xf0, (TEXT.len() - 15) as u8][..], TEXT].concat();
            assert_eq!(at(&fatbin(&[part(1, 90, LZ4, inflated, &block)]), 90), Image::NoPtx);
        }
        let whole = fatbin(&[part(1, 90, 0, 0, TEXT)]);
        for end in 16..whole.len() {
            let cut = Image::in_fatbin(&whole[..end], 90);
            assert!(cut == Image::NoPtx || end + 8 > whole.len(), "{end}: {cut:?}");
        }
        for at in 16..80 {
            let mut bad = whole.clone();
            bad[at] ^= 0xff;
            let _ = Image::in_fatbin(&bad, 90);
        }
    }

    #[test]
    fn machine_code_is_as_long_as_its_tables_reach_and_text_needs_a_version() {
        let mut code = vec![0u8; 64 + 3 * 64];
        code[..4].copy_from_slice(&ELF);
        code[40..48].copy_from_slice(&64u64.to_le_bytes());
        code[58..60].copy_from_slice(&64u16.to_le_bytes());
        code[60..62].copy_from_slice(&3u16.to_le_bytes());
        assert_eq!(at(&code, 90), Image::Code(&code));
        code[40..48].fill(0xff);
        assert_eq!(at(&code, 90), Image::Unknown);
        let text = [TEXT, b"\0 behind"].concat();
        assert_eq!(at(&text, 90), Image::Ptx(TEXT.into()));
        assert_eq!(Image::of_file(&text, 90), Image::Ptx(TEXT.into()));
        for other in [&b"\0"[..], b"a\0", b"ab\0", b"// nothing\0"] {
            assert_eq!((at(other, 90), Image::of_file(other, 90)), (Image::Unknown, Image::Unknown));
        }
        // SAFETY: null is allowed.
        assert_eq!(unsafe { Image::at(std::ptr::null(), 90) }, Image::Unknown);
        assert_eq!(Image::of_file(b"", 90), Image::Unknown);
    }
}
