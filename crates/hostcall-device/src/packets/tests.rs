use super::stacks::{Stacks, mask, mask_of_bits, next_tag};

/// A buffer of zeros, but for its last word: where AMD's library has the bits of an index, and ROCm's device libraries
/// a mask.
fn masks(last: u64) -> [u64; 2] {
    let words = [0, 0, 0, 0, 0, last];
    let buffer: *const Stacks = words.as_ptr().cast();
    // SAFETY: as many words as a buffer has.
    unsafe { [mask_of_bits(buffer), mask(buffer)] }
}

#[test]
fn a_buffer_that_is_not_laid_out_has_no_mask() {
    assert_eq!(masks(0), [0, 0]);
    assert_eq!(masks(1), [1, 1]);
    assert_eq!(masks(7), [0x7f, 7]);
    assert_eq!(masks(32), [0xffff_ffff, 0], "a mask has no gaps");
    assert_eq!(masks(63), [0, 63], "an index has at most 32 bits");
    assert_eq!(masks(u64::from(u32::MAX)), [0, 0xffff_ffff]);
    assert_eq!(masks(1 << 32 | 1), [0x1, 0], "of a mask the upper half is 0");
}

#[test]
fn the_tag_of_packet_zero_skips_the_value_that_means_no_packet() {
    for bits in [1, 2, 10, 32] {
        let mask = (1 << bits) - 1;
        assert_eq!(next_tag(!mask, mask), mask + 1);
        assert_eq!(next_tag(!mask | 1, mask), 1, "another packet's tag may be 0");
        assert_eq!(next_tag(7 << bits | 1, mask), 8 << bits | 1);
    }
}
