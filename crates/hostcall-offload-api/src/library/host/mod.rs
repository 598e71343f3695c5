//! The host as a device: kernels run on the processor that the library runs on.
//!
//! Two kinds of images, both shared libraries of this machine:
//!
//! * **Host images**, as LLVM's host plugin has them: a kernel is an exported function `void kernel(void **args)`,
//!   where `args[i]` points to the value of argument `i`. It is called once, by the queue's thread: there is one group
//!   of one item, and no other shape is taken.
//! * **Simulator images**, as `hostcall-build` makes them: the real grid, with waves, barriers and groups, on the
//!   [simulator](offload::sim). It is opened when the first of them is loaded.
//!
//! All kinds of memory are memory of the process.

mod image;
mod memory;
mod properties;

use std::sync::{Arc, OnceLock};

use offload::SimConfig;

pub(super) use self::image::{Contents, HostKernel};
use super::backend::{Block, Device, Pin, Platform, Program, Properties, Queue};
use super::error::{fail, of_device};
use super::grid::{self, GridProgram};
use super::names::Names;
use super::session::HOST;
use super::worker::{Processor, WorkerQueue, Workers};
use crate::runtime::Error;
use crate::sys::{ol_alloc_type_t, ol_errc_t, ol_platform_backend_t};

/// The host's platform.
pub(super) struct Host;

impl Platform for Host {
    fn backend(&self) -> ol_platform_backend_t {
        ol_platform_backend_t::OL_PLATFORM_BACKEND_HOST
    }

    fn name(&self) -> &'static str {
        "HOST"
    }

    fn vendor(&self) -> &'static str {
        "hostcall"
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }

    fn open(&self) -> Result<Vec<Arc<dyn Device>>, Error> {
        let config = match std::env::var("OFFLOAD_SIMULATOR") {
            Ok(text) => text
                .parse::<SimConfig>()
                .map_err(|error| Error::new(ol_errc_t::OL_ERRC_INVALID_VALUE, format!("OFFLOAD_SIMULATOR: {error}")))?,
            Err(_) => SimConfig::default(),
        };
        Ok(vec![Arc::new(HostDevice { config, simulator: OnceLock::new(), workers: Arc::default() })])
    }
}

/// The host.
struct HostDevice {
    config: SimConfig,
    simulator: OnceLock<Result<offload::Device, Error>>,
    workers: Arc<Workers>,
}

impl HostDevice {
    fn simulator(&self) -> Result<&offload::Device, Error> {
        self.simulator.get_or_init(|| offload::Device::sim(self.config).map_err(of_device)).as_ref().map_err(Clone::clone)
    }
}

impl Device for HostDevice {
    fn properties(&self) -> Result<Properties, Error> {
        Ok(properties::read(&self.config))
    }

    fn allocate(&self, _kind: ol_alloc_type_t, size: usize, alignment: usize) -> Result<Arc<dyn Block>, Error> {
        memory::allocate(size, alignment)
    }

    fn pin(&self, address: usize, _size: usize) -> Result<Box<dyn Pin>, Error> {
        // The device is the host: what it uses need not be locked.
        Ok(Box::new(memory::Unpinned(address)))
    }

    fn queue(&self) -> Result<Arc<dyn Queue>, Error> {
        Ok(Arc::new(WorkerQueue::new(&self.workers, &Processor)))
    }

    fn check(&self, bytes: &[u8]) -> Result<(), Error> {
        if offload::ProgramBundle::from_bytes(bytes).is_ok_and(|bundle| bundle.images_of(offload::ImageKind::Sim).next().is_some()) {
            return Ok(());
        }
        image::Contents::read(bytes).map(drop)
    }

    fn load(&self, bytes: &[u8]) -> Result<Arc<dyn Program>, Error> {
        if let Ok(bundle) = offload::ProgramBundle::from_bytes(bytes) {
            return Ok(Arc::new(GridProgram::load(HOST, self.simulator()?, &bundle, names_in(&bundle))?));
        }
        let contents = image::Contents::read(bytes)?;
        if contents.is_simulated() {
            return Ok(Arc::new(GridProgram::load(HOST, self.simulator()?, &grid::bundle_of(bytes), contents.names())?));
        }
        Ok(Arc::new(image::HostProgram::load(bytes, contents)?))
    }

    fn drain(&self) {
        self.workers.wait();
    }
}

/// The symbols of the simulator's image in a bundle.
fn names_in(bundle: &offload::ProgramBundle) -> Names {
    let image = bundle.images_of(offload::ImageKind::Sim).next();
    image.and_then(|image| Contents::read(&image.bytes).ok()).map(|contents| contents.names()).unwrap_or_default()
}

/// What host images do not have.
fn only_one_item<T>(name: &str) -> Result<T, Error> {
    let text = format!(
        "`{name}` is a kernel of a host image, which is called once: launch 1 group of 1 item without dynamic shared memory, or build it for the simulator"
    );
    fail(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, text)
}
