/* Made from OffloadAPI.td (LLVM 24) by offload-tblgen --gen-print-header; change that, not this file. */

#ifndef OL_OFFLOADAPI_PRINT_HPP
#define OL_OFFLOADAPI_PRINT_HPP

#include <OffloadAPI.h>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>

namespace ol_print {
/// The type itself, of a stream: numbers are shifted by enumerators, and nothing is written.
template <class Stream> using if_stream = typename std::enable_if<std::is_class<Stream>::value, Stream>::type;
template <class Stream> inline void address(Stream &os, const void *value) {
    if (value)
        os << value;
    else
        os << "NULL";
}
template <class Stream> inline void text(Stream &os, const char *value, std::size_t size) {
    os << '"';
    for (std::size_t i = 0; i < size && value[i]; i++)
        os << value[i];
    os << '"';
}
/// What `flags` has besides `known`, in hexadecimal, if there is any or nothing else has been written.
template <class Stream>
inline void other_flags(Stream &os, std::uint32_t flags, std::uint32_t known, const char *separator) {
    char hex[16];
    if ((flags & ~known) == 0 && *separator)
        return;
    std::snprintf(hex, sizeof hex, "0x%x", static_cast<unsigned>(flags & ~known));
    os << separator << hex;
}
} // namespace ol_print

template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, ol_alloc_type_t value) {
    // By number: a caller may pass values that have no name, and enumerators may share one.
    switch (static_cast<std::uint32_t>(value)) {
        case 0u: os << "OL_ALLOC_TYPE_HOST"; return os;
        case 1u: os << "OL_ALLOC_TYPE_DEVICE"; return os;
        case 2u: os << "OL_ALLOC_TYPE_MANAGED"; return os;
        default: os << static_cast<std::uint32_t>(value) << " (not in ol_alloc_type_t)"; return os;
    }
}

template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, ol_context_info_t value) {
    // By number: a caller may pass values that have no name, and enumerators may share one.
    switch (static_cast<std::uint32_t>(value)) {
        case 0u: os << "OL_CONTEXT_INFO_NUM_DEVICES"; return os;
        case 1u: os << "OL_CONTEXT_INFO_DEVICES"; return os;
        case 2u: os << "OL_CONTEXT_INFO_PLATFORM"; return os;
        default: os << static_cast<std::uint32_t>(value) << " (not in ol_context_info_t)"; return os;
    }
}

/// The names of the bits.
template <class Stream>
inline void ol_print_ol_device_fp_capability_flag_t(Stream &os, std::uint32_t flags) {
    const char *separator = "";
    if (flags & 0x1u) {
        os << separator << "OL_DEVICE_FP_CAPABILITY_FLAG_CORRECTLY_ROUNDED_DIVIDE_SQRT";
        separator = " | ";
    }
    if (flags & 0x2u) {
        os << separator << "OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_NEAREST";
        separator = " | ";
    }
    if (flags & 0x4u) {
        os << separator << "OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_ZERO";
        separator = " | ";
    }
    if (flags & 0x8u) {
        os << separator << "OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_INF";
        separator = " | ";
    }
    if (flags & 0x10u) {
        os << separator << "OL_DEVICE_FP_CAPABILITY_FLAG_INF_NAN";
        separator = " | ";
    }
    if (flags & 0x20u) {
        os << separator << "OL_DEVICE_FP_CAPABILITY_FLAG_DENORM";
        separator = " | ";
    }
    if (flags & 0x40u) {
        os << separator << "OL_DEVICE_FP_CAPABILITY_FLAG_FMA";
        separator = " | ";
    }
    if (flags & 0x80u) {
        os << separator << "OL_DEVICE_FP_CAPABILITY_FLAG_SOFT_FLOAT";
        separator = " | ";
    }
    ol_print::other_flags(os, flags, 0xffu, separator);
}
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, ol_device_fp_capability_flag_t value) {
    ol_print_ol_device_fp_capability_flag_t(os, static_cast<std::uint32_t>(value));
    return os;
}

template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, ol_device_info_t value) {
    // By number: a caller may pass values that have no name, and enumerators may share one.
    switch (static_cast<std::uint32_t>(value)) {
        case 0u: os << "OL_DEVICE_INFO_TYPE"; return os;
        case 1u: os << "OL_DEVICE_INFO_PLATFORM"; return os;
        case 2u: os << "OL_DEVICE_INFO_NAME"; return os;
        case 3u: os << "OL_DEVICE_INFO_PRODUCT_NAME"; return os;
        case 4u: os << "OL_DEVICE_INFO_UID"; return os;
        case 5u: os << "OL_DEVICE_INFO_VENDOR"; return os;
        case 6u: os << "OL_DEVICE_INFO_DRIVER_VERSION"; return os;
        case 7u: os << "OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE"; return os;
        case 8u: os << "OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE_PER_DIMENSION"; return os;
        case 9u: os << "OL_DEVICE_INFO_MAX_WORK_SIZE"; return os;
        case 10u: os << "OL_DEVICE_INFO_MAX_WORK_SIZE_PER_DIMENSION"; return os;
        case 11u: os << "OL_DEVICE_INFO_VENDOR_ID"; return os;
        case 12u: os << "OL_DEVICE_INFO_NUM_COMPUTE_UNITS"; return os;
        case 13u: os << "OL_DEVICE_INFO_MAX_CLOCK_FREQUENCY"; return os;
        case 14u: os << "OL_DEVICE_INFO_MEMORY_CLOCK_RATE"; return os;
        case 15u: os << "OL_DEVICE_INFO_ADDRESS_BITS"; return os;
        case 16u: os << "OL_DEVICE_INFO_MAX_MEM_ALLOC_SIZE"; return os;
        case 17u: os << "OL_DEVICE_INFO_GLOBAL_MEM_SIZE"; return os;
        case 18u: os << "OL_DEVICE_INFO_WORK_GROUP_LOCAL_MEM_SIZE"; return os;
        case 19u: os << "OL_DEVICE_INFO_NUM_LANES"; return os;
        case 20u: os << "OL_DEVICE_INFO_SINGLE_FP_CONFIG"; return os;
        case 21u: os << "OL_DEVICE_INFO_DOUBLE_FP_CONFIG"; return os;
        case 22u: os << "OL_DEVICE_INFO_HALF_FP_CONFIG"; return os;
        case 23u: os << "OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_CHAR"; return os;
        case 24u: os << "OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_SHORT"; return os;
        case 25u: os << "OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_INT"; return os;
        case 26u: os << "OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_LONG"; return os;
        case 27u: os << "OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_FLOAT"; return os;
        case 28u: os << "OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_DOUBLE"; return os;
        case 29u: os << "OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_HALF"; return os;
        case 30u: os << "OL_DEVICE_INFO_SINGLE_FP_SUPPORT"; return os;
        case 31u: os << "OL_DEVICE_INFO_DOUBLE_FP_SUPPORT"; return os;
        case 32u: os << "OL_DEVICE_INFO_HALF_FP_SUPPORT"; return os;
        case 33u: os << "OL_DEVICE_INFO_COOPERATIVE_LAUNCH_SUPPORT"; return os;
        case 34u: os << "OL_DEVICE_INFO_DRIVER_ID"; return os;
        case 35u: os << "OL_DEVICE_INFO_COMPUTE_UNIT_KIND"; return os;
        case 36u: os << "OL_DEVICE_INFO_TIMESTAMP_FREQUENCY"; return os;
        case 37u: os << "OL_DEVICE_INFO_HARDWARE_PARALLELISM"; return os;
        case 38u: os << "OL_DEVICE_INFO_LAUNCH_DEFAULT_WORK_GROUP_SIZE"; return os;
        case 39u: os << "OL_DEVICE_INFO_LAUNCH_DEFAULT_NUM_WORK_GROUPS"; return os;
        default: os << static_cast<std::uint32_t>(value) << " (not in ol_device_info_t)"; return os;
    }
}

template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, ol_device_type_t value) {
    // By number: a caller may pass values that have no name, and enumerators may share one.
    switch (static_cast<std::uint32_t>(value)) {
        case 0u: os << "OL_DEVICE_TYPE_DEFAULT"; return os;
        case 1u: os << "OL_DEVICE_TYPE_ALL"; return os;
        case 2u: os << "OL_DEVICE_TYPE_GPU"; return os;
        case 3u: os << "OL_DEVICE_TYPE_CPU"; return os;
        case 4u: os << "OL_DEVICE_TYPE_HOST"; return os;
        default: os << static_cast<std::uint32_t>(value) << " (not in ol_device_type_t)"; return os;
    }
}

template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, ol_errc_t value) {
    // By number: a caller may pass values that have no name, and enumerators may share one.
    switch (static_cast<std::uint32_t>(value)) {
        case 0u: os << "OL_ERRC_SUCCESS"; return os;
        case 1u: os << "OL_ERRC_UNKNOWN"; return os;
        case 2u: os << "OL_ERRC_HOST_IO"; return os;
        case 3u: os << "OL_ERRC_INVALID_BINARY"; return os;
        case 4u: os << "OL_ERRC_INVALID_NULL_POINTER"; return os;
        case 5u: os << "OL_ERRC_INVALID_ARGUMENT"; return os;
        case 6u: os << "OL_ERRC_NOT_FOUND"; return os;
        case 7u: os << "OL_ERRC_OUT_OF_RESOURCES"; return os;
        case 8u: os << "OL_ERRC_INVALID_SIZE"; return os;
        case 9u: os << "OL_ERRC_INVALID_ENUMERATION"; return os;
        case 10u: os << "OL_ERRC_HOST_TOOL_NOT_FOUND"; return os;
        case 11u: os << "OL_ERRC_INVALID_VALUE"; return os;
        case 12u: os << "OL_ERRC_UNIMPLEMENTED"; return os;
        case 13u: os << "OL_ERRC_UNSUPPORTED"; return os;
        case 14u: os << "OL_ERRC_ASSEMBLE_FAILURE"; return os;
        case 15u: os << "OL_ERRC_COMPILE_FAILURE"; return os;
        case 16u: os << "OL_ERRC_LINK_FAILURE"; return os;
        case 17u: os << "OL_ERRC_BACKEND_FAILURE"; return os;
        case 18u: os << "OL_ERRC_UNINITIALIZED"; return os;
        case 19u: os << "OL_ERRC_INVALID_NULL_HANDLE"; return os;
        case 20u: os << "OL_ERRC_INVALID_PLATFORM"; return os;
        case 21u: os << "OL_ERRC_INVALID_DEVICE"; return os;
        case 22u: os << "OL_ERRC_INVALID_QUEUE"; return os;
        case 23u: os << "OL_ERRC_INVALID_EVENT"; return os;
        case 24u: os << "OL_ERRC_INVALID_CONTEXT"; return os;
        case 25u: os << "OL_ERRC_SYMBOL_KIND"; return os;
        default: os << static_cast<std::uint32_t>(value) << " (not in ol_errc_t)"; return os;
    }
}

template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, ol_event_flags_t value) {
    // By number: a caller may pass values that have no name, and enumerators may share one.
    switch (static_cast<std::uint32_t>(value)) {
        case 0u: os << "OL_EVENT_FLAGS_NONE"; return os;
        case 1u: os << "OL_EVENT_FLAGS_ENABLE_PROFILING"; return os;
        default: os << static_cast<std::uint32_t>(value) << " (not in ol_event_flags_t)"; return os;
    }
}

template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, ol_event_info_t value) {
    // By number: a caller may pass values that have no name, and enumerators may share one.
    switch (static_cast<std::uint32_t>(value)) {
        case 0u: os << "OL_EVENT_INFO_QUEUE"; return os;
        case 1u: os << "OL_EVENT_INFO_IS_COMPLETE"; return os;
        default: os << static_cast<std::uint32_t>(value) << " (not in ol_event_info_t)"; return os;
    }
}

template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, ol_kernel_launch_prop_type_t value) {
    // By number: a caller may pass values that have no name, and enumerators may share one.
    switch (static_cast<std::uint32_t>(value)) {
        case 0u: os << "OL_KERNEL_LAUNCH_PROP_TYPE_NONE"; return os;
        case 1u: os << "OL_KERNEL_LAUNCH_PROP_TYPE_IS_COOPERATIVE"; return os;
        default: os << static_cast<std::uint32_t>(value) << " (not in ol_kernel_launch_prop_type_t)"; return os;
    }
}

template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, ol_mem_info_t value) {
    // By number: a caller may pass values that have no name, and enumerators may share one.
    switch (static_cast<std::uint32_t>(value)) {
        case 0u: os << "OL_MEM_INFO_DEVICE"; return os;
        case 1u: os << "OL_MEM_INFO_BASE"; return os;
        case 2u: os << "OL_MEM_INFO_SIZE"; return os;
        case 3u: os << "OL_MEM_INFO_TYPE"; return os;
        default: os << static_cast<std::uint32_t>(value) << " (not in ol_mem_info_t)"; return os;
    }
}

/// The names of the bits.
template <class Stream>
inline void ol_print_ol_mem_migration_flag_t(Stream &os, std::uint32_t flags) {
    const char *separator = "";
    if (flags & 0x1u) {
        os << separator << "OL_MEM_MIGRATION_FLAG_HOST_TO_DEVICE";
        separator = " | ";
    }
    if (flags & 0x2u) {
        os << separator << "OL_MEM_MIGRATION_FLAG_DEVICE_TO_HOST";
        separator = " | ";
    }
    ol_print::other_flags(os, flags, 0x3u, separator);
}
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, ol_mem_migration_flag_t value) {
    ol_print_ol_mem_migration_flag_t(os, static_cast<std::uint32_t>(value));
    return os;
}

/// The names of the bits.
template <class Stream>
inline void ol_print_ol_memory_register_flag_t(Stream &os, std::uint32_t flags) {
    const char *separator = "";
    if (flags & 0x1u) {
        os << separator << "OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY";
        separator = " | ";
    }
    if (flags & 0x2u) {
        os << separator << "OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY";
        separator = " | ";
    }
    ol_print::other_flags(os, flags, 0x3u, separator);
}
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, ol_memory_register_flag_t value) {
    ol_print_ol_memory_register_flag_t(os, static_cast<std::uint32_t>(value));
    return os;
}

template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, ol_platform_backend_t value) {
    // By number: a caller may pass values that have no name, and enumerators may share one.
    switch (static_cast<std::uint32_t>(value)) {
        case 0u: os << "OL_PLATFORM_BACKEND_UNKNOWN"; return os;
        case 1u: os << "OL_PLATFORM_BACKEND_CUDA"; return os;
        case 2u: os << "OL_PLATFORM_BACKEND_AMDGPU"; return os;
        case 3u: os << "OL_PLATFORM_BACKEND_LEVEL_ZERO"; return os;
        case 4u: os << "OL_PLATFORM_BACKEND_HOST"; return os;
        default: os << static_cast<std::uint32_t>(value) << " (not in ol_platform_backend_t)"; return os;
    }
}

template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, ol_platform_info_t value) {
    // By number: a caller may pass values that have no name, and enumerators may share one.
    switch (static_cast<std::uint32_t>(value)) {
        case 0u: os << "OL_PLATFORM_INFO_NAME"; return os;
        case 1u: os << "OL_PLATFORM_INFO_VENDOR_NAME"; return os;
        case 2u: os << "OL_PLATFORM_INFO_VERSION"; return os;
        case 3u: os << "OL_PLATFORM_INFO_BACKEND"; return os;
        case 4u: os << "OL_PLATFORM_INFO_ACTIVE"; return os;
        default: os << static_cast<std::uint32_t>(value) << " (not in ol_platform_info_t)"; return os;
    }
}

template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, ol_queue_info_t value) {
    // By number: a caller may pass values that have no name, and enumerators may share one.
    switch (static_cast<std::uint32_t>(value)) {
        case 0u: os << "OL_QUEUE_INFO_DEVICE"; return os;
        case 1u: os << "OL_QUEUE_INFO_CONTEXT"; return os;
        case 2u: os << "OL_QUEUE_INFO_EMPTY"; return os;
        default: os << static_cast<std::uint32_t>(value) << " (not in ol_queue_info_t)"; return os;
    }
}

template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, ol_symbol_info_t value) {
    // By number: a caller may pass values that have no name, and enumerators may share one.
    switch (static_cast<std::uint32_t>(value)) {
        case 0u: os << "OL_SYMBOL_INFO_KIND"; return os;
        case 1u: os << "OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS"; return os;
        case 2u: os << "OL_SYMBOL_INFO_GLOBAL_VARIABLE_SIZE"; return os;
        case 3u: os << "OL_SYMBOL_INFO_NAME"; return os;
        default: os << static_cast<std::uint32_t>(value) << " (not in ol_symbol_info_t)"; return os;
    }
}

template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, ol_symbol_kind_t value) {
    // By number: a caller may pass values that have no name, and enumerators may share one.
    switch (static_cast<std::uint32_t>(value)) {
        case 0u: os << "OL_SYMBOL_KIND_KERNEL"; return os;
        case 1u: os << "OL_SYMBOL_KIND_GLOBAL_VARIABLE"; return os;
        default: os << static_cast<std::uint32_t>(value) << " (not in ol_symbol_kind_t)"; return os;
    }
}

template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_code_location_t &value);
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_dimensions_t &value);
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_error_struct_t &value);
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_init_args_t &value);
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_kernel_launch_prop_t &value);
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_kernel_launch_size_args_t &value);

template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_code_location_t &value) {
    os << "{.FunctionName = ";
    ol_print::address(os, value.FunctionName);
    os << ", .SourceFile = ";
    ol_print::address(os, value.SourceFile);
    os << ", .LineNumber = ";
    os << value.LineNumber;
    os << ", .ColumnNumber = ";
    os << value.ColumnNumber;
    os << "}";
    return os;
}

template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_dimensions_t &value) {
    os << "{.x = ";
    os << value.x;
    os << ", .y = ";
    os << value.y;
    os << ", .z = ";
    os << value.z;
    os << "}";
    return os;
}

template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_error_struct_t &value) {
    os << "{.Code = ";
    os << value.Code;
    os << ", .Details = ";
    ol_print::address(os, value.Details);
    os << "}";
    return os;
}

template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_init_args_t &value) {
    os << "{.Size = ";
    os << value.Size;
    os << ", .NumPlatforms = ";
    os << value.NumPlatforms;
    os << ", .Platforms = ";
    ol_print::address(os, value.Platforms);
    os << "}";
    return os;
}

template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_kernel_launch_prop_t &value) {
    os << "{.type = ";
    os << value.type;
    os << ", .data = ";
    ol_print::address(os, value.data);
    os << "}";
    return os;
}

template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_kernel_launch_size_args_t &value) {
    os << "{.Dimensions = ";
    os << value.Dimensions;
    os << ", .NumGroups = ";
    os << value.NumGroups;
    os << ", .GroupSize = ";
    os << value.GroupSize;
    os << ", .DynSharedMemory = ";
    os << value.DynSharedMemory;
    os << "}";
    return os;
}

/// The result's code, and what is known of the failure.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, ol_result_t result) {
    if (!result) {
        os << "OL_SUCCESS";
        return os;
    }
    os << result->Code;
    if (result->Details) os << ": " << result->Details;
    return os;
}

/// The property of that name: `size` bytes at `data`. What has another size is shown as an address.
template <class Stream>
inline void ol_print_property(Stream &os, ol_context_info_t name, const void *data, std::size_t size) {
    if (!data) return ol_print::address(os, data);
    switch (static_cast<std::uint32_t>(name)) {
        case 0u: { // OL_CONTEXT_INFO_NUM_DEVICES
            size_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 1u: { // OL_CONTEXT_INFO_DEVICES
            os << '[';
            for (std::size_t i = 0; i + 1 <= size / sizeof(ol_device_handle_t); i++) {
                ol_device_handle_t element;
                std::memcpy(&element, static_cast<const char *>(data) + i * sizeof element, sizeof element);
                if (i) os << ", ";
                ol_print::address(os, element);
            }
            os << ']';
            return;
        }
        case 2u: { // OL_CONTEXT_INFO_PLATFORM
            ol_platform_handle_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            ol_print::address(os, value);
            return;
        }
        default: return ol_print::address(os, data);
    }
}

/// The property of that name: `size` bytes at `data`. What has another size is shown as an address.
template <class Stream>
inline void ol_print_property(Stream &os, ol_device_info_t name, const void *data, std::size_t size) {
    if (!data) return ol_print::address(os, data);
    switch (static_cast<std::uint32_t>(name)) {
        case 0u: { // OL_DEVICE_INFO_TYPE
            ol_device_type_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 1u: { // OL_DEVICE_INFO_PLATFORM
            ol_platform_handle_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            ol_print::address(os, value);
            return;
        }
        case 2u: { // OL_DEVICE_INFO_NAME
            return ol_print::text(os, static_cast<const char *>(data), size);
        }
        case 3u: { // OL_DEVICE_INFO_PRODUCT_NAME
            return ol_print::text(os, static_cast<const char *>(data), size);
        }
        case 4u: { // OL_DEVICE_INFO_UID
            return ol_print::text(os, static_cast<const char *>(data), size);
        }
        case 5u: { // OL_DEVICE_INFO_VENDOR
            return ol_print::text(os, static_cast<const char *>(data), size);
        }
        case 6u: { // OL_DEVICE_INFO_DRIVER_VERSION
            return ol_print::text(os, static_cast<const char *>(data), size);
        }
        case 7u: { // OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE
            uint32_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 8u: { // OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE_PER_DIMENSION
            ol_dimensions_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 9u: { // OL_DEVICE_INFO_MAX_WORK_SIZE
            uint32_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 10u: { // OL_DEVICE_INFO_MAX_WORK_SIZE_PER_DIMENSION
            ol_dimensions_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 11u: { // OL_DEVICE_INFO_VENDOR_ID
            uint32_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 12u: { // OL_DEVICE_INFO_NUM_COMPUTE_UNITS
            uint32_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 13u: { // OL_DEVICE_INFO_MAX_CLOCK_FREQUENCY
            uint32_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 14u: { // OL_DEVICE_INFO_MEMORY_CLOCK_RATE
            uint32_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 15u: { // OL_DEVICE_INFO_ADDRESS_BITS
            uint32_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 16u: { // OL_DEVICE_INFO_MAX_MEM_ALLOC_SIZE
            uint64_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 17u: { // OL_DEVICE_INFO_GLOBAL_MEM_SIZE
            uint64_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 18u: { // OL_DEVICE_INFO_WORK_GROUP_LOCAL_MEM_SIZE
            uint64_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 19u: { // OL_DEVICE_INFO_NUM_LANES
            uint32_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 20u: { // OL_DEVICE_INFO_SINGLE_FP_CONFIG
            ol_device_fp_capability_flags_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            ol_print_ol_device_fp_capability_flag_t(os, value);
            return;
        }
        case 21u: { // OL_DEVICE_INFO_DOUBLE_FP_CONFIG
            ol_device_fp_capability_flags_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            ol_print_ol_device_fp_capability_flag_t(os, value);
            return;
        }
        case 22u: { // OL_DEVICE_INFO_HALF_FP_CONFIG
            ol_device_fp_capability_flags_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            ol_print_ol_device_fp_capability_flag_t(os, value);
            return;
        }
        case 23u: { // OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_CHAR
            uint32_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 24u: { // OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_SHORT
            uint32_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 25u: { // OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_INT
            uint32_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 26u: { // OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_LONG
            uint32_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 27u: { // OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_FLOAT
            uint32_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 28u: { // OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_DOUBLE
            uint32_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 29u: { // OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_HALF
            uint32_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 30u: { // OL_DEVICE_INFO_SINGLE_FP_SUPPORT
            bool value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << (value ? "true" : "false");
            return;
        }
        case 31u: { // OL_DEVICE_INFO_DOUBLE_FP_SUPPORT
            bool value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << (value ? "true" : "false");
            return;
        }
        case 32u: { // OL_DEVICE_INFO_HALF_FP_SUPPORT
            bool value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << (value ? "true" : "false");
            return;
        }
        case 33u: { // OL_DEVICE_INFO_COOPERATIVE_LAUNCH_SUPPORT
            bool value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << (value ? "true" : "false");
            return;
        }
        case 34u: { // OL_DEVICE_INFO_DRIVER_ID
            uint32_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 35u: { // OL_DEVICE_INFO_COMPUTE_UNIT_KIND
            return ol_print::text(os, static_cast<const char *>(data), size);
        }
        case 36u: { // OL_DEVICE_INFO_TIMESTAMP_FREQUENCY
            uint64_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 37u: { // OL_DEVICE_INFO_HARDWARE_PARALLELISM
            uint64_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 38u: { // OL_DEVICE_INFO_LAUNCH_DEFAULT_WORK_GROUP_SIZE
            uint32_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 39u: { // OL_DEVICE_INFO_LAUNCH_DEFAULT_NUM_WORK_GROUPS
            uint32_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        default: return ol_print::address(os, data);
    }
}

/// The property of that name: `size` bytes at `data`. What has another size is shown as an address.
template <class Stream>
inline void ol_print_property(Stream &os, ol_event_info_t name, const void *data, std::size_t size) {
    if (!data) return ol_print::address(os, data);
    switch (static_cast<std::uint32_t>(name)) {
        case 0u: { // OL_EVENT_INFO_QUEUE
            ol_queue_handle_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            ol_print::address(os, value);
            return;
        }
        case 1u: { // OL_EVENT_INFO_IS_COMPLETE
            bool value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << (value ? "true" : "false");
            return;
        }
        default: return ol_print::address(os, data);
    }
}

/// The property of that name: `size` bytes at `data`. What has another size is shown as an address.
template <class Stream>
inline void ol_print_property(Stream &os, ol_kernel_launch_prop_type_t name, const void *data, std::size_t size) {
    if (!data) return ol_print::address(os, data);
    switch (static_cast<std::uint32_t>(name)) {
        case 0u: { // OL_KERNEL_LAUNCH_PROP_TYPE_NONE
            void * value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            ol_print::address(os, value);
            return;
        }
        case 1u: { // OL_KERNEL_LAUNCH_PROP_TYPE_IS_COOPERATIVE
            bool * value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            ol_print::address(os, value);
            return;
        }
        default: return ol_print::address(os, data);
    }
}

/// The property of that name: `size` bytes at `data`. What has another size is shown as an address.
template <class Stream>
inline void ol_print_property(Stream &os, ol_mem_info_t name, const void *data, std::size_t size) {
    if (!data) return ol_print::address(os, data);
    switch (static_cast<std::uint32_t>(name)) {
        case 0u: { // OL_MEM_INFO_DEVICE
            ol_device_handle_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            ol_print::address(os, value);
            return;
        }
        case 1u: { // OL_MEM_INFO_BASE
            void * value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            ol_print::address(os, value);
            return;
        }
        case 2u: { // OL_MEM_INFO_SIZE
            size_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 3u: { // OL_MEM_INFO_TYPE
            ol_alloc_type_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        default: return ol_print::address(os, data);
    }
}

/// The property of that name: `size` bytes at `data`. What has another size is shown as an address.
template <class Stream>
inline void ol_print_property(Stream &os, ol_platform_info_t name, const void *data, std::size_t size) {
    if (!data) return ol_print::address(os, data);
    switch (static_cast<std::uint32_t>(name)) {
        case 0u: { // OL_PLATFORM_INFO_NAME
            return ol_print::text(os, static_cast<const char *>(data), size);
        }
        case 1u: { // OL_PLATFORM_INFO_VENDOR_NAME
            return ol_print::text(os, static_cast<const char *>(data), size);
        }
        case 2u: { // OL_PLATFORM_INFO_VERSION
            return ol_print::text(os, static_cast<const char *>(data), size);
        }
        case 3u: { // OL_PLATFORM_INFO_BACKEND
            ol_platform_backend_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 4u: { // OL_PLATFORM_INFO_ACTIVE
            bool value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << (value ? "true" : "false");
            return;
        }
        default: return ol_print::address(os, data);
    }
}

/// The property of that name: `size` bytes at `data`. What has another size is shown as an address.
template <class Stream>
inline void ol_print_property(Stream &os, ol_queue_info_t name, const void *data, std::size_t size) {
    if (!data) return ol_print::address(os, data);
    switch (static_cast<std::uint32_t>(name)) {
        case 0u: { // OL_QUEUE_INFO_DEVICE
            ol_device_handle_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            ol_print::address(os, value);
            return;
        }
        case 1u: { // OL_QUEUE_INFO_CONTEXT
            ol_context_handle_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            ol_print::address(os, value);
            return;
        }
        case 2u: { // OL_QUEUE_INFO_EMPTY
            bool value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << (value ? "true" : "false");
            return;
        }
        default: return ol_print::address(os, data);
    }
}

/// The property of that name: `size` bytes at `data`. What has another size is shown as an address.
template <class Stream>
inline void ol_print_property(Stream &os, ol_symbol_info_t name, const void *data, std::size_t size) {
    if (!data) return ol_print::address(os, data);
    switch (static_cast<std::uint32_t>(name)) {
        case 0u: { // OL_SYMBOL_INFO_KIND
            ol_symbol_kind_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 1u: { // OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS
            void * value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            ol_print::address(os, value);
            return;
        }
        case 2u: { // OL_SYMBOL_INFO_GLOBAL_VARIABLE_SIZE
            size_t value;
            if (size < sizeof value) return ol_print::address(os, data);
            std::memcpy(&value, data, sizeof value);
            os << value;
            return;
        }
        case 3u: { // OL_SYMBOL_INFO_NAME
            return ol_print::text(os, static_cast<const char *>(data), size);
        }
        default: return ol_print::address(os, data);
    }
}

/// The arguments of a call of ::olCalculateOptimalOccupancy.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_calculate_optimal_occupancy_params_t &params) {
    os << ".Device = ";
    ol_print::address(os, (*params.pDevice));
    os << ", .Kernel = ";
    ol_print::address(os, (*params.pKernel));
    os << ", .SharedMemory = ";
    os << (*params.pSharedMemory);
    os << ", .GroupSize = ";
    ol_print::address(os, (*params.pGroupSize));
    return os;
}

/// The arguments of a call of ::olCreateContext.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_create_context_params_t &params) {
    os << ".DevicesCount = ";
    os << (*params.pDevicesCount);
    os << ", .Devices = ";
    ol_print::address(os, (*params.pDevices));
    os << ", .Context = ";
    ol_print::address(os, (*params.pContext));
    return os;
}

/// The arguments of a call of ::olCreateEvent.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_create_event_params_t &params) {
    os << ".Queue = ";
    ol_print::address(os, (*params.pQueue));
    os << ", .Flags = ";
    os << (*params.pFlags);
    os << ", .Event = ";
    ol_print::address(os, (*params.pEvent));
    return os;
}

/// The arguments of a call of ::olCreateProgram.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_create_program_params_t &params) {
    os << ".Context = ";
    ol_print::address(os, (*params.pContext));
    os << ", .Device = ";
    ol_print::address(os, (*params.pDevice));
    os << ", .ProgData = ";
    ol_print::address(os, (*params.pProgData));
    os << ", .ProgDataSize = ";
    os << (*params.pProgDataSize);
    os << ", .Program = ";
    ol_print::address(os, (*params.pProgram));
    return os;
}

/// The arguments of a call of ::olCreateQueue.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_create_queue_params_t &params) {
    os << ".Context = ";
    ol_print::address(os, (*params.pContext));
    os << ", .Device = ";
    ol_print::address(os, (*params.pDevice));
    os << ", .Queue = ";
    ol_print::address(os, (*params.pQueue));
    return os;
}

/// The arguments of a call of ::olDestroyContext.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_destroy_context_params_t &params) {
    os << ".Context = ";
    ol_print::address(os, (*params.pContext));
    return os;
}

/// The arguments of a call of ::olDestroyEvent.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_destroy_event_params_t &params) {
    os << ".Event = ";
    ol_print::address(os, (*params.pEvent));
    return os;
}

/// The arguments of a call of ::olDestroyProgram.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_destroy_program_params_t &params) {
    os << ".Program = ";
    ol_print::address(os, (*params.pProgram));
    return os;
}

/// The arguments of a call of ::olDestroyQueue.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_destroy_queue_params_t &params) {
    os << ".Queue = ";
    ol_print::address(os, (*params.pQueue));
    return os;
}

/// The arguments of a call of ::olGetContextInfo.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_get_context_info_params_t &params) {
    os << ".Context = ";
    ol_print::address(os, (*params.pContext));
    os << ", .PropName = ";
    os << (*params.pPropName);
    os << ", .PropSize = ";
    os << (*params.pPropSize);
    os << ", .PropValue = ";
    ol_print::address(os, (*params.pPropValue));
    return os;
}

/// The arguments of a call of ::olGetContextInfoSize.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_get_context_info_size_params_t &params) {
    os << ".Context = ";
    ol_print::address(os, (*params.pContext));
    os << ", .PropName = ";
    os << (*params.pPropName);
    os << ", .PropSizeRet = ";
    ol_print::address(os, (*params.pPropSizeRet));
    return os;
}

/// The arguments of a call of ::olGetDeviceInfo.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_get_device_info_params_t &params) {
    os << ".Device = ";
    ol_print::address(os, (*params.pDevice));
    os << ", .PropName = ";
    os << (*params.pPropName);
    os << ", .PropSize = ";
    os << (*params.pPropSize);
    os << ", .PropValue = ";
    ol_print::address(os, (*params.pPropValue));
    return os;
}

/// The arguments of a call of ::olGetDeviceInfoSize.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_get_device_info_size_params_t &params) {
    os << ".Device = ";
    ol_print::address(os, (*params.pDevice));
    os << ", .PropName = ";
    os << (*params.pPropName);
    os << ", .PropSizeRet = ";
    ol_print::address(os, (*params.pPropSizeRet));
    return os;
}

/// The arguments of a call of ::olGetEventElapsedTime.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_get_event_elapsed_time_params_t &params) {
    os << ".StartEvent = ";
    ol_print::address(os, (*params.pStartEvent));
    os << ", .EndEvent = ";
    ol_print::address(os, (*params.pEndEvent));
    os << ", .ElapsedTime = ";
    ol_print::address(os, (*params.pElapsedTime));
    return os;
}

/// The arguments of a call of ::olGetEventInfo.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_get_event_info_params_t &params) {
    os << ".Event = ";
    ol_print::address(os, (*params.pEvent));
    os << ", .PropName = ";
    os << (*params.pPropName);
    os << ", .PropSize = ";
    os << (*params.pPropSize);
    os << ", .PropValue = ";
    ol_print::address(os, (*params.pPropValue));
    return os;
}

/// The arguments of a call of ::olGetEventInfoSize.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_get_event_info_size_params_t &params) {
    os << ".Event = ";
    ol_print::address(os, (*params.pEvent));
    os << ", .PropName = ";
    os << (*params.pPropName);
    os << ", .PropSizeRet = ";
    ol_print::address(os, (*params.pPropSizeRet));
    return os;
}

/// The arguments of a call of ::olGetKernelMaxCooperativeGroupCount.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_get_kernel_max_cooperative_group_count_params_t &params) {
    os << ".Device = ";
    ol_print::address(os, (*params.pDevice));
    os << ", .Kernel = ";
    ol_print::address(os, (*params.pKernel));
    os << ", .LaunchSizeArgs = ";
    ol_print::address(os, (*params.pLaunchSizeArgs));
    if (*params.pLaunchSizeArgs) {
        os << " (";
        os << (*(*params.pLaunchSizeArgs));
        os << ')';
    }
    os << ", .MaxGroupCount = ";
    ol_print::address(os, (*params.pMaxGroupCount));
    return os;
}

/// The arguments of a call of ::olGetMemInfo.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_get_mem_info_params_t &params) {
    os << ".Context = ";
    ol_print::address(os, (*params.pContext));
    os << ", .Ptr = ";
    ol_print::address(os, (*params.pPtr));
    os << ", .PropName = ";
    os << (*params.pPropName);
    os << ", .PropSize = ";
    os << (*params.pPropSize);
    os << ", .PropValue = ";
    ol_print::address(os, (*params.pPropValue));
    return os;
}

/// The arguments of a call of ::olGetMemInfoSize.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_get_mem_info_size_params_t &params) {
    os << ".Context = ";
    ol_print::address(os, (*params.pContext));
    os << ", .Ptr = ";
    ol_print::address(os, (*params.pPtr));
    os << ", .PropName = ";
    os << (*params.pPropName);
    os << ", .PropSizeRet = ";
    ol_print::address(os, (*params.pPropSizeRet));
    return os;
}

/// The arguments of a call of ::olGetPlatformInfo.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_get_platform_info_params_t &params) {
    os << ".Platform = ";
    ol_print::address(os, (*params.pPlatform));
    os << ", .PropName = ";
    os << (*params.pPropName);
    os << ", .PropSize = ";
    os << (*params.pPropSize);
    os << ", .PropValue = ";
    ol_print::address(os, (*params.pPropValue));
    return os;
}

/// The arguments of a call of ::olGetPlatformInfoSize.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_get_platform_info_size_params_t &params) {
    os << ".Platform = ";
    ol_print::address(os, (*params.pPlatform));
    os << ", .PropName = ";
    os << (*params.pPropName);
    os << ", .PropSizeRet = ";
    ol_print::address(os, (*params.pPropSizeRet));
    return os;
}

/// The arguments of a call of ::olGetQueueInfo.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_get_queue_info_params_t &params) {
    os << ".Queue = ";
    ol_print::address(os, (*params.pQueue));
    os << ", .PropName = ";
    os << (*params.pPropName);
    os << ", .PropSize = ";
    os << (*params.pPropSize);
    os << ", .PropValue = ";
    ol_print::address(os, (*params.pPropValue));
    return os;
}

/// The arguments of a call of ::olGetQueueInfoSize.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_get_queue_info_size_params_t &params) {
    os << ".Queue = ";
    ol_print::address(os, (*params.pQueue));
    os << ", .PropName = ";
    os << (*params.pPropName);
    os << ", .PropSizeRet = ";
    ol_print::address(os, (*params.pPropSizeRet));
    return os;
}

/// The arguments of a call of ::olGetSymbol.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_get_symbol_params_t &params) {
    os << ".Program = ";
    ol_print::address(os, (*params.pProgram));
    os << ", .Name = ";
    ol_print::address(os, (*params.pName));
    if (*params.pName) {
        os << " (";
        ol_print::text(os, (*params.pName), 256);
        os << ')';
    }
    os << ", .Kind = ";
    os << (*params.pKind);
    os << ", .Symbol = ";
    ol_print::address(os, (*params.pSymbol));
    return os;
}

/// The arguments of a call of ::olGetSymbolInfo.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_get_symbol_info_params_t &params) {
    os << ".Symbol = ";
    ol_print::address(os, (*params.pSymbol));
    os << ", .PropName = ";
    os << (*params.pPropName);
    os << ", .PropSize = ";
    os << (*params.pPropSize);
    os << ", .PropValue = ";
    ol_print::address(os, (*params.pPropValue));
    return os;
}

/// The arguments of a call of ::olGetSymbolInfoSize.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_get_symbol_info_size_params_t &params) {
    os << ".Symbol = ";
    ol_print::address(os, (*params.pSymbol));
    os << ", .PropName = ";
    os << (*params.pPropName);
    os << ", .PropSizeRet = ";
    ol_print::address(os, (*params.pPropSizeRet));
    return os;
}

/// The arguments of a call of ::olInit.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_init_params_t &params) {
    os << ".InitArgs = ";
    ol_print::address(os, (*params.pInitArgs));
    if (*params.pInitArgs) {
        os << " (";
        os << (*(*params.pInitArgs));
        os << ')';
    }
    return os;
}

/// The arguments of a call of ::olIsValidBinary.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_is_valid_binary_params_t &params) {
    os << ".Device = ";
    ol_print::address(os, (*params.pDevice));
    os << ", .ProgData = ";
    ol_print::address(os, (*params.pProgData));
    os << ", .ProgDataSize = ";
    os << (*params.pProgDataSize);
    os << ", .Valid = ";
    ol_print::address(os, (*params.pValid));
    return os;
}

/// The arguments of a call of ::olIterateCompatibleDevices.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_iterate_compatible_devices_params_t &params) {
    os << ".ProgData = ";
    ol_print::address(os, (*params.pProgData));
    os << ", .ProgDataSize = ";
    os << (*params.pProgDataSize);
    os << ", .Callback = ";
    ol_print::address(os, reinterpret_cast<const void *>((*params.pCallback)));
    os << ", .UserData = ";
    ol_print::address(os, (*params.pUserData));
    return os;
}

/// The arguments of a call of ::olIterateDevices.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_iterate_devices_params_t &params) {
    os << ".Callback = ";
    ol_print::address(os, reinterpret_cast<const void *>((*params.pCallback)));
    os << ", .UserData = ";
    ol_print::address(os, (*params.pUserData));
    return os;
}

/// The arguments of a call of ::olIteratePlatforms.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_iterate_platforms_params_t &params) {
    os << ".Callback = ";
    ol_print::address(os, reinterpret_cast<const void *>((*params.pCallback)));
    os << ", .UserData = ";
    ol_print::address(os, (*params.pUserData));
    return os;
}

/// The arguments of a call of ::olIterateSymbols.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_iterate_symbols_params_t &params) {
    os << ".Program = ";
    ol_print::address(os, (*params.pProgram));
    os << ", .Kind = ";
    os << (*params.pKind);
    os << ", .Callback = ";
    ol_print::address(os, reinterpret_cast<const void *>((*params.pCallback)));
    os << ", .UserData = ";
    ol_print::address(os, (*params.pUserData));
    return os;
}

/// The arguments of a call of ::olLaunchHostFunction.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_launch_host_function_params_t &params) {
    os << ".Queue = ";
    ol_print::address(os, (*params.pQueue));
    os << ", .Callback = ";
    ol_print::address(os, reinterpret_cast<const void *>((*params.pCallback)));
    os << ", .UserData = ";
    ol_print::address(os, (*params.pUserData));
    return os;
}

/// The arguments of a call of ::olLaunchKernel.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_launch_kernel_params_t &params) {
    os << ".Queue = ";
    ol_print::address(os, (*params.pQueue));
    os << ", .Device = ";
    ol_print::address(os, (*params.pDevice));
    os << ", .Kernel = ";
    ol_print::address(os, (*params.pKernel));
    os << ", .LaunchSizeArgs = ";
    ol_print::address(os, (*params.pLaunchSizeArgs));
    if (*params.pLaunchSizeArgs) {
        os << " (";
        os << (*(*params.pLaunchSizeArgs));
        os << ')';
    }
    os << ", .Properties = ";
    ol_print::address(os, (*params.pProperties));
    if (*params.pProperties) {
        os << " (";
        os << (*(*params.pProperties));
        os << ')';
    }
    os << ", .NumArgs = ";
    os << (*params.pNumArgs);
    os << ", .ArgPtrs = ";
    ol_print::address(os, (*params.pArgPtrs));
    os << ", .ArgSizes = ";
    ol_print::address(os, (*params.pArgSizes));
    return os;
}

/// The arguments of a call of ::olMemAlloc.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_mem_alloc_params_t &params) {
    os << ".Context = ";
    ol_print::address(os, (*params.pContext));
    os << ", .Device = ";
    ol_print::address(os, (*params.pDevice));
    os << ", .Type = ";
    os << (*params.pType);
    os << ", .Size = ";
    os << (*params.pSize);
    os << ", .AllocationOut = ";
    ol_print::address(os, (*params.pAllocationOut));
    return os;
}

/// The arguments of a call of ::olMemAllocAligned.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_mem_alloc_aligned_params_t &params) {
    os << ".Context = ";
    ol_print::address(os, (*params.pContext));
    os << ", .Device = ";
    ol_print::address(os, (*params.pDevice));
    os << ", .Type = ";
    os << (*params.pType);
    os << ", .Size = ";
    os << (*params.pSize);
    os << ", .Alignment = ";
    os << (*params.pAlignment);
    os << ", .AllocationOut = ";
    ol_print::address(os, (*params.pAllocationOut));
    return os;
}

/// The arguments of a call of ::olMemAllocAlignedHost.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_mem_alloc_aligned_host_params_t &params) {
    os << ".Context = ";
    ol_print::address(os, (*params.pContext));
    os << ", .Device = ";
    ol_print::address(os, (*params.pDevice));
    os << ", .Size = ";
    os << (*params.pSize);
    os << ", .Alignment = ";
    os << (*params.pAlignment);
    os << ", .AllocationOut = ";
    ol_print::address(os, (*params.pAllocationOut));
    return os;
}

/// The arguments of a call of ::olMemAllocHost.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_mem_alloc_host_params_t &params) {
    os << ".Context = ";
    ol_print::address(os, (*params.pContext));
    os << ", .Device = ";
    ol_print::address(os, (*params.pDevice));
    os << ", .Size = ";
    os << (*params.pSize);
    os << ", .AllocationOut = ";
    ol_print::address(os, (*params.pAllocationOut));
    return os;
}

/// The arguments of a call of ::olMemFill.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_mem_fill_params_t &params) {
    os << ".Queue = ";
    ol_print::address(os, (*params.pQueue));
    os << ", .Ptr = ";
    ol_print::address(os, (*params.pPtr));
    os << ", .PatternSize = ";
    os << (*params.pPatternSize);
    os << ", .PatternPtr = ";
    ol_print::address(os, (*params.pPatternPtr));
    os << ", .FillSize = ";
    os << (*params.pFillSize);
    return os;
}

/// The arguments of a call of ::olMemFree.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_mem_free_params_t &params) {
    os << ".Context = ";
    ol_print::address(os, (*params.pContext));
    os << ", .Address = ";
    ol_print::address(os, (*params.pAddress));
    return os;
}

/// The arguments of a call of ::olMemIsAccessible.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_mem_is_accessible_params_t &params) {
    os << ".Context = ";
    ol_print::address(os, (*params.pContext));
    os << ", .Device = ";
    ol_print::address(os, (*params.pDevice));
    os << ", .Ptr = ";
    ol_print::address(os, (*params.pPtr));
    os << ", .Size = ";
    os << (*params.pSize);
    os << ", .IsAccessible = ";
    ol_print::address(os, (*params.pIsAccessible));
    return os;
}

/// The arguments of a call of ::olMemPrefetch.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_mem_prefetch_params_t &params) {
    os << ".Queue = ";
    ol_print::address(os, (*params.pQueue));
    os << ", .Count = ";
    os << (*params.pCount);
    os << ", .Mems = ";
    ol_print::address(os, (*params.pMems));
    os << ", .Sizes = ";
    ol_print::address(os, (*params.pSizes));
    os << ", .Flags = ";
    ol_print_ol_mem_migration_flag_t(os, (*params.pFlags));
    return os;
}

/// The arguments of a call of ::olMemRegister.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_mem_register_params_t &params) {
    os << ".Device = ";
    ol_print::address(os, (*params.pDevice));
    os << ", .Ptr = ";
    ol_print::address(os, (*params.pPtr));
    os << ", .Size = ";
    os << (*params.pSize);
    os << ", .Flags = ";
    ol_print_ol_memory_register_flag_t(os, (*params.pFlags));
    os << ", .PinnedPtr = ";
    ol_print::address(os, (*params.pPinnedPtr));
    return os;
}

/// The arguments of a call of ::olMemUnregister.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_mem_unregister_params_t &params) {
    os << ".Device = ";
    ol_print::address(os, (*params.pDevice));
    os << ", .Ptr = ";
    ol_print::address(os, (*params.pPtr));
    os << ", .Flags = ";
    ol_print_ol_memory_register_flag_t(os, (*params.pFlags));
    return os;
}

/// The arguments of a call of ::olMemcpy.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_memcpy_params_t &params) {
    os << ".Queue = ";
    ol_print::address(os, (*params.pQueue));
    os << ", .DstPtr = ";
    ol_print::address(os, (*params.pDstPtr));
    os << ", .DstDevice = ";
    ol_print::address(os, (*params.pDstDevice));
    os << ", .SrcPtr = ";
    ol_print::address(os, (*params.pSrcPtr));
    os << ", .SrcDevice = ";
    ol_print::address(os, (*params.pSrcDevice));
    os << ", .Size = ";
    os << (*params.pSize);
    return os;
}

/// The arguments of a call of ::olPlatformRegisterRPCCallback.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_platform_register_rpc_callback_params_t &params) {
    os << ".Platform = ";
    ol_print::address(os, (*params.pPlatform));
    os << ", .Callback = ";
    ol_print::address(os, reinterpret_cast<const void *>((*params.pCallback)));
    return os;
}

/// The arguments of a call of ::olQueryQueue.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_query_queue_params_t &params) {
    os << ".Queue = ";
    ol_print::address(os, (*params.pQueue));
    os << ", .IsQueueWorkCompleted = ";
    ol_print::address(os, (*params.pIsQueueWorkCompleted));
    return os;
}

/// The arguments of a call of ::olSyncEvent.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_sync_event_params_t &params) {
    os << ".Event = ";
    ol_print::address(os, (*params.pEvent));
    return os;
}

/// The arguments of a call of ::olSyncQueue.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_sync_queue_params_t &params) {
    os << ".Queue = ";
    ol_print::address(os, (*params.pQueue));
    return os;
}

/// The arguments of a call of ::olWaitEvents.
template <class Stream>
inline ol_print::if_stream<Stream> &operator<<(Stream &os, const ol_wait_events_params_t &params) {
    os << ".Queue = ";
    ol_print::address(os, (*params.pQueue));
    os << ", .Events = ";
    ol_print::address(os, (*params.pEvents));
    os << ", .NumEvents = ";
    os << (*params.pNumEvents);
    return os;
}

#endif /* OL_OFFLOADAPI_PRINT_HPP */
