//! GPU memory from Vulkan that the host has mapped, exported as a file descriptor for CUDA to import.
//!
//! Vulkan offers what CUDA does not: device memory that the processor can store into, across the PCIe BAR, with no
//! kernel module of its own. No queue is used and nothing is drawn. This module first enters the driver's own library,
//! by the interface that Vulkan's loader has to drivers, because that library is there wherever the driver is. The
//! loader is a package that may be missing, or may not find the driver's manifest.

mod sys;

use std::ffi::c_void;
use std::mem::transmute;
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr::{NonNull, null, null_mut};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use libloading::Library;

use crate::library::function;
use sys::*;

/// What NVIDIA's driver brings for EGL; it is its Vulkan driver too. (`libGLX_nvidia.so.0` wants a display.)
const DRIVER: &str = "libEGL_nvidia.so.0";
/// Vulkan's loader.
const LOADER: &str = "libvulkan.so.1";
/// What helps where neither is usable.
const REMEDY: &str =
    "install the NVIDIA driver's graphics libraries (in a container: NVIDIA_DRIVER_CAPABILITIES=all, or with `graphics` in it)";
/// The version of the interface between loader and drivers that is spoken: the first with instances of Vulkan 1.1.
const INTERFACE: u32 = 5;
/// Sizes are rounded up to this, the GPU's large page.
const GRANULE: usize = 2 << 20;

/// Memory of one GPU, mapped into this process, and freed when dropped.
pub(crate) struct Exported {
    host: NonNull<u8>,
    bytes: usize,
    /// Until the importer takes it.
    handle: Option<OwnedFd>,
    memory: DeviceMemory,
    gpu: Arc<Gpu>,
}

// SAFETY: an address range and handles, which Vulkan lets every thread use; the one that needs to be guarded, `memory`,
// is used in `drop` only.
unsafe impl Send for Exported {}
// SAFETY: as above; no method writes through the pointer.
unsafe impl Sync for Exported {}

impl Exported {
    /// At least `bytes` of the GPU of this UUID.
    pub(crate) fn new(uuid: [u8; 16], bytes: usize) -> Result<Exported, String> {
        let gpu = Gpu::of(uuid)?;
        let bytes = bytes.checked_next_multiple_of(GRANULE).ok_or("more than the address space")?;
        let mut refused = String::new();
        for &memory_type in &gpu.memory_types {
            match Exported::of_type(&gpu, memory_type, bytes) {
                Ok(exported) => return Ok(exported),
                Err(reason) => refused = reason,
            }
        }
        Err(refused)
    }

    fn of_type(gpu: &Arc<Gpu>, memory_type: u32, bytes: usize) -> Result<Exported, String> {
        let mut export = ExportMemoryAllocateInfo { head: ExportMemoryAllocateInfo::HEAD, handle_types: OPAQUE_FD };
        let wanted = MemoryAllocateInfo { head: MemoryAllocateInfo::HEAD.before(&mut export), size: bytes as u64, memory_type };
        let mut memory = 0;
        // SAFETY: a live device, and a memory type of it.
        unsafe { (gpu.functions.allocate)(gpu.device, &wanted, null(), &mut memory) }.ok().map_err(|code| {
            format!("vkAllocateMemory of {bytes} bytes that the host sees: {code}; free GPU memory, or enable Resizable BAR")
        })?;
        // From here on it frees itself.
        let mut exported = Exported { host: NonNull::dangling(), bytes, handle: None, memory, gpu: gpu.clone() };
        let mut host = null_mut();
        // SAFETY: the memory is host visible, not mapped yet, and nobody else knows of it.
        unsafe { (gpu.functions.map)(gpu.device, memory, 0, WHOLE_SIZE, 0, &mut host) }
            .ok()
            .map_err(|code| format!("vkMapMemory: {code}"))?;
        exported.host = NonNull::new(host.cast()).ok_or("vkMapMemory gave no address")?;
        let wanted = MemoryGetFdInfo { head: MemoryGetFdInfo::HEAD, memory, handle_type: OPAQUE_FD };
        let mut handle = -1;
        // SAFETY: memory that was allocated to be exported like this.
        unsafe { (gpu.functions.memory_fd)(gpu.device, &wanted, &mut handle) }.ok().map_err(|code| format!("vkGetMemoryFdKHR: {code}"))?;
        if handle < 0 {
            return Err("vkGetMemoryFdKHR gave no descriptor".into());
        }
        // SAFETY: a new descriptor, which is ours.
        exported.handle = Some(unsafe { OwnedFd::from_raw_fd(handle) });
        Ok(exported)
    }

    /// Where the host has it mapped.
    pub(crate) fn host(&self) -> NonNull<u8> {
        self.host
    }

    /// The size that was allocated, which an importer has to name.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// What CUDA imports; `None` the second time.
    pub(crate) fn take_handle(&mut self) -> Option<OwnedFd> {
        self.handle.take()
    }
}

impl Drop for Exported {
    fn drop(&mut self) {
        // SAFETY: allocated in `of_type` and freed this once, which unmaps it; whoever holds this was the last to know
        // the address.
        unsafe { (self.gpu.functions.free)(self.gpu.device, self.memory, null()) };
    }
}

/// A Vulkan device, opened for its memory.
struct Gpu {
    uuid: [u8; 16],
    /// Those that are on the device, that the host sees, and that need no flushes and no cache.
    memory_types: Vec<u32>,
    functions: DeviceFunctions,
    device: Handle,
    /// After the device.
    _instance: Instance,
}

// SAFETY: handles, which Vulkan lets every thread use, and functions. A device and an instance need to be guarded only
// when they are destroyed, which happens once, in `drop`.
unsafe impl Send for Gpu {}
// SAFETY: as above.
unsafe impl Sync for Gpu {}

/// Destroys the instance when dropped.
struct Instance {
    handle: Handle,
    functions: InstanceFunctions,
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: made in `Instance::new`; what was made from it is gone.
        unsafe { (self.functions.destroy)(self.handle, null()) };
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: made in `Gpu::open`; the memory allocated from it holds a reference to this, so there is none left.
        unsafe { (self.functions.destroy)(self.device, null()) };
    }
}

impl Instance {
    fn new(lookup: Lookup) -> Result<Instance, String> {
        // SAFETY: the lookup function of a library which is never closed; an instance is made of none.
        let entry = unsafe { EntryFunctions::new(lookup, null_mut()) }?;
        let application = ApplicationInfo {
            head: ApplicationInfo::HEAD,
            name: c"hostcall".as_ptr(),
            version: 0,
            engine: null(),
            engine_version: 0,
            api_version: API_VERSION_1_1,
        };
        let wanted = InstanceCreateInfo {
            head: InstanceCreateInfo::HEAD,
            flags: 0,
            application: &application,
            layers: 0,
            layer_names: null(),
            extensions: 0,
            extension_names: null(),
        };
        let mut handle = null_mut();
        // SAFETY: a valid request, without layers or extensions.
        unsafe { (entry.create_instance)(&wanted, null(), &mut handle) }.ok().map_err(|code| format!("vkCreateInstance: {code}"))?;
        // SAFETY: as above, and the instance lives. (One that lacks functions cannot be destroyed either.)
        let functions = unsafe { InstanceFunctions::new(lookup, handle) }?;
        Ok(Instance { handle, functions })
    }

    fn physical_devices(&self) -> Result<Vec<Handle>, String> {
        /// `VkResult`: more have come since they were counted.
        const INCOMPLETE: Status = Status(5);
        let failed = |code| format!("vkEnumeratePhysicalDevices: {code}");
        loop {
            let mut count = 0;
            // SAFETY: a live instance, which says how many there are.
            unsafe { (self.functions.enumerate)(self.handle, &mut count, null_mut()) }.ok().map_err(failed)?;
            let mut all = vec![null_mut(); count as usize];
            // SAFETY: as above, and room for so many.
            match unsafe { (self.functions.enumerate)(self.handle, &mut count, all.as_mut_ptr()) } {
                INCOMPLETE => {}
                status => {
                    status.ok().map_err(failed)?;
                    all.truncate(count as usize);
                    return Ok(all);
                }
            }
        }
    }

    fn uuid_of(&self, physical: Handle) -> [u8; 16] {
        let mut id = PhysicalDeviceIdProperties {
            head: PhysicalDeviceIdProperties::HEAD,
            device: [0; 16],
            driver: [0; 16],
            luid: [0; 8],
            node_mask: 0,
            luid_is_valid: 0,
        };
        let head = PhysicalDeviceProperties2::HEAD.before(&mut id);
        let mut properties = PhysicalDeviceProperties2 { head, properties: PhysicalDeviceProperties([0; 824]) };
        // SAFETY: a device of this instance; both structures are of Vulkan 1.1, which the instance is.
        unsafe { (self.functions.properties)(physical, &mut properties) };
        id.device
    }

    /// The memory types that a window can be made of.
    fn memory_types(&self, physical: Handle) -> Vec<u32> {
        let mut memory = PhysicalDeviceMemoryProperties::default();
        // SAFETY: a device of this instance.
        unsafe { (self.functions.memory_properties)(physical, &mut memory) };
        suitable(memory.memory_types.get(..memory.types as usize).unwrap_or(&memory.memory_types))
    }
}

impl Gpu {
    /// The GPU of this UUID, opened unless it is open.
    fn of(uuid: [u8; 16]) -> Result<Arc<Gpu>, String> {
        static OPEN: Mutex<Vec<Weak<Gpu>>> = Mutex::new(Vec::new());
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|gpu| gpu.strong_count() > 0);
        if let Some(gpu) = open.iter().filter_map(Weak::upgrade).find(|gpu| gpu.uuid == uuid) {
            return Ok(gpu);
        }
        let mut reasons = Vec::new();
        for (name, entry) in [(DRIVER, driver as fn() -> Result<Lookup, String>), (LOADER, loader)] {
            match entry().and_then(|entry| Gpu::open(entry, uuid)) {
                Ok(gpu) => {
                    let gpu = Arc::new(gpu);
                    open.push(Arc::downgrade(&gpu));
                    return Ok(gpu);
                }
                Err(reason) => reasons.push(format!("{name}: {reason}")),
            }
        }
        Err(format!("{}; {REMEDY}", reasons.join("; ")))
    }

    fn open(lookup: Lookup, uuid: [u8; 16]) -> Result<Gpu, String> {
        let instance = Instance::new(lookup)?;
        let all = instance.physical_devices()?;
        let found = all.len();
        let physical = all.into_iter().find(|&physical| instance.uuid_of(physical) == uuid);
        let physical = physical.ok_or_else(|| format!("none of the {found} Vulkan devices is this GPU"))?;
        let memory_types = instance.memory_types(physical);
        if memory_types.is_empty() {
            return Err("the GPU has no memory that the host can store into; enable Resizable BAR in the firmware".into());
        }

        // A device has a queue, whether one wants it or not.
        let priorities = [1.0];
        let head = DeviceQueueCreateInfo::HEAD;
        let queues = [DeviceQueueCreateInfo { head, flags: 0, family: 0, count: 1, priorities: priorities.as_ptr() }];
        let extensions = [EXTERNAL_MEMORY_FD.as_ptr()];
        let wanted = DeviceCreateInfo {
            head: DeviceCreateInfo::HEAD,
            flags: 0,
            queue_infos: 1,
            queues: queues.as_ptr(),
            layers: 0,
            layer_names: null(),
            extensions: 1,
            extension_names: extensions.as_ptr(),
            features: null(),
        };
        let mut device = null_mut();
        // SAFETY: a device of this instance, and a valid request: every device has a queue family 0.
        unsafe { (instance.functions.create_device)(physical, &wanted, null(), &mut device) }
            .ok()
            .map_err(|code| format!("vkCreateDevice: {code}"))?;
        // SAFETY: Vulkan's lookup function, and the device lives.
        match unsafe { DeviceFunctions::new(instance.functions.lookup, device) } {
            Ok(functions) => Ok(Gpu { uuid, memory_types, functions, device, _instance: instance }),
            Err(lacks) => {
                // The device may lack the function that destroys it, and while it is there its instance has to be.
                std::mem::forget(instance);
                Err(lacks)
            }
        }
    }
}

/// The memory types of a device that a window can be made of, in the driver's order.
fn suitable(types: &[MemoryType]) -> Vec<u32> {
    let wanted = property::DEVICE_LOCAL | property::HOST_VISIBLE | property::HOST_COHERENT;
    let fits = |kind: &MemoryType| kind.properties & (wanted | property::HOST_CACHED) == wanted;
    (0..).zip(types).filter(|(_, kind)| fits(kind)).map(|(index, _)| index).collect()
}

/// The driver's own lookup function, after agreeing on how a loader talks to it.
fn driver() -> Result<Lookup, String> {
    let library = open(DRIVER)?;
    let is_none = || "it is no Vulkan driver";
    let negotiate = function(library, c"vk_icdNegotiateLoaderICDInterfaceVersion").ok_or_else(is_none)?;
    let lookup = function(library, c"vk_icdGetInstanceProcAddr").ok_or_else(is_none)?;
    // SAFETY: the types of "Loader and Driver Interface" (vk_icd.h) for these names.
    let (negotiate, lookup) = unsafe {
        (
            transmute::<NonNull<c_void>, unsafe extern "system" fn(*mut u32) -> Status>(negotiate),
            transmute::<NonNull<c_void>, Lookup>(lookup),
        )
    };
    let mut version = INTERFACE;
    // SAFETY: a version that is read, and written.
    let agreed = unsafe { negotiate(&mut version) };
    if agreed != Status::SUCCESS || version > INTERFACE {
        return Err(format!("it speaks no version of the driver interface up to {INTERFACE}: {agreed}"));
    }
    Ok(lookup)
}

/// The loader's lookup function.
fn loader() -> Result<Lookup, String> {
    let lookup = function(open(LOADER)?, c"vkGetInstanceProcAddr").ok_or("it is no Vulkan loader")?;
    // SAFETY: the type of vulkan.h for this name.
    Ok(unsafe { transmute::<NonNull<c_void>, Lookup>(lookup) })
}

/// Opens a library for good: graphics drivers leave threads and thread-local destructors behind that do not survive
/// being unloaded.
fn open(name: &str) -> Result<&'static Library, String> {
    // SAFETY: the vendor's library, whose initialisers expect to be run by `dlopen`.
    let library = unsafe { Library::new(name) };
    library.map(|library| &*Box::leak(Box::new(library))).map_err(|error| std::error::Error::source(&error).unwrap_or(&error).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_on_the_device_that_the_host_sees_uncached_is_chosen_in_the_drivers_order() {
        use property::*;
        /// `VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD`.
        const DEVICE_COHERENT: u32 = 0x40;
        let window = DEVICE_LOCAL | HOST_VISIBLE | HOST_COHERENT;
        let types = [
            0,
            DEVICE_LOCAL,
            HOST_VISIBLE | HOST_COHERENT,
            window | HOST_CACHED,
            window,
            DEVICE_LOCAL | HOST_VISIBLE,
            window | DEVICE_COHERENT,
        ];
        let types = types.map(|properties| MemoryType { properties, heap: 0 });
        assert_eq!(suitable(&types), [4, 6]);
    }

    #[test]
    fn without_the_gpu_the_reason_names_both_libraries_and_the_remedy() {
        let Err(reason) = Exported::new([0x42; 16], 64) else { panic!("there is no GPU of this UUID") };
        assert!(reason.contains(DRIVER) && reason.contains(LOADER) && reason.ends_with(REMEDY), "{reason}");
    }
}
