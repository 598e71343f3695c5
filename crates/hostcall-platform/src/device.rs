//! Platforms and devices: what there is, which one to take, and what it makes.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use hostcall_abi::Plain;
use hostcall_error::Local;
use offload_image::{BundleError, Image, ImageKind, ProgramBundle};

use crate::activity::{Activity, LaunchEvent, Subscription, Watch};
use crate::backend::{BackendDevice, Plugin};
use crate::cuda;
use crate::error::Error;
use crate::hsa;
use crate::memory::{HostMemory, Memory};
use crate::program::Program;
use crate::queue::{Event, Queue};
use crate::sim::{self, SimConfig};

/// Every plugin, the preferred ones first; the simulator, which always works, is the last.
static PLUGINS: &[&dyn Plugin] = &[&cuda::CudaPlugin, &hsa::HsaPlugin, &sim::SimPlugin];

/// Kinds of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceKind {
    /// The CPU simulator.
    Sim,
    /// NVIDIA GPUs through the CUDA driver.
    Cuda,
    /// AMD GPUs through the HSA runtime.
    Hsa,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sim => "simulator",
            Self::Cuda => "CUDA",
            Self::Hsa => "HSA",
        })
    }
}

/// A way to drive devices that this build knows.
#[derive(Clone, Copy)]
pub struct Platform(&'static dyn Plugin);

impl Platform {
    /// All that this build knows, usable here or not.
    pub fn all() -> Vec<Platform> {
        PLUGINS.iter().map(|&plugin| Platform(plugin)).collect()
    }

    /// Which one.
    pub fn kind(&self) -> DeviceKind {
        self.0.kind()
    }

    /// What it is called.
    pub fn name(&self) -> String {
        self.kind().to_string()
    }

    /// How many devices there are.
    ///
    /// # Errors
    /// [`Error::Unavailable`] with the reason.
    pub fn device_count(&self) -> Result<u32, Error> {
        self.0.device_count()
    }

    /// Opens all its devices.
    ///
    /// # Errors
    /// [`Error::Unavailable`] with the reason, or what opening one failed with.
    pub fn devices(&self) -> Result<Vec<Device>, Error> {
        (0..self.0.device_count()?).map(|ordinal| Ok(Device::from_backend(self.0.open(ordinal)?))).collect()
    }

    fn of(kind: DeviceKind) -> Result<Self, Error> {
        let known = PLUGINS.iter().find(|plugin| plugin.kind() == kind);
        known.map(|&plugin| Platform(plugin)).ok_or_else(|| Error::Unavailable {
            kind,
            reason: format!("this build has no {kind} plugin"),
            absent: true,
        })
    }
}

impl fmt::Debug for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Platform({})", self.kind())
    }
}

/// What lanes do that wait: see [`Device::help_waiting`]. Whether there was anything to do.
pub type Help = Arc<dyn Fn() -> bool + Send + Sync>;

/// Has lanes no longer call what [`Device::help_waiting`] was given, when dropped.
#[must_use = "dropping it ends the help"]
pub struct Helping {
    device: Device,
    help: Help,
}

impl Helping {
    fn begin(device: Device, help: Help) -> Self {
        device.change_helps(|helps| helps.push(help.clone()));
        Self { device, help }
    }
}

impl Drop for Helping {
    fn drop(&mut self) {
        self.device.change_helps(|helps| helps.retain(|help| !Arc::ptr_eq(help, &self.help)));
    }
}

impl fmt::Debug for Helping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Helping").field("device", &self.device).finish_non_exhaustive()
    }
}

/// What a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Which plugin drives it.
    pub kind: DeviceKind,
    /// Its number among the plugin's devices.
    pub ordinal: u32,
    /// What it calls itself.
    pub name: String,
    /// The driver and its version.
    pub driver: String,
    /// Architecture as images name it: `"sm_90"`, `"x86_64-linux"`.
    pub arch: String,
    /// Where it sits, `0000:1b:00.0`, as the system names it under `/sys/bus/pci/devices`; `None`: on no bus.
    pub pci_bus_id: Option<String>,
    /// Lanes of a wave.
    pub wave_size: u32,
    /// SMs (compute units).
    pub sms: u32,
    /// Waves that can be resident at once, on the whole device.
    pub resident_waves: u32,
    /// Bytes of device memory.
    pub memory_bytes: u64,
    /// The most threads of a workgroup.
    pub max_group_size: u32,
}

/// A device. Clones are the same device.
#[derive(Clone)]
pub struct Device(Arc<Inner>);

struct Inner {
    backend: Local<Arc<dyn BackendDevice>>,
    activity: Arc<Activity>,
    /// What lanes call that wait, of all who asked.
    helps: Mutex<Vec<Help>>,
}

impl Device {
    /// A simulated device. Each is its own, with its own memory.
    ///
    /// # Errors
    /// [`Error::Config`] for settings that cannot work; [`Error::OutOfHostMemory`] if the address range cannot be
    /// reserved.
    pub fn sim(config: SimConfig) -> Result<Device, Error> {
        Ok(Self::from_backend(sim::open(config)?))
    }

    /// A CUDA device. The first use of CUDA in a process sets the environment variable `CUDA_MODULE_LOADING=EAGER`
    /// unless it is set: see [`crate::cuda`]. A program in which C code reads the environment on other threads at that
    /// moment sets it itself beforehand.
    ///
    /// # Errors
    /// [`Error::Unavailable`] with the reason, or [`Error::NoDevice`].
    pub fn cuda(ordinal: u32) -> Result<Device, Error> {
        Ok(Self::from_backend(Platform::of(DeviceKind::Cuda)?.0.open(ordinal)?))
    }

    /// An AMD device, through the HSA runtime.
    ///
    /// # Errors
    /// [`Error::Unavailable`] with the reason, or [`Error::NoDevice`].
    pub fn hsa(ordinal: u32) -> Result<Device, Error> {
        Ok(Self::from_backend(Platform::of(DeviceKind::Hsa)?.0.open(ordinal)?))
    }

    /// The device that a string names: `sim`, `sim:lanes=64,seed=7` (see [`SimConfig`]'s `FromStr`), `cuda`, `cuda:1`,
    /// `hsa`, `hsa:1`.
    ///
    /// # Errors
    /// [`Error::Spec`], and what opening the device fails with.
    pub fn open(spec: &str) -> Result<Device, Error> {
        let bad = |reason: String| Error::Spec { spec: spec.to_owned(), reason };
        let (kind, rest) = spec.split_once(':').unwrap_or((spec, ""));
        match kind {
            "sim" => Self::sim(rest.parse().map_err(|error: Error| bad(error.to_string()))?),
            "cuda" | "hsa" => {
                let open = if kind == "cuda" { Self::cuda } else { Self::hsa };
                let number = if rest.is_empty() { "0" } else { rest };
                open(number.parse().map_err(|_| bad(format!("`{rest}` is no device number")))?)
            }
            _ => Err(bad(format!("`{kind}` is no kind of device"))),
        }
    }

    /// Opens the devices that a string names, see [`Device::list`].
    ///
    /// # Errors
    /// As [`Device::list`], and what opening a device fails with.
    pub fn open_all(spec: &str) -> Result<Vec<Device>, Error> {
        Self::list(spec)?.iter().map(|one| Self::open(one)).collect()
    }

    /// The devices that a string names, each as [`Device::open`] takes it: `all` (every GPU; on a machine that has
    /// none, the simulator), `cuda` and `hsa` (every one of the kind), `cuda:0,2`, and `sim*4` or `sim:lanes=64*4` (so
    /// many simulators, each with its own memory).
    ///
    /// # Errors
    /// [`Error::Spec`]; [`Error::Unavailable`] and [`Error::NoDevice`] for a kind of which there is none, and for `all`
    /// where there are drivers or GPUs of which none works.
    pub fn list(spec: &str) -> Result<Vec<String>, Error> {
        /// More than this machine has memory for.
        const MOST_SIMULATORS: usize = 1024;
        let bad = |reason: String| Error::Spec { spec: spec.to_owned(), reason };
        let every = |kind: DeviceKind, name: &str| {
            let count = Platform::of(kind)?.device_count()?;
            Ok((0..count).map(|ordinal| format!("{name}:{ordinal}")).collect::<Vec<_>>())
        };
        match spec {
            "all" => {
                let (mut all, mut broken) = (Vec::new(), None);
                for found in [every(DeviceKind::Cuda, "cuda"), every(DeviceKind::Hsa, "hsa")] {
                    match found {
                        Ok(found) => all.extend(found),
                        Err(Error::Unavailable { absent: true, .. }) => {}
                        Err(error) => {
                            tracing::warn!(%error, "a platform of which no device is listed");
                            broken.get_or_insert(error);
                        }
                    }
                }
                return match broken {
                    // A slow run on the simulator is not what somebody with a GPU asked for.
                    Some(error) if all.is_empty() => Err(error),
                    None if all.is_empty() => Ok(vec!["sim".to_owned()]),
                    _ => Ok(all),
                };
            }
            "cuda" | "hsa" => {
                let kind = if spec == "cuda" { DeviceKind::Cuda } else { DeviceKind::Hsa };
                let all = every(kind, spec)?;
                return if all.is_empty() { Err(Error::NoDevice { kind, ordinal: 0, count: 0 }) } else { Ok(all) };
            }
            _ => {}
        }
        if let Some((one, times)) = spec.rsplit_once(['*', '×']).filter(|(one, _)| one.starts_with("sim")) {
            let times = times.trim().parse().ok().filter(|times| (1..=MOST_SIMULATORS).contains(times));
            let times = times.ok_or_else(|| bad(format!("there can be 1 to {MOST_SIMULATORS} simulators")))?;
            return Ok(vec![one.trim().to_owned(); times]);
        }
        match spec.split_once(':') {
            Some((kind @ ("cuda" | "hsa"), numbers)) => {
                let numbers: Vec<&str> = numbers.split(',').map(str::trim).collect();
                if let Some(twice) = (1..numbers.len()).find(|&i| numbers[..i].contains(&numbers[i])) {
                    return Err(bad(format!("{kind}:{} is there twice", numbers[twice])));
                }
                Ok(numbers.into_iter().map(|number| format!("{kind}:{number}")).collect())
            }
            _ => Ok(vec![spec.to_owned()]),
        }
    }

    /// The first device of the first platform that works, and why this one: "no libcuda.so.1 found; using the
    /// simulator".
    ///
    /// # Panics
    /// Never: the simulator's defaults reserve address space only, and where even that fails there is no process to
    /// speak of.
    pub fn choose() -> (Device, String) {
        Self::first(None)
    }

    /// The first device that `bundle` has an image for, and why it is this one: [`Device::choose`], but a program that
    /// was built for the simulator alone goes to the simulator even where there is a GPU.
    ///
    /// # Panics
    /// As [`Device::choose`].
    pub fn default_for(bundle: &ProgramBundle) -> (Device, String) {
        Self::first(Some(bundle))
    }

    fn first(bundle: Option<&ProgramBundle>) -> (Device, String) {
        let mut reasons = String::new();
        for &plugin in PLUGINS {
            match plugin.device_count().and_then(|_| plugin.open(0)) {
                Ok(backend) if bundle.is_some_and(|bundle| !bundle.images.iter().any(|image| backend.fit(image).is_some())) => {
                    let note = bundle.and_then(|bundle| bundle.note.as_deref()).unwrap_or("it was not built for it");
                    reasons += &format!("{} has no image of the program ({note}); ", backend.info().name);
                }
                Ok(backend) => {
                    let why = match plugin.kind() {
                        DeviceKind::Sim => format!("{reasons}using the simulator"),
                        _ => format!("{reasons}using {}", backend.info().name),
                    };
                    return (Self::from_backend(backend), why);
                }
                Err(error) => reasons += &format!("{error}; "),
            }
        }
        panic!("no device: {reasons}")
    }

    /// A device from a plugin's own object, for example of a context that was made elsewhere.
    pub fn from_backend(backend: Arc<dyn BackendDevice>) -> Device {
        Self(Arc::new(Inner { backend: Local::new(backend), activity: Arc::default(), helps: Mutex::default() }))
    }

    /// The plugin's object.
    pub fn backend(&self) -> &Arc<dyn BackendDevice> {
        &self.0.backend
    }

    /// What it is.
    pub fn info(&self) -> &DeviceInfo {
        self.0.backend.info()
    }

    /// Whether both are the same device object.
    pub fn is_same(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A new queue.
    ///
    /// # Errors
    /// When the driver or system has none.
    pub fn queue(&self) -> Result<Queue, Error> {
        self.check_origin()?;
        Ok(Queue::from_backend(self.clone(), self.0.backend.queue()?))
    }

    /// A new event, not recorded yet.
    ///
    /// # Errors
    /// When the driver has none.
    pub fn event(&self) -> Result<Event, Error> {
        self.check_origin()?;
        Ok(Event::new(self.clone(), self.0.backend.event()?))
    }

    /// Loads a program: chooses the image that fits best and checks its SHA-256. Each load has its own globals.
    ///
    /// # Errors
    /// [`Error::NoImage`], [`Error::Image`], [`Error::Load`] (with the compiler's log).
    pub fn load(&self, bundle: &ProgramBundle) -> Result<Program, Error> {
        self.check_origin()?;
        let backend = &self.0.backend;
        let best = bundle.images.iter().filter_map(|image| Some((backend.fit(image)?, image))).max_by_key(|(fit, _)| *fit);
        let Some((_, image)) = best else {
            let mut has = bundle.images.iter().map(|i| format!("{} {}", i.kind, i.arch)).collect::<Vec<_>>().join(", ");
            if has.is_empty() {
                has += "nothing";
            }
            if let Some(note) = &bundle.note {
                has += &format!(" ({note})");
            }
            let DeviceInfo { name, arch, .. } = self.info();
            return Err(Error::NoImage { program: bundle.name.to_string(), device: name.clone(), arch: arch.clone(), has });
        };
        let image = bundle.checked(image).map_err(|error: BundleError| Error::Image { reason: error.to_string() })?;
        let program = backend.load(&bundle.name, image)?;
        Ok(Program::of_image(self.clone(), bundle.name.to_string(), program, &image.bytes))
    }

    /// Loads what a file has: a bundle, as [`Device::load`] does, or one image for this kind of device as a compiler
    /// leaves it. That is a shared library for the simulator, PTX or a cubin for CUDA, a code object for AMD's GPUs.
    /// `name` is what errors and reports call such a program; a bundle has a name.
    ///
    /// # Errors
    /// As for [`Device::load`]. [`Error::Load`] also says what an image is that this device does not take.
    pub fn load_file(&self, name: &str, bytes: &[u8]) -> Result<Program, Error> {
        if ProgramBundle::is_one(bytes) {
            let bundle = ProgramBundle::from_bytes(bytes).map_err(|error| Error::Image { reason: error.to_string() })?;
            return self.load(&bundle);
        }
        let is_elf = bytes.starts_with(b"\x7fELF");
        let info = self.info();
        let kind = match info.kind {
            DeviceKind::Sim => ImageKind::Sim,
            DeviceKind::Cuda if is_elf => ImageKind::Cubin,
            DeviceKind::Cuda => ImageKind::Ptx,
            DeviceKind::Hsa => ImageKind::AmdCodeObject,
        };
        // What it was made for stands in it: the device's loader compares.
        let image = Image::new(kind, info.arch.clone(), bytes.to_vec());
        self.load(&ProgramBundle::new(name.to_owned(), vec![image]))
    }

    /// `len` elements of device memory, not initialised.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] with the bytes asked for and available.
    pub fn alloc<T: Plain>(&self, len: usize) -> Result<Memory<T>, Error> {
        let bytes = len.checked_mul(size_of::<T>()).filter(|&b| b <= isize::MAX as usize).ok_or_else(|| Error::OutOfMemory {
            device: self.info().name.clone(),
            asked: (len as u64).saturating_mul(size_of::<T>() as u64),
            available: self.info().memory_bytes,
        })?;
        self.check_origin()?;
        Ok(Memory::new(self.clone(), self.0.backend.alloc(bytes.max(1))?, len))
    }

    /// `len` elements of pinned host memory that the device sees, zeroed.
    ///
    /// # Errors
    /// [`Error::OutOfHostMemory`].
    pub fn alloc_host<T: Plain>(&self, len: usize) -> Result<HostMemory<T>, Error> {
        self.check_origin()?;
        Ok(HostMemory::new(self.clone(), self.0.backend.alloc_host(host_bytes::<T>(len)?)?, len))
    }

    /// [`Device::alloc_host`] on huge pages (2 MiB), as far as the system gives them: for what the host reads from end
    /// to end. In the simulator and on CUDA under Linux (transparent huge pages set to `madvise` or `always`);
    /// elsewhere, and where it does not work, pages are of the usual size.
    ///
    /// # Errors
    /// As [`Device::alloc_host`].
    pub fn alloc_host_huge<T: Plain>(&self, len: usize) -> Result<HostMemory<T>, Error> {
        self.check_origin()?;
        Ok(HostMemory::new(self.clone(), self.0.backend.alloc_host_huge(host_bytes::<T>(len)?)?, len))
    }

    /// Kernels launched and not finished, counted without asking the driver. Another thread sees a kernel counted
    /// before it can run.
    pub fn in_flight(&self) -> usize {
        self.0.activity.in_flight()
    }

    /// Runs `idle` while no kernel is in flight on this device and none is launched: launches of other threads wait
    /// meanwhile. `None`, and `idle` is not run, if one is in flight. `idle` must not launch.
    pub fn while_idle<T>(&self, idle: impl FnOnce() -> T) -> Option<T> {
        self.0.activity.while_idle(idle)
    }

    /// Calls `subscriber` with `true` when [`Device::in_flight`] leaves zero (before the kernel starts) and with
    /// `false` when it reaches zero, until the subscription is dropped. It is called on launching and on driver
    /// threads, one call at a time: be short, do not call the device, do not subscribe or unsubscribe.
    pub fn subscribe(&self, subscriber: Arc<dyn Fn(bool) + Send + Sync>) -> Subscription {
        self.0.activity.subscribe(subscriber)
    }

    /// Calls `watcher` of each launch that [`Device::in_flight`] counts, before it is made, and of its end, until the
    /// watch is dropped: first of those that have not ended yet. It is called on launching and on driver threads, one
    /// call at a time: be short, do not call the device, launch or watch.
    pub fn watch_launches(&self, watcher: Arc<dyn Fn(LaunchEvent<'_>) + Send + Sync>) -> Watch {
        self.0.activity.watch(watcher)
    }

    /// Whether lanes of this device are threads of this machine, which may do something for others while they wait.
    ///
    /// Only the simulator has such lanes, if they are fibers and no seed decides their order.
    pub fn lanes_may_help(&self) -> bool {
        self.0.backend.lanes_may_help()
    }

    /// Has lanes of later launches call `help` where they wait for the host, until the result is dropped: whoever waits
    /// may as well do what it waits for. `help` says whether it did anything; then the lanes look again at once. It
    /// runs on the stack of the wave's thread, which is as large as the main thread's. Kernels do not end while it
    /// runs: it must not wait for one. Of several all are called. Launches that were made before keep what they had.
    ///
    /// `None`: lanes of this device [cannot](Self::lanes_may_help), and nobody will call it.
    pub fn help_waiting(&self, help: Help) -> Option<Helping> {
        self.lanes_may_help().then(|| Helping::begin(self.clone(), help))
    }

    /// Changes what lanes call, and tells the device. What goes is dropped by the caller, who has a clone of it.
    fn change_helps(&self, change: impl FnOnce(&mut Vec<Help>)) {
        let mut helps = self.0.helps.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut helps);
        let help: Option<Help> = match &helps[..] {
            [] => None,
            [one] => Some(one.clone()),
            several => {
                let several = several.to_vec();
                // Each of them has its turn, however much the others find.
                Some(Arc::new(move || several.iter().fold(false, |found, help| help() | found)))
            }
        };
        self.0.backend.help_waiting(help);
    }

    /// A fresh device in place of this one, which may be lost. What was made from this one stays with it.
    ///
    /// A CUDA device that a kernel's trap or illegal access took does not come back: the driver fails every further
    /// CUDA call of the process, in new contexts too, and the error says to restart the process.
    ///
    /// # Errors
    /// As when the device was opened. [`Error::Reset`] while something of a CUDA device is held that would be left with
    /// nothing behind it: host memory, a device of its raw context, a stream of `cuda::flat` (which the Offload API's
    /// queues are).
    pub fn reset(&self) -> Result<Device, Error> {
        self.check_origin()?;
        Ok(Self::from_backend(self.0.backend.reset()?))
    }

    /// Whether this is the process in which the device was opened.
    pub(crate) fn is_here(&self) -> bool {
        self.0.backend.origin().is_here()
    }

    /// # Errors
    /// [`Error::Forked`].
    pub(crate) fn check_origin(&self) -> Result<(), Error> {
        Ok(self.0.backend.origin().check("device")?)
    }

    pub(crate) fn activity(&self) -> &Arc<Activity> {
        &self.0.activity
    }
}

/// Bytes of so many elements, at least 1.
fn host_bytes<T>(len: usize) -> Result<usize, Error> {
    let bytes = len.checked_mul(size_of::<T>()).filter(|&b| b <= isize::MAX as usize).ok_or_else(|| Error::OutOfHostMemory {
        asked: (len as u64).saturating_mul(size_of::<T>() as u64),
        reason: "more than the address space".to_owned(),
    })?;
    Ok(bytes.max(1))
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("name", &self.info().name).field("in_flight", &self.in_flight()).finish()
    }
}
