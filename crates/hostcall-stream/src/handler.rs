//! Handlers: what becomes of messages.

use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostcall_abi::stream::Message;

use crate::batch::{Batch, Origin, Pending};
use crate::report::Report;
use crate::sites::Sites;

/// Whether later handlers of the same stream see a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// They do.
    Next,
    /// They do not.
    Done,
}

/// Takes the messages of a stream.
///
/// Each thread that reads rings has a state of its own, so handlers work in parallel and need no locks. States are
/// merged for a report. A handler must not wait for a kernel: the kernel may wait for room, which only the handler's
/// thread can make.
pub trait Handler<M>: Send + Sync + 'static {
    /// What it keeps.
    type State: Default + Send + 'static;

    /// Takes a batch.
    fn fold(&self, state: &mut Self::State, batch: &Batch<'_, M>) -> Flow;

    /// Adds what another thread has kept.
    fn merge(&self, into: &mut Self::State, from: &Self::State);

    /// What it found out.
    fn report(&self, state: &Self::State) -> Report;
}

/// Calls a closure for each value.
pub(crate) struct Each<F>(pub(crate) F);

impl<M: Message, F: Fn(&Origin, &M) + Send + Sync + 'static> Handler<M> for Each<F> {
    type State = u64;

    fn fold(&self, count: &mut u64, batch: &Batch<'_, M>) -> Flow {
        for (origin, value) in batch.iter() {
            *count += 1;
            self.0(&origin, value);
        }
        Flow::Next
    }

    fn merge(&self, into: &mut u64, from: &u64) {
        *into += from;
    }

    fn report(&self, count: &u64) -> Report {
        Report { lines: vec![format!("{count} values handled")], ..Report::new(M::NAME) }
    }
}

type State = Box<dyn Any + Send>;

/// A [`Handler`] without its types.
trait Erased<M>: Send + Sync {
    fn state(&self) -> State;
    fn fold(&self, state: &mut State, batch: &Batch<'_, M>) -> Flow;
    fn merge(&self, into: &mut State, from: &State);
    fn report(&self, state: &State) -> Report;
    fn id(&self) -> TypeId;
    fn name(&self) -> &'static str;
}

struct Of<H>(H);

impl<M, H: Handler<M>> Erased<M> for Of<H> {
    fn state(&self) -> State {
        Box::new(H::State::default())
    }

    fn fold(&self, state: &mut State, batch: &Batch<'_, M>) -> Flow {
        self.0.fold(state.downcast_mut().expect("the handler's own state"), batch)
    }

    fn merge(&self, into: &mut State, from: &State) {
        self.0.merge(into.downcast_mut().expect("the handler's own state"), from.downcast_ref().expect("the handler's own state"));
    }

    fn report(&self, state: &State) -> Report {
        self.0.report(state.downcast_ref().expect("the handler's own state"))
    }

    fn id(&self) -> TypeId {
        TypeId::of::<H>()
    }

    fn name(&self) -> &'static str {
        type_name::<H>()
    }
}

/// The handlers of one stream, in order, without their types.
pub(crate) trait Chain: Send + Sync + fmt::Debug {
    /// Whether there is no handler.
    fn is_empty(&self) -> bool;
    /// The part of a thread that is to read rings.
    fn thread(&self) -> Box<dyn Part>;
    /// What the handlers found out; `only`: those of this type.
    fn reports(&self, only: Option<TypeId>) -> Vec<Report>;
    /// The merged state of the first handler of this type.
    fn state(&self, of: TypeId) -> Option<State>;
    /// Forgets all states.
    fn clear(&self);
}

/// What one thread has of a chain.
pub(crate) trait Part: Send {
    /// Hands on what is pending, and forgets it.
    fn flush(&mut self, pending: &mut Pending);
}

type Handlers<M> = Arc<Vec<Box<dyn Erased<M>>>>;
/// The states of the handlers on one thread. Held by it while it hands on a batch, and by who asks for a report.
type States = Arc<Mutex<Vec<State>>>;

pub(crate) struct TypedChain<M> {
    handlers: Handlers<M>,
    threads: Mutex<Vec<States>>,
    sites: Arc<Sites>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A handler that panicked has left its state as it was in between; others are whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<M: Message> TypedChain<M> {
    pub(crate) fn new(sites: Arc<Sites>) -> Self {
        Self { handlers: Arc::default(), threads: Mutex::default(), sites }
    }

    /// One more handler, behind the others. No thread has a part yet.
    pub(crate) fn push(&mut self, handler: impl Handler<M>) {
        Arc::get_mut(&mut self.handlers).expect("nobody shares them yet").push(Box::new(Of(handler)));
    }

    fn report(&self, index: usize) -> Report {
        let mut report = self.handlers[index].report(&self.merged(index));
        report.name_sites(&self.sites);
        report
    }

    fn merged(&self, index: usize) -> State {
        let handler = &self.handlers[index];
        let mut all = handler.state();
        for thread in locked(&self.threads).iter() {
            handler.merge(&mut all, &locked(thread)[index]);
        }
        all
    }
}

impl<M> fmt::Debug for TypedChain<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.handlers.iter().map(|handler| handler.name())).finish()
    }
}

impl<M: Message> Chain for TypedChain<M> {
    fn is_empty(&self) -> bool {
        self.handlers.is_empty()
    }

    fn thread(&self) -> Box<dyn Part> {
        let states: States = Arc::new(Mutex::new(self.handlers.iter().map(|handler| handler.state()).collect()));
        locked(&self.threads).push(states.clone());
        Box::new(TypedPart { handlers: self.handlers.clone(), states, sites: self.sites.clone() })
    }

    fn reports(&self, only: Option<TypeId>) -> Vec<Report> {
        let wanted = |index: &usize| only.is_none_or(|id| self.handlers[*index].id() == id);
        (0..self.handlers.len()).filter(wanted).map(|index| self.report(index)).collect()
    }

    fn state(&self, of: TypeId) -> Option<State> {
        let index = self.handlers.iter().position(|handler| handler.id() == of)?;
        Some(self.merged(index))
    }

    fn clear(&self) {
        for thread in locked(&self.threads).iter() {
            for (state, handler) in locked(thread).iter_mut().zip(self.handlers.iter()) {
                *state = handler.state();
            }
        }
    }
}

struct TypedPart<M> {
    handlers: Handlers<M>,
    states: States,
    sites: Arc<Sites>,
}

impl<M: Message> Part for TypedPart<M> {
    fn flush(&mut self, pending: &mut Pending) {
        let batch = pending.batch::<M>(&self.sites);
        for (handler, state) in self.handlers.iter().zip(locked(&self.states).iter_mut()) {
            if handler.fold(state, &batch) == Flow::Done {
                break;
            }
        }
        pending.clear();
    }
}
