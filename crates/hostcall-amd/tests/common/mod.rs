//! Consumers, buffers, and C programs for the tests.

#![allow(dead_code, reason = "each test program uses some of it")]

pub(crate) mod formed;

use std::ffi::{c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use amd_hostcall::Error;
use amd_hostcall::api::*;
use amd_hostcall::layout;
use amd_hostcall::memory::Map;
use amd_hostcall::stacks;

use hostcall_test_support::{built, succeed};

/// Memory of a buffer. A device writes into it, so it is atomics.
pub(crate) struct Buffer {
    words: Box<[AtomicU64]>,
    pub(crate) packets: u32,
    layout: OnceLock<Map>,
}

impl Buffer {
    /// An initialised buffer in memory that was full of ones.
    pub(crate) fn new(packets: u32) -> Buffer {
        let words = (0..layout::buffer_size(packets) / 8).map(|_| AtomicU64::new(u64::MAX)).collect();
        let buffer = Buffer { words, packets, layout: OnceLock::new() };
        // SAFETY: as many bytes as the layout says.
        assert_eq!(unsafe { amd_hostcall_initialize_buffer(buffer.pointer(), packets) }, Error::Success as i32);
        buffer
    }

    pub(crate) fn pointer(&self) -> *mut c_void {
        self.words.as_ptr().cast_mut().cast()
    }

    /// The words, as a device sees them.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        &self.words
    }

    pub(crate) fn map(&self) -> Map {
        // SAFETY: it is initialised, and lives as long as the tests use the map.
        unsafe { Map::find(self.pointer().cast(), layout::Form::Stacks, Some(self.packets)) }.unwrap()
    }

    /// Finds the buffer's parts now, whatever its words say later.
    pub(crate) fn remember_layout(&self) {
        self.layout.set(self.map()).expect("once");
    }

    /// The parts as they were remembered.
    pub(crate) fn map_as_laid_out(&self) -> Map {
        *self.layout.get().expect("remembered before")
    }

    /// A call of one lane; its two result words.
    pub(crate) fn call(&self, service: u32, words: [u64; 8]) -> Result<[u64; 2], i32> {
        let mut payload = [words];
        // SAFETY: one lane, and the buffer lives.
        match unsafe { hostcall_amd_call(self.pointer(), service, 1, payload.as_mut_ptr()) } {
            0 => Ok([payload[0][0], payload[0][1]]),
            code => Err(code),
        }
    }

    /// Takes every packet off the free stack and sets the tags to the last but `left` before they wrap.
    pub(crate) fn near_the_wrap(&self, left: u64) {
        let map = self.map();
        let bits = layout::index_size(self.packets);
        let tag = (u64::MAX >> bits) - left;
        let mut below = 0;
        for index in 0..self.packets {
            map.header(index).unwrap().next.store(below, Ordering::SeqCst);
            below = u64::from(index) | tag << bits;
        }
        map.words().free_stack.store(below, Ordering::SeqCst);
    }

    /// How many packets are on the free stack.
    pub(crate) fn free(&self) -> usize {
        let map = self.map();
        let mut pointer = map.words().free_stack.load(Ordering::SeqCst);
        let mut count = 0;
        while pointer != 0 && count <= self.packets as usize {
            count += 1;
            let index = layout::index(pointer, layout::index_size(self.packets));
            pointer = map.header(index as u32).unwrap().next.load(Ordering::SeqCst);
        }
        count
    }
}

/// A consumer, destroyed at the end.
pub(crate) struct Consumer(pub(crate) *mut ConsumerHandle);

// SAFETY: the handle is a number.
unsafe impl Send for Consumer {}
// SAFETY: as above.
unsafe impl Sync for Consumer {}

impl Consumer {
    /// One that does not serve yet.
    pub(crate) fn idle() -> Consumer {
        let mut handle = std::ptr::null_mut();
        // SAFETY: a place for a pointer.
        assert_eq!(unsafe { amd_hostcall_create_consumer(&mut handle) }, 0);
        Consumer(handle)
    }

    pub(crate) fn new(buffers: &[&Buffer]) -> Consumer {
        let consumer = Consumer::idle();
        buffers.iter().for_each(|buffer| assert_eq!(consumer.register(buffer), 0));
        assert_eq!(amd_hostcall_launch_consumer(consumer.0), 0);
        consumer
    }

    pub(crate) fn register(&self, buffer: &Buffer) -> i32 {
        // SAFETY: the tests deregister buffers, or destroy consumers, before they free them.
        unsafe { amd_hostcall_register_buffer(self.0, buffer.pointer()) }
    }

    pub(crate) fn deregister(&self, buffer: &Buffer) -> i32 {
        amd_hostcall_deregister_buffer(self.0, buffer.pointer())
    }

    /// For several that destroy it at once.
    pub(crate) fn destroy_as_one_of_several(&self) -> i32 {
        amd_hostcall_destroy_consumer(self.0)
    }

    pub(crate) fn destroy(self) -> i32 {
        amd_hostcall_destroy_consumer(std::mem::ManuallyDrop::new(self).0)
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        amd_hostcall_destroy_consumer(self.0);
    }
}

/// Registers a handler of a service, once for each service.
pub(crate) fn service(service: u32, handler: amd_hostcall::ServiceHandler) {
    // SAFETY: the tests' handlers are fit for any thread, and have no state.
    assert_eq!(unsafe { amd_hostcall_register_service(service, Some(handler), std::ptr::null_mut()) }, 0);
}

/// The crate's folder.
pub(crate) fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files that cargo built for the library.
fn artefacts() -> &'static [PathBuf] {
    static FILES: OnceLock<Vec<PathBuf>> = OnceLock::new();
    FILES.get_or_init(|| built("hostcall-amd", &["--lib"]))
}

fn artefact(extension: &str) -> &'static Path {
    artefacts().iter().find(|file| file.extension().is_some_and(|found| found == extension)).expect("cargo built it")
}

/// `libamd_hostcall.so`, as cargo links it.
pub(crate) fn shared() -> &'static Path {
    artefact("so")
}

/// `libamd_hostcall.a`.
pub(crate) fn archive() -> &'static Path {
    artefact("a")
}

/// The languages that C programs are compiled as.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Language {
    C11,
    Cpp17,
}

/// Compiles one of `tests/c`, or another source, and links it to the shared library.
pub(crate) fn program(to: &Path, source: &Path, language: Language) -> PathBuf {
    let path = to.join(format!("{}-{language:?}", source.file_stem().expect("a name").to_string_lossy()));
    let library = shared().parent().expect("a file is in a folder");
    let mut compile = match language {
        Language::C11 => Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into())),
        Language::Cpp17 => Command::new(std::env::var("CXX").unwrap_or_else(|_| "c++".into())),
    };
    match language {
        Language::C11 => compile.args(["-std=c11", "-D_GNU_SOURCE"]),
        Language::Cpp17 => compile.args(["-std=c++17", "-x", "c++"]),
    };
    compile.args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-g", "-pthread", "-I"]).arg(folder().join("include"));
    compile.arg(source).args(["-x", "none", "-L"]).arg(library).arg("-lamd_hostcall");
    compile.arg(format!("-Wl,-rpath,{}", library.display())).arg("-o").arg(&path);
    succeed(&mut compile);
    path
}

/// A program's run, with nothing of the environment that changes the library.
pub(crate) fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("HOSTCALL_") {
            command.env_remove(name);
        }
    }
    command.env("HOSTCALL_AMD_DOORBELL", "own");
    command
}

/// A service that adds one to its first word.
pub(crate) unsafe extern "C-unwind" fn add_one(_: *mut c_void, _: u32, payload: *mut u64) -> c_int {
    // SAFETY: eight words.
    unsafe { *payload = (*payload).wrapping_add(1) };
    0
}

/// Its number.
pub(crate) const ADD_ONE: u32 = 100;

/// Registers it.
pub(crate) fn with_add_one() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| service(ADD_ONE, add_one));
}

/// Eight words that differ.
pub(crate) fn echo_words(n: u64) -> [u64; 8] {
    std::array::from_fn(|i| n.wrapping_mul(i as u64 + 1))
}

/// Pushes a packet as a wave does that nobody helps, without ringing; its control word.
pub(crate) fn submit(buffer: &Buffer, service: u32) -> (Map, u32) {
    let map = buffer.map();
    let held = stacks::pop_free(&map, || {}).unwrap();
    let index = held.index(&map) as u32;
    let header = map.header(index).unwrap();
    header.service.store(service, Ordering::Relaxed);
    header.active_mask.store(1, Ordering::Relaxed);
    header.control.store(layout::control::READY | layout::control::TELL, Ordering::Relaxed);
    stacks::push_ready(&map, held, || {});
    (map, index)
}

/// Waits until something holds. The limit only ends a test that would hang.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..60_000 {
        if holds() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("{what} did not come about");
}
