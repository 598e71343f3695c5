//! Reports of the address sanitizer in kernels: each lane tells of an access to memory that is not its own.

use std::fmt::Write;

use crate::consumer::lanes;
use crate::layout::{LANES, QWORDS};
use crate::services::say;

/// Writes a packet's report to standard error; whether the kernel's sanitizer ends the program, as it does unless it
/// was told to go on.
pub(crate) fn report(mask: u64, words: &[[u64; QWORDS]; LANES]) -> bool {
    let Some(text) = text(mask, words) else { return false };
    say(&text);
    // The upper half is set where the kernel was compiled to recover.
    lanes(mask).any(|lane| words[lane][6] >> 32 == 0)
}

/// A line for the wave, whose lanes were at the same instruction, and one for each lane.
fn text(mask: u64, words: &[[u64; QWORDS]; LANES]) -> Option<String> {
    let first = &words[lanes(mask).next()?];
    let [_, at, x, y, z, _, access, size] = *first;
    let access = if access & 1 == 1 { "write" } else { "read" };
    let mut text =
        format!("hostcall: address sanitizer of a kernel: invalid {access} of {size} bytes at {at:#x}, workgroup ({x}, {y}, {z})");
    for lane in lanes(mask) {
        let [address, .., wave, _, _] = words[lane];
        // Writing to a text does not fail.
        let _ = write!(text, "\nhostcall:   address {address:#x} in lane {lane} of wave {wave}");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_names_the_instruction_and_each_lane_s_address() {
        let mut words = [[0; QWORDS]; LANES];
        words[3] = [0x1000, 0xabc, 1, 2, 3, 9, 1, 4];
        words[5] = [0x2000, 0xabc, 1, 2, 3, 9, 1, 4];
        let expected = "hostcall: address sanitizer of a kernel: invalid write of 4 bytes at 0xabc, workgroup (1, 2, 3)\n\
                        hostcall:   address 0x1000 in lane 3 of wave 9\nhostcall:   address 0x2000 in lane 5 of wave 9";
        assert_eq!(text(0b10_1000, &words).as_deref(), Some(expected));
        assert!(report(0b10_1000, &words));
        words[3][6] = 1 << 32;
        words[5][6] = 1 << 32;
        assert!(text(0b10_1000, &words).unwrap().contains("invalid read of 4 bytes"));
        assert!(!report(0b10_1000, &words), "it was compiled to recover");
        assert!(!report(0, &words));
    }
}
