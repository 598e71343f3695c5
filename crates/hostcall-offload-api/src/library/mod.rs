//! The implementation of the API over devices.
//!
//! A call goes through three layers. The [entry point](crate::entry) has checked the arguments and asked whether
//! handles are live. The core of [`Library`] turns handles into objects and knows what belongs to what: sessions,
//! allocations, which device a queue is of. A back end drives devices: `host`, on the processor, `cuda`, and `amdgpu`.
//!
//! * **Handles are numbers**, never addresses: a kind, a slot and how many times the slot was used (`table`). A stale
//!   handle is told from a live one without touching what it named, and an object that another thread destroys during a
//!   call lives until the call ends.
//! * **Platforms open when somebody asks** for their devices, and one whose driver is missing or broken has no devices;
//!   starting the library opens nothing (`session`).
//! * **Work is ordered by queues**, which outlive their handles until they are empty.

mod amdgpu;
mod api;
mod arguments;
mod backend;
mod built_for;
mod calls;
#[cfg(llvm24)]
mod context;
mod cuda;
mod device;
mod error;
mod event;
mod grid;
mod host;
pub mod host_calls;
mod info;
mod launches;
mod leaks;
mod memory;
mod names;
mod program;
mod queue;
mod recording;
pub mod replay;
mod session;
mod table;
mod worker;

pub use recording::{FormatError, Recording};
pub use session::{PlatformReport, platform_reports};

use std::ffi::c_void;
use std::marker::PhantomData;

use self::event::Event;
use self::launches::Launches;
use self::memory::Memory;
use self::program::{Program, Symbol};
use self::queue::Queue;
use self::session::Session;
use self::table::Table;
use crate::HandleKind;
use crate::runtime::HandleState;

/// The library, as an implementation of the API. `S` says who answers the calls of kernels.
///
/// All of its instances are one library: what there is of it is in the process once.
pub struct Library<S = NoHostCalls>(PhantomData<fn() -> S>);

impl<S> Library<S> {
    const NEW: Library<S> = Library(PhantomData);
}

impl<S> std::fmt::Debug for Library<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(Core::get(), f)
    }
}

/// What an object belongs to: the number that is its context's handle. LLVM 23 has no contexts; there everything
/// belongs to [`NO_CONTEXT`].
type Owner = usize;

/// See [`Owner`].
#[cfg(not(llvm24))]
const NO_CONTEXT: Owner = 0;

/// Who answers the calls that kernels make to the host: a parameter of [`Library`].
pub trait HostCallsOf: 'static {
    /// What attaches programs; `None`: programs are loaded as they are, and their calls fail.
    fn host_calls() -> Option<&'static dyn host_calls::HostCalls>;
}

/// Nobody: kernels that call the host are told that there is no server.
#[derive(Debug)]
pub enum NoHostCalls {}

impl HostCallsOf for NoHostCalls {
    fn host_calls() -> Option<&'static dyn host_calls::HostCalls> {
        None
    }
}

/// The objects, and what belongs to what.
#[derive(Debug)]
struct Core {
    session: Session,
    #[cfg(llvm24)]
    contexts: Table<context::Context>,
    queues: Table<Queue>,
    events: Table<Event>,
    programs: Table<Program>,
    symbols: Table<Symbol>,
    launches: Launches,
    memory: Memory,
}

static CORE: Core = Core {
    session: Session::new(),
    #[cfg(llvm24)]
    contexts: Table::new(HandleKind::Context),
    queues: Table::new(HandleKind::Queue),
    events: Table::new(HandleKind::Event),
    programs: Table::new(HandleKind::Program),
    symbols: Table::new(HandleKind::Symbol),
    launches: Launches::new(),
    memory: Memory::new(),
};

impl Core {
    /// The one of this process.
    #[inline]
    fn get() -> &'static Core {
        &CORE
    }

    /// Whether a handle of this kind is live.
    #[inline]
    fn is_live(&self, kind: HandleKind, handle: *const c_void) -> bool {
        match kind {
            HandleKind::Platform => self.session.platform(handle).is_some(),
            HandleKind::Device => self.session.device(handle).is_some(),
            HandleKind::Queue => self.queues.is_live(handle),
            HandleKind::Event => self.events.is_live(handle),
            HandleKind::Program => self.programs.is_live(handle),
            HandleKind::Symbol => self.symbols.is_live(handle),
            #[cfg(llvm24)]
            HandleKind::Context => self.contexts.is_live(handle),
            #[cfg(not(llvm24))]
            HandleKind::Context => false,
        }
    }

    #[inline]
    fn state(&self, wanted: HandleKind, handle: *const c_void) -> HandleState<HandleKind> {
        if self.is_live(wanted, handle) {
            return HandleState::Live;
        }
        match table::kind_of(handle) {
            Some(kind) if kind != wanted && self.is_live(kind, handle) => HandleState::OtherKind(kind),
            _ => HandleState::Unknown,
        }
    }
}
