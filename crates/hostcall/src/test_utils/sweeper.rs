//! A server without threads: sweeps when it is told to, on the thread that tells it.

use std::sync::Arc;

use crate::blocking::Pool;
use crate::buffer::PortBuffer;
use crate::core::{Core, Parts};
use crate::live::Live;
use crate::registry::{RegisterError, Registry};
use crate::report::KernelReport;
use crate::serve::Worker;
use crate::server::BufferHandle;
use crate::service::Service;
use crate::sweep::Audit;

use super::MockDevice;

/// Serves one buffer on the calling thread, one sweep at a time: for measuring, and for tests that must not depend on a schedule.
///
/// Blocking services find no pool thread here, and their calls stay unanswered; async ones find no runtime.
pub struct Sweeper {
    worker: Worker,
    live: Arc<Live>,
}

impl Sweeper {
    /// Services, numbered from 1, over a buffer.
    ///
    /// # Errors
    /// When two have one name.
    pub fn new(buffer: PortBuffer, services: impl IntoIterator<Item = Service>) -> Result<Self, RegisterError> {
        crate::panics::install_hook();
        let registry = Arc::new(Registry::new(1, false));
        for service in services {
            registry.register(service)?;
        }
        let core = Core::new(Parts {
            registry,
            pool: Pool::new(1),
            trace: None,
            #[cfg(feature = "tokio")]
            runtime: crate::asynchronous::Runtime::new(None),
            timed: false,
            threads: 1,
        });
        Ok(Self { worker: Worker::new(core, 0), live: Live::new(buffer, 1) })
    }

    /// The device's side of the buffer.
    pub fn device(&self) -> MockDevice {
        MockDevice::new(BufferHandle(self.live.clone()))
    }

    /// Serves every port that rang, and audits a few. Returns the number of messages served.
    pub fn sweep(&mut self) -> u32 {
        self.live.partitions[0].sweep(&self.live, &mut self.worker, Audit::Few)
    }

    /// Looks at every port, whether it rang or not.
    pub fn sweep_all(&mut self) -> u32 {
        self.live.partitions[0].sweep(&self.live, &mut self.worker, Audit::Many(u32::MAX))
    }

    /// What was reported since the last time.
    pub fn take_report(&mut self) -> KernelReport {
        self.live.report.take()
    }
}
