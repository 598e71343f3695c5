//! Callers, as a worker tells them apart.
//!
//! A caller is a connection: the place to which its answers go. A caller that wants its answers can take nobody else's
//! place, but it can have as many connections as the broker lets it.
//!
//! What a worker does at once is bounded, and what it does for one caller is bounded by what others find free: a caller
//! has at most as much as it leaves. (A caller that has nothing under way may have one request, of whatever is free.)
//! The requests of a caller wait in a queue of their own, and callers take turns.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostcall::detached::{self, Callable};
use tokio::sync::Notify;

/// Who calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Name {
    /// A connection within the process.
    Local(u64),
    /// What comes before the request's number in the place where its answer goes.
    #[cfg(feature = "nats")]
    Inbox(Box<str>),
    /// Whoever keeps posts, for all who have sent them.
    Keeper,
}

/// Why a request is not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Full {
    /// Others are.
    #[error("too much to do")]
    Now,
    /// It never will be.
    #[error(
        "it asks for {bytes} bytes of memory, and this worker has {most} for all that it does at once: give it more with `WorkerBuilder::at_once`"
    )]
    Ever { bytes: usize, most: usize },
}

/// Requests, and bytes of memory.
#[derive(Clone, Copy, Debug, Default)]
struct Amount {
    requests: usize,
    bytes: usize,
}

/// A caller that has requests under way.
struct Caller<W> {
    has: Amount,
    /// Those that have not begun.
    queue: VecDeque<W>,
    /// Tasks that take its requests.
    tasks: usize,
    runs: Arc<detached::Caller>,
}

struct State<W> {
    has: Amount,
    /// Nothing is done any more.
    closed: bool,
    callers: HashMap<Name, Caller<W>>,
}

/// All callers that have requests under way, each of which is a `W`.
pub(crate) struct Callers<W> {
    state: Mutex<State<W>>,
    most: Amount,
    /// Tasks of a caller at most.
    tasks: usize,
    /// One of the worker's services: of their runner.
    service: Callable,
    /// Something has been done.
    pub(crate) idle: Notify,
}

impl<W> Callers<W> {
    pub(crate) fn new(requests: usize, bytes: usize, tasks: usize, service: Callable) -> Self {
        let state = Mutex::new(State { has: Amount::default(), closed: false, callers: HashMap::new() });
        Self { state, most: Amount { requests, bytes }, tasks, service, idle: Notify::new() }
    }

    /// Held for a look or a change.
    fn state(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nothing is under way.
    pub(crate) fn are_idle(&self) -> bool {
        self.state().has.requests == 0
    }

    /// A request of so many bytes, unless there is too much to do.
    pub(crate) fn begin(self: &Arc<Self>, name: &Name, bytes: usize) -> Result<Doing<W>, Full> {
        let mut state = self.state();
        let own = state.callers.get(name).map_or(0, |caller| caller.has.requests);
        let free = self.most.requests.saturating_sub(state.has.requests + 1);
        if state.has.requests >= self.most.requests || own > 0 && own + 1 > free {
            return Err(Full::Now);
        }
        let mut doing = self.count_request(&mut state, name);
        drop(state);
        doing.ask(bytes).map(|()| doing)
    }

    /// The same of what cannot be sent back, if nothing else is under way: it may have more than there is.
    pub(crate) fn begin_alone(self: &Arc<Self>, name: &Name) -> Option<Doing<W>> {
        let mut state = self.state();
        (state.has.requests == 0).then(|| self.count_request(&mut state, name))
    }

    fn count_request(self: &Arc<Self>, state: &mut State<W>, name: &Name) -> Doing<W> {
        state.has.requests += 1;
        let new = || Caller { has: Amount::default(), queue: VecDeque::new(), tasks: 0, runs: Arc::new(self.service.caller()) };
        let caller = state.callers.entry(name.clone()).or_insert_with(new);
        caller.has.requests += 1;
        Doing { callers: self.clone(), name: name.clone(), runs: caller.runs.clone(), bytes: 0 }
    }

    /// A request that has begun waits for its turn. Whether its caller needs one more [task](Callers::next).
    pub(crate) fn push(&self, name: &Name, work: W) -> bool {
        let mut state = self.state();
        let closed = state.closed;
        // It has one that has begun. (What is not queued is dropped without the lock.)
        let Some(caller) = state.callers.get_mut(name).filter(|_| !closed) else { return false };
        caller.queue.push_back(work);
        let more = caller.tasks < self.tasks;
        caller.tasks += usize::from(more);
        more
    }

    /// What a task of a caller does next; `None`: nothing, and it ends.
    pub(crate) fn next(&self, name: &Name) -> Option<W> {
        let mut state = self.state();
        let caller = state.callers.get_mut(name)?;
        let next = caller.queue.pop_front();
        if next.is_none() {
            caller.tasks -= 1;
            Self::tidy(&mut state, name);
        }
        next
    }

    /// Gives up what has not begun, now and from now on.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        let given_up: Vec<_> = state.callers.values_mut().map(|caller| std::mem::take(&mut caller.queue)).collect();
        drop(state);
        // Each counts as under way until it is dropped.
        drop(given_up);
    }

    /// Forgets a caller of which nothing is left.
    fn tidy(state: &mut State<W>, name: &Name) {
        if state.callers.get(name).is_some_and(|caller| caller.has.requests == 0 && caller.tasks == 0) {
            state.callers.remove(name);
        }
    }
}

/// A request that is under way.
pub(crate) struct Doing<W> {
    callers: Arc<Callers<W>>,
    name: Name,
    runs: Arc<detached::Caller>,
    bytes: usize,
}

impl<W> Doing<W> {
    /// Whose it is.
    pub(crate) fn name(&self) -> &Name {
        &self.name
    }

    /// The same for the services that it calls.
    pub(crate) fn runs(&self) -> &detached::Caller {
        &self.runs
    }

    /// Takes so many bytes more, as far as there are any.
    pub(crate) fn ask(&mut self, bytes: usize) -> Result<(), Full> {
        let (most, alone) = (self.callers.most.bytes, self.bytes.saturating_add(bytes));
        if alone > most {
            return Err(Full::Ever { bytes: alone, most });
        }
        let mut state = self.callers.state();
        let has = state.callers.get(&self.name).map_or(Amount::default(), |caller| caller.has);
        let free = most.checked_sub(state.has.bytes).and_then(|free| free.checked_sub(bytes)).ok_or(Full::Now)?;
        if has.requests > 1 && has.bytes + bytes > free {
            return Err(Full::Now);
        }
        self.count(&mut state, bytes);
        drop(state);
        self.bytes = alone;
        Ok(())
    }

    /// The same of what cannot be sent back: it counts, and others wait.
    pub(crate) fn ask_anyway(&mut self, bytes: usize) {
        self.count(&mut self.callers.state(), bytes);
        self.bytes += bytes;
    }

    fn count(&self, state: &mut State<W>, bytes: usize) {
        state.has.bytes += bytes;
        if let Some(caller) = state.callers.get_mut(&self.name) {
            caller.has.bytes += bytes;
        }
    }
}

impl<W> Drop for Doing<W> {
    fn drop(&mut self) {
        let mut state = self.callers.state();
        state.has.requests -= 1;
        state.has.bytes -= self.bytes;
        if let Some(caller) = state.callers.get_mut(&self.name) {
            caller.has.requests -= 1;
            caller.has.bytes -= self.bytes;
        }
        Callers::tidy(&mut state, &self.name);
        drop(state);
        self.callers.idle.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use hostcall::detached::Runner;
    use hostcall::{Definition, Service};

    use super::*;

    fn service() -> Callable {
        let definition = Definition::builder("Host__any").argument("u32").build().unwrap();
        Runner::new().add(Service::batch(definition, |_| ())).unwrap()
    }

    fn callers(requests: usize, bytes: usize) -> Arc<Callers<u32>> {
        Arc::new(Callers::new(requests, bytes, 2, service()))
    }

    /// Requests of a caller that begin, until one does not.
    fn fill(callers: &Arc<Callers<u32>>, name: &Name, bytes: usize) -> Vec<Doing<u32>> {
        (0..).map_while(|_| callers.begin(name, bytes).ok()).collect()
    }

    #[test]
    fn a_caller_has_at_most_as_many_requests_as_it_leaves() {
        let callers = callers(64, 1 << 20);
        let names: Vec<Name> = (0..5).map(Name::Local).collect();
        let doing: Vec<_> = names.iter().map(|name| fill(&callers, name, 1)).collect();
        assert_eq!(doing.iter().map(Vec::len).collect::<Vec<_>>(), [32, 16, 8, 4, 2]);
        drop(doing);
        assert!(callers.are_idle() && callers.state().callers.is_empty());
    }

    #[test]
    fn a_caller_has_at_most_as_many_bytes_as_it_leaves_but_for_its_first_request() {
        let callers = callers(64, 1000);
        let (hostile, honest) = (Name::Local(1), Name::Local(2));
        let many = fill(&callers, &hostile, 100);
        assert_eq!(many.len(), 5);
        let first = callers.begin(&honest, 400);
        assert!(first.is_ok() && matches!(callers.begin(&honest, 100), Err(Full::Now)));
        drop((many, first));
        assert!(callers.begin(&honest, 1000).is_ok(), "alone it may have all");
        assert!(matches!(callers.begin(&honest, 1001), Err(Full::Ever { bytes: 1001, most: 1000 })));
        assert!(callers.are_idle());
        // What cannot be sent back.
        let mut kept = callers.begin_alone(&Name::Keeper).unwrap();
        kept.ask_anyway(5000);
        assert!(callers.begin_alone(&Name::Keeper).is_none() && matches!(callers.begin(&honest, 1), Err(Full::Now)));
        drop(kept);
        assert!(callers.begin(&honest, 1000).is_ok());
    }

    #[test]
    fn what_has_not_begun_is_given_up_at_the_end_and_so_is_what_comes_late() {
        /// A request that waits is what keeps its caller known.
        struct Waits(#[expect(dead_code, reason = "dropped with it")] Doing<Waits>);
        let callers: Arc<Callers<Waits>> = Arc::new(Callers::new(64, 1000, 2, service()));
        let name = Name::Local(1);
        let wait = || callers.push(&name, Waits(callers.begin(&name, 1).unwrap()));
        assert!(wait() && !callers.are_idle());
        callers.close();
        assert!(callers.are_idle() && !wait() && callers.are_idle());
        assert_eq!(callers.next(&name).map(drop), None);
        assert_eq!((Arc::strong_count(&callers), callers.state().callers.len()), (1, 0));
    }

    #[test]
    fn a_caller_has_a_few_tasks_and_is_forgotten_with_the_last() {
        let callers = callers(64, 1000);
        let name = Name::Local(1);
        let doing: Vec<_> = (0..3).map(|_| callers.begin(&name, 1).unwrap()).collect();
        assert_eq!([1, 2, 3].map(|work| callers.push(&name, work)), [true, true, false]);
        assert_eq!([callers.next(&name), callers.next(&name), callers.next(&name)], [Some(1), Some(2), Some(3)]);
        drop(doing);
        assert_eq!(callers.state().callers.len(), 1, "its tasks have not ended");
        assert_eq!([callers.next(&name), callers.next(&name)], [None; 2]);
        assert!(callers.state().callers.is_empty());
    }
}
