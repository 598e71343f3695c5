//! Reading memory of this process that a caller named, and that may not be there.

use std::ffi::c_void;

/// How much is read at once.
const PIECE: usize = 1 << 20;

/// The bytes from `address` on: `size` of them, or as many as can be read.
///
/// The system copies them, and stops where there is no memory. A call that says a wrong size is to be recorded, not to
/// end the process.
pub(super) fn read(address: usize, size: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while bytes.len() < size {
        let piece = PIECE.min(size - bytes.len());
        let Some(from) = address.checked_add(bytes.len()) else { break };
        bytes.reserve(piece);
        let local = libc::iovec { iov_base: bytes.spare_capacity_mut().as_mut_ptr().cast::<c_void>(), iov_len: piece };
        let remote = libc::iovec { iov_base: std::ptr::with_exposed_provenance_mut(from), iov_len: piece };
        // SAFETY: there is room for `piece` bytes at `local`; the system checks `remote`.
        let copied = unsafe { libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0) };
        let copied = match usize::try_from(copied) {
            Ok(copied) => copied,
            Err(_) if is_forbidden() => {
                // SAFETY: as the caller of the API says, the memory is there; there is room.
                unsafe { std::ptr::copy_nonoverlapping(remote.iov_base.cast::<u8>(), local.iov_base.cast::<u8>(), piece) };
                piece
            }
            Err(_) => 0,
        };
        // SAFETY: that many were written.
        unsafe { bytes.set_len(bytes.len() + copied) };
        if copied < piece {
            break;
        }
    }
    bytes
}

/// Whether the system does not let this process use the call at all (some containers).
fn is_forbidden() -> bool {
    matches!(std::io::Error::last_os_error().raw_os_error(), Some(libc::ENOSYS | libc::EPERM))
}

/// Whether there is memory at an address.
pub(super) fn is_there(address: usize) -> bool {
    !read(address, 1).is_empty()
}

/// Text up to and with its zero, or what there is of it.
pub(super) fn read_text(address: usize) -> Vec<u8> {
    /// Texts of the API are names; an end is not looked for beyond this.
    const MOST: usize = 1 << 20;
    let mut bytes = Vec::new();
    // Pieces that do not cross a page, so that a text at the end of memory is read whole.
    while bytes.len() < MOST {
        let from = address + bytes.len();
        let piece = read(from, 4096 - from % 4096);
        match piece.iter().position(|byte| *byte == 0) {
            Some(end) => {
                bytes.extend_from_slice(&piece[..=end]);
                break;
            }
            None if piece.is_empty() => break,
            None => bytes.extend_from_slice(&piece),
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_as_far_as_it_is_there() {
        let bytes: Vec<u8> = (0..3_000_000u32).map(|n| n as u8).collect();
        assert_eq!(read(bytes.as_ptr().expose_provenance(), bytes.len()), bytes);
        assert!(read(16, 100).is_empty(), "the first page is never there");
        // SAFETY: a mapping of two pages, the second of which is taken away.
        let page = unsafe {
            let map =
                libc::mmap(std::ptr::null_mut(), 8192, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
            assert_ne!(map, libc::MAP_FAILED);
            assert_eq!(libc::mprotect(map.byte_add(4096), 4096, libc::PROT_NONE), 0);
            map.cast::<u8>()
        };
        // SAFETY: in the first page.
        unsafe { page.add(4094).cast::<[u8; 2]>().write(*b"ab") };
        let end = page.expose_provenance() + 4094;
        assert_eq!((read(end, 100), read_text(end)), (b"ab".to_vec(), b"ab".to_vec()));
        assert_eq!(read(end, usize::MAX), b"ab", "sizes that cannot be");
        // SAFETY: mapped above, used no more.
        assert_eq!(unsafe { libc::munmap(page.cast(), 8192) }, 0);
    }

    #[test]
    fn text_is_read_to_its_zero() {
        assert_eq!(read_text(c"one".as_ptr().expose_provenance()), b"one\0");
    }
}
