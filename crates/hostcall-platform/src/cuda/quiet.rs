//! Moments in which no stream has work, for what the driver does with the whole device.
//!
//! `cuMemFree` and its like wait until the device is idle, and hold the driver's lock meanwhile. If the device waits
//! for a function of a stream, and that function wants the driver, neither goes on, whichever thread frees. So they are
//! called while no stream has anything to do, and none is given any: each is told what is put into it, on both sides of
//! the driver's call ([`QueueWork::begin`]), and may be asked how far it is.
//!
//! A [`MayWait`] is proof that no device waits for this thread. A [`Quiet`] is proof of such a moment. The driver's
//! functions that can wait take one of them (see the table in [`super::driver`]), so no thread calls them that must
//! not.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::sys;

use super::context::Context;
use super::driver::Status;
use super::release::Resource;
use crate::waits;

/// Proof that no device waits for this thread. Not to be kept: it is asked for where it is used.
#[derive(Clone, Copy)]
pub(super) struct MayWait(PhantomData<*const ()>);

impl MayWait {
    /// `None`: a device waits for this thread.
    pub(super) fn here() -> Option<MayWait> {
        waits::may_wait().then_some(MayWait(PhantomData))
    }

    /// For a context's side stream: copies to and from globals, which wait for no kernel, are all that is ever in it.
    pub(super) fn for_copies_beside() -> MayWait {
        MayWait(PhantomData)
    }
}

/// Proof that no stream has work, and that none gets any while this lives.
#[derive(Clone, Copy)]
pub(super) struct Quiet<'a>(PhantomData<&'a ()>, MayWait);

impl Quiet<'_> {
    /// Who frees may wait.
    pub(super) fn may_wait(self) -> MayWait {
        self.1
    }

    /// For the end of a context, when nobody is left to use it.
    pub(super) fn at_the_end(may: MayWait) -> Quiet<'static> {
        Quiet(PhantomData, may)
    }
}

/// Work that was put into streams, of all devices: one may copy another's memory.
#[derive(Debug, Default)]
pub struct Work {
    queues: Mutex<Vec<Arc<QueueWork>>>,
}

/// The work of all streams by addresses.
pub static WORK: Work = Work { queues: Mutex::new(Vec::new()) };

/// How far a stream is: its works are counted. Works of different streams share nothing that is written here.
#[derive(Debug, Default)]
pub struct QueueWork {
    /// Works that somebody is about to put in, or has.
    announced: AtomicU64,
    /// Works that are in: of which the driver knows.
    begun: AtomicU64,
    /// Works of which is known that they are done, and all before them.
    done: AtomicU64,
    /// Whom to ask, until the stream is destroyed.
    stream: Mutex<Option<Stream>>,
}

/// A stream that the driver can be asked about.
struct Stream {
    context: Arc<Context>,
    raw: sys::CUstream,
}

// SAFETY: a handle, valid on every thread; the driver serialises its use.
unsafe impl Send for Stream {}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.raw)
    }
}

/// What has to be done before something that queues use may be used otherwise: works of queues.
pub type Before = Vec<(Arc<QueueWork>, u64)>;

/// Forgets what is done of it; whether nothing is left.
pub fn is_past(before: &mut Before) -> bool {
    // What is done stays done.
    before.retain(|(queue, begun)| !queue.is_done(*begun));
    before.is_empty()
}

impl Work {
    /// Another queue.
    pub fn queue(&self) -> Arc<QueueWork> {
        let queue = Arc::new(QueueWork::default());
        self.queues().push(queue.clone());
        queue
    }

    /// Forgets a queue that was closed, if its work is done. Otherwise it stays, and what it may use is not used
    /// otherwise.
    pub fn close(&self, queue: &Arc<QueueWork>) {
        if queue.is_done(u64::MAX) {
            self.queues().retain(|known| !Arc::ptr_eq(known, queue));
        }
    }

    /// Destroys the stream of a queue that has no work left, or whose device is lost, and forgets the queue.
    pub(super) fn end(&self, queue: &Arc<QueueWork>) {
        queue.waited(u64::MAX);
        // Taken out first: nobody asks about it any more.
        let stream = queue.stream().take();
        if let Some(Stream { context, raw }) = stream {
            context.release(Resource::Stream(raw));
        }
        self.close(queue);
    }

    /// What queues have to do that were given work before now.
    pub fn before(&self) -> Before {
        let busy = |queue: &Arc<QueueWork>| {
            let begun = queue.latest();
            (!queue.is_done(begun)).then(|| (queue.clone(), begun))
        };
        self.queues().iter().filter_map(busy).collect()
    }

    /// Asks the driver about queues that are not known to be done. Whether none has work, nor is given any.
    fn ask(&self) -> bool {
        // Not under the lock: asking enters a context.
        let busy: Vec<_> = self.queues().iter().filter(|queue| !queue.is_at_rest()).cloned().collect();
        // All are asked, whatever the first says: others wait to know, too.
        busy.iter().filter(|queue| !queue.ask()).count() == 0
    }

    fn queues(&self) -> MutexGuard<'_, Vec<Arc<QueueWork>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Work is being put into a queue, until dropped.
#[derive(Debug)]
pub struct Putting<'a>(&'a AtomicU64);

impl Drop for Putting<'_> {
    #[inline]
    fn drop(&mut self) {
        // Release: pairs with the load in `latest`. Who frees memory after the work was put in sees it counted.
        self.0.fetch_add(1, Ordering::Release);
    }
}

impl QueueWork {
    /// Work is about to be put into the queue. Waits for a moment of quiet to end.
    #[inline]
    pub fn begin(&self) -> Putting<'_> {
        announce(&self.announced);
        Putting(&self.begun)
    }

    /// What is in the queue now: for `waited`, when that has been waited for.
    pub fn latest(&self) -> u64 {
        // Acquire: pairs with the change in `Putting`.
        self.begun.load(Ordering::Acquire)
    }

    /// Everything up to `latest` was waited for.
    pub fn waited(&self, latest: u64) {
        // Release: pairs with the load in `is_done`: who sees it may give the memory to others.
        self.done.fetch_max(latest, Ordering::Release);
    }

    /// Whether the first `number` works are done; all there are, if there are fewer.
    fn is_done(&self, number: u64) -> bool {
        // Acquire: both pair with the changes above.
        self.done.load(Ordering::Acquire) >= self.begun.load(Ordering::Acquire).min(number)
    }

    /// Whether nothing is in it, nor about to be.
    fn is_at_rest(&self) -> bool {
        // SeqCst: pairs with the change in `announce`, as the pause does there.
        self.done.load(Ordering::Acquire) >= self.announced.load(Ordering::SeqCst)
    }

    /// Says whom to ask.
    pub(super) fn of_stream(&self, context: &Arc<Context>, raw: sys::CUstream) {
        *self.stream() = Some(Stream { context: context.clone(), raw });
    }

    /// Asks the driver whether the queue has work left. Nobody destroys the stream meanwhile.
    pub(super) fn ask(&self) -> bool {
        let latest = self.latest();
        let stream = self.stream();
        let Some(Stream { context, raw }) = &*stream else { return self.is_at_rest() };
        // SAFETY: the context lives: whoever has this stream holds it. What is pushed is popped below.
        if unsafe { context.driver.ctx_push(context.raw) }.is_err() {
            return true;
        }
        // SAFETY: a live stream, of the context that is current.
        let said = unsafe { context.driver.stream_query(*raw) };
        let mut popped = std::ptr::null_mut();
        // SAFETY: an out parameter.
        let _ = unsafe { context.driver.ctx_pop(&mut popped) };
        match said {
            Err(failed) if failed.status == Status::NOT_READY => return false,
            Ok(()) => {}
            // Nothing runs in a lost context.
            Err(failed) => drop(context.error(&failed)),
        }
        self.waited(latest);
        self.is_at_rest()
    }

    fn stream(&self) -> MutexGuard<'_, Option<Stream>> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Kernels in flight of streams whose launches are counted, of all contexts.
static COUNTED: AtomicU64 = AtomicU64::new(0);

/// A launch is counted, before it is made. Waits for a moment of quiet to end.
pub(super) fn count_launch() {
    announce(&COUNTED);
}

/// Launches have ended.
pub(super) fn end_launches(count: usize) {
    COUNTED.fetch_sub(count as u64, Ordering::SeqCst);
}

/// Nothing is paused.
const GOING_ON: u8 = 0;
/// Threads for which no device waits put nothing into streams, so that those come to their end.
const HELD_BACK: u8 = 1;
/// Nobody puts anything into a stream.
const PAUSED: u8 = 2;

/// Which of these it is. SeqCst: with the counters. Whoever announces work sees the pause, or whoever pauses sees the
/// work.
static PAUSE: AtomicU8 = AtomicU8::new(GOING_ON);
/// Held by who pauses.
static PAUSING: Mutex<()> = Mutex::new(());
/// Held while the pause is changed, for who waits for its end.
static CHANGING: Mutex<()> = Mutex::new(());
static CHANGED: Condvar = Condvar::new();

thread_local! {
    /// Whether this thread is the one that pauses.
    static PAUSES: Cell<bool> = const { Cell::new(false) };
}

/// Counts work that is about to be put into a stream, if it may be now.
#[inline]
fn announce(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::SeqCst);
    while PAUSE.load(Ordering::SeqCst) != GOING_ON && is_held_back() {
        counter.fetch_sub(1, Ordering::SeqCst);
        wait_for_end();
        counter.fetch_add(1, Ordering::SeqCst);
    }
}

#[cold]
fn is_held_back() -> bool {
    match PAUSE.load(Ordering::SeqCst) {
        GOING_ON => false,
        HELD_BACK => waits::may_wait() && !PAUSES.get(),
        _ => !PAUSES.get(),
    }
}

#[cold]
fn wait_for_end() {
    let mut changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    while is_held_back() {
        changing = CHANGED.wait(changing).unwrap_or_else(PoisonError::into_inner);
    }
}

fn set_pause(to: u8) {
    // Under the lock, so that nobody goes to sleep in between.
    let _changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    PAUSE.store(to, Ordering::SeqCst);
    CHANGED.notify_all();
}

/// A pause that this thread makes, until dropped; `None`: within one.
struct Pausing(Option<MutexGuard<'static, ()>>);

impl Pausing {
    fn begin() -> Pausing {
        if PAUSES.get() {
            return Pausing(None);
        }
        let pausing = PAUSING.lock().unwrap_or_else(PoisonError::into_inner);
        PAUSES.set(true);
        Pausing(Some(pausing))
    }

    /// Has nobody put anything into a stream from now on. Whether none has work.
    fn is_quiet(&self) -> bool {
        set_pause(PAUSED);
        is_idle()
    }
}

impl Drop for Pausing {
    fn drop(&mut self) {
        if self.0.is_some() {
            PAUSES.set(false);
            set_pause(GOING_ON);
        }
    }
}

/// Whether no stream has work.
fn is_idle() -> bool {
    COUNTED.load(Ordering::SeqCst) == 0 && WORK.ask()
}

/// Pauses if no stream has work now.
fn moment() -> Option<Pausing> {
    if PAUSES.get() {
        return Some(Pausing(None));
    }
    // Most often something is going on, and that is seen without stopping anybody.
    if !is_idle() {
        return None;
    }
    Some(Pausing::begin()).filter(Pausing::is_quiet)
}

/// Calls `work` if no stream has work now. It must not wait for another thread that uses a stream.
pub(super) fn if_quiet<R>(may: MayWait, work: impl FnOnce(Quiet<'_>) -> R) -> Option<R> {
    let _pausing = moment()?;
    Some(work(Quiet(PhantomData, may)))
}

/// How often work that comes later is let in, before it is held back.
const PATIENCE: u32 = 200;

/// Calls `work` when no stream has work. Waits for what they have now, and does not wait in the driver. If others go on
/// putting work into streams, they are held back in the end; functions of streams are not, which let them go on.
pub(super) fn when_quiet<R>(may: MayWait, work: impl FnOnce(Quiet<'_>) -> R) -> R {
    let mut before = WORK.before();
    let (mut pause, mut patience) = (Duration::from_micros(20), PATIENCE);
    let _pausing = loop {
        if let Some(pausing) = moment() {
            break pausing;
        }
        if is_past(&mut before) && COUNTED.load(Ordering::SeqCst) == 0 {
            patience = patience.saturating_sub(1);
        }
        if patience == 0 {
            let pausing = Pausing::begin();
            while !pausing.is_quiet() {
                set_pause(HELD_BACK);
                std::thread::sleep(pause);
            }
            break pausing;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(1));
    };
    work(Quiet(PhantomData, may))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_is_being_put_in_is_neither_done_nor_over() {
        let (work, queue) = (Work::default(), Arc::new(QueueWork::default()));
        work.queues().push(queue.clone());
        assert!(work.ask());
        let putting = queue.begin();
        assert!(!work.ask(), "somebody is about to put something in");
        // A wait that began before the work was in says nothing of it.
        queue.waited(queue.latest());
        drop(putting);
        assert!(!queue.is_done(u64::MAX) && work.before().len() == 1 && !work.ask());
        queue.waited(queue.latest());
        assert!(work.ask() && work.before().is_empty());
    }

    #[test]
    fn a_queue_that_was_closed_with_work_in_it_is_remembered() {
        let work = Work::default();
        let (done, busy) = (work.queue(), work.queue());
        drop(done.begin());
        done.waited(done.latest());
        drop(busy.begin());
        work.close(&done);
        work.close(&busy);
        assert_eq!(work.queues().len(), 1);
        busy.waited(busy.latest());
        work.close(&busy);
        assert_eq!(work.queues().len(), 0);
    }

    #[test]
    fn nothing_is_put_into_a_stream_in_a_moment_of_quiet_and_there_is_none_while_something_is() {
        let (work, queue) = (AtomicU64::new(0), QueueWork::default());
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..2000 {
                        let putting = queue.begin();
                        work.fetch_add(1, Ordering::SeqCst);
                        std::hint::spin_loop();
                        work.fetch_sub(1, Ordering::SeqCst);
                        drop(putting);
                        queue.waited(queue.latest());
                    }
                });
            }
            let mut moments = 0;
            for _ in 0..200 {
                let pausing = Pausing::begin();
                set_pause(PAUSED);
                if queue.is_at_rest() {
                    moments += 1;
                    assert_eq!(work.load(Ordering::SeqCst), 0);
                }
                drop(pausing);
            }
            println!("{moments} moments of quiet");
        });
        assert!(queue.is_at_rest());
    }
}
