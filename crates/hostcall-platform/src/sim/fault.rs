//! Faults of lanes, caught where the processor reports them.
//!
//! If a lane touches memory that is not there, overflows its stack or executes an illegal instruction, the system
//! delivers a signal to the thread that runs it. The handler finds the lane and arranges that, on return, its fiber
//! ends with the fault as its result. A signal that is no lane's goes to the handler that was there before.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;

use corosensei::trap::TrapHandlerRegs;
use libc::{c_int, c_void, siginfo_t, ucontext_t};

use super::arena::{Mapping, PAGE};
use super::lane;
use crate::error::Error;

/// How a lane's fiber ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LaneEnd {
    Returned,
    Fault(RawFault),
}

/// A fault as the processor tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawFault {
    pub(super) kind: RawKind,
    /// The instruction's address.
    pub(super) at: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RawKind {
    Memory(u64),
    Wild,
    Stack,
    Illegal,
    Arithmetic,
}

const SIGNALS: [c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP];

/// Those of memory, of which an overflow of a stack is one.
pub(crate) const OF_MEMORY: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// Handlers that were there before, in the order of [`SIGNALS`].
static FORMER: [OnceLock<libc::sigaction>; SIGNALS.len()] = [const { OnceLock::new() }; SIGNALS.len()];

/// Installs the handler for all signals.
pub(super) fn install() {
    install_for(&SIGNALS);
}

/// Installs the handler for some of the signals, once for the process each.
pub(crate) fn install_for(signals: &[c_int]) {
    for (signal, former) in SIGNALS.into_iter().zip(&FORMER).filter(|(signal, _)| signals.contains(signal)) {
        former.get_or_init(|| {
            // SAFETY: an all-zero `sigaction` is a valid one.
            let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
            action.sa_sigaction = handler as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            let mut former = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: both structures are valid for the call. If it fails (it cannot for these signals) `former` stays
            // the zeroed default action.
            unsafe {
                libc::sigaction(signal, &raw const action, former.as_mut_ptr());
                former.assume_init()
            }
        });
    }
}

/// The stack on which the calling thread handles signals, in use until dropped on the same thread: a lane's own may
/// have overflowed.
pub(crate) struct SignalStack {
    /// Keeps the stack mapped.
    _mapping: Mapping,
    former: libc::stack_t,
}

impl SignalStack {
    /// Whether the calling thread has one.
    pub(crate) fn is_there() -> bool {
        // SAFETY: an all-zero `stack_t` is a valid one, and it is valid for the call, which changes nothing.
        unsafe {
            let mut stack: libc::stack_t = std::mem::zeroed();
            libc::sigaltstack(ptr::null(), &raw mut stack) == 0 && stack.ss_flags & libc::SS_DISABLE == 0
        }
    }

    pub(crate) fn new() -> Result<Self, Error> {
        const BYTES: usize = 64 << 10;
        let mapping = Mapping::reserve(BYTES + PAGE)?;
        mapping.open(mapping.start + PAGE, BYTES)?;
        let stack = libc::stack_t { ss_sp: (mapping.start + PAGE) as *mut c_void, ss_flags: 0, ss_size: BYTES };
        // SAFETY: an all-zero `stack_t` is a valid one.
        let mut former: libc::stack_t = unsafe { std::mem::zeroed() };
        // SAFETY: the stack is mapped until `drop` has put the former one back.
        if unsafe { libc::sigaltstack(&raw const stack, &raw mut former) } != 0 {
            let error = std::io::Error::last_os_error();
            return Err(Error::Backend { call: "sigaltstack", code: error.raw_os_error().unwrap_or(0).into(), text: error.to_string() });
        }
        Ok(Self { _mapping: mapping, former })
    }
}

impl Drop for SignalStack {
    fn drop(&mut self) {
        // SAFETY: the former stack is the thread's own (or the disabled state), valid as long as the thread.
        unsafe { libc::sigaltstack(&raw const self.former, ptr::null_mut()) };
    }
}

/// Only async-signal-safe things happen here: reads of a thread-local without a constructor and of the lane, and stores
/// to the signal's context and the lane's stack.
unsafe extern "C" fn handler(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let lane = lane::current();
    if !lane.is_null() {
        // SAFETY: the system passes a `ucontext_t` that the handler may change.
        let context = unsafe { &mut *context.cast::<ucontext_t>() };
        // SAFETY: `current` is the lane that this thread is running: alive, and not being changed but by this thread,
        // which is here.
        if let Some((trap, stack)) = unsafe { (*lane).trap() }
            && trap.stack_ptr_in_bounds(stack_pointer(context))
        {
            let kind = match signal {
                libc::SIGILL | libc::SIGTRAP => RawKind::Illegal,
                libc::SIGFPE => RawKind::Arithmetic,
                _ => {
                    // SAFETY: the system passes what it knows of the signal, and these signals carry an address.
                    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
                    if code == libc::SI_KERNEL {
                        // A processor that does not say the address: it is not zero.
                        RawKind::Wild
                    } else if (stack.limit..stack.limit + PAGE).contains(&address) {
                        RawKind::Stack
                    } else {
                        RawKind::Memory(address as u64)
                    }
                }
            };
            let fault = RawFault { kind, at: instruction_pointer(context) as u64 };
            // SAFETY: the stack pointer is within the fiber, the closure only returns a value it owns, and
            // `set_registers` puts all registers that it names into the context that the system restores.
            let registers = unsafe { trap.setup_trap_handler(move || LaneEnd::Fault(fault)) };
            set_registers(context, &registers);
            return;
        }
    }
    // SAFETY: this is a handler for `signal`, with the system's arguments.
    unsafe {
        crate::host::overflow::say(signal, info);
        chain(signal, info, context);
    }
}

/// Leaves the signal to the former handler.
unsafe fn chain(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let former = SIGNALS.iter().position(|&s| s == signal).and_then(|i| FORMER[i].get());
    match former {
        Some(former) if former.sa_sigaction != libc::SIG_DFL && former.sa_sigaction != libc::SIG_IGN => {
            if former.sa_flags & libc::SA_SIGINFO != 0 {
                // SAFETY: the system would have called this address with these arguments.
                let call: unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = unsafe { std::mem::transmute(former.sa_sigaction) };
                // SAFETY: as above.
                unsafe { call(signal, info, context) };
            } else {
                // SAFETY: as above, for a handler without SA_SIGINFO.
                let call: unsafe extern "C" fn(c_int) = unsafe { std::mem::transmute(former.sa_sigaction) };
                // SAFETY: as above.
                unsafe { call(signal) };
            }
        }
        // The default action; or the very first moments, before `FORMER` is set. Back in the interrupted code the fault
        // happens again. SAFETY: `signal` is a valid signal number and SIG_DFL a valid action.
        _ => unsafe {
            libc::signal(signal, libc::SIG_DFL);
        },
    }
}

#[cfg(target_arch = "x86_64")]
fn stack_pointer(context: &ucontext_t) -> usize {
    context.uc_mcontext.gregs[libc::REG_RSP as usize] as usize
}

#[cfg(target_arch = "x86_64")]
fn instruction_pointer(context: &ucontext_t) -> usize {
    context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize
}

#[cfg(target_arch = "x86_64")]
fn set_registers(context: &mut ucontext_t, registers: &TrapHandlerRegs) {
    let to = &mut context.uc_mcontext.gregs;
    to[libc::REG_RIP as usize] = registers.rip as i64;
    to[libc::REG_RSP as usize] = registers.rsp as i64;
    to[libc::REG_RBP as usize] = registers.rbp as i64;
    to[libc::REG_RDI as usize] = registers.rdi as i64;
    to[libc::REG_RSI as usize] = registers.rsi as i64;
}

#[cfg(target_arch = "aarch64")]
fn stack_pointer(context: &ucontext_t) -> usize {
    context.uc_mcontext.sp as usize
}

#[cfg(target_arch = "aarch64")]
fn instruction_pointer(context: &ucontext_t) -> usize {
    context.uc_mcontext.pc as usize
}

#[cfg(target_arch = "aarch64")]
fn set_registers(context: &mut ucontext_t, registers: &TrapHandlerRegs) {
    let to = &mut context.uc_mcontext;
    to.pc = registers.pc;
    to.sp = registers.sp;
    to.regs[0] = registers.x0;
    to.regs[1] = registers.x1;
    to.regs[29] = registers.x29;
    to.regs[30] = registers.lr;
}
