//! The kernel that runs a program.
//!
//! The first lane of each workgroup is a thread: the first workgroup's runs `main`, every other waits to be one. On
//! NVIDIA GPUs workgroups may be whole waves, whose other lanes help with copies.

use crate::arguments::most;
use crate::once::Once;
use crate::services::StdSystem;
use crate::{environment, lane, process, signals, thread};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ffi::c_char;
use core::ptr::null;
use core::sync::atomic::AtomicUsize;
use hostcall_device::__runtime::{self as device, Environment};
use hostcall_device::{CallError, wave};

unsafe extern "C" {
    /// The program's: what the compiler makes of `fn main()`.
    fn main(argc: i32, argv: *const *const c_char) -> i32;
}

/// Bytes that the first call for a text offers room for.
const FIRST: usize = 128;

/// Texts that the host has for the program, numbered as `StdSystem::rest` does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    /// The program's arguments, the first of which is its name.
    Arguments = 0,
    /// The variables that were granted, each `NAME=VALUE`.
    Variables = 1,
}

impl List {
    fn ask(self, index: u32, into: &mut [u8]) -> Result<Option<u32>, CallError> {
        match self {
            List::Arguments => Environment::arg(index, into),
            List::Variables => StdSystem::variable(index, into),
        }
    }

    /// A text whose length is not known, as a C string that lives as long as the program.
    fn text(self, index: u32) -> Option<*const c_char> {
        let mut bytes = vec![0u8; FIRST];
        // A host that does not answer has nothing for us: the program runs without.
        let len = self.ask(index, &mut bytes).ok()?? as usize;
        bytes.resize(len + 1, 0);
        // It may be longer than what one call carries.
        for from in (FIRST..len).step_by(most()) {
            let end = len.min(from + most());
            StdSystem::rest(self as u32, index, from as u32, &mut bytes[from..end]).ok()??;
        }
        bytes[len] = 0;
        Some(bytes.leak().as_ptr().cast())
    }

    /// All of them, and a null. Asked for once.
    #[inline(never)]
    fn get(self) -> &'static [*const c_char] {
        static ALL: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
        static MAKING: [Once; 2] = [const { Once::new() }; 2];
        let list = MAKING[self as usize].get(&ALL[self as usize], || {
            let mut all: Vec<_> = (0..).map_while(|index| self.text(index)).collect();
            if self == List::Arguments && all.is_empty() {
                all.push(c"program".as_ptr());
            }
            all.push(null());
            let list: &'static [*const c_char] = all.leak();
            Box::into_raw(Box::new(list)) as usize
        });
        // SAFETY: made above, and never freed.
        unsafe { *(list as *const &'static [*const c_char]) }
    }
}

/// The arguments, for kernels: nobody calls the entry of their program.
///
/// # Safety
/// `count` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_arguments(count: *mut isize) -> *const *const c_char {
    let all = List::Arguments.get();
    // SAFETY: the caller's.
    unsafe { count.write(all.len() as isize - 1) };
    all.as_ptr()
}

/// The variables: an array of C strings that ends with a null and lives as long as the program.
pub(crate) fn variables() -> *const *const c_char {
    List::Variables.get().as_ptr()
}

/// Runs the program: `main` on the first workgroup, threads on the others.
#[cfg(feature = "entry")]
#[hostcall_device::kernel(krate = hostcall_device)]
pub fn hostcall_std() {
    run();
}

/// Called by every lane of the entry kernel before it has a stack (the linker sees to that): returns on those that are
/// threads.
#[cfg(target_arch = "nvptx64")]
#[unsafe(no_mangle)]
pub extern "C" fn __hostcall_thread_begin() {
    device::begin_thread();
}

/// What the entry kernel does.
pub fn run() {
    if wave::local_index() != 0 {
        return;
    }
    lane::begin_thread();
    let group = wave::group_index();
    if group != 0 {
        thread::serve(group - 1);
    }
    assert!(
        device::heap_bytes() > 0,
        "the program has no heap: give it one with `--heap BYTES`, or `.heap(bytes)` on the server's builder"
    );
    let [x, y, z] = wave::group_count().map(|n| n as usize);
    thread::prepare(x * y * z - 1);
    let arguments = List::Arguments.get();
    environment::prepare();
    signals::begin();
    let count = arguments.len() as i32 - 1;
    #[cfg(not(any(target_arch = "nvptx64", target_arch = "amdgpu")))]
    crate::constructors::construct(count, arguments.as_ptr(), variables());
    // SAFETY: an array of C strings that ends with a null and is never freed.
    let code = unsafe { main(count, arguments.as_ptr()) };
    process::libc_exit(code)
}
