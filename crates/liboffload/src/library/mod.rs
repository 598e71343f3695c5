//! The implementation of the API over devices.
//!
//! A call goes through three layers. The [entry point](crate::entry) has checked the arguments and asked whether handles are live. [`Library`]
//! turns handles into objects and knows what belongs to what: sessions, allocations, which device a queue is of. A back end drives devices:
//! `host`, on the processor, and `cuda`.
//!
//! * **Handles are numbers**, never addresses: a kind, a slot and how many times the slot was used (`table`). A stale handle is told from a
//!   live one without touching what it named, and an object that another thread destroys during a call lives until the call ends.
//! * **Platforms open when somebody asks** for their devices, and one whose driver is missing or broken has no devices; starting the library
//!   opens nothing (`session`).
//! * **Work is ordered by queues**, which outlive their handles until they are empty.

mod api;
mod arguments;
mod backend;
mod cuda;
mod device;
mod error;
mod event;
mod host;
mod host_calls;
mod info;
mod leaks;
mod memory;
mod program;
mod queue;
mod session;
mod table;

pub use session::{PlatformReport, platform_reports};

use std::ffi::c_void;

use self::event::Event;
use self::memory::Memory;
use self::program::{Program, Symbol};
use self::queue::Queue;
use self::session::Session;
use self::table::Table;
use crate::HandleKind;
use crate::runtime::HandleState;

/// The library that `libhostcall_offload` exports.
#[derive(Debug)]
pub struct Library {
    session: Session,
    queues: Table<Queue>,
    events: Table<Event>,
    programs: Table<Program>,
    symbols: Table<Symbol>,
    memory: Memory,
}

static LIBRARY: Library = Library {
    session: Session::new(),
    queues: Table::new(HandleKind::Queue),
    events: Table::new(HandleKind::Event),
    programs: Table::new(HandleKind::Program),
    symbols: Table::new(HandleKind::Symbol),
    memory: Memory::new(),
};

impl Library {
    /// Whether a handle of this kind is live.
    fn is_live(&self, kind: HandleKind, handle: *const c_void) -> bool {
        match kind {
            HandleKind::Platform => self.session.platform(handle).is_some(),
            HandleKind::Device => self.session.device(handle).is_some(),
            HandleKind::Queue => self.queues.is_live(handle),
            HandleKind::Event => self.events.is_live(handle),
            HandleKind::Program => self.programs.is_live(handle),
            HandleKind::Symbol => self.symbols.is_live(handle),
            HandleKind::Context => false,
        }
    }

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
