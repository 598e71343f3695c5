//! Queues, and the packet processor of each.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use offload::hsa::sys::*;
use offload::sim;
use offload::{Error, FaultKind, Launch};

use crate::code::{self, Code, PRIVATE_BYTES, STACK_BYTES};
use crate::signals::{self, Signal};
use crate::world::{Gpu, lock, world};

/// The most packets of a queue: few, so that queues are full now and then.
pub(crate) const MOST_PACKETS: u32 = 128;
/// Memory that a workgroup can have.
pub(crate) const GROUP_BYTES: u32 = 64 << 10;

/// A packet's memory.
#[repr(C, align(64))]
struct Slot(UnsafeCell<[u32; 16]>);

/// A queue. The interface's structure is its first field, so that a pointer to one is a pointer to the other.
#[repr(C)]
pub(crate) struct Ring {
    raw: hsa_queue_t,
    slots: Box<[Slot]>,
    agent: hsa_agent_t,
    read: AtomicU64,
    write: AtomicU64,
    state: Mutex<State>,
    changed: Condvar,
    profiling: AtomicBool,
    callback: QueueCallback,
    data: usize,
    /// The thread of the packet processor, until the queue is destroyed.
    processor: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct State {
    /// Packets below this were published, as far as doorbells say.
    limit: u64,
    /// Kernels that run.
    running: usize,
    /// It takes no more packets: destroyed, or failed.
    ended: bool,
}

// SAFETY: slots are accessed as the interface says: by their producer before the header is stored, by the packet
// processor after.
unsafe impl Send for Ring {}
// SAFETY: as above.
unsafe impl Sync for Ring {}

static RINGS: Mutex<Vec<Arc<Ring>>> = Mutex::new(Vec::new());

fn find(queue: *const hsa_queue_t) -> Arc<Ring> {
    let rings = lock(&RINGS);
    let found = rings.iter().find(|ring| Arc::as_ptr(ring).addr() == queue.addr()).cloned();
    found.unwrap_or_else(|| crate::misuse(&format!("{queue:p} is no queue")))
}

/// `hsa_queue_create`.
///
/// # Safety
/// `failed` takes `data`; `queue` is a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_queue_create(
    agent: hsa_agent_t,
    size: u32,
    kind: u32,
    failed: QueueCallback,
    data: *mut c_void,
    _private_bytes: u32,
    _group_bytes: u32,
    queue: *mut *mut hsa_queue_t,
) -> hsa_status_t {
    if world().gpu(agent).is_none() {
        return hsa_status_t::INVALID_AGENT;
    }
    if !size.is_power_of_two() || queue.is_null() {
        return hsa_status_t::INVALID_ARGUMENT;
    }
    if size > MOST_PACKETS || kind != QUEUE_TYPE_MULTI {
        return hsa_status_t::INVALID_QUEUE_CREATION;
    }
    // All packets are invalid, and else junk.
    let slots: Box<[Slot]> = (0..size).map(|_| Slot(UnsafeCell::new([u32::from(header::INVALID) | 0xabcd_0000; 16]))).collect();
    let (doorbell_signal, bell) = signals::make(0);
    let base_address = slots.as_ptr().cast_mut().cast();
    let raw = hsa_queue_t { kind, features: 1, base_address, doorbell_signal, size, reserved: 0, id: 0 };
    let ring = Arc::new(Ring {
        raw,
        slots,
        agent,
        read: AtomicU64::new(0),
        write: AtomicU64::new(0),
        state: Mutex::default(),
        changed: Condvar::new(),
        profiling: AtomicBool::new(false),
        callback: failed,
        data: data.expose_provenance(),
        processor: Mutex::default(),
    });
    bell.doorbell.get_or_init(|| Arc::downgrade(&ring));
    let theirs = ring.clone();
    let Ok(processor) = std::thread::Builder::new().name("hsa-queue".into()).spawn(move || theirs.process()) else {
        return hsa_status_t::OUT_OF_RESOURCES;
    };
    *lock(&ring.processor) = Some(processor);
    // SAFETY: the caller's.
    unsafe { queue.write(Arc::as_ptr(&ring).cast_mut().cast()) };
    lock(&RINGS).push(ring);
    hsa_status_t::SUCCESS
}

/// `hsa_queue_destroy`. Kernels that run are not waited for. The packet processor is, unless it calls this itself,
/// through the queue's owner.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_queue_destroy(queue: *mut hsa_queue_t) -> hsa_status_t {
    let ring = find(queue);
    ring.end();
    signals::forget(ring.raw.doorbell_signal);
    lock(&RINGS).retain(|other| !Arc::ptr_eq(other, &ring));
    let processor = lock(&ring.processor).take();
    if let Some(processor) = processor.filter(|processor| processor.thread().id() != std::thread::current().id()) {
        // One that panicked has ended.
        let _ = processor.join();
    }
    hsa_status_t::SUCCESS
}

/// `hsa_queue_add_write_index_screlease`.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_queue_add_write_index_screlease(queue: *const hsa_queue_t, count: u64) -> u64 {
    find(queue).write.fetch_add(count, Ordering::SeqCst)
}

/// `hsa_queue_load_read_index_scacquire`.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_queue_load_read_index_scacquire(queue: *const hsa_queue_t) -> u64 {
    find(queue).read.load(Ordering::SeqCst)
}

/// `hsa_amd_profiling_set_profiler_enabled`.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_amd_profiling_set_profiler_enabled(queue: *mut hsa_queue_t, enable: i32) -> hsa_status_t {
    find(queue).profiling.store(enable != 0, Ordering::SeqCst);
    hsa_status_t::SUCCESS
}

/// Who wants to hear of memory faults.
static FAULTS: Mutex<Option<(EventCallback, usize)>> = Mutex::new(None);

/// `hsa_amd_register_system_event_handler`. There can be one.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_amd_register_system_event_handler(handler: EventCallback, data: *mut c_void) -> hsa_status_t {
    let mut faults = lock(&FAULTS);
    if faults.is_some() {
        return hsa_status_t::ERROR;
    }
    *faults = Some((handler, data.expose_provenance()));
    hsa_status_t::SUCCESS
}

/// Why a packet is none.
struct Bad(String);

impl Ring {
    /// The doorbell was told of a packet.
    pub(crate) fn ring(&self, index: u64) {
        let mut state = lock(&self.state);
        state.limit = state.limit.max(index.wrapping_add(1));
        self.changed.notify_all();
    }

    fn end(&self) {
        lock(&self.state).ended = true;
        self.changed.notify_all();
    }

    /// The life of the packet processor.
    fn process(self: Arc<Self>) {
        while let Some(packet) = self.next() {
            let header = packet[0] as u16;
            if header & header::BARRIER != 0 && !self.drain() {
                return;
            }
            let begin = world().ticks();
            let done = match header & header::TYPE_MASK {
                header::KERNEL_DISPATCH => {
                    // SAFETY: the bytes of a packet of this kind, which is integers only.
                    let packet = unsafe { std::mem::transmute::<[u32; 16], hsa_kernel_dispatch_packet_t>(packet) };
                    self.dispatch(&packet, begin)
                }
                kind @ (header::BARRIER_AND | header::BARRIER_OR) => {
                    // SAFETY: as above.
                    let packet = unsafe { std::mem::transmute::<[u32; 16], hsa_barrier_packet_t>(packet) };
                    self.barrier(&packet, kind == header::BARRIER_AND, begin)
                }
                kind => Err(Bad(format!("packets of type {kind} are not for this queue"))),
            };
            if let Err(Bad(why)) = done {
                eprintln!("hsa-on-sim: {why}");
                self.fail(hsa_status_t::INVALID_PACKET_FORMAT);
                return;
            }
        }
    }

    /// The next packet, taken out of the ring; `None` when the queue has ended.
    fn next(&self) -> Option<[u32; 16]> {
        let index = self.read.load(Ordering::SeqCst);
        let slot = &self.slots[(index % self.slots.len() as u64) as usize];
        // SAFETY: a header is only ever accessed atomically by both sides.
        let header = unsafe { AtomicU16::from_ptr(slot.0.get().cast()) };
        let mut state = lock(&self.state);
        loop {
            if state.ended {
                return None;
            }
            // Acquire: pairs with the producer's release of the header; the packet's body is written before it.
            if index < state.limit && header.load(Ordering::Acquire) & header::TYPE_MASK != header::INVALID {
                break;
            }
            state = self.changed.wait_timeout(state, Duration::from_millis(100)).unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(state);
        // SAFETY: published, so that the producer is done with it, and ours until the read index says otherwise.
        let packet = unsafe { ptr::read(slot.0.get()) };
        header.store(header::INVALID, Ordering::Release);
        self.read.fetch_add(1, Ordering::SeqCst);
        Some(packet)
    }

    /// Waits until no kernel of this queue runs; `false` when the queue has ended.
    fn drain(&self) -> bool {
        let mut state = lock(&self.state);
        while state.running > 0 && !state.ended {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.ended
    }

    /// Waits for a packet's signals, and decrements its own.
    fn barrier(&self, packet: &hsa_barrier_packet_t, all: bool, begin: u64) -> Result<(), Bad> {
        let handles = packet.dep_signal.iter().filter(|signal| signal.handle != 0);
        let signals: Option<Vec<Arc<Signal>>> = handles.map(|&handle| signals::find(handle)).collect();
        let signals = signals.ok_or_else(|| Bad("a barrier packet waits for what is no signal".into()))?;
        let done = completion(packet.completion_signal)?;
        let mut open = signals;
        while !open.is_empty() {
            if lock(&self.state).ended {
                return Ok(());
            }
            let before = open.len();
            open[0].wait(|value| value == 0, Duration::from_millis(5));
            open.retain(|signal| signal.load() != 0);
            if !all && open.len() < before {
                break;
            }
        }
        self.complete(done.as_ref(), begin);
        Ok(())
    }

    fn complete(&self, done: Option<&Arc<Signal>>, begin: u64) {
        let Some(done) = done else { return };
        if self.profiling.load(Ordering::SeqCst) {
            done.note(begin, world().ticks());
        }
        done.subtract(1);
    }

    /// Starts a kernel.
    fn dispatch(self: &Arc<Self>, packet: &hsa_kernel_dispatch_packet_t, begin: u64) -> Result<(), Bad> {
        let gpu = world().gpu(self.agent).ok_or_else(|| Bad("the queue has no GPU".into()))?;
        let code = code::kernel(packet.kernel_object).ok_or_else(|| Bad("a packet points at no kernel".into()))?;
        let launch = shape(packet).map_err(Bad)?;
        let done = completion(packet.completion_signal)?;
        if packet.group_segment_size > GROUP_BYTES {
            return Err(Bad(format!("{} bytes of memory for a workgroup", packet.group_segment_size)));
        }
        if packet.private_segment_size < PRIVATE_BYTES + STACK_BYTES || !packet.private_segment_size.is_multiple_of(16) {
            return Err(Bad(format!("{} bytes of stack for a kernel that calls through pointers", packet.private_segment_size)));
        }
        let wants = code.kernarg_bytes;
        if wants > 0 && (packet.kernarg_address == 0 || !packet.kernarg_address.is_multiple_of(16)) {
            return Err(Bad(format!("arguments at {:#x}", packet.kernarg_address)));
        }
        let mut arguments = vec![0; wants];
        // SAFETY: whoever published the packet promised arguments there, as many as the kernel takes (perhaps none),
        // until it has ended.
        unsafe { ptr::copy(packet.kernarg_address as *const u8, arguments.as_mut_ptr(), wants) };
        lock(&self.state).running += 1;
        gpu.running.fetch_add(1, Ordering::SeqCst);
        let ring = self.clone();
        let started = std::thread::Builder::new().name("hsa-kernel".into()).spawn(move || {
            let result = run(gpu, &code, &launch, &arguments);
            gpu.running.fetch_sub(1, Ordering::SeqCst);
            match result {
                Ok(()) => {
                    ring.complete(done.as_ref(), begin);
                    lock(&ring.state).running -= 1;
                    ring.changed.notify_all();
                }
                Err(error) => ring.faulted(&error),
            }
        });
        started.map(drop).map_err(|error| Bad(format!("no thread for a kernel: {error}")))
    }

    /// A kernel ended by a fault.
    fn faulted(&self, error: &Error) {
        eprintln!("hsa-on-sim: {error}");
        let (status, address) = match error {
            Error::Fault(fault) => match &fault.kind {
                FaultKind::Memory { address, .. } => (hsa_status_t::MEMORY_FAULT, Some(*address)),
                FaultKind::StackOverflow { .. } | FaultKind::Wild => (hsa_status_t::MEMORY_FAULT, Some(0)),
                FaultKind::IllegalInstruction { .. } => (hsa_status_t::ILLEGAL_INSTRUCTION, None),
                _ => (hsa_status_t::EXCEPTION, None),
            },
            _ => (hsa_status_t::ERROR, None),
        };
        let Some(address) = address else { return self.fail(status) };
        self.end();
        let event = hsa_amd_event_t { kind: EVENT_MEMORY_FAULT, agent: self.agent, virtual_address: address, reasons: 1 };
        let handler = *lock(&FAULTS);
        // SAFETY: whoever registered it promised that it takes this data.
        let handled = handler.map(|(handler, data)| unsafe { handler(&event, data as *mut c_void) });
        if handled != Some(hsa_status_t::SUCCESS) {
            crate::misuse("a memory fault that nobody handled ends the process");
        }
    }

    /// The queue fails: no signal of what is in it fires any more, and its creator is told.
    fn fail(&self, status: hsa_status_t) {
        self.end();
        // SAFETY: the creator promised that it takes this data.
        unsafe { (self.callback)(status, ptr::from_ref(&self.raw).cast_mut(), self.data as *mut c_void) };
    }
}

/// A packet's completion signal, if it has one.
fn completion(handle: hsa_signal_t) -> Result<Option<Arc<Signal>>, Bad> {
    if handle.handle == 0 {
        return Ok(None);
    }
    signals::find(handle).map(Some).ok_or_else(|| Bad("a packet completes what is no signal".into()))
}

/// A packet's grid in workgroups; why it is none.
pub(crate) fn shape(packet: &hsa_kernel_dispatch_packet_t) -> Result<Launch, String> {
    let dimensions = usize::from(packet.setup & 3);
    if dimensions == 0 || packet.setup > 3 {
        return Err(format!("a grid of setup {:#x}", packet.setup));
    }
    // The simulator knows itself what images declare: a kernel's symbol says 0.
    let mut launch = Launch { dynamic_shared: packet.group_segment_size, ..Launch::linear(1, 1) };
    for axis in 0..3 {
        let (size, lanes) = (u32::from(packet.workgroup_size[axis]), packet.grid_size[axis]);
        if size == 0 || lanes == 0 || (axis >= dimensions && (size != 1 || lanes != 1)) {
            return Err(format!("{lanes} lanes in workgroups of {size} on axis {axis} of {dimensions}"));
        }
        if !lanes.is_multiple_of(size) {
            return Err(format!("{lanes} lanes in workgroups of {size}: partial workgroups are not simulated"));
        }
        launch.groups[axis] = lanes / size;
        launch.group_size[axis] = size;
    }
    Ok(launch)
}

/// Runs a kernel, and waits for its end.
fn run(gpu: &Gpu, code: &Code, launch: &Launch, arguments: &[u8]) -> Result<(), Error> {
    let idle = lock(&gpu.idle).pop();
    let queue = idle.map_or_else(|| gpu.device.queue(), Ok)?;
    // SAFETY: whoever published the packet promised that its arguments are right.
    let launched = unsafe { sim::launch_laid_out(&queue, &code.kernel, launch, arguments) };
    let result = launched.and_then(|()| queue.synchronize());
    lock(&gpu.idle).push(queue);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(setup: u16, workgroup_size: [u16; 3], grid_size: [u32; 3]) -> hsa_kernel_dispatch_packet_t {
        hsa_kernel_dispatch_packet_t { setup, workgroup_size, grid_size, ..hsa_kernel_dispatch_packet_t::default() }
    }

    #[test]
    fn a_grid_of_lanes_becomes_workgroups() {
        let launch = shape(&packet(2, [8, 4, 1], [64, 12, 1])).unwrap();
        assert_eq!((launch.groups, launch.group_size), ([8, 3, 1], [8, 4, 1]));
    }

    #[test]
    fn shapes_that_hardware_refuses_are_refused() {
        for (bad, part) in [
            (packet(0, [1; 3], [1; 3]), "setup 0x0"),
            (packet(4, [1; 3], [1; 3]), "setup 0x4"),
            (packet(1, [0, 1, 1], [1; 3]), "workgroups of 0"),
            (packet(1, [1; 3], [1, 2, 1]), "2 lanes in workgroups of 1 on axis 1"),
            (packet(3, [1; 3], [1, 1, 0]), "0 lanes"),
            (packet(1, [64, 1, 1], [65, 1, 1]), "partial"),
        ] {
            assert!(shape(&bad).unwrap_err().contains(part), "{part}");
        }
    }
}
