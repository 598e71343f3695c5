//! How much stack a thread has that runs code of the application's.
//!
//! Code that runs on the main thread runs there as well: so it is what the main thread has. The system takes the
//! program's thread-local variables out of the stack of every thread but that one, so their size is added.
//!
//! The library of AMD's packets, which uses no other crate of ours, compiles this file as its own.

/// Bytes of stack that code of the application's has on a thread of ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StackSize(Option<usize>);

impl StackSize {
    /// So many, whatever the main thread has.
    pub const fn bytes(bytes: usize) -> Self {
        Self(Some(bytes))
    }
}

/// What the main thread of a usual system has.
pub(crate) const LEAST: usize = 8 << 20;
/// Where the main thread's grows without a limit.
const UNLIMITED: usize = 64 << 20;
/// More is not asked for, whatever the main thread's limit is.
pub(crate) const MOST: usize = 1 << 30;
/// What is behind handlers on a stack: the thread's own frames, and a page of the guard.
const OURS: usize = 64 << 10;

/// Bytes to make a thread with, so that code has as much as asked for.
pub fn stack_bytes(size: StackSize) -> usize {
    let wanted = size.0.unwrap_or_else(main_stack);
    wanted.saturating_add(thread_locals()).saturating_add(OURS)
}

/// What the main thread has.
fn main_stack() -> usize {
    main_limit().unwrap_or(UNLIMITED).clamp(LEAST, MOST)
}

/// The limit of the main thread's stack; `None` where it has none.
#[cfg(unix)]
fn main_limit() -> Option<usize> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is valid for the call.
    if unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) } != 0 {
        return Some(LEAST);
    }
    if limit.rlim_cur == libc::RLIM_INFINITY { None } else { usize::try_from(limit.rlim_cur).ok() }
}

#[cfg(not(unix))]
fn main_limit() -> Option<usize> {
    Some(LEAST)
}

/// Bytes of the thread-local variables of everything that is loaded now. (Of a library that is loaded later, the C
/// library may put them elsewhere.)
#[cfg(target_os = "linux")]
fn thread_locals() -> usize {
    unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _: usize, sum: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the system passes a description that is valid during this call, and the pointer that was given below.
        let (info, sum) = unsafe { (&*info, &mut *sum.cast::<usize>()) };
        if !info.dlpi_phdr.is_null() {
            // SAFETY: the object's headers, as many as it says, which are mapped while it is loaded.
            let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
            for header in headers.iter().filter(|header| header.p_type == libc::PT_TLS) {
                *sum = sum.saturating_add(header.p_memsz as usize).saturating_add(header.p_align as usize);
            }
        }
        0
    }
    let mut sum = 0usize;
    // SAFETY: the function is called during this call only, with the pointer to a number that lives through it.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut sum).cast()) };
    sum
}

#[cfg(not(target_os = "linux"))]
fn thread_locals() -> usize {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses so many bytes of the calling thread's stack.
    #[inline(never)]
    fn deep(bytes: usize) -> usize {
        let page = std::hint::black_box([1u8; 4096]);
        if bytes <= page.len() { usize::from(page[0]) } else { usize::from(page[0]) + deep(bytes - page.len()) }
    }

    #[test]
    fn code_of_the_application_has_seven_mebibytes_of_stack_and_more_if_asked_for() {
        // (A frame has a little more than its page.)
        let used = |size, bytes: usize| {
            std::thread::Builder::new().stack_size(stack_bytes(size)).spawn(move || deep(bytes)).unwrap().join().unwrap()
        };
        assert_eq!(used(StackSize::default(), 7 << 20), (7 << 20) / 4096);
        assert_eq!(used(StackSize::bytes(40 << 20), 36 << 20), (36 << 20) / 4096);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn thread_local_variables_are_no_part_of_what_code_has() {
        thread_local!(static LARGE: std::cell::UnsafeCell<[u8; 300_000]> = const { std::cell::UnsafeCell::new([0; 300_000]) });
        // SAFETY: nobody else has a pointer to this thread's.
        LARGE.with(|large| unsafe { (*large.get())[7] = 1 });
        assert!(thread_locals() >= 300_000);
        assert!(stack_bytes(StackSize::bytes(1 << 20)) >= (1 << 20) + 300_000);
    }
}
