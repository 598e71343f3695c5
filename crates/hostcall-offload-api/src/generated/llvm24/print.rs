//! The values of the API as text: enumerators by name, structures by member, pointers as addresses.
//!
//! Made from OffloadAPI.td (LLVM 24) by offload-tblgen --gen-rust-print; change that, not this file.

use std::ffi::c_void;
use std::fmt;

use super::sys::*;
use crate::runtime::{Print, Shown};

impl fmt::Display for ol_alloc_type_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{} (not in ol_alloc_type_t)", self.0),
        }
    }
}

impl Print for ol_alloc_type_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }

    fn push(&self, to: &mut String) {
        match self.name() {
            Some(name) => to.push_str(name),
            None => crate::runtime::push_formatted(self, to),
        }
    }
}

impl ol_alloc_type_t {
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::OL_ALLOC_TYPE_HOST => "OL_ALLOC_TYPE_HOST",
            Self::OL_ALLOC_TYPE_DEVICE => "OL_ALLOC_TYPE_DEVICE",
            Self::OL_ALLOC_TYPE_MANAGED => "OL_ALLOC_TYPE_MANAGED",
            _ => return None,
        })
    }
}

impl fmt::Display for ol_context_info_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{} (not in ol_context_info_t)", self.0),
        }
    }
}

impl Print for ol_context_info_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }

    fn push(&self, to: &mut String) {
        match self.name() {
            Some(name) => to.push_str(name),
            None => crate::runtime::push_formatted(self, to),
        }
    }
}

impl ol_context_info_t {
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::OL_CONTEXT_INFO_NUM_DEVICES => "OL_CONTEXT_INFO_NUM_DEVICES",
            Self::OL_CONTEXT_INFO_DEVICES => "OL_CONTEXT_INFO_DEVICES",
            Self::OL_CONTEXT_INFO_PLATFORM => "OL_CONTEXT_INFO_PLATFORM",
            _ => return None,
        })
    }
}

impl fmt::Display for ol_device_fp_capability_flag_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        let mut separator = "";
        for (bit, name) in [
            (
                Self::OL_DEVICE_FP_CAPABILITY_FLAG_CORRECTLY_ROUNDED_DIVIDE_SQRT,
                "OL_DEVICE_FP_CAPABILITY_FLAG_CORRECTLY_ROUNDED_DIVIDE_SQRT",
            ),
            (Self::OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_NEAREST, "OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_NEAREST"),
            (Self::OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_ZERO, "OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_ZERO"),
            (Self::OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_INF, "OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_INF"),
            (Self::OL_DEVICE_FP_CAPABILITY_FLAG_INF_NAN, "OL_DEVICE_FP_CAPABILITY_FLAG_INF_NAN"),
            (Self::OL_DEVICE_FP_CAPABILITY_FLAG_DENORM, "OL_DEVICE_FP_CAPABILITY_FLAG_DENORM"),
            (Self::OL_DEVICE_FP_CAPABILITY_FLAG_FMA, "OL_DEVICE_FP_CAPABILITY_FLAG_FMA"),
            (Self::OL_DEVICE_FP_CAPABILITY_FLAG_SOFT_FLOAT, "OL_DEVICE_FP_CAPABILITY_FLAG_SOFT_FLOAT"),
        ] {
            if rest & bit.0 != 0 {
                write!(f, "{separator}{name}")?;
                rest &= !bit.0;
                separator = " | ";
            }
        }
        if rest != 0 || separator.is_empty() { write!(f, "{separator}{rest:#x}") } else { Ok(()) }
    }
}

impl Print for ol_device_fp_capability_flag_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ol_device_info_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{} (not in ol_device_info_t)", self.0),
        }
    }
}

impl Print for ol_device_info_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }

    fn push(&self, to: &mut String) {
        match self.name() {
            Some(name) => to.push_str(name),
            None => crate::runtime::push_formatted(self, to),
        }
    }
}

impl ol_device_info_t {
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::OL_DEVICE_INFO_TYPE => "OL_DEVICE_INFO_TYPE",
            Self::OL_DEVICE_INFO_PLATFORM => "OL_DEVICE_INFO_PLATFORM",
            Self::OL_DEVICE_INFO_NAME => "OL_DEVICE_INFO_NAME",
            Self::OL_DEVICE_INFO_PRODUCT_NAME => "OL_DEVICE_INFO_PRODUCT_NAME",
            Self::OL_DEVICE_INFO_UID => "OL_DEVICE_INFO_UID",
            Self::OL_DEVICE_INFO_VENDOR => "OL_DEVICE_INFO_VENDOR",
            Self::OL_DEVICE_INFO_DRIVER_VERSION => "OL_DEVICE_INFO_DRIVER_VERSION",
            Self::OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE => "OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE",
            Self::OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE_PER_DIMENSION => "OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE_PER_DIMENSION",
            Self::OL_DEVICE_INFO_MAX_WORK_SIZE => "OL_DEVICE_INFO_MAX_WORK_SIZE",
            Self::OL_DEVICE_INFO_MAX_WORK_SIZE_PER_DIMENSION => "OL_DEVICE_INFO_MAX_WORK_SIZE_PER_DIMENSION",
            Self::OL_DEVICE_INFO_VENDOR_ID => "OL_DEVICE_INFO_VENDOR_ID",
            Self::OL_DEVICE_INFO_NUM_COMPUTE_UNITS => "OL_DEVICE_INFO_NUM_COMPUTE_UNITS",
            Self::OL_DEVICE_INFO_MAX_CLOCK_FREQUENCY => "OL_DEVICE_INFO_MAX_CLOCK_FREQUENCY",
            Self::OL_DEVICE_INFO_MEMORY_CLOCK_RATE => "OL_DEVICE_INFO_MEMORY_CLOCK_RATE",
            Self::OL_DEVICE_INFO_ADDRESS_BITS => "OL_DEVICE_INFO_ADDRESS_BITS",
            Self::OL_DEVICE_INFO_MAX_MEM_ALLOC_SIZE => "OL_DEVICE_INFO_MAX_MEM_ALLOC_SIZE",
            Self::OL_DEVICE_INFO_GLOBAL_MEM_SIZE => "OL_DEVICE_INFO_GLOBAL_MEM_SIZE",
            Self::OL_DEVICE_INFO_WORK_GROUP_LOCAL_MEM_SIZE => "OL_DEVICE_INFO_WORK_GROUP_LOCAL_MEM_SIZE",
            Self::OL_DEVICE_INFO_NUM_LANES => "OL_DEVICE_INFO_NUM_LANES",
            Self::OL_DEVICE_INFO_SINGLE_FP_CONFIG => "OL_DEVICE_INFO_SINGLE_FP_CONFIG",
            Self::OL_DEVICE_INFO_DOUBLE_FP_CONFIG => "OL_DEVICE_INFO_DOUBLE_FP_CONFIG",
            Self::OL_DEVICE_INFO_HALF_FP_CONFIG => "OL_DEVICE_INFO_HALF_FP_CONFIG",
            Self::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_CHAR => "OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_CHAR",
            Self::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_SHORT => "OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_SHORT",
            Self::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_INT => "OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_INT",
            Self::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_LONG => "OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_LONG",
            Self::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_FLOAT => "OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_FLOAT",
            Self::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_DOUBLE => "OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_DOUBLE",
            Self::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_HALF => "OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_HALF",
            Self::OL_DEVICE_INFO_SINGLE_FP_SUPPORT => "OL_DEVICE_INFO_SINGLE_FP_SUPPORT",
            Self::OL_DEVICE_INFO_DOUBLE_FP_SUPPORT => "OL_DEVICE_INFO_DOUBLE_FP_SUPPORT",
            Self::OL_DEVICE_INFO_HALF_FP_SUPPORT => "OL_DEVICE_INFO_HALF_FP_SUPPORT",
            Self::OL_DEVICE_INFO_COOPERATIVE_LAUNCH_SUPPORT => "OL_DEVICE_INFO_COOPERATIVE_LAUNCH_SUPPORT",
            Self::OL_DEVICE_INFO_DRIVER_ID => "OL_DEVICE_INFO_DRIVER_ID",
            Self::OL_DEVICE_INFO_COMPUTE_UNIT_KIND => "OL_DEVICE_INFO_COMPUTE_UNIT_KIND",
            Self::OL_DEVICE_INFO_TIMESTAMP_FREQUENCY => "OL_DEVICE_INFO_TIMESTAMP_FREQUENCY",
            Self::OL_DEVICE_INFO_HARDWARE_PARALLELISM => "OL_DEVICE_INFO_HARDWARE_PARALLELISM",
            Self::OL_DEVICE_INFO_LAUNCH_DEFAULT_WORK_GROUP_SIZE => "OL_DEVICE_INFO_LAUNCH_DEFAULT_WORK_GROUP_SIZE",
            Self::OL_DEVICE_INFO_LAUNCH_DEFAULT_NUM_WORK_GROUPS => "OL_DEVICE_INFO_LAUNCH_DEFAULT_NUM_WORK_GROUPS",
            _ => return None,
        })
    }
}

impl fmt::Display for ol_device_type_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{} (not in ol_device_type_t)", self.0),
        }
    }
}

impl Print for ol_device_type_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }

    fn push(&self, to: &mut String) {
        match self.name() {
            Some(name) => to.push_str(name),
            None => crate::runtime::push_formatted(self, to),
        }
    }
}

impl ol_device_type_t {
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::OL_DEVICE_TYPE_DEFAULT => "OL_DEVICE_TYPE_DEFAULT",
            Self::OL_DEVICE_TYPE_ALL => "OL_DEVICE_TYPE_ALL",
            Self::OL_DEVICE_TYPE_GPU => "OL_DEVICE_TYPE_GPU",
            Self::OL_DEVICE_TYPE_CPU => "OL_DEVICE_TYPE_CPU",
            Self::OL_DEVICE_TYPE_HOST => "OL_DEVICE_TYPE_HOST",
            _ => return None,
        })
    }
}

impl fmt::Display for ol_errc_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{} (not in ol_errc_t)", self.0),
        }
    }
}

impl Print for ol_errc_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }

    fn push(&self, to: &mut String) {
        match self.name() {
            Some(name) => to.push_str(name),
            None => crate::runtime::push_formatted(self, to),
        }
    }
}

impl ol_errc_t {
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::OL_ERRC_SUCCESS => "OL_ERRC_SUCCESS",
            Self::OL_ERRC_UNKNOWN => "OL_ERRC_UNKNOWN",
            Self::OL_ERRC_HOST_IO => "OL_ERRC_HOST_IO",
            Self::OL_ERRC_INVALID_BINARY => "OL_ERRC_INVALID_BINARY",
            Self::OL_ERRC_INVALID_NULL_POINTER => "OL_ERRC_INVALID_NULL_POINTER",
            Self::OL_ERRC_INVALID_ARGUMENT => "OL_ERRC_INVALID_ARGUMENT",
            Self::OL_ERRC_NOT_FOUND => "OL_ERRC_NOT_FOUND",
            Self::OL_ERRC_OUT_OF_RESOURCES => "OL_ERRC_OUT_OF_RESOURCES",
            Self::OL_ERRC_INVALID_SIZE => "OL_ERRC_INVALID_SIZE",
            Self::OL_ERRC_INVALID_ENUMERATION => "OL_ERRC_INVALID_ENUMERATION",
            Self::OL_ERRC_HOST_TOOL_NOT_FOUND => "OL_ERRC_HOST_TOOL_NOT_FOUND",
            Self::OL_ERRC_INVALID_VALUE => "OL_ERRC_INVALID_VALUE",
            Self::OL_ERRC_UNIMPLEMENTED => "OL_ERRC_UNIMPLEMENTED",
            Self::OL_ERRC_UNSUPPORTED => "OL_ERRC_UNSUPPORTED",
            Self::OL_ERRC_ASSEMBLE_FAILURE => "OL_ERRC_ASSEMBLE_FAILURE",
            Self::OL_ERRC_COMPILE_FAILURE => "OL_ERRC_COMPILE_FAILURE",
            Self::OL_ERRC_LINK_FAILURE => "OL_ERRC_LINK_FAILURE",
            Self::OL_ERRC_BACKEND_FAILURE => "OL_ERRC_BACKEND_FAILURE",
            Self::OL_ERRC_UNINITIALIZED => "OL_ERRC_UNINITIALIZED",
            Self::OL_ERRC_INVALID_NULL_HANDLE => "OL_ERRC_INVALID_NULL_HANDLE",
            Self::OL_ERRC_INVALID_PLATFORM => "OL_ERRC_INVALID_PLATFORM",
            Self::OL_ERRC_INVALID_DEVICE => "OL_ERRC_INVALID_DEVICE",
            Self::OL_ERRC_INVALID_QUEUE => "OL_ERRC_INVALID_QUEUE",
            Self::OL_ERRC_INVALID_EVENT => "OL_ERRC_INVALID_EVENT",
            Self::OL_ERRC_INVALID_CONTEXT => "OL_ERRC_INVALID_CONTEXT",
            Self::OL_ERRC_SYMBOL_KIND => "OL_ERRC_SYMBOL_KIND",
            _ => return None,
        })
    }
}

impl fmt::Display for ol_event_flags_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{} (not in ol_event_flags_t)", self.0),
        }
    }
}

impl Print for ol_event_flags_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }

    fn push(&self, to: &mut String) {
        match self.name() {
            Some(name) => to.push_str(name),
            None => crate::runtime::push_formatted(self, to),
        }
    }
}

impl ol_event_flags_t {
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::OL_EVENT_FLAGS_NONE => "OL_EVENT_FLAGS_NONE",
            Self::OL_EVENT_FLAGS_ENABLE_PROFILING => "OL_EVENT_FLAGS_ENABLE_PROFILING",
            _ => return None,
        })
    }
}

impl fmt::Display for ol_event_info_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{} (not in ol_event_info_t)", self.0),
        }
    }
}

impl Print for ol_event_info_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }

    fn push(&self, to: &mut String) {
        match self.name() {
            Some(name) => to.push_str(name),
            None => crate::runtime::push_formatted(self, to),
        }
    }
}

impl ol_event_info_t {
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::OL_EVENT_INFO_QUEUE => "OL_EVENT_INFO_QUEUE",
            Self::OL_EVENT_INFO_IS_COMPLETE => "OL_EVENT_INFO_IS_COMPLETE",
            _ => return None,
        })
    }
}

impl fmt::Display for ol_kernel_launch_prop_type_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{} (not in ol_kernel_launch_prop_type_t)", self.0),
        }
    }
}

impl Print for ol_kernel_launch_prop_type_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }

    fn push(&self, to: &mut String) {
        match self.name() {
            Some(name) => to.push_str(name),
            None => crate::runtime::push_formatted(self, to),
        }
    }
}

impl ol_kernel_launch_prop_type_t {
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::OL_KERNEL_LAUNCH_PROP_TYPE_NONE => "OL_KERNEL_LAUNCH_PROP_TYPE_NONE",
            Self::OL_KERNEL_LAUNCH_PROP_TYPE_IS_COOPERATIVE => "OL_KERNEL_LAUNCH_PROP_TYPE_IS_COOPERATIVE",
            _ => return None,
        })
    }
}

impl fmt::Display for ol_mem_info_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{} (not in ol_mem_info_t)", self.0),
        }
    }
}

impl Print for ol_mem_info_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }

    fn push(&self, to: &mut String) {
        match self.name() {
            Some(name) => to.push_str(name),
            None => crate::runtime::push_formatted(self, to),
        }
    }
}

impl ol_mem_info_t {
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::OL_MEM_INFO_DEVICE => "OL_MEM_INFO_DEVICE",
            Self::OL_MEM_INFO_BASE => "OL_MEM_INFO_BASE",
            Self::OL_MEM_INFO_SIZE => "OL_MEM_INFO_SIZE",
            Self::OL_MEM_INFO_TYPE => "OL_MEM_INFO_TYPE",
            _ => return None,
        })
    }
}

impl fmt::Display for ol_mem_migration_flag_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        let mut separator = "";
        for (bit, name) in [
            (Self::OL_MEM_MIGRATION_FLAG_HOST_TO_DEVICE, "OL_MEM_MIGRATION_FLAG_HOST_TO_DEVICE"),
            (Self::OL_MEM_MIGRATION_FLAG_DEVICE_TO_HOST, "OL_MEM_MIGRATION_FLAG_DEVICE_TO_HOST"),
        ] {
            if rest & bit.0 != 0 {
                write!(f, "{separator}{name}")?;
                rest &= !bit.0;
                separator = " | ";
            }
        }
        if rest != 0 || separator.is_empty() { write!(f, "{separator}{rest:#x}") } else { Ok(()) }
    }
}

impl Print for ol_mem_migration_flag_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ol_memory_register_flag_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        let mut separator = "";
        for (bit, name) in [
            (Self::OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY, "OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY"),
            (Self::OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY, "OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY"),
        ] {
            if rest & bit.0 != 0 {
                write!(f, "{separator}{name}")?;
                rest &= !bit.0;
                separator = " | ";
            }
        }
        if rest != 0 || separator.is_empty() { write!(f, "{separator}{rest:#x}") } else { Ok(()) }
    }
}

impl Print for ol_memory_register_flag_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ol_platform_backend_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{} (not in ol_platform_backend_t)", self.0),
        }
    }
}

impl Print for ol_platform_backend_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }

    fn push(&self, to: &mut String) {
        match self.name() {
            Some(name) => to.push_str(name),
            None => crate::runtime::push_formatted(self, to),
        }
    }
}

impl ol_platform_backend_t {
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::OL_PLATFORM_BACKEND_UNKNOWN => "OL_PLATFORM_BACKEND_UNKNOWN",
            Self::OL_PLATFORM_BACKEND_CUDA => "OL_PLATFORM_BACKEND_CUDA",
            Self::OL_PLATFORM_BACKEND_AMDGPU => "OL_PLATFORM_BACKEND_AMDGPU",
            Self::OL_PLATFORM_BACKEND_LEVEL_ZERO => "OL_PLATFORM_BACKEND_LEVEL_ZERO",
            Self::OL_PLATFORM_BACKEND_HOST => "OL_PLATFORM_BACKEND_HOST",
            _ => return None,
        })
    }
}

impl fmt::Display for ol_platform_info_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{} (not in ol_platform_info_t)", self.0),
        }
    }
}

impl Print for ol_platform_info_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }

    fn push(&self, to: &mut String) {
        match self.name() {
            Some(name) => to.push_str(name),
            None => crate::runtime::push_formatted(self, to),
        }
    }
}

impl ol_platform_info_t {
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::OL_PLATFORM_INFO_NAME => "OL_PLATFORM_INFO_NAME",
            Self::OL_PLATFORM_INFO_VENDOR_NAME => "OL_PLATFORM_INFO_VENDOR_NAME",
            Self::OL_PLATFORM_INFO_VERSION => "OL_PLATFORM_INFO_VERSION",
            Self::OL_PLATFORM_INFO_BACKEND => "OL_PLATFORM_INFO_BACKEND",
            Self::OL_PLATFORM_INFO_ACTIVE => "OL_PLATFORM_INFO_ACTIVE",
            _ => return None,
        })
    }
}

impl fmt::Display for ol_queue_info_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{} (not in ol_queue_info_t)", self.0),
        }
    }
}

impl Print for ol_queue_info_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }

    fn push(&self, to: &mut String) {
        match self.name() {
            Some(name) => to.push_str(name),
            None => crate::runtime::push_formatted(self, to),
        }
    }
}

impl ol_queue_info_t {
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::OL_QUEUE_INFO_DEVICE => "OL_QUEUE_INFO_DEVICE",
            Self::OL_QUEUE_INFO_CONTEXT => "OL_QUEUE_INFO_CONTEXT",
            Self::OL_QUEUE_INFO_EMPTY => "OL_QUEUE_INFO_EMPTY",
            _ => return None,
        })
    }
}

impl fmt::Display for ol_symbol_info_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{} (not in ol_symbol_info_t)", self.0),
        }
    }
}

impl Print for ol_symbol_info_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }

    fn push(&self, to: &mut String) {
        match self.name() {
            Some(name) => to.push_str(name),
            None => crate::runtime::push_formatted(self, to),
        }
    }
}

impl ol_symbol_info_t {
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::OL_SYMBOL_INFO_KIND => "OL_SYMBOL_INFO_KIND",
            Self::OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS => "OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS",
            Self::OL_SYMBOL_INFO_GLOBAL_VARIABLE_SIZE => "OL_SYMBOL_INFO_GLOBAL_VARIABLE_SIZE",
            Self::OL_SYMBOL_INFO_NAME => "OL_SYMBOL_INFO_NAME",
            _ => return None,
        })
    }
}

impl fmt::Display for ol_symbol_kind_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{} (not in ol_symbol_kind_t)", self.0),
        }
    }
}

impl Print for ol_symbol_kind_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }

    fn push(&self, to: &mut String) {
        match self.name() {
            Some(name) => to.push_str(name),
            None => crate::runtime::push_formatted(self, to),
        }
    }
}

impl ol_symbol_kind_t {
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::OL_SYMBOL_KIND_KERNEL => "OL_SYMBOL_KIND_KERNEL",
            Self::OL_SYMBOL_KIND_GLOBAL_VARIABLE => "OL_SYMBOL_KIND_GLOBAL_VARIABLE",
            _ => return None,
        })
    }
}

impl fmt::Display for ol_code_location_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{{.FunctionName = {}, .SourceFile = {}, .LineNumber = {}, .ColumnNumber = {}}}",
            Shown(&self.FunctionName),
            Shown(&self.SourceFile),
            Shown(&self.LineNumber),
            Shown(&self.ColumnNumber)
        )
    }
}

impl Print for ol_code_location_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ol_dimensions_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{.x = {}, .y = {}, .z = {}}}", Shown(&self.x), Shown(&self.y), Shown(&self.z))
    }
}

impl Print for ol_dimensions_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ol_error_struct_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{.Code = {}, .Details = {}}}", Shown(&self.Code), Shown(&self.Details))
    }
}

impl Print for ol_error_struct_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ol_init_args_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{{.Size = {}, .NumPlatforms = {}, .Platforms = {}}}",
            Shown(&self.Size),
            Shown(&self.NumPlatforms),
            Shown(&self.Platforms)
        )
    }
}

impl Print for ol_init_args_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ol_kernel_launch_prop_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{.type = {}, .data = {}}}", Shown(&self.type_), Shown(&self.data))
    }
}

impl Print for ol_kernel_launch_prop_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ol_kernel_launch_size_args_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{{.Dimensions = {}, .NumGroups = {}, .GroupSize = {}, .DynSharedMemory = {}}}",
            Shown(&self.Dimensions),
            Shown(&self.NumGroups),
            Shown(&self.GroupSize),
            Shown(&self.DynSharedMemory)
        )
    }
}

impl Print for ol_kernel_launch_size_args_t {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Adds the property of that name as text; whether `bytes` are enough for it.
pub(super) fn show_ol_context_info_t(property: ol_context_info_t, bytes: &[u8], to: &mut String) -> bool {
    match property {
        // SAFETY: any bytes are a value of this type.
        ol_context_info_t::OL_CONTEXT_INFO_NUM_DEVICES => unsafe { crate::runtime::trace::element::<usize>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_context_info_t::OL_CONTEXT_INFO_DEVICES => unsafe { crate::runtime::trace::elements::<ol_device_handle_t>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_context_info_t::OL_CONTEXT_INFO_PLATFORM => unsafe { crate::runtime::trace::element::<ol_platform_handle_t>(bytes, to) },
        _ => false,
    }
}

/// Adds the property of that name as text; whether `bytes` are enough for it.
pub(super) fn show_ol_device_info_t(property: ol_device_info_t, bytes: &[u8], to: &mut String) -> bool {
    match property {
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_TYPE => unsafe { crate::runtime::trace::element::<ol_device_type_t>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_PLATFORM => unsafe { crate::runtime::trace::element::<ol_platform_handle_t>(bytes, to) },
        ol_device_info_t::OL_DEVICE_INFO_NAME => crate::runtime::trace::text(bytes, to),
        ol_device_info_t::OL_DEVICE_INFO_PRODUCT_NAME => crate::runtime::trace::text(bytes, to),
        ol_device_info_t::OL_DEVICE_INFO_UID => crate::runtime::trace::text(bytes, to),
        ol_device_info_t::OL_DEVICE_INFO_VENDOR => crate::runtime::trace::text(bytes, to),
        ol_device_info_t::OL_DEVICE_INFO_DRIVER_VERSION => crate::runtime::trace::text(bytes, to),
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE => unsafe { crate::runtime::trace::element::<u32>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE_PER_DIMENSION => unsafe {
            crate::runtime::trace::element::<ol_dimensions_t>(bytes, to)
        },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_MAX_WORK_SIZE => unsafe { crate::runtime::trace::element::<u32>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_MAX_WORK_SIZE_PER_DIMENSION => unsafe {
            crate::runtime::trace::element::<ol_dimensions_t>(bytes, to)
        },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_VENDOR_ID => unsafe { crate::runtime::trace::element::<u32>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_NUM_COMPUTE_UNITS => unsafe { crate::runtime::trace::element::<u32>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_MAX_CLOCK_FREQUENCY => unsafe { crate::runtime::trace::element::<u32>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_MEMORY_CLOCK_RATE => unsafe { crate::runtime::trace::element::<u32>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_ADDRESS_BITS => unsafe { crate::runtime::trace::element::<u32>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_MAX_MEM_ALLOC_SIZE => unsafe { crate::runtime::trace::element::<u64>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_GLOBAL_MEM_SIZE => unsafe { crate::runtime::trace::element::<u64>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_WORK_GROUP_LOCAL_MEM_SIZE => unsafe { crate::runtime::trace::element::<u64>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_NUM_LANES => unsafe { crate::runtime::trace::element::<u32>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_SINGLE_FP_CONFIG => unsafe {
            crate::runtime::trace::element::<ol_device_fp_capability_flags_t>(bytes, to)
        },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_DOUBLE_FP_CONFIG => unsafe {
            crate::runtime::trace::element::<ol_device_fp_capability_flags_t>(bytes, to)
        },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_HALF_FP_CONFIG => unsafe {
            crate::runtime::trace::element::<ol_device_fp_capability_flags_t>(bytes, to)
        },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_CHAR => unsafe { crate::runtime::trace::element::<u32>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_SHORT => unsafe { crate::runtime::trace::element::<u32>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_INT => unsafe { crate::runtime::trace::element::<u32>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_LONG => unsafe { crate::runtime::trace::element::<u32>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_FLOAT => unsafe { crate::runtime::trace::element::<u32>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_DOUBLE => unsafe { crate::runtime::trace::element::<u32>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_HALF => unsafe { crate::runtime::trace::element::<u32>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_SINGLE_FP_SUPPORT => unsafe { crate::runtime::trace::element::<crate::runtime::Bool>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_DOUBLE_FP_SUPPORT => unsafe { crate::runtime::trace::element::<crate::runtime::Bool>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_HALF_FP_SUPPORT => unsafe { crate::runtime::trace::element::<crate::runtime::Bool>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_COOPERATIVE_LAUNCH_SUPPORT => unsafe {
            crate::runtime::trace::element::<crate::runtime::Bool>(bytes, to)
        },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_DRIVER_ID => unsafe { crate::runtime::trace::element::<u32>(bytes, to) },
        ol_device_info_t::OL_DEVICE_INFO_COMPUTE_UNIT_KIND => crate::runtime::trace::text(bytes, to),
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_TIMESTAMP_FREQUENCY => unsafe { crate::runtime::trace::element::<u64>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_HARDWARE_PARALLELISM => unsafe { crate::runtime::trace::element::<u64>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_LAUNCH_DEFAULT_WORK_GROUP_SIZE => unsafe { crate::runtime::trace::element::<u32>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_device_info_t::OL_DEVICE_INFO_LAUNCH_DEFAULT_NUM_WORK_GROUPS => unsafe { crate::runtime::trace::element::<u32>(bytes, to) },
        _ => false,
    }
}

/// Adds the property of that name as text; whether `bytes` are enough for it.
pub(super) fn show_ol_event_info_t(property: ol_event_info_t, bytes: &[u8], to: &mut String) -> bool {
    match property {
        // SAFETY: any bytes are a value of this type.
        ol_event_info_t::OL_EVENT_INFO_QUEUE => unsafe { crate::runtime::trace::element::<ol_queue_handle_t>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_event_info_t::OL_EVENT_INFO_IS_COMPLETE => unsafe { crate::runtime::trace::element::<crate::runtime::Bool>(bytes, to) },
        _ => false,
    }
}

/// Adds the property of that name as text; whether `bytes` are enough for it.
pub(super) fn show_ol_mem_info_t(property: ol_mem_info_t, bytes: &[u8], to: &mut String) -> bool {
    match property {
        // SAFETY: any bytes are a value of this type.
        ol_mem_info_t::OL_MEM_INFO_DEVICE => unsafe { crate::runtime::trace::element::<ol_device_handle_t>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_mem_info_t::OL_MEM_INFO_BASE => unsafe { crate::runtime::trace::element::<*mut c_void>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_mem_info_t::OL_MEM_INFO_SIZE => unsafe { crate::runtime::trace::element::<usize>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_mem_info_t::OL_MEM_INFO_TYPE => unsafe { crate::runtime::trace::element::<ol_alloc_type_t>(bytes, to) },
        _ => false,
    }
}

/// Adds the property of that name as text; whether `bytes` are enough for it.
pub(super) fn show_ol_platform_info_t(property: ol_platform_info_t, bytes: &[u8], to: &mut String) -> bool {
    match property {
        ol_platform_info_t::OL_PLATFORM_INFO_NAME => crate::runtime::trace::text(bytes, to),
        ol_platform_info_t::OL_PLATFORM_INFO_VENDOR_NAME => crate::runtime::trace::text(bytes, to),
        ol_platform_info_t::OL_PLATFORM_INFO_VERSION => crate::runtime::trace::text(bytes, to),
        // SAFETY: any bytes are a value of this type.
        ol_platform_info_t::OL_PLATFORM_INFO_BACKEND => unsafe { crate::runtime::trace::element::<ol_platform_backend_t>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_platform_info_t::OL_PLATFORM_INFO_ACTIVE => unsafe { crate::runtime::trace::element::<crate::runtime::Bool>(bytes, to) },
        _ => false,
    }
}

/// Adds the property of that name as text; whether `bytes` are enough for it.
pub(super) fn show_ol_queue_info_t(property: ol_queue_info_t, bytes: &[u8], to: &mut String) -> bool {
    match property {
        // SAFETY: any bytes are a value of this type.
        ol_queue_info_t::OL_QUEUE_INFO_DEVICE => unsafe { crate::runtime::trace::element::<ol_device_handle_t>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_queue_info_t::OL_QUEUE_INFO_CONTEXT => unsafe { crate::runtime::trace::element::<ol_context_handle_t>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_queue_info_t::OL_QUEUE_INFO_EMPTY => unsafe { crate::runtime::trace::element::<crate::runtime::Bool>(bytes, to) },
        _ => false,
    }
}

/// Adds the property of that name as text; whether `bytes` are enough for it.
pub(super) fn show_ol_symbol_info_t(property: ol_symbol_info_t, bytes: &[u8], to: &mut String) -> bool {
    match property {
        // SAFETY: any bytes are a value of this type.
        ol_symbol_info_t::OL_SYMBOL_INFO_KIND => unsafe { crate::runtime::trace::element::<ol_symbol_kind_t>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_symbol_info_t::OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS => unsafe { crate::runtime::trace::element::<*mut c_void>(bytes, to) },
        // SAFETY: any bytes are a value of this type.
        ol_symbol_info_t::OL_SYMBOL_INFO_GLOBAL_VARIABLE_SIZE => unsafe { crate::runtime::trace::element::<usize>(bytes, to) },
        ol_symbol_info_t::OL_SYMBOL_INFO_NAME => crate::runtime::trace::text(bytes, to),
        _ => false,
    }
}
