//! AMD's GPUs, through [`offload`]'s HSA.
//!
//! Opening the platform counts devices; the first use of one opens it. Work of a queue is done in order by a thread of
//! the queue ([`worker`](super::worker)), which launches a kernel and waits for it: so queues work beside one another,
//! a function of a queue may call the library, and events are the host's. Memory of a device is copied by its driver,
//! and everything else by the processor ([`space`]).

mod space;
mod target;

use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

use offload::backend::BackendMemory;
use offload::{DeviceKind, Image, ProgramBundle};

use self::space::SPACE;
use super::backend::{Block, Device, Global, Kernel, Pin, Platform, Program, Properties, Queue, Shape};
use super::error::{fail, of_device};
use super::grid::GridProgram;
use super::names::Names;
use super::session::AMDGPU;
use super::worker::{WorkerQueue, Workers};
use crate::library::arguments::Given;
use crate::runtime::Error;
use crate::sys::{
    ol_alloc_type_t, ol_device_fp_capability_flag_t as Fp, ol_device_type_t, ol_errc_t, ol_platform_backend_t, ol_symbol_kind_t,
};

/// The AMDGPU platform.
pub(super) struct Amdgpu;

impl Platform for Amdgpu {
    fn backend(&self) -> ol_platform_backend_t {
        ol_platform_backend_t::OL_PLATFORM_BACKEND_AMDGPU
    }

    fn name(&self) -> &'static str {
        "AMDGPU"
    }

    fn vendor(&self) -> &'static str {
        "AMD"
    }

    fn version(&self) -> String {
        // The kernel's driver, which tells its version if it is not the kernel's own; that of the plugin where there is
        // none.
        let release = std::fs::read_to_string("/sys/module/amdgpu/version");
        release.map_or_else(|_| env!("CARGO_PKG_VERSION").to_owned(), |text| text.trim().to_owned())
    }

    fn open(&self) -> Result<Vec<Arc<dyn Device>>, Error> {
        let all = offload::Platform::all();
        let Some(platform) = all.iter().find(|platform| platform.kind() == DeviceKind::Hsa) else {
            return fail(ol_errc_t::OL_ERRC_UNSUPPORTED, "this library was built without HSA");
        };
        let count = platform.device_count().map_err(of_device)?;
        Ok((0..count)
            .map(|ordinal| Arc::new(AmdDevice { ordinal, opened: OnceLock::new(), workers: Arc::default() }) as Arc<dyn Device>)
            .collect())
    }
}

/// A GPU.
struct AmdDevice {
    ordinal: u32,
    opened: OnceLock<Result<offload::Device, Error>>,
    workers: Arc<Workers>,
}

/// What the driver aligns device memory to, and host memory at least.
const NATURAL_ALIGNMENT: usize = 256;

/// AMD in the PCI registry.
const VENDOR: u32 = 0x1002;

impl AmdDevice {
    fn device(&self) -> Result<&offload::Device, Error> {
        self.opened.get_or_init(|| offload::Device::hsa(self.ordinal).map_err(of_device)).as_ref().map_err(Clone::clone)
    }

    /// The image of `bytes` that the device runs best, as a bundle of one, and its symbols.
    fn best_image(&self, bytes: &[u8]) -> Result<(ProgramBundle, Names), Error> {
        let device = self.device()?;
        let bundle = match ProgramBundle::from_bytes(bytes) {
            Ok(bundle) => bundle,
            Err(_) => target::bundle_of(bytes)?,
        };
        let fit = |image: &Image| Some((device.backend().fit(image)?, image.clone()));
        let Some((_, image)) = bundle.images.iter().filter_map(fit).max_by_key(|(fit, _)| *fit) else {
            let isas = offload::hsa::info(device).map(|info| info.isas.join(", ")).unwrap_or_default();
            let there: Vec<_> = bundle.images.iter().map(|image| &*image.arch).collect();
            let text = format!("the image is for {}, and {} runs {isas}", there.join(", "), device.info().name);
            return fail(ol_errc_t::OL_ERRC_INVALID_BINARY, text);
        };
        let names = target::names(&image.bytes);
        Ok((ProgramBundle::new(bundle.name, vec![image]), names))
    }
}

impl Device for AmdDevice {
    fn properties(&self) -> Result<Properties, Error> {
        let device = self.device()?;
        let info = device.info();
        let more = offload::hsa::info(device);
        let half = Fp::OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_NEAREST.0
            | Fp::OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_ZERO.0
            | Fp::OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_INF.0
            | Fp::OL_DEVICE_FP_CAPABILITY_FLAG_INF_NAN.0
            | Fp::OL_DEVICE_FP_CAPABILITY_FLAG_DENORM.0
            | Fp::OL_DEVICE_FP_CAPABILITY_FLAG_FMA.0;
        let full = half | Fp::OL_DEVICE_FP_CAPABILITY_FLAG_CORRECTLY_ROUNDED_DIVIDE_SQRT.0;
        Ok(Properties {
            kind: ol_device_type_t::OL_DEVICE_TYPE_GPU,
            name: info.arch.clone(),
            product_name: info.name.clone(),
            uid: info.pci_bus_id.clone().unwrap_or_default(),
            vendor: "AMD".to_owned(),
            driver_version: info.driver.clone(),
            max_group_size: info.max_group_size,
            max_group_dimensions: [info.max_group_size; 3],
            max_work_size: u32::MAX,
            max_work_dimensions: [u32::MAX; 3],
            vendor_id: VENDOR,
            compute_units: info.sms,
            clock: more.as_ref().and_then(|more| more.clock_mhz),
            memory_clock: more.as_ref().and_then(|more| more.memory_clock_mhz),
            max_allocation: info.memory_bytes,
            memory: info.memory_bytes,
            local_memory: more.as_ref().map_or(0, |more| more.group_bytes.into()),
            arithmetic: [full, full, half],
            vector_widths: [1; 7],
            cooperative: false,
            lanes: info.wave_size,
            arch: info.arch.clone(),
            timestamps_per_second: more.and_then(|more| more.counter_hz).unwrap_or(0),
            resident_waves: info.resident_waves,
            reaches_host: false,
        })
    }

    fn allocate(&self, kind: ol_alloc_type_t, size: usize, alignment: usize) -> Result<Arc<dyn Block>, Error> {
        let device = self.device()?;
        let is_device = kind == ol_alloc_type_t::OL_ALLOC_TYPE_DEVICE;
        if is_device && size as u64 > device.info().memory_bytes {
            let text = format!("no {size} bytes of device memory: {} has {}", device.info().name, device.info().memory_bytes);
            return fail(ol_errc_t::OL_ERRC_OUT_OF_RESOURCES, text);
        }
        // Larger alignments than the driver's own are made by allocating more.
        let Some(bytes) = size.checked_add(if alignment > NATURAL_ALIGNMENT { alignment } else { 0 }) else {
            return fail(ol_errc_t::OL_ERRC_OUT_OF_RESOURCES, format!("{size} bytes are more than the address space has"));
        };
        let backend = device.backend();
        let memory = if is_device { backend.alloc(bytes) } else { backend.alloc_host(bytes) }.map_err(of_device)?;
        let address = (memory.device_address() as usize).next_multiple_of(alignment);
        let known = is_device.then(|| SPACE.add(address, size, device));
        Ok(Arc::new(Allocated { address, _known: known, _memory: memory }))
    }

    fn pin(&self, address: usize, size: usize) -> Result<Box<dyn Pin>, Error> {
        let Some(start) = NonNull::new(std::ptr::with_exposed_provenance_mut::<u8>(address)) else {
            return fail(ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Ptr must not be NULL");
        };
        // SAFETY: who registers memory says that it is there until it is taken back, and what of it host and device use
        // at the same time.
        let memory = unsafe { offload::hsa::pin(self.device()?, start, size) }.map_err(of_device)?;
        Ok(Box::new(Pinned(memory)))
    }

    fn queue(&self) -> Result<Arc<dyn Queue>, Error> {
        self.device()?;
        Ok(Arc::new(WorkerQueue::new(&self.workers, &SPACE)))
    }

    fn check(&self, image: &[u8]) -> Result<(), Error> {
        self.best_image(image).map(drop)
    }

    fn load(&self, image: &[u8]) -> Result<Arc<dyn Program>, Error> {
        let (bundle, names) = self.best_image(image)?;
        let device = self.device()?;
        let code = Code { program: GridProgram::load(AMDGPU, device, &bundle, names)?, device: device.clone(), globals: SPACE.list() };
        code.run(INIT)?;
        Ok(Arc::new(code))
    }

    fn drain(&self) {
        self.workers.wait();
    }
}

/// Memory.
struct Allocated {
    address: usize,
    // Forgotten before the memory is freed.
    _known: Option<space::Known>,
    _memory: Arc<dyn BackendMemory>,
}

impl Block for Allocated {
    fn address(&self) -> usize {
        self.address
    }
}

struct Pinned(offload::HostMemory<u8>);

impl Pin for Pinned {
    fn address(&self) -> usize {
        self.0.address() as usize
    }
}

/// Clang's kernels that call the constructors and the destructors of an image.
const INIT: &str = "amdgcn.device.init";
const FINI: &str = "amdgcn.device.fini";

/// A loaded image.
struct Code {
    program: GridProgram,
    device: offload::Device,
    /// Its global variables that somebody asked for, which are memory of the device.
    globals: space::List,
}

impl Code {
    /// Runs a kernel without arguments, if the image has it.
    fn run(&self, name: &str) -> Result<(), Error> {
        let Some(kernel) = self.program.kernel(name)? else { return Ok(()) };
        let queue = WorkerQueue::new(&Arc::default(), &SPACE);
        // SAFETY: clang's own kernel, which has no arguments.
        unsafe { queue.launch(&kernel, &Shape::ONE, &Given::NONE) }.map_err(|error| *error)?;
        queue.synchronize()
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        if let Err(error) = self.run(FINI) {
            eprintln!("offload: destructors of an image on {}: {error}", self.device.info().name);
        }
    }
}

impl Program for Code {
    fn kernel(&self, name: &str) -> Result<Option<Arc<dyn Kernel>>, Error> {
        self.program.kernel(name)
    }

    fn global(&self, name: &str) -> Result<Option<Global>, Error> {
        let found = self.program.global(name)?;
        if let Some(global) = found {
            self.globals.add(global.address, global.size, &self.device);
        }
        Ok(found)
    }

    fn names(&self, kind: ol_symbol_kind_t) -> Result<Vec<String>, Error> {
        self.program.names(kind)
    }
}
