//! What a server shows of itself to `cargo hostcall top`.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use hostcall_top::view::{self, Times, View};
use hostcall_top::{Shown, Source};

use super::Server;
use super::wait::Seen;
use crate::record::{OpenCall, tell};
use crate::serving::Core;

/// Open calls that are listed.
const LISTED: usize = 64;

/// Shows the server from now on, if its process was asked to show itself.
pub(super) fn show(server: &Server) -> Option<Shown> {
    let source = || {
        let device = server.parts.device.as_ref().map(|device| device.info().name.clone());
        Arc::new(Looked { core: Arc::downgrade(&server.parts.core), device: device.unwrap_or_default(), seen: Mutex::default() }) as _
    };
    hostcall_top::show(source, |error| tell(&error))
}

/// A server, as others see it.
struct Looked {
    core: Weak<Core>,
    device: String,
    /// The handlers in which its threads were when somebody looked last.
    seen: Mutex<Seen>,
}

impl Source for Looked {
    fn add_to(&self, view: &mut View, number: u64) {
        // Its threads hold the core while they run; a server that has ended is shown no more.
        let Some(core) = self.core.upgrade() else { return };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.look(&core);
        let mut waiting = seen.open_calls(&core);
        drop(seen);
        let unlisted = waiting.len().saturating_sub(LISTED);
        waiting.truncate(LISTED);
        let of = |call: OpenCall| view::Waiting {
            service: call.service,
            port: call.port,
            lanes: call.lanes,
            seconds: call.open_for.as_secs_f64(),
        };
        view.servers.push(view::Server {
            number,
            device: self.device.clone(),
            threads: core.threads() as u64,
            pool: core.pool.fill(),
            programs: core.buffers().iter().map(|live| live.fill()).collect(),
            services: services(&core),
            waiting: waiting.into_iter().map(of).collect(),
            waiting_unlisted: unlisted as u64,
        });
    }
}

fn services(core: &Core) -> Vec<view::Service> {
    let service = |slot: &Arc<crate::service::registry::Registered>| {
        let row = slot.counters.row(slot.name(), slot.number);
        let times = slot.counters.times().map_or_else(Vec::new, |times| {
            times.iter_recorded().map(|step| (step.value_iterated_to(), step.count_since_last_iteration())).collect()
        });
        view::Service {
            name: row.name,
            number: row.number,
            messages: row.messages,
            calls: row.calls,
            failed: row.failed,
            bytes_in: row.bytes_in,
            bytes_out: row.bytes_out,
            times: Times(times),
        }
    };
    core.registry.table().iter().map(service).collect()
}
