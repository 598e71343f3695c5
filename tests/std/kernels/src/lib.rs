//! Programs against the system calls themselves. Each is called by its name, the first argument; the entry stands where
//! `std`'s would be.
#![no_std]

extern crate alloc;

mod files;
mod net;
mod threads;

use alloc::ffi::CString;
use alloc::format;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char};
use hostcall_std::abi::{self, timespec};
use hostcall_std::variadic::More;
use hostcall_std::{environment, error, io, memory, process, status, time};

/// The entry of programs.
#[hostcall_device::kernel(krate = hostcall_device)]
pub fn hostcall_std() {
    hostcall_std::entry::run();
}

/// What the compiler makes of `fn main()` has this name.
///
/// # Safety
/// An array of C strings.
#[unsafe(no_mangle)]
unsafe extern "C" fn main(argc: i32, argv: *const *const c_char) -> i32 {
    // SAFETY: the caller's.
    let text = |at: *const *const c_char| unsafe { CStr::from_ptr(*at) }.to_str().unwrap_or("?");
    // SAFETY: the caller's.
    let arguments: Vec<&str> = (0..argc as usize).map(|i| text(unsafe { argv.add(i) })).collect();
    let mut variables = Vec::new();
    // SAFETY: `environ` is there, once somebody has asked for its place.
    let mut env = unsafe { *environment::sys_environ() };
    // SAFETY: the caller's.
    while !unsafe { *env }.is_null() {
        variables.push(text(env));
        // SAFETY: not the last.
        env = unsafe { env.add(1) };
    }
    match arguments[1] {
        "arguments" => {
            say(&format!("{arguments:?} {variables:?}\n"));
            7
        }
        "copy" => copy(),
        "memory" => blocks(),
        "clocks" => clocks(),
        "panic" => panic!("a runtime's own panic"),
        "abort" => process::libc_abort(),
        "files" => files::run(),
        "directory" => files::directory(arguments[2].parse().unwrap_or(0)),
        "threads" => threads::many(),
        "exhaust" => threads::exhaust(),
        "mutex" => threads::mutex(),
        "timed-wait" => threads::timed(),
        "values" => threads::values(),
        "exit-elsewhere" => threads::exit_elsewhere(),
        "echo" => net::echo(),
        "datagrams" => net::datagrams(),
        "timeouts" => net::timeouts(),
        "connect" => net::connect(arguments[2].parse().unwrap_or(0)),
        "resolve" => net::resolve(arguments[2]),
        "blocked-at-exit" => net::blocked_at_exit(),
        other => panic!("no program is called {other}"),
    }
}

/// A number as a function of C's returned it; its error number, negative, if it failed.
fn checked(result: i64) -> i64 {
    // SAFETY: the lane's own.
    if result == -1 { -i64::from(unsafe { *error::libc___errno_location() }) } else { result }
}

/// Calls with what follows a function's fixed parameters, as a caller in C hands it over.
fn with_more<R>(value: usize, call: impl FnOnce(More) -> R) -> R {
    #[cfg(any(target_arch = "nvptx64", target_arch = "amdgpu"))]
    return call(&raw const value);
    #[cfg(not(any(target_arch = "nvptx64", target_arch = "amdgpu")))]
    return call(value);
}

/// Writes to standard output.
fn say(text: &str) {
    // SAFETY: a string.
    let written = unsafe { checked(io::libc_write(1, text.as_ptr(), text.len()) as i64) };
    assert_eq!(written, text.len() as i64);
}

fn c(text: &str) -> CString {
    CString::new(text).expect("no zero")
}

/// Standard input to standard output.
fn copy() -> i32 {
    let mut buffer = [0u8; 4000];
    loop {
        // SAFETY: the buffer.
        match unsafe { checked(io::libc_read(0, buffer.as_mut_ptr(), buffer.len()) as i64) } {
            0 => return 0,
            // SAFETY: as above.
            read if read > 0 => assert_eq!(unsafe { checked(io::libc_write(1, buffer.as_ptr(), read as usize) as i64) }, read),
            error => return -error as i32,
        }
    }
}

fn blocks() -> i32 {
    for (size, align) in [(1, 1), (100, 16), (5000, 8), (1 << 20, 4096)] {
        let block = memory::sys_malloc(size, align);
        assert!(!block.is_null() && block as usize % align == 0);
        // SAFETY: the block's own bytes, in its own size.
        unsafe {
            block.write_bytes(0xab, size);
            let larger = memory::sys_realloc(block, size, align, size * 3);
            assert!(!larger.is_null() && larger as usize % align == 0);
            assert!((0..size).all(|i| larger.add(i).read() == 0xab));
            memory::sys_free(larger, size * 3, align);
        }
    }
    assert!(memory::sys_malloc(usize::MAX, 1).is_null() && memory::sys_malloc(8, 3).is_null());
    assert!(memory::sys_malloc(1 << 40, 8).is_null());
    let zeroed = memory::sys_alloc_zeroed(300, 4);
    // SAFETY: as above.
    assert!((0..300).all(|i| unsafe { zeroed.add(i).read() } == 0));
    brought_along();
    // SAFETY: texts that stay.
    let said = |number| unsafe { CStr::from_ptr(error::libc_strerror(number)) }.to_str();
    assert_eq!((said(2), said(2)), (Ok("No such file or directory"), Ok("No such file or directory")));
    assert_eq!((said(-1), said(i32::MAX)), (Ok("Unknown error"), Ok("Unknown error")));
    0
}

/// jemalloc and mimalloc, as the crates for them call them.
fn brought_along() {
    use hostcall_std::allocators::*;
    // SAFETY: blocks of theirs, each within its size, until it is given back.
    unsafe {
        let block = libc__rjem_mallocx(100, 12 | 0x40);
        assert!(!block.is_null() && block as usize % 4096 == 0 && (0..100).all(|i| block.add(i).read() == 0));
        assert_eq!(libc__rjem_malloc_usable_size(block), libc__rjem_nallocx(100, 12));
        assert_eq!(libc__rjem_xallocx(block, 200, 0, 12), 100);
        block.write_bytes(0xcd, 100);
        let larger = libc__rjem_rallocx(block, 10_000, 13);
        assert!(larger as usize % 8192 == 0 && libc__rjem_sallocx(larger, 13) == 10_000 && (0..100).all(|i| larger.add(i).read() == 0xcd));
        let smaller = libc__rjem_realloc(larger, 10);
        assert!((0..10).all(|i| smaller.add(i).read() == 0xcd));
        libc__rjem_sdallocx(smaller, 10, 0);
        libc__rjem_dallocx(libc__rjem_calloc(3, 5), 0);
        libc__rjem_free(libc__rjem_malloc(1));
        assert!(libc__rjem_mallocx(1 << 40, 0).is_null() && libc__rjem_calloc(usize::MAX, 2).is_null());
        assert_eq!(libc__rjem_malloc_usable_size(core::ptr::null()), 0);

        let block = libc_mi_zalloc_aligned(100, 256);
        assert!(!block.is_null() && block as usize % 256 == 0 && (0..100).all(|i| block.add(i).read() == 0));
        block.write_bytes(0xef, 100);
        let larger = libc_mi_realloc_aligned(block, 5000, 512);
        assert!(larger as usize % 512 == 0 && libc_mi_usable_size(larger) == 5000 && (0..100).all(|i| larger.add(i).read() == 0xef));
        libc_mi_free(larger);
        libc_mi_free(libc_mi_realloc(libc_mi_malloc(3), 50));
        libc_mi_free(libc_mi_zalloc(3));
        assert!(libc_mi_malloc_aligned(8, 3).is_null() && libc_mi_malloc_aligned(1 << 40, 8).is_null());
    }
}

fn clock(which: i32) -> timespec {
    let mut now = timespec { tv_sec: -1, tv_nsec: -1 };
    // SAFETY: a place for it.
    assert_eq!(unsafe { checked(time::libc_clock_gettime(which, &mut now) as i64) }, 0);
    now
}

fn clocks() -> i32 {
    let nanos = |t: timespec| t.tv_sec as i128 * 1_000_000_000 + i128::from(t.tv_nsec);
    let before = nanos(clock(abi::CLOCK_MONOTONIC));
    time::sys_sleep(5_000_000);
    let slept = nanos(clock(abi::CLOCK_MONOTONIC)) - before;
    assert!((5_000_000..5_000_000_000).contains(&slept), "{slept}");
    let mut into = timespec::default();
    // SAFETY: a place for it, and null.
    let wrong = unsafe {
        [checked(time::libc_clock_gettime(99, &mut into) as i64), checked(time::libc_clock_gettime(1, core::ptr::null_mut()) as i64)]
    };
    assert_eq!(wrong, [-22; 2]);
    let mut random = [0u8; 64];
    // SAFETY: the buffer.
    assert_eq!(unsafe { process::libc_getentropy(random.as_mut_ptr(), 64) }, 0);
    assert!(random.iter().any(|byte| *byte != random[0]));
    let mut stat = abi::stat::default();
    // Whoever runs this collects what is printed, and gives no input.
    for (stream, kind) in [(0, abi::S_IFCHR), (1, abi::S_IFIFO), (2, abi::S_IFIFO)] {
        // SAFETY: a place for it.
        assert_eq!(unsafe { checked(status::libc_fstat(stream, &mut stat) as i64) }, 0);
        assert_eq!(stat.st_mode & abi::S_IFMT, kind, "{stream}");
    }
    say(&format!("{}\n", nanos(clock(abi::CLOCK_REALTIME))));
    0
}
