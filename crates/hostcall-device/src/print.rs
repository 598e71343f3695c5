//! `print!` and its relatives.
//!
//! A lane formats a text into a small buffer on its own stack. Lanes that print together send their texts in one
//! message. A text that outgrows the buffer goes in pieces. The host joins the pieces, so that the text comes out
//! whole. The lane waits until the host has its text: see `Console`.

use crate::builtin::Console;
use crate::context::machine;
use crate::wave;
use core::fmt::{self, Write};
use core::mem::MaybeUninit;
use hostcall_abi::lanes::Lanes;

/// Bytes of a text that travel in one call.
const BUFFER: usize = 512;

/// A constant text of up to this size is sent from where it lies, in one call.
const DIRECT: usize = 16 << 10;

/// The host's standard output.
const STDOUT: u32 = 1;
/// The host's standard error.
const STDERR: u32 = 2;

struct Printer {
    stream: u32,
    /// Names the text's pieces; 0 while it is whole.
    key: u64,
    len: usize,
    buffer: [MaybeUninit<u8>; BUFFER],
}

impl Printer {
    fn text(&self) -> &[u8] {
        // SAFETY: the first `len` bytes are written, see `write_str`.
        unsafe { core::slice::from_raw_parts(self.buffer.as_ptr().cast(), self.len) }
    }

    /// Sends what is there as a piece.
    #[cold]
    #[inline(never)]
    fn piece(&mut self, last: bool) {
        if self.key == 0 {
            // No two texts under way have the same lane number and start in the same nanosecond.
            self.key = (machine().now_ns() << 24 ^ wave::global_id() as u64) | 1 << 63;
        }
        // A host that is gone, or has no console, is no reason to stop a kernel that prints.
        let _ = Console::print_piece(self.stream, self.key, last, self.text());
        self.len = 0;
    }
}

impl Write for Printer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text.as_bytes();
        loop {
            let n = rest.len().min(BUFFER - self.len);
            // SAFETY: `n` bytes fit behind the `len` that are there.
            unsafe { core::ptr::copy_nonoverlapping(rest.as_ptr(), self.buffer.as_mut_ptr().add(self.len).cast(), n) };
            self.len += n;
            rest = &rest[n..];
            if rest.is_empty() {
                return Ok(());
            }
            self.piece(false);
        }
    }
}

#[inline(never)]
fn print(stream: u32, arguments: fmt::Arguments<'_>) {
    if let Some(text) = arguments.as_str()
        && text.len() <= DIRECT
    {
        // As in `piece`.
        let _ = Console::print(stream, text.as_bytes());
        return;
    }
    let mut printer = Printer { stream, key: 0, len: 0, buffer: [MaybeUninit::uninit(); BUFFER] };
    // A `Display` that fails has its text printed as far as it came.
    let _ = printer.write_fmt(arguments);
    if printer.key == 0 {
        let _ = Console::print(stream, printer.text());
    } else {
        printer.piece(true);
    }
}

/// For `print!` and `println!`.
#[doc(hidden)]
pub fn out(arguments: fmt::Arguments<'_>) {
    print(STDOUT, arguments);
}

/// For `eprint!` and `eprintln!`.
#[doc(hidden)]
pub fn err(arguments: fmt::Arguments<'_>) {
    print(STDERR, arguments);
}

/// Prints to the host's standard output. What one `print!` of one lane prints is never interleaved with
/// other lanes' texts.
#[macro_export]
macro_rules! print {
    ($($arg:tt)*) => { $crate::print::out(::core::format_args!($($arg)*)) };
}

/// Prints to the host's standard output, with a newline. Lines of different lanes are never interleaved.
#[macro_export]
macro_rules! println {
    () => { $crate::print::out(::core::format_args!("\n")) };
    ($($arg:tt)*) => { $crate::print::out(::core::format_args!("{}\n", ::core::format_args!($($arg)*))) };
}

/// Prints to the host's standard error.
#[macro_export]
macro_rules! eprint {
    ($($arg:tt)*) => { $crate::print::err(::core::format_args!($($arg)*)) };
}

/// Prints to the host's standard error, with a newline.
#[macro_export]
macro_rules! eprintln {
    () => { $crate::print::err(::core::format_args!("\n")) };
    ($($arg:tt)*) => { $crate::print::err(::core::format_args!("{}\n", ::core::format_args!($($arg)*))) };
}
