//! GPU memory from Vulkan that the host has mapped, exported as a file descriptor for CUDA to import.
//!
//! Vulkan offers what CUDA does not: device memory that the processor can store into, across the PCIe BAR, with no
//! kernel module of its own. No queue is used and nothing is drawn. This module first enters the driver's own library,
//! by the interface that Vulkan's loader has to drivers, because that library is there wherever the driver is. The
//! loader is a package that may be missing, or may not find the driver's manifest.

use std::ffi::CStr;
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use ash::vk;
use libloading::Library;

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
    memory: vk::DeviceMemory,
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
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD);
        let wanted = vk::MemoryAllocateInfo::default().allocation_size(bytes as u64).memory_type_index(memory_type).push_next(&mut export);
        // SAFETY: a live device, and a memory type of it.
        let memory = unsafe { gpu.device.allocate_memory(&wanted, None) }.map_err(|code| {
            format!("vkAllocateMemory of {bytes} bytes that the host sees: {code}; free GPU memory, or enable Resizable BAR")
        })?;
        // From here on it frees itself.
        let mut exported = Exported { host: NonNull::dangling(), bytes, handle: None, memory, gpu: gpu.clone() };
        // SAFETY: the memory is host visible, not mapped yet, and nobody else knows of it.
        let host = unsafe { gpu.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()) }
            .map_err(|code| format!("vkMapMemory: {code}"))?;
        exported.host = NonNull::new(host.cast()).ok_or("vkMapMemory gave no address")?;
        let wanted = vk::MemoryGetFdInfoKHR::default().memory(memory).handle_type(vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD);
        // SAFETY: memory that was allocated to be exported like this.
        let handle = unsafe { gpu.export.get_memory_fd(&wanted) }.map_err(|code| format!("vkGetMemoryFdKHR: {code}"))?;
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
        unsafe { self.gpu.device.free_memory(self.memory, None) };
    }
}

/// A Vulkan device, opened for its memory.
struct Gpu {
    uuid: [u8; 16],
    /// Those that are on the device, that the host sees, and that need no flushes and no cache.
    memory_types: Vec<u32>,
    export: ash::khr::external_memory_fd::Device,
    device: ash::Device,
    /// After the device.
    _instance: Instance,
}

/// Destroys the instance when dropped.
struct Instance(ash::Instance);

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: made in `Gpu::open`; what was made from it is gone.
        unsafe { self.0.destroy_instance(None) };
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: made in `Gpu::open`; the memory allocated from it holds a reference to this, so there is none left.
        unsafe { self.device.destroy_device(None) };
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
        for (name, entry) in [(DRIVER, driver as fn() -> Result<vk::PFN_vkGetInstanceProcAddr, String>), (LOADER, loader)] {
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

    fn open(entry: vk::PFN_vkGetInstanceProcAddr, uuid: [u8; 16]) -> Result<Gpu, String> {
        // ash puts a function that panics in the place of one that is missing, so those that are called are looked for
        // beforehand.
        has_all(entry, vk::Instance::null(), &[c"vkCreateInstance"])?;
        // SAFETY: the function is that of a library which is never closed.
        let entry_point = unsafe { ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr: entry }) };
        let application = vk::ApplicationInfo::default().application_name(c"hostcall").api_version(vk::API_VERSION_1_1);
        let wanted = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: a valid request, without layers or extensions.
        let instance = unsafe { entry_point.create_instance(&wanted, None) }.map_err(|code| format!("vkCreateInstance: {code}"))?;
        let instance = Instance(instance);
        has_all(entry, instance.0.handle(), INSTANCE_FUNCTIONS)?;

        // SAFETY: a live instance.
        let all = unsafe { instance.0.enumerate_physical_devices() }.map_err(|code| format!("vkEnumeratePhysicalDevices: {code}"))?;
        let found = all.len();
        let physical = all.into_iter().find(|&physical| uuid_of(&instance.0, physical) == uuid);
        let physical = physical.ok_or_else(|| format!("none of the {found} Vulkan devices is this GPU"))?;
        // SAFETY: a device of this instance.
        let memory = unsafe { instance.0.get_physical_device_memory_properties(physical) };
        let memory_types = suitable(memory.memory_types_as_slice());
        if memory_types.is_empty() {
            return Err("the GPU has no memory that the host can store into; enable Resizable BAR in the firmware".into());
        }

        // A device has a queue, whether one wants it or not.
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
        let extensions = [vk::KHR_EXTERNAL_MEMORY_FD_NAME.as_ptr()];
        let wanted = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&extensions);
        // SAFETY: a device of this instance, and a valid request: every device has a queue family 0.
        let device = unsafe { instance.0.create_device(physical, &wanted, None) }.map_err(|code| format!("vkCreateDevice: {code}"))?;
        let export = ash::khr::external_memory_fd::Device::new(&instance.0, &device);
        Ok(Gpu { uuid, memory_types, export, device, _instance: instance })
    }
}

/// What is called of an instance. Those of a device of Vulkan 1.1 with the extension are there where `vkCreateDevice`
/// succeeded.
const INSTANCE_FUNCTIONS: &[&CStr] = &[
    c"vkDestroyInstance",
    c"vkEnumeratePhysicalDevices",
    c"vkGetPhysicalDeviceProperties2",
    c"vkGetPhysicalDeviceMemoryProperties",
    c"vkCreateDevice",
    c"vkGetDeviceProcAddr",
];

fn has_all(entry: vk::PFN_vkGetInstanceProcAddr, instance: vk::Instance, names: &[&CStr]) -> Result<(), String> {
    for name in names {
        // SAFETY: Vulkan's lookup function, a live instance or none, a C string.
        if unsafe { entry(instance, name.as_ptr()) }.is_none() {
            return Err(format!("it lacks `{}`", name.to_string_lossy()));
        }
    }
    Ok(())
}

fn uuid_of(instance: &ash::Instance, physical: vk::PhysicalDevice) -> [u8; vk::UUID_SIZE] {
    let mut id = vk::PhysicalDeviceIDProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut id);
    // SAFETY: a device of this instance; both structures are of Vulkan 1.1, which the instance is.
    unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
    id.device_uuid
}

/// The memory types of a device that a window can be made of, in the driver's order.
fn suitable(types: &[vk::MemoryType]) -> Vec<u32> {
    use vk::MemoryPropertyFlags as Flags;
    let wanted = Flags::DEVICE_LOCAL | Flags::HOST_VISIBLE | Flags::HOST_COHERENT;
    let fits = |kind: &vk::MemoryType| kind.property_flags.contains(wanted) && !kind.property_flags.contains(Flags::HOST_CACHED);
    (0..).zip(types).filter(|(_, kind)| fits(kind)).map(|(index, _)| index).collect()
}

/// The driver's own lookup function, after agreeing on how a loader talks to it.
fn driver() -> Result<vk::PFN_vkGetInstanceProcAddr, String> {
    let library = open(DRIVER)?;
    // SAFETY: the types of "Loader and Driver Interface" (vk_icd.h) for these names.
    unsafe {
        let negotiate = library
            .get::<unsafe extern "system" fn(*mut u32) -> vk::Result>(b"vk_icdNegotiateLoaderICDInterfaceVersion\0")
            .map_err(|_| "it is no Vulkan driver")?;
        let mut version = INTERFACE;
        let agreed = negotiate(&mut version);
        if agreed != vk::Result::SUCCESS || version > INTERFACE {
            return Err(format!("it speaks no version of the driver interface up to {INTERFACE}: {agreed}"));
        }
        library
            .get::<vk::PFN_vkGetInstanceProcAddr>(b"vk_icdGetInstanceProcAddr\0")
            .map(|symbol| *symbol)
            .map_err(|_| "it is no Vulkan driver".into())
    }
}

/// The loader's lookup function.
fn loader() -> Result<vk::PFN_vkGetInstanceProcAddr, String> {
    let library = open(LOADER)?;
    // SAFETY: the type of vulkan.h for this name.
    unsafe { library.get::<vk::PFN_vkGetInstanceProcAddr>(b"vkGetInstanceProcAddr\0") }
        .map(|symbol| *symbol)
        .map_err(|_| "it is no Vulkan loader".into())
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
        use vk::MemoryPropertyFlags as Flags;
        let window = Flags::DEVICE_LOCAL | Flags::HOST_VISIBLE | Flags::HOST_COHERENT;
        let types = [
            Flags::empty(),
            Flags::DEVICE_LOCAL,
            Flags::HOST_VISIBLE | Flags::HOST_COHERENT,
            window | Flags::HOST_CACHED,
            window,
            Flags::DEVICE_LOCAL | Flags::HOST_VISIBLE,
            window | Flags::DEVICE_COHERENT_AMD,
        ];
        let types = types.map(|property_flags| vk::MemoryType { property_flags, heap_index: 0 });
        assert_eq!(suitable(&types), [4, 6]);
    }

    #[test]
    fn without_the_gpu_the_reason_names_both_libraries_and_the_remedy() {
        let Err(reason) = Exported::new([0x42; 16], 64) else { panic!("there is no GPU of this UUID") };
        assert!(reason.contains(DRIVER) && reason.contains(LOADER) && reason.ends_with(REMEDY), "{reason}");
    }
}
