//! Memory: the device heap.

use crate::file;
use core::alloc::{GlobalAlloc, Layout};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, Ordering};
use hostcall_device::heap::DeviceHeap;

/// Not 0 once the heap had no room for something.
static EXHAUSTED: AtomicU32 = AtomicU32::new(0);

/// Notes that there was no room, if there was none.
fn noted(block: *mut u8) -> *mut u8 {
    if block.is_null() {
        // Relaxed, as the load: it is looked at when the program ends, by the lane that ends it for want of memory if by any.
        EXHAUSTED.store(1, Ordering::Relaxed);
    }
    block
}

/// Says on standard error how to get more memory, if there was too little.
pub(crate) fn explain_exhaustion() {
    if EXHAUSTED.load(Ordering::Relaxed) == 0 {
        return;
    }
    let heap = hostcall_device::heap::stats();
    let mut note = Note { bytes: [0; 160], len: 0 };
    note.text("note: ");
    note.number(heap.used_bytes as u64);
    note.text(" of the ");
    note.number(heap.total_bytes as u64);
    note.text(" bytes of the device heap are in use, and something did not fit: raise it with `--heap`\n");
    // A host that is gone cannot be told.
    let _ = file::print(2, note.written());
}

/// A line of text, made without `core::fmt`: the runtime's own copy of that would be a sixth of the smallest program.
struct Note {
    bytes: [u8; 160],
    len: usize,
}

impl Note {
    /// What does not fit is lost.
    fn text(&mut self, text: &str) {
        for byte in text.bytes() {
            self.byte(byte);
        }
    }

    fn number(&mut self, number: u64) {
        let mut unit = 1;
        while number / unit >= 10 {
            unit *= 10;
        }
        while unit > 0 {
            self.byte(b'0' + (number / unit % 10) as u8);
            unit /= 10;
        }
    }

    fn byte(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.len) {
            *place = byte;
            self.len += 1;
        }
    }

    fn written(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// Memory of `size` bytes, or null.
#[unsafe(no_mangle)]
pub extern "C" fn sys_malloc(size: usize, align: usize) -> *mut u8 {
    match Layout::from_size_align(size, align) {
        // SAFETY: the device heap serves a size of 0 as it does 1.
        Ok(layout) => noted(unsafe { DeviceHeap.alloc(layout) }),
        Err(_) => null_mut(),
    }
}

/// As [`sys_malloc`].
#[unsafe(no_mangle)]
pub extern "C" fn sys_alloc(size: usize, align: usize) -> *mut u8 {
    sys_malloc(size, align)
}

/// As [`sys_malloc`], filled with zeros.
#[unsafe(no_mangle)]
pub extern "C" fn sys_alloc_zeroed(size: usize, align: usize) -> *mut u8 {
    let block = sys_malloc(size, align);
    if !block.is_null() {
        // SAFETY: the block has `size` bytes.
        unsafe { block.write_bytes(0, size) };
    }
    block
}

/// Memory of `new_size` bytes with the contents of `block`, which is given back; or null, and `block` stays.
///
/// # Safety
/// `block` is of `size` bytes and came from these functions, with the same `align`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_realloc(block: *mut u8, size: usize, align: usize, new_size: usize) -> *mut u8 {
    match (Layout::from_size_align(size, align), Layout::from_size_align(new_size, align)) {
        // SAFETY: the caller's; the new size is one that a layout can have.
        (Ok(layout), Ok(_)) => noted(unsafe { DeviceHeap.realloc(block, layout, new_size) }),
        _ => null_mut(),
    }
}

/// Gives memory back.
///
/// # Safety
/// `block` is of `size` bytes and came from these functions, with the same `align`; nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_free(block: *mut u8, size: usize, align: usize) {
    if let Ok(layout) = Layout::from_size_align(size, align)
        && !block.is_null()
    {
        // SAFETY: the caller's.
        unsafe { DeviceHeap.dealloc(block, layout) };
    }
}

/// As [`sys_free`].
///
/// # Safety
/// As [`sys_free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_dealloc(block: *mut u8, size: usize, align: usize) {
    // SAFETY: the caller's.
    unsafe { sys_free(block, size, align) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_has_its_numbers_in_full_and_ends_where_its_room_does() {
        let mut note = Note { bytes: [0; 160], len: 0 };
        for number in [0, 7, 10, 1909, u64::MAX] {
            note.number(number);
            note.text(" ");
        }
        assert_eq!(note.written(), b"0 7 10 1909 18446744073709551615 ");
        note.text(&"x".repeat(200));
        assert_eq!(note.written().len(), 160);
    }
}
