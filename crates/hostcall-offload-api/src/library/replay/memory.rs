//! What addresses of a recording mean here.

use std::collections::{BTreeMap, HashMap};

/// How much of the recorded process's memory one mapping stands for.
const WINDOW: u64 = 1 << 32;

/// Why memory cannot be had.
#[derive(Debug)]
pub(super) struct NoMemory(pub(super) std::io::Error);

/// Memory of devices, and memory of the program that was recorded.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    /// Of memory that the library knew: where it began, how many bytes it has, and where it is here.
    known: BTreeMap<u64, (u64, u64)>,
    /// What stands for the program's own memory: a byte for each of its bytes, in mappings of which only touched pages
    /// take memory. So two calls that used the same memory there use the same memory here.
    windows: HashMap<u64, u64>,
}

impl Addresses {
    /// `size` bytes at `there` are those at `here` from now on.
    pub(super) fn insert(&mut self, there: u64, size: u64, here: u64) {
        self.known.retain(|base, (length, _)| *base >= there.saturating_add(size) || base.saturating_add(*length) <= there);
        self.known.insert(there, (size, here));
    }

    /// The address here, if the library knew it there.
    pub(super) fn known(&self, there: u64) -> Option<u64> {
        let (base, (size, here)) = self.known.range(..=there).next_back()?;
        (there - base < *size).then(|| here + (there - base))
    }

    /// The address here, of known memory or of the program's own.
    pub(super) fn find(&mut self, there: u64) -> Result<u64, NoMemory> {
        match self.known(there) {
            Some(here) => Ok(here),
            None => self.own(there),
        }
    }

    /// The address of what stands for the program's own memory. As many bytes as a window has follow it.
    pub(super) fn own(&mut self, there: u64) -> Result<u64, NoMemory> {
        let number = there / WINDOW;
        let window = match self.windows.get(&number) {
            Some(window) => *window,
            None => {
                let window = map()?;
                self.windows.insert(number, window);
                window
            }
        };
        Ok(window + there % WINDOW)
    }

    /// Whether as many bytes follow each address of the program's own memory.
    pub(super) fn fits(size: u64) -> bool {
        size <= WINDOW
    }
}

/// Two windows of zeros: what begins in the first one may end in the second. They stay until the process ends: a
/// recording that is cut leaves queues at work, which may still use them.
fn map() -> Result<u64, NoMemory> {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    // SAFETY: a new mapping at a place of the system's choice.
    let window = unsafe { libc::mmap(std::ptr::null_mut(), 2 * WINDOW as usize, access, kind, -1, 0) };
    if window == libc::MAP_FAILED { Err(NoMemory(std::io::Error::last_os_error())) } else { Ok(window.expose_provenance() as u64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_memory_is_found_by_any_of_its_bytes_and_replaced_by_what_overlaps_it() {
        let mut addresses = Addresses::default();
        addresses.insert(1000, 100, 5000);
        assert_eq!([999, 1000, 1099, 1100].map(|there| addresses.known(there)), [None, Some(5000), Some(5099), None]);
        addresses.insert(1050, 10, 9000);
        assert_eq!([1000, 1055].map(|there| addresses.known(there)), [None, Some(9005)]);
        addresses.insert(u64::MAX - 1, u64::MAX, 7);
        assert_eq!(addresses.known(u64::MAX), Some(8));
    }

    #[test]
    fn the_program_s_own_memory_is_the_same_each_time() {
        let mut addresses = Addresses::default();
        let (one, two) = (addresses.own(WINDOW - 2).unwrap(), addresses.own(WINDOW - 1).unwrap());
        assert_eq!(one + 1, two);
        // SAFETY: the mapping goes on behind the window.
        unsafe { std::ptr::with_exposed_provenance_mut::<[u8; 4]>(one as usize).write_unaligned([1, 2, 3, 4]) };
        // SAFETY: as above.
        assert_eq!(unsafe { std::ptr::with_exposed_provenance::<u8>(two as usize).read() }, 2);
    }
}
