//! Flags that crates are compiled with for a device.

/// Features that the kernel crate itself is compiled with on GPUs: `#[kernel]` expands to functions of this calling
/// convention. (`hostcall-device` names what it needs in its own crate attributes.)
pub(crate) const KERNEL_FEATURES: &str = "abi_gpu_kernel";

/// Flags for every crate of a kernel, on every target.
pub(crate) fn common() -> Vec<String> {
    ["--cfg", "hostcall_device", "--check-cfg", "cfg(hostcall_device)"].map(String::from).to_vec()
}

/// For every crate that is compiled for AMD, beside no other pass.
///
/// rustc 1.96 makes the list of `#[used]` statics, `llvm.used`, an array of generic pointers, and puts pointers to
/// global memory into it. Nothing that reads the bitcode takes that: neither LLVM's tools ("incorrect type in array
/// initializer") nor rustc itself when it optimises several units together. This pass writes the list anew, with casts,
/// and does little else to a crate of which nothing is known to be internal.
pub(crate) const REPAIR: &str = "-Cpasses=globalopt";

/// For crates that know C's types by the processor: those of x86-64, which the runtime has on all machines. Code
/// generation sees the true one.
pub(crate) const C_OF_X86_64: [&str; 3] = ["--cfg", "target_arch=\"x86_64\"", "-Aexplicit_builtin_cfgs_in_flags"];
