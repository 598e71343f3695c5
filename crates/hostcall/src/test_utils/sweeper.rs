//! A server without threads: sweeps when it is told to, on the thread that tells it.

use std::sync::Arc;

use crate::record::KernelReport;
use crate::server::BufferHandle;
use crate::service::Service;
use crate::service::registry::{RegisterError, Registry};
use crate::serving::message::Worker;
use crate::serving::pool::Pool;
use crate::serving::ports::Audit;
use crate::serving::{Core, CoreConfig, Served};
use crate::wire::PortBuffer;

use super::MockDevice;

/// Serves one buffer on the calling thread, one sweep at a time: for measuring, and for tests that must not depend on a schedule.
///
/// Blocking services find no pool thread here, and their calls stay unanswered; async ones find no runtime.
pub struct Sweeper {
    worker: Worker,
    served: Arc<Served>,
}

impl Sweeper {
    /// Services, numbered from 1, over a buffer.
    ///
    /// # Errors
    /// When two have one name.
    pub fn new(buffer: PortBuffer, services: impl IntoIterator<Item = Service>) -> Result<Self, RegisterError> {
        crate::record::install_hook();
        let registry = Arc::new(Registry::new(1, false));
        for service in services {
            registry.register(service)?;
        }
        let core = Core::new(CoreConfig {
            registry,
            pool: Pool::new(1),
            trace: None,
            #[cfg(feature = "tokio")]
            runtime: crate::serving::asynchronous::Runtime::new(None),
            timed: false,
            modest: false,
            threads: 1,
        });
        Ok(Self { worker: Worker::new(core, 0), served: Served::new(buffer, 1) })
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

    /// What was reported since the last time.
    pub fn take_report(&mut self) -> KernelReport {
        self.served.report.take()
    }
}
