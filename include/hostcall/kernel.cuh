// Where a lane is, and kernels that are for GPUs and for the simulator alike.
#pragma once

namespace hostcall {

/// Workgroup coordinates (`blockIdx`), workgroups of the grid (`gridDim`), coordinates in the workgroup (`threadIdx`),
/// its size (`blockDim`).
HC_DEVICE_INLINE coordinates group_id() { return machine::group_id(); }
HC_DEVICE_INLINE coordinates group_count() { return machine::group_count(); }
HC_DEVICE_INLINE coordinates local_id() { return machine::local_id(); }
HC_DEVICE_INLINE coordinates group_size() { return machine::group_size(); }
/// Lane in its wave, and lanes of a wave.
HC_DEVICE_INLINE u32 lane_id() { return machine::lane(); }
HC_DEVICE_INLINE u32 wave_size() { return machine::wave_size(); }

/// Number of the lane in its workgroup.
HC_DEVICE_INLINE u64 local_index() {
    const coordinates id = local_id(), size = group_size();
    return ((u64)id.z * size.y + id.y) * size.x + id.x;
}
/// Number of the workgroup in the grid.
HC_DEVICE_INLINE u64 group_index() {
    const coordinates id = group_id(), count = group_count();
    return ((u64)id.z * count.y + id.y) * count.x + id.x;
}
/// Number of the lane in the grid.
HC_DEVICE_INLINE u64 global_id() {
    const coordinates size = group_size();
    return group_index() * ((u64)size.x * size.y * size.z) + local_index();
}
/// Lanes of the grid.
HC_DEVICE_INLINE u64 global_size() {
    const coordinates count = group_count(), size = group_size();
    return (u64)count.x * count.y * count.z * ((u64)size.x * size.y * size.z);
}
/// Number of the wave in the grid: workgroups begin with a wave of their own.
HC_DEVICE_INLINE u64 wave_index() {
    const coordinates size = group_size();
    const u64 waves = ((u64)size.x * size.y * size.z + wave_size() - 1) / wave_size();
    return group_index() * waves + local_index() / wave_size();
}

/// The lanes that run together at a place in the source, for what they then do together.
class converged {
public:
    HC_METHOD static converged here(place here = place::current()) { return converged(here); }
    /// Waits until all of them are here.
    HC_METHOD void sync() const { machine::sync(lanes_.mask); }
    /// Whether the calling lane is the first of them.
    HC_METHOD bool leads() const { return lanes_.leads(); }
    /// How many they are.
    HC_METHOD u32 count() const { return lanes_.count; }

private:
    wire::lanes lanes_;
    HC_METHOD explicit converged(place here) : lanes_(wire::group_at(here.site(), 0)) {}
};

/// Nanoseconds of a clock that never goes back.
HC_DEVICE_INLINE u64 now_ns() { return machine::now_ns(); }

namespace codec {

/// What kind of number a type is: `hostcall_abi::descriptor::Element`. (No header of the standard library is needed for
/// it.)
template <class T>
struct number_of {
    static constexpr u32 kind = 0;
};
template <>
struct number_of<float> {
    static constexpr u32 kind = HOSTCALL_ELEMENT_FLOAT;
};
template <>
struct number_of<double> {
    static constexpr u32 kind = HOSTCALL_ELEMENT_FLOAT;
};
#define HC_NUMBER(type, is)                                                                                                      \
    template <>                                                                                                                  \
    struct number_of<type> {                                                                                                     \
        static constexpr u32 kind = HOSTCALL_ELEMENT_##is;                                                                       \
    };
HC_NUMBER(unsigned char, UNSIGNED)
HC_NUMBER(unsigned short, UNSIGNED)
HC_NUMBER(unsigned int, UNSIGNED)
HC_NUMBER(unsigned long, UNSIGNED)
HC_NUMBER(unsigned long long, UNSIGNED)
HC_NUMBER(signed char, SIGNED)
HC_NUMBER(short, SIGNED)
HC_NUMBER(int, SIGNED)
HC_NUMBER(long, SIGNED)
HC_NUMBER(long long, SIGNED)
#undef HC_NUMBER

/// The type as bits 16 and up of an entry, if it is a number.
template <class T, u32 kind = number_of<T>::kind>
struct described {
    static constexpr u32 bits = (kind << HOSTCALL_ELEMENT_KIND_SHIFT | (u32)sizeof(T)) << 16;
    static constexpr u32 value = HOSTCALL_ELEMENT_VALUE << 16;
};
template <class T>
struct described<T, 0> {
    static constexpr u32 bits = 0;
    static constexpr u32 value = 0;
};

/// What a launch is told of a parameter: bytes, and if it is a number, or points at numbers, which.
template <class T>
struct entry_of {
    static constexpr u32 entry = (u32)sizeof(T) | described<T>::value | described<T>::bits;
};
template <class T>
struct entry_of<T*> {
    static constexpr u32 entry = (u32)sizeof(T*) | described<T>::bits;
};
template <class T>
struct entry_of<const T*> : entry_of<T*> {};
template <class T>
struct entry_of<volatile T*> : entry_of<T*> {};
template <class T>
struct entry_of<const volatile T*> : entry_of<T*> {};

/// The same, as a function: nvcc hands a pack of members to the host's compiler in a form that this refuses.
template <class T>
HC_HOST_DEVICE constexpr u32 entry() {
    return entry_of<T>::entry;
}

/// What a kernel says of its parameters, so that a launch with the wrong arguments is an error:
/// `hostcall_abi::descriptor::KernelParams`.
template <class... Params>
HC_HOST_DEVICE constexpr hostcall_kernel_params params_of(void (*)(Params...)) {
    static_assert(sizeof...(Params) <= HOSTCALL_KERNEL_PARAMS_MAX, "a kernel takes at most 31 parameters");
    return {(u32)sizeof...(Params), {entry<Params>()...}};
}

#if defined(HOSTCALL_MACHINE_SIM)
/// Reads parameters from the block that the simulator passes (`KernelParams::place`), and runs the kernel.
template <class... Params>
inline void run_kernel(void (*kernel)(Params...), const u8* block) {
    size_t end = 0;
    const auto place = [&end](size_t size) {
        const size_t align = size == 1 || size == 2 || size == 4 || size == 8 ? size : 8;
        const size_t at = (end + align - 1) / align * align;
        end = at + size;
        return at;
    };
    // In the order of the parameters: braces say so.
    const size_t at[] = {place(sizeof(Params))..., 0};
    u32 i = 0;
    const auto read = [&](auto* value) {
        __builtin_memcpy(value, block + at[i++], sizeof(*value));
        return *value;
    };
    // Braces again.
    struct run {
        HC_METHOD run(void (*kernel)(Params...), Params... params) { kernel(params...); }
    };
    run{kernel, read((Params*)__builtin_alloca(sizeof(Params)))...};
    // A kernel may have no parameters.
    (void)place, (void)read;
}
#endif

}  // namespace codec
}  // namespace hostcall

/// Begins a kernel: `HOSTCALL_KERNEL(name, float* y, unsigned n) { … }`. The host finds it, and what it takes, by its
/// name.
#if defined(HOSTCALL_MACHINE_SIM)
#define HOSTCALL_KERNEL(name, ...)                                                                                               \
    static void hc_kernel_##name(__VA_ARGS__);                                                                                   \
    extern "C" {                                                                                                                 \
    __attribute__((used, visibility("default"))) hostcall_kernel_params __HOSTCALL_KERNEL__##name =                              \
        ::hostcall::codec::params_of(&hc_kernel_##name);                                                                         \
    __attribute__((used, visibility("default"))) void __hostcall_sim_kernel_##name(const ::hostcall::u8* params) {               \
        ::hostcall::codec::run_kernel(&hc_kernel_##name, params);                                                                \
    }                                                                                                                            \
    }                                                                                                                            \
    static void hc_kernel_##name(__VA_ARGS__)
#else
#define HOSTCALL_KERNEL(name, ...)                                                                                               \
    extern "C" HC_ENTRY void name(__VA_ARGS__);                                                                                  \
    extern "C" {                                                                                                                 \
    HC_GLOBAL hostcall_kernel_params __HOSTCALL_KERNEL__##name = ::hostcall::codec::params_of((decltype(&name))nullptr);         \
    }                                                                                                                            \
    extern "C" HC_ENTRY void name(__VA_ARGS__)
#endif
