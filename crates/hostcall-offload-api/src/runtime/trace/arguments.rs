//! A call's arguments as text.

use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::ops::Range;

use crate::runtime::{Bytes, Print};

/// How many elements of an array are shown.
const MOST_ELEMENTS: usize = 16;

/// How many bytes of a property are looked at: more than is ever shown, and never all of a size that was only said.
const MOST_BYTES: usize = 4096;

/// Adds the value that some bytes begin with, as text; whether there are enough of them.
///
/// # Safety
///
/// Any bytes are a `T`.
pub unsafe fn element<T: Print>(bytes: &[u8], to: &mut String) -> bool {
    let Some(bytes) = bytes.get(..size_of::<T>()) else { return false };
    // SAFETY: there are that many bytes, and any bytes are a `T`.
    unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }.push(to);
    true
}

/// Adds all values that some bytes are, as text.
///
/// # Safety
///
/// Any bytes are a `T`.
pub unsafe fn elements<T: Print>(bytes: &[u8], to: &mut String) -> bool {
    to.push('[');
    for (index, bytes) in bytes.chunks_exact(size_of::<T>().max(1)).take(MOST_ELEMENTS).enumerate() {
        to.push_str(if index == 0 { "" } else { ", " });
        // SAFETY: the caller says so.
        unsafe { element::<T>(bytes, to) };
    }
    to.push(']');
    true
}

/// Adds bytes that are text.
pub fn text(bytes: &[u8], to: &mut String) -> bool {
    Bytes(bytes).push(to);
    true
}

/// The arguments of a call, by name, in order.
#[derive(Debug)]
pub struct Arguments {
    succeeded: bool,
    /// The texts of all values, one behind the other.
    text: String,
    /// The arguments' names, and where their texts end.
    ends: Vec<(&'static str, usize)>,
}

thread_local! {
    /// Room for the arguments of this thread's next call.
    static ROOM: Cell<(String, Vec<(&'static str, usize)>)> = const { Cell::new((String::new(), Vec::new())) };
}

/// How much room is kept from one call to the next.
const MOST_ROOM: usize = 64 << 10;

impl Arguments {
    pub(in crate::runtime) fn new(succeeded: bool) -> Arguments {
        // (A thread that is ending may have no room any more.)
        let (mut text, mut ends) = ROOM.try_with(Cell::take).unwrap_or_default();
        text.clear();
        ends.clear();
        Arguments { succeeded, text, ends }
    }

    /// Names and texts.
    pub(super) fn list(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let begins = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| *end));
        begins.zip(&self.ends).map(|(begin, (name, end))| (*name, &self.text[begin..*end]))
    }

    /// Adds an argument, whose text `write` writes.
    fn add(&mut self, name: &'static str, write: impl FnOnce(&mut String)) {
        write(&mut self.text);
        self.ends.push((name, self.text.len()));
    }

    /// Whether the call succeeded, and so what it writes can be read.
    pub fn succeeded(&self) -> bool {
        self.succeeded
    }

    /// Adds a value.
    pub fn value<T: Print>(&mut self, name: &'static str, value: &T) {
        self.add(name, |to| value.push(to));
    }

    /// Adds an address, and the text of what is there, if there is one.
    fn described(&mut self, name: &'static str, address: *const c_void, text: impl FnOnce(&mut String) -> bool) {
        self.add(name, |to| {
            address.push(to);
            let length = to.len();
            to.push_str(" (");
            if text(to) { to.push(')') } else { to.truncate(length) }
        });
    }

    /// Adds an address, and what the caller put there.
    ///
    /// # Safety
    ///
    /// `address` is null or that of a value.
    pub unsafe fn input<T: Print + Copy>(&mut self, name: &'static str, address: *const T) {
        if address.is_null() {
            return self.value(name, &address);
        }
        // SAFETY: the caller says so.
        let value = unsafe { address.read_unaligned() };
        self.described(name, address.cast(), |to| {
            value.push(to);
            true
        });
    }

    /// Adds an address, and, after success, what the call wrote there.
    ///
    /// # Safety
    ///
    /// After success, `address` is null or that of a value.
    pub unsafe fn output<T: Print + Copy>(&mut self, name: &'static str, address: *const T) {
        if self.succeeded {
            // SAFETY: the caller says so.
            unsafe { self.input(name, address) }
        } else {
            self.value(name, &address);
        }
    }

    /// Adds the address of text, and the text.
    ///
    /// # Safety
    ///
    /// `address` is null or that of text that ends in a zero.
    pub unsafe fn text(&mut self, name: &'static str, address: *const c_char) {
        if address.is_null() {
            return self.value(name, &address);
        }
        let mut shown = Vec::new();
        while shown.len() <= Bytes::MOST {
            // SAFETY: no zero has been seen, so the text goes on.
            match unsafe { address.add(shown.len()).cast::<u8>().read() } {
                0 => break,
                byte => shown.push(byte),
            }
        }
        self.described(name, address.cast(), |to| text(&shown, to));
    }

    /// Adds the address of an array, and the elements of it that the caller put there.
    ///
    /// # Safety
    ///
    /// `address` is null or that of an array with the elements in `range`.
    pub unsafe fn inputs<T: Print + Copy>(&mut self, name: &'static str, address: *const T, range: Range<usize>) {
        if address.is_null() {
            return self.value(name, &address);
        }
        let count = range.len();
        self.described(name, address.cast(), |to| {
            to.push('[');
            for (place, index) in range.take(MOST_ELEMENTS).enumerate() {
                to.push_str(if place == 0 { "" } else { ", " });
                // SAFETY: the caller says that the array has this element.
                unsafe { address.add(index).read_unaligned() }.push(to);
            }
            if count > MOST_ELEMENTS {
                to.push_str(", … ");
                (count - MOST_ELEMENTS).push(to);
                to.push_str(" more");
            }
            to.push(']');
            true
        });
    }

    /// Adds the address of an array, and, after success, the elements of it that the call wrote.
    ///
    /// # Safety
    ///
    /// After success, `address` is null or that of an array with the elements in `range`.
    pub unsafe fn outputs<T: Print + Copy>(&mut self, name: &'static str, address: *const T, range: Range<usize>) {
        if self.succeeded {
            // SAFETY: the caller says so.
            unsafe { self.inputs(name, address, range) }
        } else {
            self.value(name, &address);
        }
    }

    /// Adds the address of a property, and, after success, the property: `size` bytes of a type that the caller of this
    /// knows.
    ///
    /// # Safety
    ///
    /// After success, `address` is null or that of `size` bytes.
    pub unsafe fn property(
        &mut self,
        name: &'static str,
        address: *const c_void,
        size: usize,
        show: impl FnOnce(&[u8], &mut String) -> bool,
    ) {
        if !self.succeeded || address.is_null() {
            return self.value(name, &address);
        }
        // SAFETY: the caller says so.
        let bytes = unsafe { std::slice::from_raw_parts(address.cast::<u8>(), size.min(MOST_BYTES)) };
        self.described(name, address, |to| show(bytes, to));
    }
}

impl Drop for Arguments {
    fn drop(&mut self) {
        if self.text.capacity() <= MOST_ROOM {
            let room = (std::mem::take(&mut self.text), std::mem::take(&mut self.ends));
            let _ = ROOM.try_with(|kept| kept.set(room));
        }
    }
}
