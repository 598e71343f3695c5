//! NVIDIA GPUs, through [`offload`]'s CUDA by addresses ([`offload::cuda::flat`]).
//!
//! Opening the platform counts devices. A device's context is made when something is asked of it that needs one.

mod cache;
mod names;
mod properties;
mod queue;

use std::any::Any;
use std::sync::{Arc, OnceLock};

use offload::cuda::flat::{Flat, FlatKernel, FlatMemory, FlatProgram, Kind, Registration, WORK, check_image};
use offload::{DeviceKind, ImageKind, ProgramBundle};

use self::cache::{Cache, class_of};
use super::backend::{Block, Device, Global, Kernel, Pin, Platform, Program, Properties, Queue, Shape};
use super::error::{fail, of_device};
use super::host_calls::{self, Calls};
use super::names::Names;
use super::session;
use crate::runtime::Error;
use crate::sys::{ol_alloc_type_t, ol_errc_t, ol_platform_backend_t, ol_symbol_kind_t};

/// The CUDA platform.
pub(super) struct Cuda;

impl Platform for Cuda {
    fn backend(&self) -> ol_platform_backend_t {
        ol_platform_backend_t::OL_PLATFORM_BACKEND_CUDA
    }

    fn name(&self) -> &'static str {
        "CUDA"
    }

    fn vendor(&self) -> &'static str {
        "NVIDIA"
    }

    fn version(&self) -> String {
        // The driver's own, which its kernel module tells; that of the plugin where there is none.
        let release = std::fs::read_to_string("/sys/module/nvidia/version");
        release.map_or_else(|_| env!("CARGO_PKG_VERSION").to_owned(), |text| text.trim().to_owned())
    }

    fn open(&self) -> Result<Vec<Arc<dyn Device>>, Error> {
        let all = offload::Platform::all();
        let Some(platform) = all.iter().find(|platform| platform.kind() == DeviceKind::Cuda) else {
            return fail(ol_errc_t::OL_ERRC_UNSUPPORTED, "this library was built without CUDA");
        };
        let count = platform.device_count().map_err(of_device)?;
        Ok((0..count)
            .map(|ordinal| Arc::new(CudaDevice { ordinal, flat: OnceLock::new(), cache: OnceLock::new() }) as Arc<dyn Device>)
            .collect())
    }
}

/// A GPU.
struct CudaDevice {
    ordinal: u32,
    flat: OnceLock<Result<Flat, Error>>,
    cache: OnceLock<Arc<Cache<FlatMemory>>>,
}

/// A device keeps at most this part of its memory for later allocations, and no more than [`MOST_KEPT`].
const KEPT_PART: u64 = 64;
const MOST_KEPT: u64 = 256 << 20;

impl CudaDevice {
    fn flat(&self) -> Result<&Flat, Error> {
        let open = || offload::Device::cuda(self.ordinal).and_then(|device| Flat::new(&device)).map_err(of_device);
        self.flat.get_or_init(open).as_ref().map_err(Clone::clone)
    }
}

impl Device for CudaDevice {
    fn properties(&self) -> Result<Properties, Error> {
        properties::read(self.flat()?)
    }

    fn allocate(&self, kind: ol_alloc_type_t, size: usize, alignment: usize) -> Result<Arc<dyn Block>, Error> {
        let kind = match kind {
            ol_alloc_type_t::OL_ALLOC_TYPE_HOST => Kind::Host,
            ol_alloc_type_t::OL_ALLOC_TYPE_MANAGED => Kind::Managed,
            _ => Kind::Device,
        };
        let flat = self.flat()?;
        // Managed memory may be larger than the device, and host memory has nothing to do with it.
        let most = flat.info().memory_bytes;
        if kind == Kind::Device && size as u64 > most {
            return fail(ol_errc_t::OL_ERRC_OUT_OF_RESOURCES, format!("no {size} bytes of device memory: {} has {most}", flat.info().name));
        }
        // Larger alignments than the driver's own are made by allocating more.
        let class = class_of(size).filter(|_| kind == Kind::Device && alignment <= NATURAL_ALIGNMENT);
        let cache = self.cache.get_or_init(|| Arc::new(Cache::new((most / KEPT_PART).min(MOST_KEPT) as usize)));
        if let Some(memory) = class.and_then(|class| cache.take(class)) {
            return Ok(Arc::new(Allocated { memory: Some(memory), class, cache: cache.clone(), is_on_device: true }));
        }
        let bytes = class.unwrap_or(size);
        let memory = match flat.allocate(kind, bytes, alignment) {
            // What is kept may be what is missing.
            Err(offload::Error::OutOfMemory { .. }) if cache.clear() => flat.allocate(kind, bytes, alignment),
            other => other,
        };
        Ok(Arc::new(Allocated {
            memory: Some(memory.map_err(of_device)?),
            class,
            cache: cache.clone(),
            is_on_device: kind == Kind::Device,
        }))
    }

    fn pin(&self, address: usize, size: usize) -> Result<Box<dyn Pin>, Error> {
        Ok(Box::new(Pinned(self.flat()?.register(address, size).map_err(of_device)?)))
    }

    fn queue(&self) -> Result<Arc<dyn Queue>, Error> {
        Ok(Arc::new(queue::CudaQueue::new(self.flat()?)?))
    }

    fn check(&self, image: &[u8]) -> Result<(), Error> {
        let flat = self.flat()?;
        let capability = flat.cuda_info().map_err(of_device)?.capability;
        match ProgramBundle::from_bytes(image) {
            Ok(bundle) => best_image(flat, &bundle, capability).map(drop),
            Err(_) => check_image(image, capability).map_err(of_device),
        }
    }

    fn load(&self, image: &[u8]) -> Result<Arc<dyn Program>, Error> {
        let flat = self.flat()?;
        let Ok(bundle) = ProgramBundle::from_bytes(image) else {
            return Loaded::load(flat, image);
        };
        let capability = flat.cuda_info().map_err(of_device)?.capability;
        let image = best_image(flat, &bundle, capability)?;
        bundle.checked(image).map_err(|error| Error::new(ol_errc_t::OL_ERRC_INVALID_BINARY, error.to_string()))?;
        Loaded::load(flat, &image.bytes)
    }

    fn drain(&self) {
        // The driver does what is in streams that were destroyed; a new session may begin meanwhile. Functions of
        // streams are the caller's.
        if let Some(Ok(flat)) = self.flat.get() {
            flat.wait_for_calls();
        }
    }

    fn end(&self) {
        if let Some(cache) = self.cache.get() {
            cache.clear();
        }
        if let Some(Ok(flat)) = self.flat.get() {
            // It fails only in functions of queues, where no session ends.
            drop(flat.free_when_quiet());
        }
    }

    fn may_wait(&self) -> Result<(), Error> {
        if offload::waits::may_wait() {
            return Ok(());
        }
        let text =
            "this waits for the GPU, which may be waiting for this thread: it answers a kernel's call; use a queue, or another thread";
        fail(ol_errc_t::OL_ERRC_UNSUPPORTED, text)
    }
}

/// The image of a bundle that a device can load: a cubin before PTX.
fn best_image<'a>(flat: &Flat, bundle: &'a ProgramBundle, capability: (u32, u32)) -> Result<&'a offload::Image, Error> {
    let images = bundle.images_of(ImageKind::Cubin).chain(bundle.images_of(ImageKind::Ptx));
    let fitting = images.into_iter().find(|image| check_image(&image.bytes, capability).is_ok());
    let text = || format!("the program `{}` has no image for {} ({})", bundle.name, flat.info().name, flat.info().arch);
    fitting.map_or_else(|| fail(ol_errc_t::OL_ERRC_INVALID_BINARY, text()), Ok)
}

/// What the driver aligns allocations to.
const NATURAL_ALIGNMENT: usize = 256;

/// Memory, which goes back to the cache if it is of one of its classes.
struct Allocated {
    /// There until it is dropped.
    memory: Option<FlatMemory>,
    class: Option<usize>,
    cache: Arc<Cache<FlatMemory>>,
    is_on_device: bool,
}

impl Block for Allocated {
    fn address(&self) -> usize {
        self.memory.as_ref().map_or(0, FlatMemory::address)
    }

    fn is_on_device(&self) -> bool {
        self.is_on_device
    }
}

impl Drop for Allocated {
    fn drop(&mut self) {
        if let (Some(class), Some(memory)) = (self.class, self.memory.take()) {
            self.cache.keep(class, memory, &WORK);
        }
    }
}

struct Pinned(Registration);

impl Pin for Pinned {
    fn address(&self) -> usize {
        self.0.address()
    }
}

struct Loaded {
    // Dropped first: its server uses the program.
    calls: Option<Arc<Calls>>,
    flat: FlatProgram,
    /// `None` if the image does not tell: it is a fatbin.
    names: Option<Names>,
}

impl Loaded {
    fn load(flat: &Flat, image: &[u8]) -> Result<Arc<dyn Program>, Error> {
        let flat = flat.load(image).map_err(of_device)?;
        let calls = host_calls::attach(session::CUDA, &flat.program("image", image))?;
        Ok(Arc::new(Loaded { calls, flat, names: names::of_image(image) }))
    }
}

impl Program for Loaded {
    fn kernel(&self, name: &str) -> Result<Option<Arc<dyn Kernel>>, Error> {
        let found = self.flat.kernel(name).map_err(of_device)?;
        let (name, device, calls) = (name.to_owned(), self.flat.device().clone(), self.calls.clone());
        Ok(found.map(|flat| Arc::new(CudaKernel { name, flat, device, calls }) as Arc<dyn Kernel>))
    }

    fn global(&self, name: &str) -> Result<Option<Global>, Error> {
        let found = self.flat.global(name).map_err(of_device)?;
        Ok(found.map(|global| Global { address: global.address as usize, size: global.size }))
    }

    fn names(&self, kind: ol_symbol_kind_t) -> Result<Vec<String>, Error> {
        match &self.names {
            Some(names) => Ok(names.of_kind(kind)),
            // The driver lists kernels, and no variables.
            None if kind == ol_symbol_kind_t::OL_SYMBOL_KIND_KERNEL => {
                let kernels = self.flat.kernel_names().map_err(of_device)?;
                Ok(Names::new(kernels.into_iter().map(|name| (name, kind))).of_kind(kind))
            }
            None => {
                let text = "a fatbin does not tell its variables: load the cubin or the PTX that it was made of";
                fail(ol_errc_t::OL_ERRC_UNSUPPORTED, text)
            }
        }
    }
}

/// A kernel.
struct CudaKernel {
    name: String,
    flat: FlatKernel,
    device: Flat,
    calls: Option<Arc<Calls>>,
}

/// `CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH`.
const COOPERATIVE_LAUNCH: i32 = 95;

impl Kernel for CudaKernel {
    fn optimal_group_size(&self, shared_per_item: usize) -> Result<usize, Error> {
        match self.flat.best_group_size(shared_per_item).map_err(of_device)? {
            0 => {
                let text = format!("no group of `{}` fits with {shared_per_item} bytes of shared memory for each item", self.name);
                fail(ol_errc_t::OL_ERRC_OUT_OF_RESOURCES, text)
            }
            size => Ok(size as usize),
        }
    }

    fn max_cooperative_groups(&self, shape: &Shape) -> Result<u32, Error> {
        if self.device.attribute(COOPERATIVE_LAUNCH).map_err(of_device)? == 0 {
            return fail(ol_errc_t::OL_ERRC_UNSUPPORTED, format!("{} has no cooperative launches", self.device.info().name));
        }
        let items = u32::try_from(shape.items()).unwrap_or(u32::MAX);
        if items > self.flat.max_group_size() {
            let text = format!("groups of {items} items: `{}` can have {}", self.name, self.flat.max_group_size());
            return fail(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, text);
        }
        let resident = self.flat.resident_groups(items, shape.shared).map_err(of_device)?;
        Ok(resident.saturating_mul(self.device.info().sms))
    }

    fn host_calls(&self) -> Option<&Arc<Calls>> {
        self.calls.as_ref()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
