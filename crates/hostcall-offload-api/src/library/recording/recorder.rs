//! The recorder: a file, and what has to be remembered from one call to the next.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::c_void;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::arguments::{Known, values};
use super::format::{Arrived, Begin, End, Memory, Object, Record, Value, header};
use super::own_memory::read;
use crate::HandleKind;
use crate::library::queue::is_in_host_function;
use crate::library::{Core, table};
use crate::runtime::Error;
use crate::runtime::record::{self, Access, Argument, Element};
use crate::sys::{ol_errc_t, ol_symbol_info_t};

/// What a property has at most; the caller's room may be said to be anything.
const MOST_PROPERTY: usize = 64 << 10;

/// The process's recorder, if `OFFLOAD_RECORD` names a file when the first call is made.
#[inline]
pub(in crate::library) fn recorder() -> Option<&'static dyn record::Recorder> {
    static RECORDER: OnceLock<Option<Recorder>> = OnceLock::new();
    RECORDER.get_or_init(open).as_ref().map(|recorder| recorder as &dyn record::Recorder)
}

fn open() -> Option<Recorder> {
    let path = std::env::var("OFFLOAD_RECORD").ok().filter(|path| !path.is_empty())?;
    let path = path.replace("%p", &std::process::id().to_string());
    match Recorder::create(Path::new(&path)) {
        Ok(recorder) => Some(recorder),
        Err(error) => {
            eprintln!("offload: cannot write to {path}, which OFFLOAD_RECORD names: {error}; no calls are recorded");
            None
        }
    }
}

struct Recorder(Mutex<State>);

struct State {
    file: File,
    /// Whether a record could not be written: then none is from there on, so that the file ends with a whole one.
    failed: bool,
    /// Calls so far.
    calls: u64,
    /// Platforms and devices that are in the file.
    objects: HashSet<usize>,
    /// Memory of the library, and what is on its way into the caller's.
    memory: Ranges,
    /// Queue and number of calls when each event was made.
    events: HashMap<usize, (usize, u64)>,
    /// Waits of queues for others that nobody has waited for yet.
    waits: Vec<Wait>,
}

/// A queue waits, from a call on, for what another one got before a call.
struct Wait {
    queue: usize,
    call: u64,
    of: usize,
    until: u64,
}

struct Pending {
    queue: usize,
    call: u64,
    address: usize,
    size: usize,
}

#[derive(Default)]
struct Ranges {
    /// Memory that the library knows: where it begins, and how many bytes it has.
    known: BTreeMap<usize, usize>,
    /// What queues write into the caller's memory and nobody has waited for yet.
    pending: Vec<Pending>,
}

impl Known for Ranges {
    fn knows(&self, address: usize) -> bool {
        self.known.range(..=address).next_back().is_some_and(|(base, size)| address - base < *size)
    }

    fn settled(&self, address: usize, size: usize) -> usize {
        let end = address.saturating_add(size);
        let overlapping = self.pending.iter().filter(|it| it.address < end && it.address.saturating_add(it.size) > address);
        overlapping.map(|it| it.address.saturating_sub(address)).min().unwrap_or(size)
    }
}

impl Recorder {
    fn create(path: &Path) -> std::io::Result<Recorder> {
        let mut file = File::create(path)?;
        file.write_all(&header())?;
        Ok(Recorder(Mutex::new(State {
            file,
            failed: false,
            calls: 0,
            objects: HashSet::new(),
            memory: Ranges::default(),
            events: HashMap::new(),
            waits: Vec::new(),
        })))
    }
}

/// Values by the number of their argument, and ranges of memory: where each begins, and how many bytes it has.
type Outputs = (Vec<(u32, Value)>, Vec<(u64, u64)>);

thread_local! {
    static THREAD: u64 = {
        /// Numbers threads in the order in which they first call. Nothing is published by it, so its order against
        /// other memory does not matter.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        NEXT.fetch_add(1, Ordering::Relaxed)
    };
}

impl State {
    fn write(&mut self, record: &Record) {
        if self.failed {
            return;
        }
        // In one piece: readers find whole records.
        if let Err(error) = self.file.write_all(&record.encode()) {
            eprintln!("offload: the recording ends here: {error}");
            self.failed = true;
        }
    }

    /// Writes who a platform or device is, before its handle is first used.
    fn introduce(&mut self, handle: usize) {
        let pointer: *const c_void = std::ptr::without_provenance(handle);
        let session = &Core::get().session;
        let object = match table::kind_of(pointer) {
            Some(HandleKind::Platform) => session.platform(pointer).map(|platform| {
                let driver = platform.driver;
                Object { handle: handle as u64, is_device: false, backend: driver.backend().0, ordinal: 0, name: driver.name().into() }
            }),
            Some(HandleKind::Device) => session.device(pointer).map(|device| Object {
                handle: handle as u64,
                is_device: true,
                backend: crate::library::session::backend_of(device).0,
                ordinal: device.ordinal as u32,
                name: device.name(),
            }),
            _ => None,
        };
        if let Some(object) = object
            && self.objects.insert(handle)
        {
            self.write(&Record::Object(object));
        }
    }

    /// What a call wrote, and what that means for later ones.
    fn outputs(&mut self, call: u64, function: &str, arguments: &[Argument]) -> Outputs {
        let (mut outputs, mut ranges) = (Vec::new(), Vec::new());
        let queue = match arguments.first() {
            Some(Argument::Handle(queue)) => *queue,
            _ => 0,
        };
        for (index, argument) in (0..).zip(arguments) {
            let Argument::Memory { access, address, size } = *argument else { continue };
            let word = || read(address, 8).first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
            match access {
                _ if address == 0 => {}
                Access::OutHandle => outputs.push((index, Value::Handle(word()))),
                Access::OutPointer => {
                    outputs.push((index, Value::Pointer(word())));
                    if let Some(Argument::Number(size)) = arguments.get(place_of_size(function)) {
                        ranges.push((word(), *size));
                    }
                }
                Access::Out => {
                    let bytes = read(address, size.min(MOST_PROPERTY));
                    outputs.push((index, Value::Memory(Memory { address: address as u64, size: size as u64, bytes, ..Memory::default() })));
                }
                Access::Write if self.memory.knows(address) || function == "olMemRegister" => {}
                Access::Write if queue != 0 => self.memory.pending.push(Pending { queue, call, address, size }),
                Access::Write => {
                    let bytes = read(address, size);
                    let written = Memory { address: address as u64, size: size as u64, lasts: true, bytes, ..Memory::default() };
                    outputs.push((index, Value::Memory(written)));
                }
                Access::Value | Access::Read => {}
            }
        }
        if function == "olGetSymbolInfo" {
            ranges.extend(global(arguments));
        }
        (outputs, ranges)
    }

    /// What queues have written, now that the caller has waited for it.
    fn arrived(&mut self, call: u64, function: &str, arguments: &[Argument]) {
        let (queue, until) = match (function, arguments) {
            ("olSyncQueue", [Argument::Handle(queue)]) => (*queue, call),
            ("olQueryQueue", [Argument::Handle(queue), Argument::Memory { address, .. }]) if *address != 0 && read(*address, 1) == [1] => {
                (*queue, call)
            }
            ("olSyncEvent", [Argument::Handle(event)]) => match self.events.get(event) {
                Some(&of) => of,
                None => return,
            },
            _ => return,
        };
        // Who waits for a queue has waited for what that has waited for.
        let mut waited = vec![(queue, until)];
        while let Some((queue, until)) = waited.pop() {
            let done: Vec<_> = self.memory.pending.extract_if(.., |it| it.queue == queue && it.call < until).collect();
            for Pending { address, size, .. } in done {
                self.write(&Record::Arrived(Arrived { call, address: address as u64, bytes: read(address, size) }));
            }
            waited.extend(self.waits.extract_if(.., |it| it.queue == queue && it.call < until).map(|it| (it.of, it.until)));
        }
    }

    /// A queue waits for events.
    fn waits_for(&mut self, call: u64, queue: usize, events: usize, count: usize) {
        for event in handles(events, count) {
            if let Some(&(of, until)) = self.events.get(&event) {
                self.waits.push(Wait { queue, call, of, until });
            }
        }
    }
}

/// The handles in an array of the caller.
fn handles(address: usize, count: usize) -> impl Iterator<Item = usize> {
    let bytes = read(address, count.saturating_mul(8));
    let words: Vec<_> = bytes.as_chunks::<8>().0.iter().map(|word| usize::from_le_bytes(*word)).collect();
    words.into_iter()
}

/// Where functions that give an address have the size of what is there.
fn place_of_size(function: &str) -> usize {
    // LLVM 24's have a context in front, and those for host memory no type.
    if cfg!(llvm24) && matches!(function, "olMemAlloc" | "olMemAllocAligned") { 3 } else { 2 }
}

/// The global variable whose address a program asked for: where it is, and its size.
fn global(arguments: &[Argument]) -> Option<(u64, u64)> {
    let [Argument::Handle(symbol), Argument::Number(property), Argument::Number(8..), Argument::Memory { address, .. }] = *arguments else {
        return None;
    };
    if property != u64::from(ol_symbol_info_t::OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS.0) {
        return None;
    }
    let size = Core::get().symbols.get(std::ptr::without_provenance(symbol))?.global_size()?;
    Some((u64::from_le_bytes(*read(address, 8).first_chunk()?), size as u64))
}

impl record::Recorder for Recorder {
    fn begin(&self, function: &'static str, arguments: &[Argument]) -> u64 {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for argument in arguments {
            match *argument {
                Argument::Handle(handle) => state.introduce(handle),
                Argument::Array { of: Element::Handle, address, count } => {
                    handles(address, count).for_each(|handle| state.introduce(handle))
                }
                _ => {}
            }
        }
        let (values, unseen) = values(function, arguments, &state.memory);
        if let ("olMemFree", [.., Argument::Pointer(address)]) = (function, arguments) {
            // Now: another thread may be given the same address before this call has returned.
            state.memory.known.remove(address);
        }
        let call = state.calls;
        state.calls += 1;
        state.write(&Record::Begin(Begin {
            call,
            thread: THREAD.try_with(|thread| *thread).unwrap_or(0),
            in_host_function: is_in_host_function(),
            function: function.into(),
            arguments: values,
            unseen,
        }));
        call
    }

    fn end(&self, call: u64, function: &'static str, arguments: &[Argument], result: &Result<(), Error>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (outputs, ranges) = if result.is_ok() { state.outputs(call, function, arguments) } else { Default::default() };
        // Registered memory is the caller's: copies from it are recorded with their data.
        for &(address, size) in ranges.iter().filter(|_| function != "olMemRegister") {
            let (begin, end) = (address as usize, (address + size) as usize);
            state.memory.known.retain(|base, length| *base >= end || *base + *length <= begin);
            state.memory.known.insert(begin, size as usize);
        }
        if let (Ok(()), "olCreateEvent", [Argument::Handle(queue), ..], [(_, Value::Handle(event))]) =
            (result, function, arguments, &*outputs)
        {
            state.events.insert(*event as usize, (*queue, call));
        }
        let (code, details) = match result {
            Ok(()) => (ol_errc_t::OL_ERRC_SUCCESS, String::new()),
            Err(error) => (error.code, error.details().into_owned()),
        };
        state.write(&Record::End(End { call, code: code.0, details, outputs, ranges }));
        if result.is_ok() {
            if let ("olWaitEvents", [Argument::Handle(queue), Argument::Array { address, count, .. }, ..]) = (function, arguments) {
                state.waits_for(call, *queue, *address, *count);
            }
            state.arrived(call, function, arguments);
        }
        match (function, arguments) {
            ("olDestroyEvent", [Argument::Handle(event)]) => {
                state.events.remove(event);
            }
            ("olShutDown", _) if !Core::get().session.is_started() => {
                state.memory = Ranges::default();
                state.events.clear();
                state.waits.clear();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_settled_up_to_the_first_byte_that_a_queue_may_still_write() {
        let pending = |address, size| Pending { queue: 1, call: 0, address, size };
        let memory = Ranges { pending: vec![pending(1000, 16), pending(1100, 4)], ..Ranges::default() };
        let settled = |address, size| memory.settled(address, size);
        assert_eq!([settled(900, 100), settled(1016, 84), settled(1104, 8)], [100, 84, 8]);
        assert_eq!([settled(1000, 4), settled(1015, 4), settled(990, 20), settled(1020, 100)], [0, 0, 10, 80]);
        assert_eq!(settled(usize::MAX - 1, usize::MAX), usize::MAX);
    }
}
