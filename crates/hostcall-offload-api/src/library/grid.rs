//! Programs whose kernels run on a real grid, through [`offload`]: simulator images on the host, and code for AMD's
//! GPUs.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use hostcall_abi::sim::GROUP_MEMORY_BYTES;
use offload::{Args, DeviceKind, Image, ImageKind, Launch, ProgramBundle, Sha256};

use crate::library::arguments::{Arguments, Given};
use crate::library::backend::{Global, Kernel, Program, Shape};
use crate::library::error::{fail, of_device};
use crate::library::host_calls::{self, Calls};
use crate::library::names::Names;
use crate::runtime::Error;
use crate::sys::{ol_errc_t, ol_symbol_kind_t};

/// A bundle of the one image, which was found to be for the simulator.
pub(super) fn bundle_of(image: &[u8]) -> ProgramBundle {
    let arch = if cfg!(target_arch = "aarch64") { "aarch64-unknown-linux-gnu" } else { "x86_64-unknown-linux-gnu" };
    let image = Image { kind: ImageKind::Sim, arch: arch.into(), sha256: Sha256::of(image), bytes: Cow::Owned(image.to_vec()) };
    ProgramBundle::new("image", vec![image])
}

/// A loaded simulator image.
pub(super) struct GridProgram {
    program: offload::Program,
    calls: Option<Arc<Calls>>,
    /// Of its symbols.
    names: Names,
}

impl GridProgram {
    /// Loads a bundle on a device of a platform. `names` are its symbols.
    pub(super) fn load(platform: usize, device: &offload::Device, bundle: &ProgramBundle, names: Names) -> Result<GridProgram, Error> {
        let program = device.load(bundle).map_err(of_device)?;
        let calls = host_calls::attach(platform, &program)?;
        Ok(GridProgram { program, calls, names })
    }
}

impl Program for GridProgram {
    fn kernel(&self, name: &str) -> Result<Option<Arc<dyn Kernel>>, Error> {
        match self.program.kernel(name) {
            Ok(kernel) => Ok(Some(Arc::new(GridKernel { kernel, calls: self.calls.clone() }))),
            Err(offload::Error::NoKernel { .. }) => Ok(None),
            Err(error) => Err(of_device(error)),
        }
    }

    fn global(&self, name: &str) -> Result<Option<Global>, Error> {
        let found = self.program.find_global(name).map_err(of_device)?;
        Ok(found.map(|global| Global { address: global.address() as usize, size: global.size() }))
    }

    fn names(&self, kind: ol_symbol_kind_t) -> Result<Vec<String>, Error> {
        Ok(self.names.of_kind(kind))
    }
}

/// A kernel of a simulator image.
pub(super) struct GridKernel {
    kernel: offload::Kernel,
    calls: Option<Arc<Calls>>,
}

impl GridKernel {
    /// Refuses a launch that cannot work, now and not when its turn comes.
    pub(super) fn check(&self, shape: &Shape, arguments: &Given) -> Result<(), Error> {
        let (name, most) = (self.kernel.name(), self.kernel.program().device().info().max_group_size);
        if shape.items() > u64::from(most) {
            let text = format!("cannot launch `{name}` with groups of {:?} items: the device has at most {most}", shape.size);
            return fail(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, text);
        }
        let declared = self.kernel.info().shared_bytes;
        if self.is_simulated() && u64::from(declared) + u64::from(shape.shared) > GROUP_MEMORY_BYTES as u64 {
            let text = format!(
                "cannot launch `{name}` with {} bytes of dynamic shared memory: its image declares {declared}, and a group has at most {GROUP_MEMORY_BYTES}",
                shape.shared
            );
            return fail(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, text);
        }
        if shape.cooperative && shape.group_count() > u64::from(self.max_cooperative_groups(shape)?) {
            let text = format!(
                "{} groups of `{name}` cannot be resident together: olGetKernelMaxCooperativeGroupCount tells how many can",
                shape.group_count()
            );
            return fail(ol_errc_t::OL_ERRC_OUT_OF_RESOURCES, text);
        }
        let Some(sizes) = self.kernel.params() else { return Ok(()) };
        if sizes.len() != arguments.len() {
            let text = format!("`{name}` has {} arguments, and NumArgs is {}", sizes.len(), arguments.len());
            return fail(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, text);
        }
        for (index, (&size, given)) in sizes.iter().zip(arguments.sizes()).enumerate() {
            if size as usize != given {
                let text = format!("argument {index} of `{name}` has {size} bytes, and ArgSizes[{index}] is {given}");
                return fail(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, text);
            }
        }
        Ok(())
    }

    /// Runs the kernel, and waits for it.
    ///
    /// # Safety
    /// As [`offload::Queue::launch`].
    pub(super) unsafe fn run(&self, queue: &offload::Queue, shape: &Shape, arguments: &Arguments) -> Result<(), Error> {
        let args = arguments.values().fold(Args::new(), Args::bytes);
        let launch = Launch { groups: shape.groups, group_size: shape.size, dynamic_shared: shape.shared };
        let _awake = self.calls.as_ref().map(|calls| calls.awake());
        // SAFETY: the caller's.
        unsafe { queue.launch(&self.kernel, launch, args) }.and_then(|()| queue.synchronize()).map_err(of_device)
    }

    fn is_simulated(&self) -> bool {
        self.kernel.program().device().info().kind == DeviceKind::Sim
    }

    /// A queue of its device.
    pub(super) fn queue(&self) -> Result<offload::Queue, Error> {
        self.kernel.program().device().queue().map_err(of_device)
    }
}

impl Kernel for GridKernel {
    fn optimal_group_size(&self, _shared_per_item: usize) -> Result<usize, Error> {
        if !self.is_simulated() {
            return fail(ol_errc_t::OL_ERRC_UNSUPPORTED, "AMD's runtime does not tell how many groups of a kernel fit");
        }
        // Waves run one beside the other on their own threads, whatever group they are of: the largest group has the
        // least overhead.
        Ok(self.kernel.program().device().info().max_group_size as usize)
    }

    fn max_cooperative_groups(&self, shape: &Shape) -> Result<u32, Error> {
        let info = self.kernel.program().device().info();
        if !self.is_simulated() {
            return fail(ol_errc_t::OL_ERRC_UNSUPPORTED, format!("{} has no cooperative launches here", info.name));
        }
        let (waves_per_sm, waves) = (info.resident_waves / info.sms.max(1), shape.items().div_ceil(u64::from(info.wave_size)));
        // All waves of a group are on one SM.
        Ok(info.sms * (u64::from(waves_per_sm) / waves.max(1)) as u32)
    }

    fn host_calls(&self) -> Option<&Arc<Calls>> {
        self.calls.as_ref()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
