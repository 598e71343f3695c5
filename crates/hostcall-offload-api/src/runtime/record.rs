//! What is kept of a call that is recorded.
//!
//! An entry point lists its arguments as a [`Recorder`] needs them: numbers, handles, and memory with its size. It
//! reads no memory for that; the recorder does, and it does nothing at all unless the implementation [has
//! one](crate::Api::recorder).

use std::ffi::{c_char, c_void};

use super::Error;

/// What a function does with memory that the caller names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Values of known types, which it reads.
    Value,
    /// Untyped memory, which it reads, now or in a queue's turn.
    Read,
    /// Untyped memory, which it writes, now or in a queue's turn.
    Write,
    /// Values that it writes before it returns.
    Out,
    /// One handle that it writes before it returns.
    OutHandle,
    /// One address that it writes before it returns.
    OutPointer,
}

/// What an array is of, if its elements mean something in this process only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Handles.
    Handle,
    /// Addresses.
    Pointer,
}

/// An argument. Memory is an address and a size, both as the caller says them: they may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A number, an enumerator, flags.
    Number(u64),
    /// A handle.
    Handle(usize),
    /// A function of the caller; whether there is one.
    Callback(bool),
    /// An address of which nothing else is known.
    Pointer(usize),
    /// The address of text that ends in a zero.
    Text(usize),
    /// Memory.
    Memory {
        /// What is done with it.
        access: Access,
        /// Where it begins.
        address: usize,
        /// How many bytes there are.
        size: usize,
    },
    /// An array.
    Array {
        /// What it is of.
        of: Element,
        /// Where it begins.
        address: usize,
        /// How many elements there are.
        count: usize,
    },
}

/// The arguments of a call, in order.
#[derive(Debug, Default)]
pub struct Arguments(Vec<Argument>);

impl Arguments {
    /// All of them.
    pub fn list(&self) -> &[Argument] {
        &self.0
    }

    /// Adds a number.
    pub fn number(&mut self, number: u64) {
        self.0.push(Argument::Number(number));
    }

    /// Adds a handle.
    pub fn handle(&mut self, handle: *const c_void) {
        self.0.push(Argument::Handle(handle.addr()));
    }

    /// Adds a function of the caller.
    pub fn callback(&mut self, is_there: bool) {
        self.0.push(Argument::Callback(is_there));
    }

    /// Adds an address.
    pub fn pointer(&mut self, address: *const c_void) {
        self.0.push(Argument::Pointer(address.expose_provenance()));
    }

    /// Adds text.
    pub fn text(&mut self, address: *const c_char) {
        self.0.push(Argument::Text(address.expose_provenance()));
    }

    /// Adds memory of `size` bytes.
    pub fn memory(&mut self, access: Access, address: *const c_void, size: usize) {
        self.0.push(Argument::Memory { access, address: address.expose_provenance(), size });
    }

    /// Adds memory of `count` values.
    pub fn elements<T>(&mut self, access: Access, address: *const T, count: usize) {
        self.memory(access, address.cast(), count.saturating_mul(size_of::<T>()));
    }

    /// Adds an array of handles or addresses.
    pub fn array(&mut self, of: Element, address: *const c_void, count: usize) {
        self.0.push(Argument::Array { of, address: address.expose_provenance(), count });
    }
}

/// Keeps calls. Each of its methods is called on the thread of the call; calls of several threads come at once.
pub trait Recorder: Sync {
    /// A call begins. What it reads is as the caller left it. The result is handed to [`end`](Recorder::end).
    fn begin(&self, function: &'static str, arguments: &[Argument]) -> u64;

    /// The call has ended, and has written what it writes.
    fn end(&self, call: u64, function: &'static str, arguments: &[Argument], result: &Result<(), Error>);
}
