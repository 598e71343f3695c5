//! Which version of the API the program was compiled for.
//!
//! LLVM 23 and LLVM 24 give the same names to functions with other parameters, and to other numbers. A program that
//! runs with the library of the other version would fail in ways that nobody understands. So our headers leave a note
//! in what is compiled with them (an ELF note named `OffloadAPI`), and the first `olInit` looks for notes in what is
//! loaded. Programs that were compiled with LLVM's own headers have none: for those the library's name is all there is.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::fail;
use crate::runtime::Error;
use crate::sys::{API_VERSION, ol_errc_t};

/// The note's owner, with the zeros that pad it to a multiple of 4.
const NAME: &[u8; 12] = b"OffloadAPI\0\0";

/// Versions that notes named: a bit for this library's, and the latest other one.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    ours: bool,
    other: Option<u32>,
}

impl Found {
    /// Adds the notes of a segment.
    fn add(&mut self, mut notes: &[u8]) {
        let word = |bytes: &[u8], at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
        while let (Some(name), Some(data)) = (word(notes, 0), word(notes, 4)) {
            let Some(data_at) = name.checked_next_multiple_of(4).and_then(|name| name.checked_add(12)) else { return };
            if notes.get(12..24) == Some(NAME)
                && name == 11
                && data == 4
                && let Some(version) = word(notes, data_at)
            {
                match version as u32 {
                    API_VERSION => self.ours = true,
                    version => self.other = Some(version),
                }
            }
            let next = data.checked_next_multiple_of(4).and_then(|data| data.checked_add(data_at));
            let Some(rest) = next.and_then(|next| notes.get(next..)) else { return };
            notes = rest;
        }
    }

    /// Whether the program was compiled for another version, as far as notes tell. A process may have parts that were
    /// compiled for different versions, each with its own library.
    fn verdict(&self) -> Result<(), Error> {
        match self.other {
            Some(other) if !self.ours => fail(
                ol_errc_t::OL_ERRC_UNSUPPORTED,
                format!(
                    "the program was compiled with the header of LLVM {other}'s Offload API, and this library has LLVM {API_VERSION}'s: \
                     link it to {}, or compile it with {}",
                    library_of(other),
                    if API_VERSION == 24 { "include/offload24" } else { "include/offload" }
                ),
            ),
            _ => Ok(()),
        }
    }
}

/// What the library of a version is called.
fn library_of(version: u32) -> &'static str {
    if version == 24 { "libhostcall_offload24" } else { "libhostcall_offload" }
}

/// # Safety
/// `object` is one that the system's loader describes, and `found` a [`Found`].
unsafe extern "C" fn look(object: *mut libc::dl_phdr_info, _size: usize, found: *mut c_void) -> c_int {
    // SAFETY: the caller's.
    let (object, found) = unsafe { (&*object, &mut *found.cast::<Found>()) };
    if object.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the loader's list of the object's segments.
    let segments = unsafe { std::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()) };
    // What is loaded: a note in a file that no segment loads is not there.
    let is_loaded = |note: &libc::Elf64_Phdr| {
        segments
            .iter()
            .any(|it| it.p_type == libc::PT_LOAD && note.p_vaddr >= it.p_vaddr && note.p_vaddr + note.p_memsz <= it.p_vaddr + it.p_memsz)
    };
    for note in segments.iter().filter(|segment| segment.p_type == libc::PT_NOTE && is_loaded(segment)) {
        let address = (object.dlpi_addr + note.p_vaddr) as usize;
        // SAFETY: a segment of an object that is loaded, and stays while the loader shows it; notes are not written.
        found.add(unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(address), note.p_memsz as usize) });
    }
    0
}

/// Refuses a program that was compiled for the other version. Looks until that has succeeded.
pub(super) fn check() -> Result<(), Error> {
    // Relaxed: nothing else depends on it.
    static SUCCEEDED: AtomicBool = AtomicBool::new(false);
    if SUCCEEDED.load(Ordering::Relaxed) {
        return Ok(());
    }
    let mut found = Found::default();
    // SAFETY: `look` gets what it expects, and unwinds nowhere: what it calls does not panic.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
    found.verdict()?;
    SUCCEEDED.store(true, Ordering::Relaxed);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(name: &[u8], data: &[u8]) -> Vec<u8> {
        let padded = |bytes: &[u8]| [bytes, &vec![0; bytes.len().next_multiple_of(4) - bytes.len()]].concat();
        let words = [name.len() as u32, data.len() as u32, 1].map(u32::to_ne_bytes).concat();
        [words, padded(name), padded(data)].concat()
    }

    fn found(notes: &[u8]) -> Found {
        let mut found = Found::default();
        found.add(notes);
        found
    }

    const OTHER: u32 = if API_VERSION == 23 { 24 } else { 23 };

    #[test]
    fn the_note_of_another_version_is_an_error_that_names_both() {
        let notes = [note(b"GNU\0", &[1; 20]), note(b"OffloadAPI\0", &OTHER.to_ne_bytes())].concat();
        assert_eq!(found(&notes), Found { ours: false, other: Some(OTHER) });
        let error = found(&notes).verdict().unwrap_err();
        assert_eq!(error.code, ol_errc_t::OL_ERRC_UNSUPPORTED);
        assert!(error.details().contains("of LLVM 23's Offload API") || error.details().contains("has LLVM 23's"), "{error}");
        assert!(error.details().contains("of LLVM 24's Offload API") || error.details().contains("has LLVM 24's"), "{error}");
        // With a part that was compiled for this one.
        let both = [notes, note(b"OffloadAPI\0", &API_VERSION.to_ne_bytes())].concat();
        assert_eq!(found(&both).verdict(), Ok(()));
        assert_eq!(found(&[]).verdict(), Ok(()));
    }

    #[test]
    fn notes_that_are_cut_or_lie_are_passed_over() {
        let whole = note(b"OffloadAPI\0", &OTHER.to_ne_bytes());
        for len in 0..whole.len() {
            assert_eq!(found(&whole[..len]), Found::default(), "{len}");
        }
        for at in 0..8 {
            let mut lying = whole.clone();
            lying[at] = 0xff;
            assert_eq!(found(&lying), Found::default(), "{at}");
        }
    }
}
