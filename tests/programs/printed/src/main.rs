//! Text by C's `printf`, `puts` and `putchar`.

use std::ffi::{c_char, c_int};

unsafe extern "C" {
    fn printf(format: *const c_char, ...) -> c_int;
    fn puts(text: *const c_char) -> c_int;
    fn putchar(byte: c_int) -> c_int;
}

fn main() {
    let null = std::ptr::null::<c_char>();
    let text = c"some text".as_ptr();
    // SAFETY: each format is given the values that it asks for.
    let printed = unsafe {
        [
            printf(c"plain\n".as_ptr()),
            printf(c"%d %+5i|%-6u|%#x %o %c %%\n".as_ptr(), -7i32, 42i32, 9u32, 255u32, 8u32, b'z' as c_int),
            printf(c"%ld %llx %zu %hhd\n".as_ptr(), i64::MIN, u64::MAX, 5usize, 300i32),
            // More numbers of either kind than registers carry.
            printf(
                c"%d %.3f %d %e %d %g %d %f %d %f %d %f %f %f %f\n".as_ptr(),
                1,
                0.5,
                2,
                1.25e9,
                3,
                1e-7,
                4,
                2.5,
                5,
                -0.0,
                6,
                7.5,
                8.5,
                9.5,
                10.5,
            ),
            printf(c"[%s] [%.4s] [%12s] [%-12s] [%.*s] [%s]\n".as_ptr(), text, text, text, text, 2 as c_int, text, null),
            puts(text).min(0),
            putchar(c_int::from(b'!')),
            putchar(c_int::from(b'\n')),
        ]
    };
    for bytes in printed {
        // SAFETY: as above.
        unsafe { printf(c"%d ".as_ptr(), bytes) };
    }
    // SAFETY: as above.
    unsafe { puts(c"bytes".as_ptr()) };
}
