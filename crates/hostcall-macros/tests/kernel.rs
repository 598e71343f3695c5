//! What `#[kernel]` produces, run as the simulator runs it.
#![allow(missing_docs, unreachable_pub, reason = "a test: its public items are what users write")]

mod mock;

use hostcall_abi::descriptor::KernelParams;
use hostcall_macros::{Plain, kernel};
use mock::device::__private::ENTERED;

#[derive(Clone, Copy, Plain)]
#[hostcall(krate = hostcall_abi)]
#[repr(C)]
pub struct Odd {
    bytes: [u8; 3],
}

/// Multiplies, and says what it saw.
#[kernel(krate = crate::mock::device)]
pub fn scale(a: u8, factor: f32, odd: Odd, y: &mut [f32], x: &[f32], mut seen: *mut u64) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = factor * x;
    }
    seen = seen.wrapping_add(usize::from(a));
    let sum = odd.bytes.iter().map(|&byte| u64::from(byte)).sum();
    store(seen, sum);
    ENTERED.with_borrow_mut(|list| list.push("body"));
}

fn store(to: *mut u64, value: u64) {
    // SAFETY: the tests pass a pointer to two words, and `a` is 0 or 1.
    unsafe { *to = value };
}

#[kernel(krate = crate::mock::device)]
pub fn fails(code: u32) -> Result<(), std::num::TryFromIntError> {
    if code > 0 { u8::try_from(256 + code).map(drop) } else { Ok(()) }
}

#[kernel(krate = crate::mock::device)]
pub fn nothing() {}

/// Its name must not meet that of anything in its entry point.
#[kernel(krate = crate::mock::device)]
pub fn params(_end: u8) {}

unsafe extern "C" {
    static __HOSTCALL_KERNEL__scale: KernelParams;
    static __HOSTCALL_KERNEL__nothing: KernelParams;
    fn __hostcall_sim_kernel_scale(params: *const u8);
    fn __hostcall_sim_kernel_nothing(params: *const u8);
}

fn block(params: &[&[u8]]) -> Vec<u8> {
    let mut block = Vec::new();
    for param in params {
        block.resize(KernelParams::place(block.len(), param.len()), 0xee);
        block.extend_from_slice(param);
    }
    block
}

#[test]
fn the_table_lists_the_sizes_that_a_launch_passes() {
    // SAFETY: statics of these types, never written.
    let (scale, nothing) = unsafe { (&__HOSTCALL_KERNEL__scale, &__HOSTCALL_KERNEL__nothing) };
    assert_eq!(scale.count, 8);
    let (sizes, elements): (Vec<_>, Vec<_>) = scale.sizes[..9].iter().map(|entry| KernelParams::entry(*entry)).unzip();
    assert_eq!(sizes, [1, 4, 3, 8, 8, 8, 8, 8, 0]);
    assert_eq!(elements[3..=5].iter().map(ToString::to_string).collect::<Vec<_>>(), ["`f32`", "elements of 0 bytes", "`f32`"]);
    assert_eq!(nothing.count, 0);
}

#[test]
fn the_simulators_entry_reads_its_parameters_where_the_launch_put_them() {
    let x = [1.0f32, 2.0, 3.0];
    let mut y = [0.0f32; 3];
    let mut seen = [0u64; 2];
    let address = |pointer: usize| pointer.to_le_bytes();
    let params = block(&[
        &[1],
        &2.0f32.to_le_bytes(),
        &[1, 2, 3],
        &address(y.as_mut_ptr() as usize),
        &3u64.to_le_bytes(),
        &address(x.as_ptr() as usize),
        &2u64.to_le_bytes(),
        &address(seen.as_mut_ptr() as usize),
    ]);
    // SAFETY: the block has the parameters of `scale` in order.
    unsafe { __hostcall_sim_kernel_scale(params.as_ptr()) };
    assert_eq!((y, seen), ([2.0, 4.0, 0.0], [0, 6]));
    assert_eq!(ENTERED.take(), ["enter", "body", "leave"]);
}

#[test]
fn an_empty_slice_may_have_any_address() {
    let mut seen = [0u64; 2];
    let null = 0u64.to_le_bytes();
    let params = block(&[&[0], &null[..4], &[1, 1, 1], &null, &null, &null, &null, &(seen.as_mut_ptr() as usize).to_le_bytes()]);
    // SAFETY: the block has the parameters of `scale` in order.
    unsafe { __hostcall_sim_kernel_scale(params.as_ptr()) };
    assert_eq!(seen, [3, 0]);
}

#[test]
fn a_kernel_without_parameters_runs_between_enter_and_leave() {
    // SAFETY: `nothing` has no parameters.
    unsafe { __hostcall_sim_kernel_nothing(std::ptr::null()) };
    assert_eq!(ENTERED.take(), ["enter", "leave"]);
}

#[test]
fn a_kernel_stays_an_ordinary_function() {
    nothing();
    assert!(fails(0).is_ok());
    assert!(fails(1).is_err());
}

#[test]
fn parameters_are_placed_by_their_sizes_alone() {
    assert_eq!(
        [(0, 1), (1, 2), (1, 4), (5, 8), (5, 3), (9, 16), (7, 12)].map(|(end, size)| KernelParams::place(end, size)),
        [0, 2, 4, 8, 8, 16, 8]
    );
}
