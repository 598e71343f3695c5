//! What a window needs of Vulkan 1.1 and of `VK_KHR_external_memory_fd`, as `vulkan_core.h` says it, and a lookup of
//! the functions by which a missing one is an error.
//!
//! These are a dozen functions and as many structures. All of Vulkan (the crate `ash`) takes 10 s of processor time to
//! compile, in the first build of everybody who depends on this crate; a test compares each layout and constant with
//! it.

use std::ffi::{CStr, c_char, c_void};
use std::fmt;
use std::ptr::null;

/// A handle of an instance, a physical device or a device: a pointer that is never looked behind.
pub(super) type Handle = *mut c_void;
/// `VkDeviceMemory`: 64 bits, whatever a pointer has.
pub(super) type DeviceMemory = u64;

/// `VkResult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Status(pub(super) i32);

impl Status {
    pub(super) const SUCCESS: Status = Status(0);

    /// `Err` unless it says success.
    pub(super) fn ok(self) -> Result<(), Status> {
        if self == Status::SUCCESS { Ok(()) } else { Err(self) }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.0 {
            -1 => "VK_ERROR_OUT_OF_HOST_MEMORY",
            -2 => "VK_ERROR_OUT_OF_DEVICE_MEMORY",
            -3 => "VK_ERROR_INITIALIZATION_FAILED",
            -4 => "VK_ERROR_DEVICE_LOST",
            -5 => "VK_ERROR_MEMORY_MAP_FAILED",
            -7 => "VK_ERROR_EXTENSION_NOT_PRESENT",
            -9 => "VK_ERROR_INCOMPATIBLE_DRIVER",
            -10 => "VK_ERROR_TOO_MANY_OBJECTS",
            code => return write!(f, "VkResult {code}"),
        };
        f.write_str(name)
    }
}

/// `VK_API_VERSION_1_1`.
pub(super) const API_VERSION_1_1: u32 = (1 << 22) | (1 << 12);
/// `VK_WHOLE_SIZE`.
pub(super) const WHOLE_SIZE: u64 = u64::MAX;
/// `VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT`.
pub(super) const OPAQUE_FD: u32 = 1;
/// `VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME`.
pub(super) const EXTERNAL_MEMORY_FD: &CStr = c"VK_KHR_external_memory_fd";

/// Bits of `VkMemoryPropertyFlags`.
pub(super) mod property {
    pub(in super::super) const DEVICE_LOCAL: u32 = 1;
    pub(in super::super) const HOST_VISIBLE: u32 = 2;
    pub(in super::super) const HOST_COHERENT: u32 = 4;
    pub(in super::super) const HOST_CACHED: u32 = 8;
}

/// What every structure begins with: which one it is (`VkStructureType`), and the next one that belongs to it.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Head {
    kind: i32,
    next: *const c_void,
}

impl Head {
    /// The same, of a structure with one behind it, which Vulkan may write.
    pub(super) fn before<T>(self, next: &mut T) -> Head {
        Head { next: std::ptr::from_mut(next).cast_const().cast(), ..self }
    }
}

/// Structures, each with the value of `VkStructureType` that it begins with.
macro_rules! structures {
    ($($(#[$doc:meta])* $name:ident = $kind:literal { $($field:ident: $ty:ty),* $(,)? })*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            pub(super) struct $name {
                pub(super) head: Head,
                $(pub(super) $field: $ty,)*
            }

            impl $name {
                /// What this structure begins with.
                pub(super) const HEAD: Head = Head { kind: $kind, next: null() };
            }
        )*
    };
}

structures! {
    /// `VkApplicationInfo`.
    ApplicationInfo = 0 {
        name: *const c_char,
        version: u32,
        engine: *const c_char,
        engine_version: u32,
        api_version: u32,
    }
    /// `VkInstanceCreateInfo`.
    InstanceCreateInfo = 1 {
        flags: u32,
        application: *const ApplicationInfo,
        layers: u32,
        layer_names: *const *const c_char,
        extensions: u32,
        extension_names: *const *const c_char,
    }
    /// `VkDeviceQueueCreateInfo`.
    DeviceQueueCreateInfo = 2 {
        flags: u32,
        family: u32,
        count: u32,
        priorities: *const f32,
    }
    /// `VkDeviceCreateInfo`.
    DeviceCreateInfo = 3 {
        flags: u32,
        queue_infos: u32,
        queues: *const DeviceQueueCreateInfo,
        layers: u32,
        layer_names: *const *const c_char,
        extensions: u32,
        extension_names: *const *const c_char,
        features: *const c_void,
    }
    /// `VkMemoryAllocateInfo`.
    MemoryAllocateInfo = 5 {
        size: u64,
        memory_type: u32,
    }
    /// `VkExportMemoryAllocateInfo`.
    ExportMemoryAllocateInfo = 1_000_072_002 {
        handle_types: u32,
    }
    /// `VkMemoryGetFdInfoKHR`.
    MemoryGetFdInfo = 1_000_074_002 {
        memory: DeviceMemory,
        handle_type: u32,
    }
    /// `VkPhysicalDeviceProperties2`.
    PhysicalDeviceProperties2 = 1_000_059_001 {
        properties: PhysicalDeviceProperties,
    }
    /// `VkPhysicalDeviceIDProperties`.
    PhysicalDeviceIdProperties = 1_000_071_004 {
        device: [u8; 16],
        driver: [u8; 16],
        luid: [u8; 8],
        node_mask: u32,
        luid_is_valid: u32,
    }
}

/// `VkPhysicalDeviceProperties`, of which nothing is read.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub(super) struct PhysicalDeviceProperties(pub(super) [u8; 824]);

/// `VkMemoryType`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(super) struct MemoryType {
    pub(super) properties: u32,
    pub(super) heap: u32,
}

/// `VkMemoryHeap`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(super) struct MemoryHeap {
    size: u64,
    flags: u32,
}

/// `VkPhysicalDeviceMemoryProperties`.
#[derive(Default)]
#[repr(C)]
pub(super) struct PhysicalDeviceMemoryProperties {
    pub(super) types: u32,
    pub(super) memory_types: [MemoryType; 32],
    heaps: u32,
    memory_heaps: [MemoryHeap; 16],
}

/// `PFN_vkVoidFunction`: some function.
pub(super) type Function = unsafe extern "system" fn();
/// `PFN_vkGetInstanceProcAddr` and `PFN_vkGetDeviceProcAddr`.
pub(super) type Lookup = unsafe extern "system" fn(Handle, *const c_char) -> Option<Function>;

/// How a driver or loader calls what a library lacks.
pub(super) fn lacks(name: &CStr) -> String {
    format!("it lacks `{}`", name.to_string_lossy())
}

/// Tables of functions that one lookup function finds.
macro_rules! tables {
    ($($(#[$doc:meta])* $table:ident { $($name:ident = $symbol:literal: $ty:ty;)* })*) => {
        $(
            $(#[$doc])*
            pub(super) struct $table {
                $(pub(super) $name: $ty,)*
            }

            impl $table {
                /// Looks all of them up.
                ///
                /// # Errors
                /// The first that is missing.
                ///
                /// # Safety
                /// `lookup` is Vulkan's, and `of` what it looks up functions of: a live instance or device, or null for
                /// those that make an instance. The library stays loaded.
                pub(super) unsafe fn new(lookup: Lookup, of: Handle) -> Result<$table, String> {
                    $(
                        // SAFETY: the caller's duty, and a C string.
                        let found = unsafe { lookup(of, $symbol.as_ptr()) }.ok_or_else(|| lacks($symbol))?;
                        // SAFETY: the type is vulkan_core.h's for this name.
                        let $name = unsafe { std::mem::transmute::<Function, $ty>(found) };
                    )*
                    Ok($table { $($name),* })
                }
            }
        )*
    };
}

tables! {
    /// What is called of no instance.
    EntryFunctions {
        create_instance = c"vkCreateInstance":
            unsafe extern "system" fn(*const InstanceCreateInfo, *const c_void, *mut Handle) -> Status;
    }
    /// What is called of an instance.
    InstanceFunctions {
        destroy = c"vkDestroyInstance": unsafe extern "system" fn(Handle, *const c_void);
        enumerate = c"vkEnumeratePhysicalDevices": unsafe extern "system" fn(Handle, *mut u32, *mut Handle) -> Status;
        properties = c"vkGetPhysicalDeviceProperties2": unsafe extern "system" fn(Handle, *mut PhysicalDeviceProperties2);
        memory_properties = c"vkGetPhysicalDeviceMemoryProperties":
            unsafe extern "system" fn(Handle, *mut PhysicalDeviceMemoryProperties);
        create_device = c"vkCreateDevice":
            unsafe extern "system" fn(Handle, *const DeviceCreateInfo, *const c_void, *mut Handle) -> Status;
        lookup = c"vkGetDeviceProcAddr": Lookup;
    }
    /// What is called of a device.
    DeviceFunctions {
        destroy = c"vkDestroyDevice": unsafe extern "system" fn(Handle, *const c_void);
        allocate = c"vkAllocateMemory":
            unsafe extern "system" fn(Handle, *const MemoryAllocateInfo, *const c_void, *mut DeviceMemory) -> Status;
        free = c"vkFreeMemory": unsafe extern "system" fn(Handle, DeviceMemory, *const c_void);
        map = c"vkMapMemory": unsafe extern "system" fn(Handle, DeviceMemory, u64, u64, u32, *mut *mut c_void) -> Status;
        memory_fd = c"vkGetMemoryFdKHR": unsafe extern "system" fn(Handle, *const MemoryGetFdInfo, *mut i32) -> Status;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ash::vk::{self, TaggedStructure};
    use std::mem::offset_of;

    /// Sizes, and for each pair of fields the offsets.
    macro_rules! same {
        ($own:ty, $theirs:ty; $($field:ident is $other:ident),* $(,)?) => {
            assert_eq!(size_of::<$own>(), size_of::<$theirs>(), "{}", stringify!($own));
            assert_eq!(align_of::<$own>(), align_of::<$theirs>(), "{}", stringify!($own));
            $(assert_eq!(offset_of!($own, $field), offset_of!($theirs, $other), "{}", stringify!($own.$field));)*
        };
    }

    macro_rules! same_structure {
        ($own:ty, $theirs:ty; $($field:ident is $other:ident),* $(,)?) => {
            same!($own, $theirs; head is s_type, $($field is $other),*);
            assert_eq!(offset_of!($own, head.next), offset_of!($theirs, p_next), "{}", stringify!($own));
            assert_eq!(<$own>::HEAD.kind, <$theirs as TaggedStructure>::STRUCTURE_TYPE.as_raw(), "{}", stringify!($own));
        };
    }

    #[test]
    fn structures_are_those_of_vulkan() {
        same_structure!(ApplicationInfo, vk::ApplicationInfo<'_>; name is p_application_name, version is application_version,
            engine is p_engine_name, engine_version is engine_version, api_version is api_version);
        same_structure!(InstanceCreateInfo, vk::InstanceCreateInfo<'_>; flags is flags, application is p_application_info,
            layers is enabled_layer_count, layer_names is pp_enabled_layer_names, extensions is enabled_extension_count,
            extension_names is pp_enabled_extension_names);
        same_structure!(DeviceQueueCreateInfo, vk::DeviceQueueCreateInfo<'_>; flags is flags, family is queue_family_index,
            count is queue_count, priorities is p_queue_priorities);
        #[expect(deprecated, reason = "the fields for layers are part of the structure")]
        {
            same_structure!(DeviceCreateInfo, vk::DeviceCreateInfo<'_>; flags is flags, queue_infos is queue_create_info_count,
                queues is p_queue_create_infos, layers is enabled_layer_count, layer_names is pp_enabled_layer_names,
                extensions is enabled_extension_count, extension_names is pp_enabled_extension_names,
                features is p_enabled_features);
        }
        same_structure!(MemoryAllocateInfo, vk::MemoryAllocateInfo<'_>; size is allocation_size,
            memory_type is memory_type_index);
        same_structure!(ExportMemoryAllocateInfo, vk::ExportMemoryAllocateInfo<'_>; handle_types is handle_types);
        same_structure!(MemoryGetFdInfo, vk::MemoryGetFdInfoKHR<'_>; memory is memory, handle_type is handle_type);
        same_structure!(PhysicalDeviceProperties2, vk::PhysicalDeviceProperties2<'_>; properties is properties);
        same_structure!(PhysicalDeviceIdProperties, vk::PhysicalDeviceIDProperties<'_>; device is device_uuid,
            driver is driver_uuid, luid is device_luid, node_mask is device_node_mask, luid_is_valid is device_luid_valid);
        same!(PhysicalDeviceProperties, vk::PhysicalDeviceProperties;);
        same!(MemoryType, vk::MemoryType; properties is property_flags, heap is heap_index);
        same!(MemoryHeap, vk::MemoryHeap; size is size, flags is flags);
        same!(PhysicalDeviceMemoryProperties, vk::PhysicalDeviceMemoryProperties; types is memory_type_count,
            memory_types is memory_types, heaps is memory_heap_count, memory_heaps is memory_heaps);
    }

    #[test]
    fn constants_are_those_of_vulkan() {
        use vk::MemoryPropertyFlags as Flags;
        assert_eq!(API_VERSION_1_1, vk::API_VERSION_1_1);
        assert_eq!(WHOLE_SIZE, vk::WHOLE_SIZE);
        assert_eq!(OPAQUE_FD, vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD.as_raw());
        assert_eq!(EXTERNAL_MEMORY_FD, vk::KHR_EXTERNAL_MEMORY_FD_NAME);
        assert_eq!(property::DEVICE_LOCAL, Flags::DEVICE_LOCAL.as_raw());
        assert_eq!(property::HOST_VISIBLE, Flags::HOST_VISIBLE.as_raw());
        assert_eq!(property::HOST_COHERENT, Flags::HOST_COHERENT.as_raw());
        assert_eq!(property::HOST_CACHED, Flags::HOST_CACHED.as_raw());
        for code in -10..=0 {
            let name = Status(code).to_string();
            let named = format!("VK_{:?}", vk::Result::from_raw(code));
            assert!(name == named || name == format!("VkResult {code}"), "{name} is {named}");
        }
        assert_eq!(Status(-1_000_072_003).to_string(), "VkResult -1000072003");
    }
}
