//! What is written of a call: its arguments before it, its results after it.

use std::ffi::{CStr, c_char, c_void};

use serde_json::{Map, Value, json};

use super::memory::{Kind, bytes};
use super::{PendingCopy, State};
use crate::library::Core;
use crate::library::program::What;
use crate::library::session;
use crate::recording::Entry;
use crate::sys::*;

/// The text and the data of an entry, and what is known of the program.
pub(in crate::library) struct Fields<'a> {
    call: u64,
    pub(super) state: &'a mut State,
    text: Map<String, Value>,
    data: Vec<u8>,
}

/// A handle as a recording says it.
fn handle(handle: *const c_void) -> Value {
    if handle.is_null() { Value::Null } else { format!("{:#x}", handle.addr()).into() }
}

fn is_host(device: ol_device_handle_t) -> bool {
    Core::get().session.device(device.cast()).is_some_and(session::is_host)
}

impl<'a> Fields<'a> {
    pub(super) fn new(call: u64, state: &'a mut State, text: Map<String, Value>) -> Fields<'a> {
        Fields { call, state, text, data: Vec::new() }
    }

    pub(super) fn finish(self) -> Entry {
        Entry { text: self.text, data: self.data }
    }

    pub(super) fn say(&mut self, name: &str, value: impl Into<Value>) {
        self.text.insert(name.into(), value.into());
    }

    /// Data, whose place among the entry's data and length are said.
    pub(super) fn bring(&mut self, name: &str, data: &[u8]) {
        self.say(name, json!({ "at": self.data.len(), "bytes": data.len() }));
        self.data.extend_from_slice(data);
    }

    /// Writes what the program wrote into regions that it can reach, before the call that may read it.
    pub(super) fn memory(&mut self) {
        for (region, data) in self.state.regions.written() {
            let entry = json!({ "memory": region, "content": { "at": 0, "bytes": data.len() } });
            let text = entry.as_object().cloned().unwrap_or_default();
            self.state.write(&Entry { text, data });
        }
    }

    pub(in crate::library) fn handle(&mut self, name: &str, it: *const c_void) {
        self.say(name, handle(it));
    }

    /// # Safety
    /// There are `count` handles.
    pub(in crate::library) unsafe fn handles(&mut self, name: &str, list: *const *const c_void, count: usize) {
        // SAFETY: the caller's.
        let all: Vec<_> = (0..count).map(|index| handle(unsafe { list.add(index).read_unaligned() })).collect();
        self.say(name, all);
    }

    pub(in crate::library) fn number(&mut self, name: &str, number: u64) {
        self.say(name, number);
    }

    pub(in crate::library) fn address(&mut self, name: &str, address: *const c_void) {
        let place = self.state.regions.place(address.addr());
        self.say(name, place);
    }

    /// # Safety
    /// A text that ends in a zero.
    pub(in crate::library) unsafe fn text(&mut self, name: &str, text: *const c_char) {
        // SAFETY: the caller's.
        self.say(name, unsafe { CStr::from_ptr(text) }.to_string_lossy());
    }

    /// A question about an object.
    pub(in crate::library) fn property(&mut self, object: *const c_void, name: u32, size: usize) {
        self.handle("Object", object);
        self.number("PropName", name.into());
        self.number("PropSize", size as u64);
    }

    /// All devices, by platform and number: handles are the process's own.
    pub(in crate::library) fn devices(&mut self) {
        let session = &Core::get().session;
        let device = |device: &'static crate::library::device::Device| {
            let platform = session::platform_name(device.platform);
            json!({ "handle": handle(session.device_handle(device)), "platform": platform, "ordinal": device.ordinal,
                "platform_handle": handle(session.platform_handle(device.platform)) })
        };
        let all: Vec<_> = session.devices().into_iter().map(device).collect();
        self.say("Devices", all);
    }

    pub(in crate::library) fn allocation(
        &mut self,
        device: ol_device_handle_t,
        kind: ol_alloc_type_t,
        size: usize,
        alignment: Option<usize>,
    ) {
        self.handle("Device", device.cast());
        self.number("Type", kind.0.into());
        self.number("Size", size as u64);
        if let Some(alignment) = alignment {
            self.number("Alignment", alignment as u64);
        }
    }

    pub(in crate::library) fn allocated(&mut self, made: *mut c_void, device: ol_device_handle_t, kind: ol_alloc_type_t, size: usize) {
        let reachable = is_host(device) || kind != ol_alloc_type_t::OL_ALLOC_TYPE_DEVICE;
        let region = self.state.regions.add(made.expose_provenance(), size, reachable, Kind::Allocation);
        self.number("Region", region);
    }

    pub(in crate::library) fn freed(&mut self, address: *mut c_void) {
        self.address("Address", address);
        self.state.regions.remove(address.addr(), Kind::Allocation);
    }

    pub(in crate::library) fn registration(&mut self, device: ol_device_handle_t, address: *mut c_void, size: Option<usize>, flags: u32) {
        self.handle("Device", device.cast());
        self.address("Ptr", address);
        self.number("Flags", flags.into());
        match size {
            Some(size) => self.number("Size", size as u64),
            None => self.state.regions.remove(address.addr(), Kind::Registered),
        }
    }

    /// A program is about to be destroyed, and its global variables with it.
    pub(in crate::library) fn destroyed(&mut self, program: ol_program_handle_t) {
        self.handle("Program", program.cast());
        let Some(program) = Core::get().programs.get(program.cast()) else { return };
        let symbols = program.symbol_handles();
        self.state.regions.remove_all(|kind| matches!(kind, Kind::Global(symbol) if symbols.contains(&symbol)));
    }

    /// The library is about to be ended by one of its users: if it is the last, everything goes.
    pub(in crate::library) fn ending(&mut self) {
        if Core::get().session.has_one_user() {
            self.state.regions.remove_all(|_| true);
        }
    }

    pub(in crate::library) fn registered(&mut self, address: *mut c_void, pinned: *mut c_void, size: usize) {
        let region = self.state.regions.add(address.expose_provenance(), size, true, Kind::Registered);
        self.number("Region", region);
        self.address("PinnedPtr", pinned);
    }

    /// # Safety
    /// There are `size` bytes at `from`, if it is memory of the program.
    pub(in crate::library) unsafe fn copy(
        &mut self,
        queue: ol_queue_handle_t,
        (to, to_device): (*mut c_void, ol_device_handle_t),
        (from, from_device): (*const c_void, ol_device_handle_t),
        size: usize,
    ) {
        self.memory();
        self.handle("Queue", queue.cast());
        self.address("DstPtr", to);
        self.handle("DstDevice", to_device.cast());
        self.address("SrcPtr", from);
        self.handle("SrcDevice", from_device.cast());
        self.number("Size", size as u64);
        if size > 0 && !from.is_null() && self.state.regions.find(from.addr()).is_none() {
            self.bring("Content", &bytes(from.expose_provenance(), size));
        }
        self.state.regions.touch(to.addr());
    }

    /// # Safety
    /// There are `size` bytes at `to`, if it is memory of the program.
    pub(in crate::library) unsafe fn copied(&mut self, queue: ol_queue_handle_t, to: *mut c_void, size: usize) {
        if size > 0 && self.state.regions.find(to.addr()).is_none() {
            let copy = PendingCopy { call: self.call, address: to.expose_provenance(), size };
            self.state.pending.entry(queue.addr()).or_default().push(copy);
        }
        if queue.is_null() {
            self.copied_by(queue.cast());
        }
    }

    /// Work of a queue is done: what it copied to the program's memory, and what is in regions if nothing else is under way.
    pub(in crate::library) fn copied_by(&mut self, queue: *const c_void) {
        self.copied_until(queue.addr(), u64::MAX);
    }

    /// A queue's event was made: copies before it are done when it has happened.
    pub(in crate::library) fn made_event(&mut self, event: ol_event_handle_t, queue: ol_queue_handle_t) {
        self.handle("Event", event.cast());
        self.state.events.insert(event.addr(), (queue.addr(), self.call));
    }

    /// An event has happened.
    pub(in crate::library) fn happened(&mut self, event: ol_event_handle_t) {
        if let Some(&(queue, call)) = self.state.events.get(&event.addr()) {
            self.copied_until(queue, call);
        }
    }

    fn copied_until(&mut self, queue: usize, call: u64) {
        let pending = self.state.pending.remove(&queue).unwrap_or_default();
        let (done, left): (Vec<_>, Vec<_>) = pending.into_iter().partition(|copy| copy.call <= call);
        if !left.is_empty() {
            self.state.pending.insert(queue, left);
        }
        let mut copies = Vec::new();
        for copy in done {
            let bytes = bytes(copy.address, copy.size);
            copies.push(json!({ "call": copy.call, "at": self.data.len(), "bytes": bytes.len() }));
            self.data.extend_from_slice(&bytes);
        }
        if !copies.is_empty() {
            self.say("Copied", copies);
        }
        self.settled();
    }

    /// Work was asked for: without a queue it is done.
    pub(in crate::library) fn done_at_once(&mut self, queue: ol_queue_handle_t) {
        if queue.is_null() {
            self.settled();
        }
    }

    /// If no queue has work, nothing changes regions any more: hashes of those that were being changed.
    fn settled(&mut self) {
        let busy = |queue: &std::sync::Arc<crate::library::queue::Queue>| !queue.driver.is_idle().unwrap_or(true);
        if Core::get().queues.live_objects().iter().any(|(_, queue)| busy(queue)) {
            return;
        }
        let settled = self.state.regions.settle();
        if !settled.is_empty() {
            let region = |(region, hash): (u64, offload::Sha256)| json!({ "region": region, "sha256": hash.to_string() });
            self.say("Regions", settled.into_iter().map(region).collect::<Vec<_>>());
        }
    }

    /// # Safety
    /// There are as many bytes of the pattern.
    pub(in crate::library) unsafe fn fill(
        &mut self,
        queue: ol_queue_handle_t,
        to: *mut c_void,
        (pattern, pattern_size): (*const c_void, usize),
        size: usize,
    ) {
        self.memory();
        self.handle("Queue", queue.cast());
        self.address("Ptr", to);
        self.number("FillSize", size as u64);
        self.number("PatternSize", pattern_size as u64);
        if pattern_size <= size {
            self.bring("Pattern", &bytes(pattern.expose_provenance(), pattern_size));
        }
        self.state.regions.touch(to.addr());
    }

    /// # Safety
    /// There are `count` addresses and sizes.
    pub(in crate::library) unsafe fn prefetch(
        &mut self,
        queue: ol_queue_handle_t,
        count: usize,
        mems: *mut *const c_void,
        sizes: *const usize,
        flags: u32,
    ) {
        self.handle("Queue", queue.cast());
        self.number("Flags", flags.into());
        // SAFETY: the caller's.
        let range = |index| unsafe { (mems.add(index).read_unaligned(), sizes.add(index).read_unaligned()) };
        let all = (0..count).map(range).map(|(memory, size)| json!({ "memory": self.state.regions.place(memory.addr()), "size": size }));
        let all: Vec<_> = all.collect();
        self.say("Mems", all);
    }

    /// # Safety
    /// There is such an image.
    pub(in crate::library) unsafe fn image(&mut self, device: ol_device_handle_t, data: *const c_void, size: usize) {
        self.handle("Device", device.cast());
        self.number("Size", size as u64);
        self.bring("Image", &bytes(data.expose_provenance(), size));
    }

    /// The address of a global variable was asked for.
    pub(in crate::library) fn found(&mut self, symbol: ol_symbol_handle_t, property: ol_symbol_info_t) {
        if property != ol_symbol_info_t::OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS {
            return;
        }
        let handle = symbol;
        let Some(symbol) = Core::get().symbols.get(symbol.cast()) else { return };
        if let What::Global(global) = symbol.what {
            let region = self.state.regions.add(global.address, global.size, session::is_host(symbol.device), Kind::Global(handle.addr()));
            self.number("Region", region);
            let device = Core::get().session.device_handle(symbol.device);
            self.handle("Device", device);
        }
    }
}
