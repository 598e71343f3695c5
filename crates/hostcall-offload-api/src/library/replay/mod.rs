//! Making recorded calls again, on the same device or another, and comparing what comes back.
//!
//! Calls are made one after the other, in the order in which they began, on one thread. Handles and addresses of the
//! recording are numbers; each is mapped to what the same call gave here. Memory of the recorded program is stood for
//! by memory of this process, so that what one call left there is found by the next. A recording holds code (the
//! images), and this runs it: replay only what you trust.

mod devices;
mod memory;

use std::collections::HashMap;
use std::ffi::c_void;
use std::marker::PhantomData;

pub use self::devices::DeviceChoice;
use self::devices::{Device, stand_in};
use self::memory::{Addresses, NoMemory};
use crate::library::queue::in_host_function;
use crate::library::recording::format::{Begin, End, Memory, Object, Record, Value};
use crate::library::{Recording, table};
use crate::replay::{Callbacks, replay as call};
use crate::runtime::safe;
use crate::sys::*;
use crate::{Api, HandleKind};

/// What is replayed in another way than it was recorded.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The device for every recorded one.
    pub device: Option<DeviceChoice>,
    /// The image in place of every recorded one that was loaded.
    pub image: Option<Vec<u8>>,
}

/// What is found on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Something cannot be replayed, or was not compared.
    Note(String),
    /// What came back is not what came back when the recording was made.
    Difference(String),
}

/// How a replay went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Calls that were made.
    pub calls: usize,
    /// Results and data that were compared.
    pub compared: usize,
    /// Those that differ.
    pub differences: usize,
}

/// Replays a recording with an implementation of the API; `found` gets what is found.
///
/// # Errors
///
/// A device is not there, a call is not one of the API's, or there is no memory: the replay cannot go on.
pub fn replay<A: Api>(recording: &Recording, options: &Options, found: &mut dyn FnMut(Finding)) -> Result<Summary, String> {
    let ends = recording.records.iter().filter_map(|record| match record {
        Record::End(end) => Some((end.call, end)),
        _ => None,
    });
    let mut replay = Replay::<A> {
        options,
        found,
        summary: Summary::default(),
        ends: ends.collect(),
        handles: HashMap::new(),
        addresses: Addresses::default(),
        devices: Vec::new(),
        open: HashMap::new(),
        api: PhantomData,
    };
    for record in &recording.records {
        match record {
            Record::Object(object) => replay.object(object)?,
            Record::Begin(begin) => replay.begin(begin)?,
            Record::End(end) => replay.end(end)?,
            Record::Arrived(arrived) => {
                let what = format!("data that queues had written when call {} had waited", arrived.call);
                let here = replay.own(arrived.address)?;
                replay.compare_memory(&what, here, &arrived.bytes);
            }
        }
    }
    replay.finish();
    Ok(replay.summary)
}

/// No handle of any library: what stands for a handle that no recorded call gave.
const NO_HANDLE: u64 = u64::MAX;

/// A call that was made, until what the recording says of its end is compared.
struct Made<'a> {
    begin: &'a Begin,
    result: Result<(), crate::Error>,
    /// The arguments, as they were passed.
    words: Vec<u64>,
    /// What they name: kept until the end, at least.
    room: Room,
}

/// Memory of one call.
#[derive(Default)]
struct Room(Vec<Box<[u64]>>);

impl Room {
    /// Room for `size` bytes that begins with these; its address.
    fn add(&mut self, size: usize, bytes: &[u8]) -> u64 {
        let mut room = vec![0u64; size.max(bytes.len()).div_ceil(8).max(1)].into_boxed_slice();
        let address = room.as_mut_ptr();
        // SAFETY: the room has at least as many bytes.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address.cast(), bytes.len()) };
        self.0.push(room);
        address.expose_provenance() as u64
    }
}

/// The most bytes that a value has which a call writes at once.
const MOST_OUT: u64 = 64 << 10;

struct Replay<'a, A> {
    options: &'a Options,
    found: &'a mut dyn FnMut(Finding),
    summary: Summary,
    ends: HashMap<u64, &'a End>,
    handles: HashMap<u64, u64>,
    addresses: Addresses,
    devices: Vec<Device>,
    open: HashMap<u64, Made<'a>>,
    api: PhantomData<A>,
}

unsafe extern "C" fn look_at_all(_device: ol_device_handle_t, _data: *mut c_void) -> bool {
    true
}

#[cfg(llvm24)]
unsafe extern "C" fn look_at_all_platforms(_platform: ol_platform_handle_t, _data: *mut c_void) -> bool {
    true
}

#[cfg(llvm24)]
unsafe extern "C" fn look_at_all_symbols(_symbol: ol_symbol_handle_t, _data: *mut c_void) -> bool {
    true
}

unsafe extern "C" fn do_nothing(_data: *mut c_void) {}

unsafe extern "C" fn answer_nothing(_port: *mut c_void, _lanes: u32) -> u32 {
    // OFFLOAD_PORT_UNHANDLED
    0x1001
}

/// What stands for the program's own functions.
const CALLBACKS: Callbacks = Callbacks {
    ol_device_iterate_cb_t: Some(look_at_all),
    ol_host_function_cb_t: Some(do_nothing),
    ol_platform_rpc_cb_t: Some(answer_nothing),
    #[cfg(llvm24)]
    ol_platform_iterate_cb_t: Some(look_at_all_platforms),
    #[cfg(llvm24)]
    ol_symbol_iterate_cb_t: Some(look_at_all_symbols),
};

/// Whether what a function gives depends on the device, and not on the program.
fn is_about_devices(function: &str) -> bool {
    const FUNCTIONS: [&str; 4] =
        ["olGetDeviceInfo", "olGetPlatformInfo", "olCalculateOptimalOccupancy", "olGetKernelMaxCooperativeGroupCount"];
    FUNCTIONS.contains(&function.trim_end_matches("Size"))
}

/// Whether what a function gives depends on how far queues have come.
fn is_about_the_moment(function: &str) -> bool {
    ["olQueryQueue", "olGetQueueInfo", "olGetEventInfo", "olGetEventElapsedTime"].contains(&function)
}

impl<'a, A: Api> Replay<'a, A> {
    fn note(&mut self, text: String) {
        (self.found)(Finding::Note(text));
    }

    fn differs(&mut self, text: String) {
        self.summary.differences += 1;
        (self.found)(Finding::Difference(text));
    }

    fn own(&mut self, there: u64) -> Result<u64, String> {
        self.addresses.own(there).map_err(no_memory)
    }

    /// A platform or a device of the recording appears: what stands for it.
    fn object(&mut self, object: &Object) -> Result<(), String> {
        // Anew each time: handles of devices are those of one session.
        self.devices = devices::all::<A>().map_err(|error| format!("the devices cannot be listed: {error}"))?;
        let choice = self.options.device;
        let device = if object.is_device {
            stand_in(&self.devices, object, choice)?
        } else {
            let same = self.devices.iter().find(|device| device.backend.0 == object.backend);
            same.map_or_else(|| stand_in(&self.devices, object, choice), Ok)?
        };
        self.handles.insert(object.handle, if object.is_device { device.handle } else { device.platform });
        let (here, there) = (device.name.clone(), &object.name);
        if object.is_device && here != *there {
            self.note(format!("{here} stands for {there}"));
        }
        Ok(())
    }

    /// The argument as a machine word; `recorded` is what the call wrote there, if it did.
    fn word(&mut self, value: &Value, recorded: Option<&Value>, room: &mut Room) -> Result<u64, String> {
        Ok(match value {
            Value::Number(number) => *number,
            Value::Callback(is_there) => (*is_there).into(),
            Value::Handle(0) | Value::Pointer(0) => 0,
            Value::Handle(handle) => self.handles.get(handle).copied().unwrap_or(NO_HANDLE),
            Value::Pointer(address) => self.addresses.find(*address).map_err(no_memory)?,
            Value::Memory(memory) if memory.lasts => {
                let here = self.own(memory.address)?;
                write(here, &memory.bytes);
                here
            }
            Value::Memory(memory) => {
                let Memory { size, bytes, links, .. } = memory;
                // What a call does not write stays as it is when it is compared.
                let bytes = match recorded {
                    Some(Value::Memory(written)) => &written.bytes,
                    _ => bytes,
                };
                let here = room.add((*size).min(MOST_OUT) as usize, bytes);
                for (offset, link) in links {
                    let word = self.word(link, None, room)?;
                    if offset + 8 <= bytes.len() as u64 {
                        write(here + offset, &word.to_le_bytes());
                    }
                }
                here
            }
        })
    }

    fn begin(&mut self, begin: &'a Begin) -> Result<(), String> {
        let function = begin.function.as_str();
        for unseen in &begin.unseen {
            self.note(format!("call {}, {function}: cannot be replayed: {unseen}", begin.call));
        }
        let end = self.ends.get(&begin.call).copied();
        let succeeded = end.is_some_and(|end| end.code == ol_errc_t::OL_ERRC_SUCCESS.0);
        if succeeded && begin.arguments.iter().any(|argument| self.was_only_shown(argument)) {
            self.note(format!("call {}, {function}, is left out: only a function of olIterateSymbols was shown its symbol", begin.call));
            return Ok(());
        }
        let mut too_large = false;
        let mut room = Room::default();
        let mut words = Vec::new();
        for (index, argument) in (0..).zip(&begin.arguments) {
            let recorded = end.and_then(|end| end.outputs.iter().find(|(at, _)| *at == index)).map(|(_, value)| value);
            words.push(self.word(argument, recorded, &mut room)?);
            if let Value::Memory(memory) = argument {
                too_large |= memory.lasts && !Addresses::fits(memory.size);
                if succeeded && memory.lasts && !memory.bytes.is_empty() && (memory.bytes.len() as u64) < memory.size {
                    self.note(format!(
                        "call {}, {function}: argument {index} could not be read as a whole when it was recorded",
                        begin.call
                    ));
                }
            }
        }
        if too_large && end.is_none_or(|end| end.code == ol_errc_t::OL_ERRC_SUCCESS.0) {
            self.note(format!("call {}, {function}, is left out: memory of the program of more than 4 GiB is not stood for", begin.call));
            return Ok(());
        }
        self.adapt(begin, &mut words, succeeded);
        // SAFETY: each word is a number, a handle, or an address of memory that is at least as large as the recorded
        // call said, or larger than any that a call accepts. What kernels do is the recorded program's business.
        let make = || unsafe { call::<A>(function, &words, &CALLBACKS) };
        let result = if begin.in_host_function {
            // Such a call must not wait.
            let mut result = None;
            in_host_function(|| result = make());
            result
        } else {
            make()
        };
        let Some(result) = result else {
            return Err(format!("call {}: there is no function {function} of {} arguments", begin.call, words.len()));
        };
        self.summary.calls += 1;
        // SAFETY: a result of the library.
        let result = unsafe { safe::result(result) };
        self.open.insert(begin.call, Made { begin, result, words, room });
        Ok(())
    }

    /// Whether an argument is a symbol that no recorded call gave. Functions of the program are not replayed, and what
    /// they were shown is not known.
    fn was_only_shown(&self, argument: &Value) -> bool {
        let Value::Handle(handle) = argument else { return false };
        let kind = table::kind_of(std::ptr::without_provenance(*handle as usize));
        cfg!(llvm24) && kind == Some(HandleKind::Symbol) && !self.handles.contains_key(handle)
    }

    /// Makes the call fit what is chosen here instead of what was recorded.
    fn adapt(&mut self, begin: &Begin, words: &mut [u64], succeeded: bool) {
        match (begin.function.as_str(), words) {
            ("olCreateProgram" | "olIsValidBinary", [.., image, size, _]) if succeeded => {
                if let Some(other) = &self.options.image {
                    *image = other.as_ptr().expose_provenance() as u64;
                    *size = other.len() as u64;
                }
            }
            ("olMemcpy", [_, _, to_device, _, from_device, _]) if self.options.device.is_some() => {
                // The program's own memory stays the host's, wherever the devices went.
                let Some(host) = self.devices.iter().find(|device| device.is_host()).map(|device| device.handle) else { return };
                for (place, device) in [(1, to_device), (3, from_device)] {
                    if matches!(begin.arguments.get(place), Some(Value::Memory(_))) && *device != NO_HANDLE {
                        *device = host;
                    }
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, end: &'a End) -> Result<(), String> {
        let Some(made) = self.open.remove(&end.call) else { return Ok(()) };
        let function = made.begin.function.as_str();
        let place = format!("call {}, {function}", end.call);
        let code = made.result.as_ref().err().map_or(ol_errc_t::OL_ERRC_SUCCESS, |error| error.code);
        let other_device = self.options.device.is_some();
        if !(is_about_devices(function) && other_device || function == "olGetEventElapsedTime") {
            self.summary.compared += 1;
            if code.0 != end.code {
                let details = made.result.as_ref().err().map_or_else(String::new, |error| format!(" ({})", error.details()));
                let recorded = if end.details.is_empty() { String::new() } else { format!(" ({})", end.details) };
                self.differs(format!("{place}: gives {code}{details}; the recording has {}{recorded}", ol_errc_t(end.code)));
            }
        }
        if code != ol_errc_t::OL_ERRC_SUCCESS {
            return Ok(());
        }
        let sizes: HashMap<u64, u64> = end.ranges.iter().copied().collect();
        for (index, output) in &end.outputs {
            let Some(&here) = made.words.get(*index as usize).filter(|here| **here != 0) else { continue };
            match output {
                Value::Handle(handle) => {
                    self.handles.insert(*handle, word_at(here));
                }
                Value::Pointer(address) => {
                    if let Some(size) = sizes.get(address) {
                        self.addresses.insert(*address, *size, word_at(here));
                    }
                }
                Value::Memory(memory) if memory.lasts => self.compare_memory(&place, here, &memory.bytes),
                Value::Memory(memory) => {
                    if let Some((address, size)) = end.ranges.first() {
                        // A global variable's address.
                        self.addresses.insert(*address, *size, word_at(here));
                    }
                    let is_comparable = !is_about_devices(function) && !is_about_the_moment(function);
                    if is_comparable && !(function == "olIsValidBinary" && self.options.image.is_some()) {
                        self.compare_value(&place, here, &memory.bytes);
                    }
                }
                Value::Number(_) | Value::Callback(_) => {}
            }
        }
        drop(made.room);
        Ok(())
    }

    /// Compares a value that a call wrote, which may be a handle or an address.
    fn compare_value(&mut self, place: &str, here: u64, recorded: &[u8]) {
        self.summary.compared += 1;
        let mut now = vec![0; recorded.len()];
        read(here, &mut now);
        if now == recorded {
            return;
        }
        let meaning = recorded.try_into().ok().map(u64::from_le_bytes);
        let mapped = meaning.and_then(|word| self.handles.get(&word).copied().or_else(|| self.addresses.known(word)));
        if mapped.is_some_and(|mapped| mapped.to_le_bytes() == *now) {
            return;
        }
        self.differs(format!("{place}: writes {}; the recording has {}", hexadecimal(&now), hexadecimal(recorded)));
    }

    /// Compares memory with what was read back.
    fn compare_memory(&mut self, place: &str, here: u64, recorded: &[u8]) {
        self.summary.compared += 1;
        let mut now = vec![0; recorded.len()];
        read(here, &mut now);
        let Some(first) = now.iter().zip(recorded).position(|(now, recorded)| now != recorded) else { return };
        let count = now.iter().zip(recorded).filter(|(now, recorded)| now != recorded).count();
        let part = first..recorded.len().min(first + 16);
        let (now, then) = (hexadecimal(&now[part.clone()]), hexadecimal(&recorded[part]));
        let all = recorded.len();
        self.differs(format!("{place}: {count} of {all} bytes differ, the first at {first}: {now}; the recording has {then}"));
    }

    /// Calls whose ends are not in the recording.
    fn finish(&mut self) {
        let mut open: Vec<_> = self.open.drain().collect();
        open.sort_unstable_by_key(|(call, _)| *call);
        for (call, made) in open {
            let result = made.result.map_or_else(|error| error.to_string(), |()| "OL_SUCCESS".into());
            self.note(format!("call {call}, {}: the recording ends in it; here it gives {result}", made.begin.function));
        }
    }
}

fn no_memory(NoMemory(error): NoMemory) -> String {
    format!("there is no address space for the recorded program's memory: {error}")
}

/// Bytes as people read them: at most sixteen.
fn hexadecimal(bytes: &[u8]) -> String {
    let shown: Vec<_> = bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("{}{}", shown.join(" "), if bytes.len() > 16 { " …" } else { "" })
}

/// Writes where a call will read. (The address is that of a [`Room`], or of the program's own memory.)
fn write(to: u64, bytes: &[u8]) {
    let to = std::ptr::with_exposed_provenance_mut::<u8>(to as usize);
    // SAFETY: both kinds of memory have at least as many bytes.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
}

/// Reads where a call has written.
fn read(from: u64, bytes: &mut [u8]) {
    // SAFETY: as for `write`.
    unsafe { std::ptr::copy_nonoverlapping(std::ptr::with_exposed_provenance::<u8>(from as usize), bytes.as_mut_ptr(), bytes.len()) };
}

fn word_at(from: u64) -> u64 {
    let mut word = [0; 8];
    read(from, &mut word);
    u64::from_le_bytes(word)
}
