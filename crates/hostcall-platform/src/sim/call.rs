//! Calls of kernels in C, whose parameters are known by their sizes only.
//!
//! Where a parameter is depends on its type in the calling convention of this system. In that of 64-bit Windows it
//! does not: each parameter has a slot of 8 bytes. One of 1, 2, 4 or 8 bytes lies there, and of any other there is the
//! address of a copy. The first four slots are registers, of both kinds, for functions without a prototype. So kernels
//! are compiled for that convention, which compilers for this system know as `ms_abi`.

use std::cell::UnsafeCell;

use crate::args::Params;

/// The address of a kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function(pub(super) usize);

/// As much as compilers align variables to, vectors among them.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line([u8; 64]);

/// What one lane's call of a kernel is given.
#[derive(Default)]
pub(super) struct Arguments {
    /// At least four, and an even number of them.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "images with such kernels are refused there"))]
    slots: Vec<u64>,
    /// Copies of the lane's own, which it may change.
    _copies: Vec<Box<[UnsafeCell<Line>]>>,
}

impl Arguments {
    pub(super) fn new(params: &Params) -> Self {
        let (mut slots, mut copies) = (Vec::with_capacity(params.list().len().max(4) + 1), Vec::new());
        for &(at, size) in params.list() {
            let bytes = &params.bytes()[at..at + size];
            slots.push(match size {
                1 | 2 | 4 | 8 => {
                    let mut slot = [0; 8];
                    slot[..size].copy_from_slice(bytes);
                    u64::from_ne_bytes(slot)
                }
                _ => {
                    let lines: Box<[UnsafeCell<Line>]> = (0..size.div_ceil(64).max(1))
                        .map(|line| {
                            let mut copy = Line([0; 64]);
                            let rest = &bytes[(line * 64).min(size)..];
                            let here = rest.len().min(64);
                            copy.0[..here].copy_from_slice(&rest[..here]);
                            UnsafeCell::new(copy)
                        })
                        .collect();
                    let address = lines.as_ptr().expose_provenance();
                    copies.push(lines);
                    address as u64
                }
            });
        }
        slots.resize(slots.len().max(4).next_multiple_of(2), 0);
        Self { slots, _copies: copies }
    }
}

impl Function {
    /// Calls it.
    ///
    /// # Safety
    /// It is a kernel in C that has parameters of these sizes, and uses them rightly. The arguments live until it has
    /// ended, and are no other lane's.
    #[cfg(target_arch = "x86_64")]
    pub(super) unsafe fn call(self, arguments: &Arguments) {
        // SAFETY: the caller's; an even number of slots, and at least four.
        unsafe { call(self.0, arguments.slots.as_ptr(), arguments.slots.len()) }
    }

    /// # Safety
    /// As above.
    #[cfg(not(target_arch = "x86_64"))]
    pub(super) unsafe fn call(self, _: &Arguments) {
        unreachable!("images with such kernels are refused when they are loaded")
    }
}

/// Copies the slots onto the stack, the first four into registers as well, and calls the function. What one convention
/// has a function keep and the other not is kept by it.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "sysv64" fn call(function: usize, slots: *const u64, count: usize) {
    std::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "mov rax, rdi",
        "lea rcx, [rdx * 8]",
        "sub rsp, rcx",
        "and rsp, -16",
        "mov rdi, rsp",
        "mov rcx, rdx",
        "cld",
        "rep movsq",
        "mov rcx, [rsp]",
        "mov rdx, [rsp + 8]",
        "mov r8, [rsp + 16]",
        "mov r9, [rsp + 24]",
        "movq xmm0, rcx",
        "movq xmm1, rdx",
        "movq xmm2, r8",
        "movq xmm3, r9",
        "call rax",
        "mov rsp, rbp",
        "pop rbp",
        "ret",
    )
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::args::Args;

    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    struct Twelve([u32; 3]);

    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    struct Seventy([u8; 70]);

    type Seen = (u8, f32, f64, u16, f32, Twelve, Seventy, f64, i64);

    thread_local!(static SEEN: Cell<Option<Seen>> = const { Cell::new(None) });

    extern "win64" fn kernel(a: u8, b: f32, c: f64, d: u16, e: f32, mut f: Twelve, g: Seventy, h: f64, i: i64) {
        SEEN.set(Some((a, b, c, d, e, f, g, h, i)));
        std::hint::black_box(&mut f).0 = [0; 3];
    }

    #[test]
    fn parameters_of_every_kind_arrive_where_a_kernel_in_c_has_them_and_are_the_lanes_own() {
        let (twelve, seventy) = (Twelve([1, 2, 3]), Seventy(std::array::from_fn(|at| at as u8)));
        let args = Args::new().value(200u8).value(1.5f32).value(-2.25f64).value(40_000u16).value(3.5f32);
        let args = args.value(twelve.0).value(seventy.0).value(6.5f64).value(-9i64);
        let function = Function(kernel as *const () as usize);
        for _ in 0..2 {
            let arguments = Arguments::new(args.params());
            // SAFETY: the function's parameters are of these sizes.
            unsafe { function.call(&arguments) };
            assert_eq!(SEEN.take(), Some((200, 1.5, -2.25, 40_000, 3.5, twelve, seventy, 6.5, -9)));
        }
    }

    #[test]
    fn a_kernel_without_parameters_is_called() {
        extern "win64" fn nothing() {
            SEEN.set(Some((1, 0.0, 0.0, 0, 0.0, Twelve([0; 3]), Seventy([0; 70]), 0.0, 0)));
        }
        // SAFETY: a function without parameters.
        unsafe { Function(nothing as *const () as usize).call(&Arguments::new(Args::new().params())) };
        assert!(SEEN.take().is_some());
    }
}
