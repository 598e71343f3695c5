//! C's `printf`, for the few programs in Rust that call it: the device looks for values, the host formats
//! ([`hostcall_abi::services::printf`]).
//!
//! What the host refuses, `printf` does not print: `%n` and conversions that C does not have. It answers −1 then, and
//! the reason is among the server's messages. A call with more than four texts (`%s`) is several for the host, between
//! which another thread may print.

use crate::abi::errno::EINVAL;
use crate::error::{Errno, answered, returned};
use crate::text::libc_strnlen;
use crate::{io, output};
use alloc::vec::Vec;
use core::ffi::c_char;
use hostcall_abi::services::printf as wire;
use hostcall_device::__runtime::Console;

/// Standard output, as the host numbers it.
const STDOUT: u32 = 1;

/// A call's values, one after another, each as C passes it.
trait Values {
    fn int(&mut self) -> i32;
    fn long(&mut self) -> u64;
    fn double(&mut self) -> f64;
    /// At most `most` bytes of a text; `None`: a null pointer.
    fn text(&mut self, most: usize) -> Option<&'static [u8]>;
}

/// What goes to the host at once.
#[derive(Debug, Default, PartialEq)]
struct Part {
    units: Vec<u32>,
    texts: Vec<&'static [u8]>,
}

impl Part {
    fn value(&mut self, kind: u32, bits: u64) {
        self.units.extend([kind, bits as u32, (bits >> 32) as u32]);
    }

    fn text(&mut self, text: Option<&'static [u8]>) {
        let number = text.map_or(wire::NULL, |text| {
            self.texts.push(text);
            self.texts.len() as u32 - 1
        });
        self.value(wire::TEXT, u64::from(number));
    }
}

/// Calls `send` with each part of a format and the values of its conversions; how many bytes the calls printed.
fn parts(format: &[u8], values: &mut impl Values, send: impl Fn(&[u8], &Part) -> Result<u32, Errno>) -> Result<i32, Errno> {
    const INT: u32 = 4 << wire::SIZE_SHIFT;
    const LONG: u32 = 8 << wire::SIZE_SHIFT;
    let (mut part, mut begins, mut at, mut printed) = (Part::default(), 0, 0, 0);
    let peek = |at: usize| format.get(at).copied().unwrap_or(0);
    while at < format.len() {
        let conversion = at;
        at += 1;
        if peek(conversion) != b'%' {
            continue;
        }
        if peek(at) == b'%' {
            at += 1;
            continue;
        }
        if part.texts.len() == wire::TEXTS {
            printed += send(format.get(begins..conversion).unwrap_or_default(), &part)?;
            (part, begins) = (Part::default(), conversion);
        }
        // Flags, width and precision; the host reads them again.
        let mut most = usize::MAX;
        loop {
            match peek(at) {
                b'*' => {
                    let number = values.int();
                    part.value(wire::SIGNED | INT, number as u64);
                    if peek(at - 1) == b'.' {
                        most = usize::try_from(number).unwrap_or(usize::MAX);
                    }
                }
                b'.' => most = 0,
                digit @ b'0'..=b'9' => most = most.saturating_mul(10).saturating_add(usize::from(digit - b'0')),
                b'-' | b'+' | b' ' | b'#' => {}
                _ => break,
            }
            at += 1;
        }
        let mut is_long = false;
        while let length @ (b'h' | b'l' | b'j' | b'z' | b't' | b'L') = peek(at) {
            is_long |= length != b'h';
            at += 1;
        }
        match (peek(at), is_long) {
            (b'd' | b'i', false) => part.value(wire::SIGNED | INT, values.int() as u64),
            (b'd' | b'i', true) => part.value(wire::SIGNED | LONG, values.long()),
            (b'u' | b'o' | b'x' | b'X', false) => part.value(wire::UNSIGNED | INT, u64::from(values.int().cast_unsigned())),
            (b'u' | b'o' | b'x' | b'X', true) => part.value(wire::UNSIGNED | LONG, values.long()),
            (b'c', false) => part.value(wire::SIGNED | INT, values.int() as u64),
            (b'c', true) => part.value(wire::CHAR, u64::from(values.int().cast_unsigned())),
            // Rust has no `long double`.
            (b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A', _) if peek(at - 1) != b'L' => {
                part.value(wire::FLOAT, values.double().to_bits());
            }
            (b'p', _) => part.value(wire::POINTER, values.long()),
            (b's', false) => part.text(values.text(most)),
            // What it takes is not known, and so neither is what follows.
            _ => return Err(Errno(EINVAL)),
        }
        at += 1;
    }
    printed += send(format.get(begins..).unwrap_or_default(), &part)?;
    Ok(printed.cast_signed())
}

fn send(format: &[u8], part: &Part) -> Result<u32, Errno> {
    let text = |i: usize| part.texts.get(i).copied().unwrap_or_default();
    answered(Console::format(STDOUT, format, &part.units, text(0), text(1), text(2), text(3)).map(Ok))
}

/// # Safety
/// `format` is a C string; `values` are what it asks for.
#[cfg_attr(not(hostcall_device), expect(dead_code, reason = "how C passes values is the device's"))]
unsafe fn print(format: *const c_char, values: &mut impl Values) -> i32 {
    // What the lane has kept comes first.
    output::finish();
    // SAFETY: the caller's.
    let format = unsafe { core::slice::from_raw_parts(format.cast::<u8>(), libc_strnlen(format, usize::MAX)) };
    returned(parts(format, values, send))
}

/// # Safety
/// `text` is null or a C string, or valid for reads of `most` bytes, until the call of `printf` ends.
#[cfg_attr(not(hostcall_device), expect(dead_code, reason = "how C passes values is the device's"))]
unsafe fn text(text: *const c_char, most: usize) -> Option<&'static [u8]> {
    // SAFETY: the caller's; nobody keeps it for longer.
    (!text.is_null()).then(|| unsafe { core::slice::from_raw_parts(text.cast(), libc_strnlen(text, most)) })
}

#[cfg(hostcall_device)]
pub use passed::libc_printf;

#[cfg(all(hostcall_device, any(target_arch = "nvptx64", target_arch = "amdgpu")))]
mod passed {
    use super::{Values, c_char, print, text};
    use crate::variadic::More;

    /// Values in slots.
    struct Behind(More);

    impl Behind {
        fn next(&mut self) -> usize {
            let at = self.0;
            self.0 = at.wrapping_add(1);
            // SAFETY: `print`'s caller says that there is one.
            unsafe { at.read() }
        }
    }

    impl Values for Behind {
        fn int(&mut self) -> i32 {
            // What is above it means nothing.
            self.next() as i32
        }

        fn long(&mut self) -> u64 {
            self.next() as u64
        }

        fn double(&mut self) -> f64 {
            f64::from_bits(self.long())
        }

        fn text(&mut self, most: usize) -> Option<&'static [u8]> {
            // SAFETY: `print`'s caller says that it is one.
            unsafe { text(self.next() as *const c_char, most) }
        }
    }

    /// Prints a format with its values to standard output: how many bytes, or −1.
    ///
    /// # Safety
    /// `format` is a C string, and the values are what it asks for.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn libc_printf(format: *const c_char, more: More) -> i32 {
        // SAFETY: the caller's.
        unsafe { print(format, &mut Behind(more)) }
    }
}

#[cfg(all(hostcall_device, not(any(target_arch = "nvptx64", target_arch = "amdgpu"))))]
mod passed {
    use super::{Values, c_char, print, text};

    /// Where values are, on x86-64: its `va_list`, with the layout of the System V ABI's processor supplement, 3.5.7.
    /// Values are in the places that registers were saved to, and behind them on the stack; all are 8 bytes wide there.
    #[repr(C)]
    struct Passed {
        /// Of the next general register's place.
        general: u32,
        /// Of the next vector register's place.
        vector: u32,
        stack: *const u64,
        saved: *const u8,
    }

    /// Where the general registers' places end, and the vector registers' begin.
    const GENERAL: u32 = 6 * 8;
    /// Where the vector registers' places end.
    const VECTOR: u32 = GENERAL + 8 * 16;

    impl Passed {
        fn general(&mut self) -> u64 {
            if self.general == GENERAL {
                return self.stacked();
            }
            let at = self.saved.wrapping_add(self.general as usize);
            self.general += 8;
            // SAFETY: `print`'s caller says that there is one.
            unsafe { at.cast::<u64>().read() }
        }

        fn stacked(&mut self) -> u64 {
            let at = self.stack;
            self.stack = at.wrapping_add(1);
            // SAFETY: `print`'s caller says that there is one.
            unsafe { at.read() }
        }
    }

    impl Values for Passed {
        fn int(&mut self) -> i32 {
            // What is above it means nothing.
            self.general() as i32
        }

        fn long(&mut self) -> u64 {
            self.general()
        }

        fn double(&mut self) -> f64 {
            if self.vector == VECTOR {
                return f64::from_bits(self.stacked());
            }
            let at = self.saved.wrapping_add(self.vector as usize);
            self.vector += 16;
            // SAFETY: `print`'s caller says that there is one.
            unsafe { at.cast::<f64>().read() }
        }

        fn text(&mut self, most: usize) -> Option<&'static [u8]> {
            // SAFETY: `print`'s caller says that it is one.
            unsafe { text(core::ptr::with_exposed_provenance(self.general() as usize), most) }
        }
    }

    /// Prints a format with its values to standard output: how many bytes, or −1.
    ///
    /// Rust's own way to define such a function is not stable; so it saves the registers itself. Of 216 bytes that it
    /// takes, which align the stack, 176 are their places, and 24 a [`Passed`].
    ///
    /// # Safety
    /// `format` is a C string, and the values are what it asks for.
    #[unsafe(no_mangle)]
    #[unsafe(naked)]
    pub unsafe extern "C" fn libc_printf(format: *const c_char, more: usize) -> i32 {
        core::arch::naked_asm!(
            "sub rsp, 216",
            "mov [rsp + 8], rsi",
            "mov [rsp + 16], rdx",
            "mov [rsp + 24], rcx",
            "mov [rsp + 32], r8",
            "mov [rsp + 40], r9",
            // The caller says whether there are numbers in vector registers.
            "test al, al",
            "je 2f",
            "movaps [rsp + 48], xmm0",
            "movaps [rsp + 64], xmm1",
            "movaps [rsp + 80], xmm2",
            "movaps [rsp + 96], xmm3",
            "movaps [rsp + 112], xmm4",
            "movaps [rsp + 128], xmm5",
            "movaps [rsp + 144], xmm6",
            "movaps [rsp + 160], xmm7",
            "2:",
            "mov dword ptr [rsp + 176], 8",
            "mov dword ptr [rsp + 180], {vector}",
            "lea rax, [rsp + 224]",
            "mov [rsp + 184], rax",
            "mov [rsp + 192], rsp",
            "lea rsi, [rsp + 176]",
            "call {print}",
            "add rsp, 216",
            "ret",
            vector = const GENERAL,
            print = sym print_passed,
        )
    }

    /// # Safety
    /// As [`libc_printf`]'s.
    unsafe extern "C" fn print_passed(format: *const c_char, passed: &mut Passed) -> i32 {
        // SAFETY: the caller's.
        unsafe { print(format, passed) }
    }
}

/// Prints a text and a newline, which is also what compilers make of some calls of `printf`: 0, or −1.
///
/// # Safety
/// `text` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libc_puts(text: *const c_char) -> i32 {
    // SAFETY: the caller's.
    let text = unsafe { core::slice::from_raw_parts(text.cast::<u8>(), libc_strnlen(text, usize::MAX)) };
    let line = [text, b"\n"].concat();
    // SAFETY: it lives as long as the call.
    if unsafe { io::libc_write(1, line.as_ptr(), line.len()) } < 0 { -1 } else { 0 }
}

/// Prints a byte, which is also what compilers make of some calls of `printf`: the byte, or −1.
#[unsafe(no_mangle)]
pub extern "C" fn libc_putchar(byte: i32) -> i32 {
    let byte = byte as u8;
    // SAFETY: it lives as long as the call.
    if unsafe { io::libc_write(1, &raw const byte, 1) } < 0 { -1 } else { i32::from(byte) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::RefCell;

    /// Values as numbers, and texts.
    struct Listed(Vec<u64>, Vec<Option<&'static [u8]>>);

    impl Values for Listed {
        fn int(&mut self) -> i32 {
            self.long() as i32
        }

        fn long(&mut self) -> u64 {
            self.0.remove(0)
        }

        fn double(&mut self) -> f64 {
            f64::from_bits(self.long())
        }

        fn text(&mut self, most: usize) -> Option<&'static [u8]> {
            self.1.remove(0).map(|text| &text[..text.len().min(most)])
        }
    }

    fn sent(format: &str, numbers: &[u64], texts: &[Option<&'static [u8]>]) -> Result<Vec<(String, Part)>, Errno> {
        let (mut values, all) = (Listed(numbers.to_vec(), texts.to_vec()), RefCell::new(Vec::new()));
        parts(format.as_bytes(), &mut values, |format, part| {
            let part = Part { units: part.units.clone(), texts: part.texts.clone() };
            all.borrow_mut().push((String::from_utf8_lossy(format).into_owned(), part));
            Ok(1)
        })?;
        assert!(values.0.is_empty() && values.1.is_empty(), "values are left");
        Ok(all.into_inner())
    }

    #[test]
    fn each_conversion_takes_the_value_that_it_says() {
        let numbers = [-1i64 as u64, 1 << 40, 200, 7, 65, 1.5f64.to_bits(), 0x10];
        let all = sent("%d 100%% %lu %hhx %*c %08.3f %p|", &numbers, &[]).unwrap();
        let int = 4 << 8;
        let long = 8 << 8;
        let expected = [
            [1 | int, u32::MAX, u32::MAX],
            [2 | long, 0, 256],
            [2 | int, 200, 0],
            [1 | int, 7, 0],
            [1 | int, 65, 0],
            [3, 0, 0x3ff8_0000],
            [4, 16, 0],
        ];
        assert_eq!(all, [("%d 100%% %lu %hhx %*c %08.3f %p|".into(), Part { units: expected.concat(), texts: Vec::new() })]);
    }

    #[test]
    fn a_text_is_read_as_far_as_it_is_printed() {
        let text = |precision: &str, numbers: &[u64]| sent(precision, numbers, &[Some(b"abcdef")]).unwrap().remove(0).1.texts;
        assert_eq!(text("%s", &[]), [b"abcdef"]);
        assert_eq!(text("%3s", &[]), [b"abcdef"]);
        assert_eq!(text("%9.2s", &[]), [&b"ab"[..]]);
        assert_eq!(text("%.s", &[]), [&b""[..]]);
        assert_eq!(text("%.*s", &[4]), [&b"abcd"[..]]);
        assert_eq!(text("%.*s", &[-1i64 as u64]), [b"abcdef"]);
        assert_eq!(sent("%s", &[], &[None]).unwrap()[0].1.units, [5, u32::MAX, 0]);
    }

    #[test]
    fn a_fifth_text_begins_another_part() {
        let all = sent("%s%s%s%s-%s.", &[], &[Some(b"a"), Some(b"b"), Some(b"c"), Some(b"d"), Some(b"e")]).unwrap();
        assert_eq!(
            all.iter().map(|(format, part)| (format.as_str(), part.texts.len())).collect::<Vec<_>>(),
            [("%s%s%s%s-", 4), ("%s.", 1)]
        );
    }

    #[test]
    fn what_takes_a_value_that_nobody_knows_is_an_error() {
        for format in ["%", "%5", "%n", "%Lf", "%ls", "%y"] {
            assert_eq!(sent(format, &[], &[]), Err(Errno(EINVAL)), "{format}");
        }
    }
}
