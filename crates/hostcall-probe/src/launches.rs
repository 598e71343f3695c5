//! Which launches are told of, if not all are: a kernel's launches are counted, and around one that is meant the words
//! of its module are set by which its streams are on.
//!
//! The words are set in the launch's own stream, so that nobody waits, and what is captured into a graph has its words
//! set at each replay. A kernel of the same module that runs meanwhile in another stream tells of itself as well.

use std::collections::HashMap;
use std::ffi::{CStr, c_uint};
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

use hostcall_abi::stream::message::STREAM_PREFIX;
use offload::Program;

use crate::driver::{self, Handle, Status};
use crate::hook::enter;

/// `CU_STREAM_PER_THREAD`
const PER_THREAD: usize = 2;

/// The launches that are meant.
static WANTED: OnceLock<Launches> = OnceLock::new();

/// Launches of kernels, by the kernels' names.
struct Launches {
    wanted: Range<u64>,
    kernels: Mutex<HashMap<String, Kernel>>,
}

#[derive(Default)]
struct Kernel {
    launched: u64,
    /// Where its modules have words, and what these say when their streams are on; by the modules' handles.
    words: Vec<(usize, u64, u32)>,
}

/// Says which launches are meant. Before it, and if it never comes, all are.
pub(crate) fn only(wanted: Range<u64>) {
    let _ = WANTED.set(Launches { wanted, kernels: Mutex::default() });
}

/// Turns the streams of a module off until a launch of one of its kernels is meant, if not all are.
pub(crate) fn watch(module: Handle, program: &Program, kernels: &[String]) -> Result<(), offload::Error> {
    let Some(launches) = WANTED.get() else { return Ok(()) };
    let mut words = Vec::new();
    for name in program.streams() {
        let Some(word) = program.find_global(&format!("{STREAM_PREFIX}{name}"))? else { continue };
        let mut on = [0; 4];
        word.read(&mut on)?;
        word.write(&[0; 4])?;
        words.push((module as usize, word.address(), u32::from_ne_bytes(on)));
    }
    let mut known = launches.kernels.lock().unwrap_or_else(PoisonError::into_inner);
    for name in kernels {
        known.entry(name.clone()).or_default().words.extend(&words);
    }
    Ok(())
}

/// Forgets the words of a module, which is unloaded.
pub(crate) fn forget(module: Handle) {
    let Some(launches) = WANTED.get() else { return };
    let mut known = launches.kernels.lock().unwrap_or_else(PoisonError::into_inner);
    known.values_mut().for_each(|kernel| kernel.words.retain(|(of, ..)| *of != module as usize));
}

/// Launches a kernel by `real`. `per_thread`: the null stream is this thread's own.
pub(crate) fn launch(function: Handle, stream: Handle, per_thread: bool, real: &dyn Fn() -> Status) -> Status {
    let Some(words) = WANTED.get().and_then(|launches| launches.count(function)) else { return real() };
    let stream = if stream.is_null() && per_thread { std::ptr::without_provenance_mut(PER_THREAD) } else { stream };
    // SAFETY: words of a module that has such a kernel, and which is loaded while it is launched.
    let set = |address: u64, value: c_uint| unsafe { driver::fill()(address, value, 1, stream) };
    for (_, address, on) in &words {
        set(*address, *on);
    }
    let status = real();
    for (_, address, _) in &words {
        set(*address, 0);
    }
    status
}

impl Launches {
    /// Counts a launch. The words to be set around it, if it is meant.
    fn count(&self, function: Handle) -> Option<Vec<(usize, u64, u32)>> {
        let _entered = enter()?;
        let name = name(function)?;
        let mut known = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        let kernel = known.get_mut(&name)?;
        let number = kernel.launched;
        kernel.launched += 1;
        self.wanted.contains(&number).then(|| kernel.words.clone())
    }
}

/// What the driver calls a kernel, of which it takes two kinds of handles.
fn name(function: Handle) -> Option<String> {
    let mut text = std::ptr::null();
    // SAFETY: an out parameter, and a handle that the driver is given to be launched; it knows its handles' kinds.
    let found = unsafe { driver::function_name()(&mut text, function) == 0 || driver::kernel_name()(&mut text, function) == 0 };
    // SAFETY: the driver's text, which ends in a zero and stays while the kernel is loaded.
    (found && !text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}
