//! Standard output and standard error of kernels.
//!
//! A serving thread only appends texts to a queue of their program: each text whole, and those of a message together.
//! So no two texts interleave, and a slow pipe stalls no call. A thread of the console writes them: programs take
//! turns, and each one's texts come out in their order. The thread starts with the first text. When a program's queue
//! has grown large, its further printing waits on the blocking pool until its queue is written. Other programs' does
//! not.
//!
//! So a text is accepted before it is written. If it cannot be written, a program with std gets the error at its next
//! write or flush. The host gets errors that no program has got at the end ([`Console::flush`]).
//!
//! Where waves serve ports while they wait, they write long texts themselves: see [`straight`].

#[cfg(feature = "test-utils")]
mod alone;
mod pieces;
pub(super) mod printf;
mod queue;
mod sink;
mod straight;
mod texts;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use offload::host::{self, StackSize, without_sigpipe};
use offload::overdue;

use super::context::Context;
use super::define;
use crate::service::call::Thread;
use crate::service::{Failure, Invocation, RawSlice, Service};
use crate::tenant::{Keeper, Number, Tenant, Thing};
use crate::wire::StagedRegion;
#[cfg(feature = "test-utils")]
pub(crate) use alone::pieces_alone;
use pieces::{Key, Stream};
use queue::{NAMES, Queue, Text};
use straight::{AHEAD, LONG, Straight, TURN};
use texts::{Waiting, append, owned};

pub use queue::ConsoleError;
pub use sink::Sink;

/// Bytes of a program that are queued at which its printing begins to wait.
const FULL: u64 = 8 << 20;
/// What comes so soon after a text that found nothing queued is written together with it. Otherwise the thread would
/// sleep again after each, and whoever prints would have to wake it each time.
const GATHER: std::time::Duration = std::time::Duration::from_micros(100);

thread_local! {
    /// What the lanes of the message that this thread is handling print. (A serving thread has one console.)
    static GATHERED: RefCell<VecDeque<(Stream, Vec<u8>)>> = const { RefCell::new(VecDeque::new()) };
}

#[derive(Debug)]
struct Shared {
    queue: Mutex<Queue>,
    /// Whether a program is to be told of something that could not be written: a hint for those who do not hold the
    /// lock.
    failed: AtomicBool,
    /// Of each stream: somebody writes to it who is told.
    tells: [AtomicBool; 2],
    /// There is something to write, or the console closes.
    work: Condvar,
    /// Something was written.
    written: Condvar,
}

/// Standard output and standard error of the kernels of one server.
#[derive(Debug)]
pub struct Console {
    shared: Arc<Shared>,
    /// Taken by the thread when it starts.
    sinks: Mutex<Option<[Sink; 2]>>,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
    /// Of each stream: this process's own descriptor, if it is one.
    descriptors: [Option<BorrowedFd<'static>>; 2],
    /// Of each stream: what waves write long texts to, if they do.
    straight: [Option<Straight>; 2],
}

impl Default for Console {
    fn default() -> Self {
        Self::new(Sink::Stdout, Sink::Stderr)
    }
}

/// Whether as much of a program is queued as may be. (Pairs with nothing: who sees an old number prints a text more or
/// less.)
fn is_full(tenant: &Tenant) -> bool {
    tenant.has(Thing::Printed) >= FULL
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Console {
    /// A console that writes to these sinks.
    pub fn new(stdout: Sink, stderr: Sink) -> Self {
        let shared = Shared {
            queue: Mutex::default(),
            failed: AtomicBool::new(false),
            tells: Default::default(),
            work: Condvar::new(),
            written: Condvar::new(),
        };
        let descriptors = [stdout.descriptor(), stderr.descriptor()];
        Self {
            shared: Arc::new(shared),
            sinks: Mutex::new(Some([stdout, stderr])),
            thread: Mutex::new(None),
            descriptors,
            straight: [None, None],
        }
    }

    /// Lets waves that serve ports while they wait write long texts themselves.
    pub(crate) fn written_by_waves(mut self) -> Self {
        self.straight = self.descriptors.map(|descriptor| descriptor.and_then(Straight::of));
        self
    }

    /// This process's own descriptor that standard output (1) or standard error (2) is, if it is one.
    pub(super) fn descriptor(&self, number: u32) -> Option<BorrowedFd<'static>> {
        let stream = (number as usize).checked_sub(1)?;
        *self.descriptors.get(stream)?
    }

    /// Queues a text of a program. If too much of it is queued already, waits.
    fn print(&self, tenant: &Arc<Tenant>, stream: Stream, text: &(impl Text + ?Sized)) {
        let text = owned(text);
        if let Some(mut queue) = self.room(tenant, true) {
            queue.push(tenant, stream, text);
            self.wake(queue);
        }
    }

    /// Whether a text of a program may have to wait.
    pub(super) fn is_full_of(&self, tenant: &Tenant) -> bool {
        is_full(tenant)
    }

    /// Queues a text of a program for standard output (1) or standard error (2). If too much of it is queued already,
    /// waits.
    ///
    /// # Errors
    /// That of an earlier text that could not be written.
    pub(super) fn print_bytes(&self, tenant: &Arc<Tenant>, number: u32, text: &[u8]) -> Result<(), u32> {
        let stream = stream_of(number).map_err(|_| super::errno::EBADF)?;
        if let Some(error) = self.failure(stream) {
            return Err(error);
        }
        self.print(tenant, stream, text);
        Ok(())
    }

    /// Waits until what a program has printed there is written.
    ///
    /// # Errors
    /// That of a text that could not be.
    pub(super) fn flush_of(&self, tenant: &Tenant, number: u32) -> Result<(), u32> {
        let stream = stream_of(number).map_err(|_| super::errno::EBADF)?;
        self.settle(tenant, true);
        self.failure(stream).map_or(Ok(()), Err)
    }

    /// Keeps a text for [`Console::release`] on the same thread. If too much of its program is queued already, does
    /// nothing and returns false.
    ///
    /// One turn of the lock for each message instead of each of its lanes: thousands of lanes that print would stand in
    /// line for it.
    fn gather(tenant: &Tenant, stream: Stream, text: &(impl Text + ?Sized)) -> bool {
        if is_full(tenant) {
            return false;
        }
        GATHERED.with_borrow_mut(|texts| append(texts, stream, text));
        true
    }

    /// Queues what was gathered of a program.
    fn release(&self, tenant: &Arc<Tenant>) {
        let texts = GATHERED.take();
        if texts.is_empty() {
            return;
        }
        let mut queue = lock(&self.shared.queue);
        for (stream, text) in texts {
            queue.push(tenant, stream, text);
        }
        self.wake(queue);
    }

    fn piece(&self, tenant: &Arc<Tenant>, key: Key, last: bool, text: &[u8], may_wait: bool) -> bool {
        let Some(mut queue) = self.room(tenant, may_wait) else { return false };
        let mut ready = Vec::new();
        queue.pieces.add(tenant, key, text, last, |stream, text| ready.push((stream, text)));
        for (stream, text) in ready {
            queue.push(tenant, stream, text);
        }
        self.wake(queue);
        true
    }

    fn room(&self, tenant: &Tenant, may_wait: bool) -> Option<MutexGuard<'_, Queue>> {
        let queue = lock(&self.shared.queue);
        if !is_full(tenant) {
            return Some(queue);
        }
        may_wait.then(|| self.shared.written.wait_while(queue, |_| is_full(tenant)).unwrap_or_else(PoisonError::into_inner))
    }

    fn wake(&self, mut queue: MutexGuard<'_, Queue>) {
        let start = !std::mem::replace(&mut queue.started, true);
        let asleep = std::mem::take(&mut queue.asleep);
        self.shared.note(&queue);
        drop(queue);
        if start {
            self.start();
        }
        if asleep {
            self.shared.work.notify_one();
        }
    }

    #[cold]
    fn start(&self) {
        let Some(sinks) = lock(&self.sinks).take() else { return };
        let shared = self.shared.clone();
        match host::spawn("hostcall-console", StackSize::default(), move || shared.work(sinks)) {
            Ok(thread) => *lock(&self.thread) = Some(thread),
            Err(error) => {
                // Nobody will ever write: say so instead of growing.
                tracing::error!(%error, "the console's thread cannot be started");
                let mut queue = lock(&self.shared.queue);
                queue.fail_all(error);
            }
        }
    }

    /// The error that a program's write to the stream ends with, because an earlier one could not be written.
    #[inline]
    fn failure(&self, stream: Stream) -> Option<u32> {
        // Relaxed, both: whoever asks now queues its text later, under the lock that the load in `work` is under as
        // well. A store for each text would move the line from one serving thread to the next.
        if !self.shared.tells[stream].load(Ordering::Relaxed) {
            self.shared.tells[stream].store(true, Ordering::Relaxed);
        }
        // Relaxed: a hint, and a program is told by and by. Pairs with the store in `note`.
        if self.shared.failed.load(Ordering::Relaxed) { self.tell(stream) } else { None }
    }

    #[cold]
    fn tell(&self, stream: Stream) -> Option<u32> {
        let mut queue = lock(&self.shared.queue);
        let told = queue.tell(stream);
        self.shared.note(&queue);
        told
    }

    /// Waits until everything is written that a program has printed, or if that may not be, looks whether it is:
    /// whether it is.
    fn settle(&self, tenant: &Tenant, may_wait: bool) -> bool {
        let (queue, of) = (lock(&self.shared.queue), Some(tenant.number()));
        let done = queue.is_done_before(queue.texts.next_number(), of);
        if !done && may_wait {
            drop(self.wait_until_done(queue, of));
        }
        done || may_wait
    }

    /// What a wave may write a text to itself, if it may.
    #[inline]
    fn straight<'a>(&'a self, stream: Stream, text: &RawSlice<'a>) -> Option<(&'a Straight, StagedRegion<'a>)> {
        match (&self.straight[stream], text) {
            (Some(straight), RawSlice::Staged(region)) if region.len() >= LONG && straight.works() => Some((straight, *region)),
            _ => None,
        }
    }

    /// Whether a long text should be written at once, or wait: not if there is room in the queue behind another text.
    fn takes_no_long_text(&self, tenant: &Tenant) -> bool {
        let queue = lock(&self.shared.queue);
        queue.is_done() && GATHERED.with_borrow(VecDeque::is_empty) || tenant.has(Thing::Printed) >= AHEAD
    }

    /// Whether nothing is queued before a text.
    fn is_done(&self) -> bool {
        lock(&self.shared.queue).is_done()
    }

    /// Writes a text, or as much of it as can be, and queues the rest: on a wave, or on the blocking pool, which waits
    /// for what is queued before.
    fn write(&self, tenant: &Arc<Tenant>, straight: &Straight, stream: Stream, text: StagedRegion<'_>, thread: Thread) -> Result<u32, u32> {
        let mut queue = lock(&self.shared.queue);
        if thread == Thread::Pool && !queue.is_done() {
            queue = self.wait_for_turn(tenant, queue);
        }
        if let Some(error) = queue.tell(stream) {
            self.shared.note(&queue);
            return Err(error);
        }
        if !queue.is_idle() {
            queue.push(tenant, stream, owned(&RawSlice::Staged(text)));
            self.go_on(queue);
            return Ok(text.len() as u32);
        }
        queue.texts.begin_straight(tenant, text.len());
        drop(queue);
        let (done, outcome) = straight.write(text);
        // What is left is copied without the lock.
        let rest = text.part(done, text.len() - done).filter(|rest| outcome.is_ok() && !rest.is_empty());
        let rest = rest.map(|rest| (stream, owned(&RawSlice::Staged(rest))));
        let mut queue = lock(&self.shared.queue);
        queue.texts.written(rest);
        let told = outcome.err().and_then(|error| {
            queue.fail(stream, text.len() - done, error, true);
            queue.tell(stream)
        });
        self.go_on(queue);
        told.map_or(Ok(text.len() as u32), Err)
    }

    /// Waits until a long text can be written, or if others keep that from happening, until it can be queued.
    fn wait_for_turn<'a>(&'a self, tenant: &Tenant, mut queue: MutexGuard<'a, Queue>) -> MutexGuard<'a, Queue> {
        queue.flushing += 1;
        self.shared.work.notify_one();
        let written = &self.shared.written;
        queue = written.wait_timeout_while(queue, TURN, |queue| !queue.is_done()).unwrap_or_else(PoisonError::into_inner).0;
        let ahead = |queue: &mut Queue| !queue.is_done() && tenant.has(Thing::Printed) >= AHEAD;
        queue = written.wait_while(queue, ahead).unwrap_or_else(PoisonError::into_inner);
        queue.flushing -= 1;
        queue
    }

    /// A wave has written: whoever waited for that goes on.
    fn go_on(&self, queue: MutexGuard<'_, Queue>) {
        let waited_for = queue.flushing > 0;
        if queue.texts.is_empty() {
            self.shared.note(&queue);
            drop(queue);
        } else {
            self.wake(queue);
        }
        if waited_for {
            self.shared.written.notify_all();
        }
    }

    /// Waits until everything is written that has been printed by now, by a program or by all.
    fn wait_until_done<'a>(&'a self, mut queue: MutexGuard<'a, Queue>, of: Option<Number>) -> MutexGuard<'a, Queue> {
        let end = queue.texts.next_number();
        let waits = |queue: &mut Queue| !queue.is_done_before(end, of);
        queue.flushing += 1;
        self.shared.work.notify_one();
        let written = &self.shared.written;
        let (back, waited) = written.wait_timeout_while(queue, overdue::SAY, waits).unwrap_or_else(PoisonError::into_inner);
        queue = back;
        if waited.timed_out() {
            // Without the lock: it may be said through what is waited for.
            drop(queue);
            overdue::tell(
                &"what kernels printed is not written yet, and is waited for, for a second now: does anybody read standard output?",
            );
            queue = written.wait_while(lock(&self.shared.queue), waits).unwrap_or_else(PoisonError::into_inner);
        }
        queue.flushing -= 1;
        queue
    }

    /// Waits until everything is written that has been printed by now.
    ///
    /// # Errors
    /// When something could not be written since this was last asked, of which no program has been told.
    pub fn flush(&self) -> Result<(), ConsoleError> {
        let mut queue = lock(&self.shared.queue);
        queue.release_pieces();
        self.wait_until_done(queue, None).take_lost().map_or(Ok(()), Err)
    }
}

impl Keeper for Console {
    /// Queues what a program has left unfinished.
    fn let_go(&self, tenant: &Tenant) {
        let mut queue = lock(&self.shared.queue);
        if let Some((tenant, texts)) = queue.pieces.take_of(tenant) {
            texts.into_iter().for_each(|(stream, text)| queue.push(&tenant, stream, text));
        }
        queue.texts.let_go(tenant.number());
        if !queue.texts.is_empty() {
            self.wake(queue);
        }
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        let mut queue = lock(&self.shared.queue);
        queue.release_pieces();
        queue.closing = true;
        drop(queue);
        self.shared.work.notify_one();
        if let Some(thread) = lock(&self.thread).take() {
            // The thread ends when all is written. It does not panic: a sink's panic is caught.
            let _ = overdue::join(thread, || "a server that ends waits until what kernels printed is written".to_owned());
        }
    }
}

impl Shared {
    /// Says whether something failed, to those who do not hold the lock.
    fn note(&self, queue: &Queue) {
        // Relaxed: a hint. Pairs with the load in `failure`.
        self.failed.store(queue.has_failed(), Ordering::Relaxed);
    }

    /// Writes what is queued until the console is dropped and the queue is empty.
    fn work(&self, mut sinks: [Sink; 2]) {
        let mut queue = lock(&self.queue);
        loop {
            // (A wave that writes wakes this thread afterwards.)
            while let Some(Waiting { stream, bytes: text, .. }) = queue.texts.begin() {
                drop(queue);
                let sink = &mut sinks[stream];
                let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| without_sigpipe(|| sink.write(&text))));
                let outcome = outcome.unwrap_or_else(|_| Err(io::Error::other("the writer panicked")));
                queue = lock(&self.queue);
                queue.texts.written(None);
                if let Err(error) = outcome {
                    tracing::warn!(stream = NAMES[stream], %error, "what a kernel printed cannot be written");
                    // Relaxed: pairs with the store in `failure`, which is before the text was queued.
                    queue.fail(stream, text.len(), error, self.tells[stream].load(Ordering::Relaxed));
                }
                self.note(&queue);
                self.written.notify_all();
            }
            if queue.closing {
                return;
            }
            queue.asleep = true;
            queue = self.work.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.asleep = false;
            let lazy = |queue: &mut Queue| !queue.closing && queue.flushing == 0;
            queue = self.work.wait_timeout_while(queue, GATHER, lazy).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn stream_of(number: u32) -> Result<Stream, Failure> {
    match number {
        1 => Ok(0),
        2 => Ok(1),
        other => Err(Failure::HandlerFailed { code: super::errno::EBADF, message: format!("stream {other} is neither 1 nor 2") }),
    }
}

/// Takes a call's text.
fn take(console: &Console, call: &Invocation<'_>, stream: Stream, text: &(impl Text + ?Sized)) -> Result<(), Failure> {
    if call.may_block() {
        console.print(call.tenant(), stream, text);
    } else if !Console::gather(call.tenant(), stream, text) {
        return Err(Failure::WouldBlock);
    }
    Ok(())
}

pub(super) fn services(context: &Context, console: &Arc<Console>) -> Vec<Service> {
    let whole = console.clone();
    let print = move |call: &mut Invocation<'_>| {
        let stream = stream_of(call.fixed()?)?;
        let text = call.raw_slice()?;
        take(&whole, call, stream, &text)?;
        call.reply(&(), &[]);
        Ok(())
    };
    let part = console.clone();
    let piece = move |call: &mut Invocation<'_>| {
        let stream = stream_of(call.fixed()?)?;
        let (key, last) = (call.fixed::<u64>()?, call.fixed::<bool>()?);
        let text = call.slice::<u8>()?;
        if !part.piece(call.tenant(), key << 1 | stream as u64, last, text, call.may_block()) {
            return Err(Failure::WouldBlock);
        }
        call.reply(&(), &[]);
        Ok(())
    };
    let formatted = console.clone();
    let format = move |call: &mut Invocation<'_>| {
        let stream = stream_of(call.fixed()?)?;
        let (format, units) = (call.slice::<u8>()?, call.slice::<u32>()?);
        let mut texts = [&[][..]; hostcall_abi::services::printf::TEXTS];
        for text in &mut texts {
            *text = call.slice::<u8>()?;
        }
        let text = printf::values(units, &texts).and_then(|values| printf::printf(format, &values));
        let text = text.map_err(|error| Failure::HandlerFailed { code: super::errno::EINVAL, message: error.to_string() })?;
        take(&formatted, call, stream, &text[..])?;
        call.reply(&(text.len() as u32), &[]);
        Ok(())
    };
    let told = console.clone();
    let write = move |call: &mut Invocation<'_>| {
        let stream = stream_of(call.fixed()?)?;
        let text = call.raw_slice()?;
        let result = match told.failure(stream) {
            Some(error) => Err(error),
            None => match told.straight(stream, &text) {
                Some((straight, text)) if call.may_block() => told.write(call.tenant(), straight, stream, text, call.thread()),
                Some(_) if told.takes_no_long_text(call.tenant()) => return Err(Failure::WouldBlock),
                _ => take(&told, call, stream, &text).map(|()| Ok(text.len() as u32))?,
            },
        };
        call.reply(&result, &[]);
        Ok(())
    };
    let settled = console.clone();
    let flush = move |call: &mut Invocation<'_>| {
        let stream = stream_of(call.fixed()?)?;
        if !settled.settle(call.tenant(), call.may_block()) {
            return Err(Failure::WouldBlock);
        }
        call.reply(&settled.failure(stream).map_or(Ok(()), Err), &[]);
        Ok(())
    };
    let [print_gathered, format_gathered, written_gathered] = [console; 3].map(|console| {
        let console = console.clone();
        move |tenant: &Arc<Tenant>| console.release(tenant)
    });
    // To write takes a wave no longer than it lets it; but it may not wait for texts before its own, which are others'.
    let idle = {
        let console = console.clone();
        move || console.is_done()
    };
    vec![
        context.adaptive(define::console::definition::print(), print).after_messages(print_gathered),
        context.adaptive(define::console::definition::print_piece(), piece),
        context.adaptive(define::console::definition::format(), format).after_messages(format_gathered),
        context.adaptive(define::std_system::definition::write(), write).after_messages(written_gathered).brief_while(idle),
        context.adaptive(define::std_system::definition::flush(), flush),
    ]
}

#[cfg(test)]
mod tests;
