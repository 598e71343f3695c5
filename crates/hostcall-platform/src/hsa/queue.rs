//! A queue: a ring of packets, with copies by engines between them, all in order.
//!
//! Every packet has the barrier bit, so packets are in order among themselves. A copy begins when the signal of the
//! work before it has fired ([`super::job`]). The packet behind a copy is preceded by a packet that waits for the
//! copy's signal. The table of the context ([`super::flight`]) has what every operation uses, until the operation has
//! ended.

use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::aql::{Packet, Ring};
use super::context::{Context, lock};
use super::copy::{self, Copier, FILL, Place};
use super::dispatch;
use super::event::Event;
use super::flight::{self, Entry};
use super::job::Job;
use super::memory::Block;
use super::program::Kernel;
use super::signal::Signal;
use super::sys::*;
use crate::args::Params;
use crate::backend::{BackendEvent, BackendKernel, BackendMemory, BackendQueue, Span, Ticket};
use crate::error::Error;
use crate::queue::Launch;

/// See the module's documentation.
pub(super) struct Queue {
    context: Arc<Context>,
    copier: Arc<Copier>,
    ring: Ring,
    number: u64,
    state: Mutex<State>,
    /// A failure of a copy that nobody was told of yet.
    failure: Arc<Mutex<Option<Error>>>,
    /// Whether the runtime notes when packets ran. Relaxed: set under the state's lock.
    timed: AtomicBool,
}

#[derive(Default)]
struct State {
    /// Operations so far.
    count: u64,
    /// The last operation that has a signal, and its number. All before it have ended when it has.
    last: Option<(u64, Arc<Signal>)>,
    /// Whether the last operation was a copy, which no barrier bit waits for.
    copying: bool,
}

impl Queue {
    pub(super) fn new(context: &Arc<Context>, copier: &Arc<Copier>) -> Result<Queue, Error> {
        let ring = Ring::new(context)?;
        let number = context.outstanding.new_queue();
        Ok(Queue {
            context: context.clone(),
            copier: copier.clone(),
            ring,
            number,
            state: Mutex::default(),
            failure: Arc::default(),
            timed: AtomicBool::new(false),
        })
    }

    pub(super) fn raw(&self) -> *mut hsa_queue_t {
        self.ring.raw()
    }

    /// Publishes a packet that decrements `signal`, which is behind everything so far.
    ///
    /// # Safety
    /// As [`Ring::submit`].
    unsafe fn publish(&self, state: &mut State, packet: Packet, signal: Arc<Signal>, entry: Entry) -> Result<(), Error> {
        // After a copy: a packet that waits for it. The copy's signal must live until then, and its successor's entry
        // sees to that.
        let mut entry = entry;
        if state.copying
            && let Some((_, copy)) = &state.last
        {
            entry.signals.push(copy.clone());
            let packet = hsa_barrier_packet_t { dep_signal: first(copy.raw()), ..hsa_barrier_packet_t::default() };
            // SAFETY: the signal is in the entry that is added below, or the copy ended otherwise: it is the state's
            // last until then.
            unsafe { self.ring.submit(Packet::Barrier(packet)) }?;
            state.copying = false;
        }
        let place = (self.number, state.count + 1);
        entry.signals.push(signal.clone());
        self.context.outstanding.add(place, entry);
        // SAFETY: the caller's; what the packet points at is in the entry.
        if let Err(error) = unsafe { self.ring.submit(packet) } {
            self.context.outstanding.remove(place);
            return Err(error);
        }
        state.count += 1;
        state.last = Some((state.count, signal));
        Ok(())
    }

    /// Has a handler called when the last operation, whose signal this is, has ended.
    fn handle(&self, number: u64, signal: &Signal) -> Result<(), Error> {
        let data = flight::data(&self.context, (self.number, number));
        // SAFETY: a live signal; `reached` takes this data, once.
        let asked = unsafe { self.context.runtime.hsa_amd_signal_async_handler(signal.raw(), CONDITION_LT, 1, flight::reached, data) };
        asked.map_err(|failed| {
            // SAFETY: not given to the runtime.
            unsafe { flight::discard(data) };
            self.context.error(&failed)
        })
    }

    /// A packet that does nothing but decrement `signal` when everything before has ended.
    fn marker(&self, state: &mut State, wait: Option<Arc<Signal>>, entry: Entry) -> Result<Arc<Signal>, Error> {
        let signal = Signal::new(&self.context, 1)?;
        let mut packet = hsa_barrier_packet_t { completion_signal: signal.raw(), ..hsa_barrier_packet_t::default() };
        let mut entry = entry;
        if let Some(wait) = wait {
            packet.dep_signal = first(wait.raw());
            entry.signals.push(wait);
        }
        // SAFETY: both signals are in the entry.
        unsafe { self.publish(state, Packet::Barrier(packet), signal.clone(), entry) }?;
        Ok(signal)
    }

    /// Waits until everything so far has ended.
    fn wait_idle(&self) -> Result<(), Error> {
        let last = lock(&self.state).last.clone();
        let Some((number, signal)) = last else { return self.context.good() };
        let waited = signal.wait();
        if waited.is_err() && !self.context.is_lost() {
            // A copy failed, which is told once.
            let mut state = lock(&self.state);
            if state.last.as_ref().is_some_and(|(at, _)| *at == number) {
                state.last = None;
                state.copying = false;
            }
        }
        // Ended it has either way.
        self.context.outstanding.ended((self.number, number));
        waited
    }

    fn idle(&self) -> Result<bool, Error> {
        let last = lock(&self.state).last.clone();
        last.map_or_else(|| self.context.good().map(|()| true), |(_, signal)| signal.is_done())
    }

    /// Queues a copy: begun at once if nothing is before it.
    fn queue_copy(&self, mut job: Job, keep: Vec<Box<dyn Any + Send>>) -> Result<(), Error> {
        let mut state = lock(&self.state);
        job.after = state.last.as_ref().map(|(_, signal)| signal.clone());
        let place = (self.number, state.count + 1);
        let signals = [Some(job.done.clone()), job.after.clone()].into_iter().flatten().collect();
        self.context.outstanding.add(place, Entry { signals, keep, ..Entry::default() });
        let done = job.done.clone();
        // SAFETY: both sides have these bytes (the spans were checked), and are in the entry, as the signals are.
        if let Err(error) = unsafe { job.begin() } {
            self.context.outstanding.remove(place);
            return Err(error);
        }
        state.count += 1;
        state.last = Some((state.count, done));
        state.copying = true;
        Ok(())
    }

    fn job(&self, to: (u64, hsa_agent_t), from: (u64, hsa_agent_t), bytes: usize) -> Result<Job, Error> {
        Job::new(&self.context, to, from, bytes, &self.failure)
    }

    fn place(&self, span: &Span) -> Result<(Place, bool), Error> {
        let block = Block::of(&self.context, &*span.memory)?;
        let reach = block.reach().map(|start| start.wrapping_add(span.offset));
        Ok((Place { address: span.address(), reach }, block.is_device()))
    }

    fn agent(&self, is_device: bool) -> hsa_agent_t {
        if is_device { self.context.found.agent } else { self.context.found.cpu }
    }

    fn begin(&self) -> Result<(), Error> {
        self.context.usable()?;
        self.context.outstanding.collect();
        Ok(())
    }
}

fn first(signal: hsa_signal_t) -> [hsa_signal_t; 5] {
    let none = hsa_signal_t::default();
    [signal, none, none, none, none]
}

impl BackendQueue for Queue {
    unsafe fn launch(&self, kernel: &Arc<dyn BackendKernel>, launch: &Launch, params: &Params, ticket: Ticket) -> Result<(), Error> {
        self.begin()?;
        let own = kernel.as_any().downcast_ref::<Kernel>();
        let own = own.filter(|k| Arc::ptr_eq(&k.executable.context, &self.context)).ok_or(Error::WrongDevice { what: "the kernel" })?;
        let (mut packet, arguments) = dispatch::packet(&self.context, own, launch, params)?;
        let signal = Signal::new(&self.context, 1)?;
        packet.completion_signal = signal.raw();
        let keep: Vec<Box<dyn Any + Send>> = vec![Box::new(kernel.clone()), Box::new(arguments)];
        let entry = Entry { ticket: Some(ticket), keep, ..Entry::default() };
        let mut state = lock(&self.state);
        // SAFETY: the arguments are the caller's duty; their block, the kernel and the signal are in the entry.
        unsafe { self.publish(&mut state, Packet::Dispatch(packet), signal.clone(), entry) }?;
        let number = state.count;
        drop(state);
        if let Err(error) = self.handle(number, &signal) {
            // It runs all the same, so the launch succeeded.
            tracing::warn!(%error, "no handler behind a launch; counted until its queue is synchronised");
        }
        Ok(())
    }

    fn copy_to(&self, to: &Span, from: &[u8]) -> Result<(), Error> {
        self.begin()?;
        let (place, _) = self.place(to)?;
        self.wait_idle()?;
        // SAFETY: the span was checked against its memory.
        unsafe { copy::write(&self.context, &self.copier, place, from) }
    }

    fn copy_from(&self, to: &mut [u8], from: &Span) -> Result<(), Error> {
        self.begin()?;
        let (place, _) = self.place(from)?;
        self.wait_idle()?;
        if let Some(error) = lock(&self.failure).take() {
            return Err(error);
        }
        // SAFETY: the span was checked against its memory.
        unsafe { copy::read(&self.context, &self.copier, place, to) }
    }

    fn copy(&self, to: &Span, from: &Span) -> Result<(), Error> {
        self.begin()?;
        let ((target, to_device), (source, from_device)) = (self.place(to)?, self.place(from)?);
        let bytes = to.bytes.min(from.bytes);
        let keep: Vec<Box<dyn Any + Send>> = vec![Box::new(to.memory.clone()), Box::new(from.memory.clone())];
        self.queue_copy(self.job((target.address, self.agent(to_device)), (source.address, self.agent(from_device)), bytes)?, keep)
    }

    fn fill(&self, to: &Span, byte: u8) -> Result<(), Error> {
        self.begin()?;
        let (place, is_device) = self.place(to)?;
        let whole_words = place.address.is_multiple_of(4) && to.bytes.is_multiple_of(4);
        if whole_words && self.context.outstanding.is_idle() && self.idle()? {
            // Nothing runs that the runtime's own kernel could wait for.
            // SAFETY: the span was checked against its memory, and is a whole number of words.
            let filled = unsafe {
                let value = u32::from_ne_bytes([byte; 4]);
                self.context.runtime.hsa_amd_memory_fill(place.address as *mut std::ffi::c_void, value, to.bytes / 4)
            };
            return self.context.check(filled);
        }
        let pattern = self.copier.pattern(&self.context, byte, to.bytes.min(FILL))?;
        let source = (pattern.device_address(), self.context.found.cpu);
        let job = self.job((place.address, self.agent(is_device)), source, to.bytes)?.again_each(pattern.bytes())?;
        let keep: Vec<Box<dyn Any + Send>> = vec![Box::new(to.memory.clone()), Box::new(pattern)];
        self.queue_copy(job, keep)
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.begin()?;
        let last = lock(&self.state).last.as_ref().map(|(number, _)| *number);
        let waited = self.wait_idle();
        if let (Ok(()), Some(number)) = (&waited, last)
            && !self.context.outstanding.wait_for_calls((self.number, number), &self.context)
        {
            self.context.good()?;
        }
        self.context.outstanding.collect();
        let failure = lock(&self.failure).take();
        waited.and(failure.map_or(Ok(()), Err))
    }

    fn is_idle(&self) -> Result<bool, Error> {
        self.context.usable()?;
        self.idle()
    }

    fn record(&self, event: &dyn BackendEvent) -> Result<(), Error> {
        self.begin()?;
        let event = Event::of(&self.context, event, "the event")?;
        let mut state = lock(&self.state);
        if !self.timed.load(Ordering::Relaxed) {
            // SAFETY: a live queue.
            self.context.check(unsafe { self.context.runtime.hsa_amd_profiling_set_profiler_enabled(self.ring.raw(), 1) })?;
            self.timed.store(true, Ordering::Relaxed);
        }
        event.recorded(self.marker(&mut state, None, Entry::default())?);
        Ok(())
    }

    fn wait(&self, event: &dyn BackendEvent) -> Result<(), Error> {
        self.begin()?;
        let event = Event::of(&self.context, event, "the event")?;
        let Some(signal) = event.latest() else { return Ok(()) };
        self.marker(&mut lock(&self.state), Some(signal), Entry::default()).map(drop)
    }

    fn on_complete(&self, f: Box<dyn FnOnce() + Send>) -> Result<(), Error> {
        self.begin()?;
        let mut state = lock(&self.state);
        let signal = self.marker(&mut state, None, Entry { call: Some(f), ..Entry::default() })?;
        let number = state.count;
        drop(state);
        self.handle(number, &signal).inspect_err(|_| self.context.outstanding.remove((self.number, number)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // The ring, which is destroyed next, would kill what still runs.
        if let Err(error) = self.wait_idle() {
            tracing::warn!(%error, "a queue was dropped with a failure that nobody asked for");
        } else if let Some((number, _)) = &lock(&self.state).last {
            self.context.outstanding.wait_for_calls((self.number, *number), &self.context);
        }
        // What the last operations used keeps the context, which keeps them.
        self.context.outstanding.collect();
    }
}
