//! Every call with its data, in a file (`OFFLOAD_RECORD=FILE`; `%p` in its name is the process's number), for `offload-replay`.
//!
//! Memory is recorded by *regions*: allocations, registered memory and global variables whose address was asked for, each with a number. Addresses in
//! a region are recorded as its number and an offset, in arguments of kernels too. What the program itself writes into regions that it can reach is
//! recorded before the next call that may read it; what work of the device writes into them is recorded, as a hash, when the device is idle.

mod fields;
mod launch;
mod memory;

use std::collections::HashMap;
use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::{Map, Value};

pub(super) use self::fields::Fields;
use self::memory::Regions;
use crate::recording::{self, Entry};
use crate::runtime::Error;
use crate::sys::ol_errc_t;

/// The process's recorder.
struct Recorder(Mutex<State>);

/// What is known of the program so far.
struct State {
    file: File,
    /// Why no more is written.
    failed: bool,
    /// The number of the latest call.
    latest: u64,
    regions: Regions,
    /// Copies to the program's memory that are not done yet, by queue, each with its number.
    pending: HashMap<usize, Vec<PendingCopy>>,
    /// The latest call before each event.
    events: HashMap<usize, (usize, u64)>,
}

/// A copy to memory that is the program's.
struct PendingCopy {
    call: u64,
    address: usize,
    size: usize,
}

impl State {
    fn write(&mut self, entry: &Entry) {
        if self.failed {
            return;
        }
        if let Err(error) = recording::write(&mut self.file, entry) {
            eprintln!("offload: the recording ends here: {error}");
            self.failed = true;
        }
    }
}

fn recorder() -> Option<&'static Recorder> {
    static RECORDER: OnceLock<Option<Recorder>> = OnceLock::new();
    RECORDER.get_or_init(open).as_ref()
}

#[cold]
fn open() -> Option<Recorder> {
    let path = std::env::var("OFFLOAD_RECORD").ok().filter(|path| !path.is_empty())?;
    let path = path.replace("%p", &std::process::id().to_string());
    let made = File::create(&path).and_then(|mut file| recording::begin(&mut file).map(|()| file));
    match made {
        Ok(file) => Some(Recorder(Mutex::new(State {
            file,
            failed: false,
            latest: 0,
            regions: Regions::default(),
            pending: HashMap::new(),
            events: HashMap::new(),
        }))),
        Err(error) => {
            eprintln!("offload: cannot write to {path}, which OFFLOAD_RECORD names: {error}; nothing is recorded");
            None
        }
    }
}

thread_local! {
    static THREAD: u64 = {
        /// Numbers threads in the order in which they first call. It orders nothing but itself.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        NEXT.fetch_add(1, Ordering::Relaxed)
    };
}

/// Does the work of a call. `before` says what it was asked for, `after` what came of it.
#[inline(always)]
pub(super) fn recorded<T>(
    call: &'static str,
    before: impl FnOnce(&mut Fields<'_>),
    work: impl FnOnce() -> Result<T, Error>,
    after: impl FnOnce(&mut Fields<'_>, &T),
) -> Result<T, Error> {
    match recorder() {
        None => work(),
        Some(recorder) => record(recorder, call, before, work, after),
    }
}

#[cold]
#[inline(never)]
fn record<T>(
    recorder: &Recorder,
    call: &'static str,
    before: impl FnOnce(&mut Fields<'_>),
    work: impl FnOnce() -> Result<T, Error>,
    after: impl FnOnce(&mut Fields<'_>, &T),
) -> Result<T, Error> {
    let mut state = recorder.lock();
    state.latest += 1;
    let number = state.latest;
    let mut text = Map::new();
    text.insert("n".into(), number.into());
    text.insert("thread".into(), THREAD.try_with(|thread| *thread).unwrap_or(0).into());
    text.insert("call".into(), call.into());
    let mut fields = Fields::new(number, &mut state, text);
    before(&mut fields);
    let entry = fields.finish();
    state.write(&entry);
    drop(state);

    let result = work();

    let mut state = recorder.lock();
    let mut text = Map::new();
    text.insert("n".into(), number.into());
    let code = result.as_ref().map_or_else(|error| error.code, |_| ol_errc_t::OL_ERRC_SUCCESS);
    text.insert("code".into(), code.0.into());
    if let Err(error) = &result {
        text.insert("details".into(), Value::from(&*error.details));
    }
    let mut fields = Fields::new(number, &mut state, text);
    if let Ok(value) = &result {
        after(&mut fields, value);
    }
    let entry = fields.finish();
    state.write(&entry);
    result
}

impl Recorder {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
