//! Work of one thread, the same on a device and on the host.

use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant;

/// Nanoseconds of one of `count` repetitions of what `work` does.
pub(crate) fn each(count: u32, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64 / f64::from(count)
}

/// Appending a number to a `Vec` that grows.
pub(crate) fn push(count: u32) -> f64 {
    each(count, || {
        let mut all = Vec::new();
        for i in 0..count {
            all.push(black_box(i));
        }
        black_box(all);
    })
}

/// Allocating 16 to 512 bytes, writing one and giving them back: the same work as in the core's row `malloc`, whose figures stand beside these.
pub(crate) fn alloc(count: u32) -> f64 {
    each(count, || {
        let mut state = 0x9e37_79b9u32;
        for _ in 0..count {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            let mut block = Vec::<u8>::with_capacity(16 + (state % 497) as usize);
            block.push(state as u8);
            black_box(&mut block);
        }
    })
}

/// Inserting a number into a `HashMap` that grows, with std's own hasher.
pub(crate) fn insert(count: u32) -> f64 {
    each(count, || {
        let mut map = HashMap::new();
        for i in 0..u64::from(count) {
            map.insert(black_box(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)), i);
        }
        assert_eq!(map.len(), count as usize);
        black_box(map);
    })
}
