//! A server without threads: sweeps when it is told to, on the thread that tells it.

use std::sync::Arc;

use hostcall_abi::Status;
use offload::host::StackSize;

use crate::record::KernelReport;
use crate::record::stats::Stats;
use crate::server::BufferHandle;
use crate::service::Service;
use crate::service::registry::{RegisterError, Registry};
use crate::serving::message::Worker;
use crate::serving::pool::Pool;
use crate::serving::ports::Audit;
use crate::serving::{Core, CoreConfig, PostBounds, Served};
use crate::wire::PortBuffer;

use super::MockDevice;

/// Serves one buffer on the calling thread, one sweep at a time: for measuring, and for tests that must not depend on a
/// schedule.
///
/// Blocking services find no pool thread here, and their calls stay unanswered; async ones find no runtime.
pub struct Sweeper {
    worker: Worker,
    served: Arc<Served>,
    registry: Arc<Registry>,
}

impl Sweeper {
    /// Services, numbered from 1, over a buffer.
    ///
    /// # Errors
    /// When two have one name.
    pub fn new(buffer: PortBuffer, services: impl IntoIterator<Item = Service>) -> Result<Self, RegisterError> {
        Self::with_bounds(buffer, services, PostBounds::default())
    }

    /// As [`Sweeper::new`], with other bounds of deferred posts that are not handled yet, in messages and in bytes:
    /// here nobody ever handles them.
    ///
    /// # Errors
    /// When two services have one name.
    pub fn bounded(
        buffer: PortBuffer,
        services: impl IntoIterator<Item = Service>,
        messages: u64,
        bytes: u64,
    ) -> Result<Self, RegisterError> {
        Self::with_bounds(buffer, services, PostBounds { messages, bytes })
    }

    fn with_bounds(buffer: PortBuffer, services: impl IntoIterator<Item = Service>, bounds: PostBounds) -> Result<Self, RegisterError> {
        crate::record::install_hook();
        let registry = Arc::new(Registry::new(1, false));
        for service in services {
            registry.register(service)?;
        }
        let core = Core::new(CoreConfig {
            registry: registry.clone(),
            pool: Pool::new(1, StackSize::default()),
            trace: None,
            #[cfg(feature = "tokio")]
            runtime: crate::serving::asynchronous::Runtime::new(None, StackSize::default()),
            timed: false,
            modest: false,
            threads: 1,
            helpers: 0,
        });
        Ok(Self { worker: Worker::new(core, 0), served: Served::new(buffer, 1, bounds), registry })
    }

    /// The device's side of the buffer.
    pub fn device(&self) -> MockDevice {
        MockDevice::new(BufferHandle(self.served.clone()))
    }

    /// Serves every port that rang, and audits a few. Returns the number of messages served.
    pub fn sweep(&mut self) -> u32 {
        self.served.shares[0].sweep(&self.served, &mut self.worker, Audit::Few).taken
    }

    /// Looks at every port, whether it rang or not.
    pub fn sweep_all(&mut self) -> u32 {
        self.served.shares[0].sweep(&self.served, &mut self.worker, Audit::Many(u32::MAX)).taken
    }

    /// Forgets which words of messages that are not whole have been found, so that the next look copies all of them:
    /// what a test must notice.
    pub fn forget_what_was_found(&mut self) {
        self.served.shares[0].forget_what_was_found();
    }

    /// Whether each port has left the mark of what it has taken, by which it follows memory that is put back.
    pub fn is_marked(&self) -> bool {
        self.served.shares[0].is_marked(&self.served)
    }

    /// How often handlers were entered: on the direct way once for each message, on the other one once for messages
    /// that are alike and follow one another.
    pub fn entered(&self) -> u64 {
        self.worker.entered()
    }

    /// What runs on this thread, for handlers to ask: the number of the service, the port, and the lanes that call.
    pub fn running(&self) -> impl Fn() -> Option<(u16, u32, u64)> + Send + Sync + use<> {
        let core = self.worker.core.clone();
        move || core.running().next()?.now().map(|(turn, lanes)| (turn.service(), turn.port(), lanes))
    }

    /// Begins to take the buffer out of service: calls that no handler has begun end. For handlers, too.
    pub fn closer(&self) -> impl Fn() + Send + Sync + use<> {
        let served = self.served.clone();
        move || served.closing.set(Status::SERVER_GONE)
    }

    /// What was called how often.
    pub fn stats(&self) -> Stats {
        self.registry.stats()
    }

    /// What was reported since the last time.
    pub fn take_report(&mut self) -> KernelReport {
        self.served.report.take()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use hostcall_abi::{Flags, Geometry, ReplyHead, Tag};

    use super::*;
    use crate::test_utils::fixed_service;

    #[test]
    fn what_a_service_does_after_its_messages_may_panic_and_they_are_answered() {
        static AFTER: AtomicU32 = AtomicU32::new(0);
        let service = fixed_service("double", |x: u32| 2 * x).after_messages(|_| {
            if AFTER.fetch_add(1, Ordering::Relaxed) < 3 {
                panic!("as it should");
            }
        });
        let geometry = Geometry { slots: 1, slot_bytes: 4096, ..Geometry::new(40, 32) };
        let mut server = Sweeper::new(PortBuffer::in_process(geometry).unwrap(), [service]).unwrap();
        let ports = server.device().raw();
        for seq in 1..6 {
            let tag = Tag::new(seq);
            for port in 0..40 {
                ports.send(port, 0, tag, 1, Flags::REPLY, 1 << 7, &[port]);
                ports.ring(port, u32::from(tag.payload()));
            }
            // A panic ends its sweep, and the next one goes on; there are three.
            for _ in 0..4 {
                server.sweep_all();
            }
            for port in 0..40 {
                assert!(ports.answered(port, tag), "message {seq} of port {port}");
                assert_eq!(ReplyHead::decode(ports.load(port, 0).0[0]).status, hostcall_abi::Status::OK);
            }
        }
        assert!(AFTER.load(Ordering::Relaxed) > 3);
    }
}
