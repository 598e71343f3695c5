//! The machines a kernel can run on. Each module offers the same items; exactly one is compiled in as
//! [`current`].
//!
//! * `Machine`: a copy of what the descriptor says, implementing [`hostcall_abi::port::Arch`];
//! * lane and workgroup coordinates;
//! * `converged_at`, `fence_system`, `sync_group`, `group_scratch`, `exit_lane`, `trap`;
//! * bulk loads and stores of host memory.

#[cfg(target_arch = "nvptx64")]
#[path = "nvptx.rs"]
pub(crate) mod current;

#[cfg(target_arch = "amdgpu")]
#[path = "amdgpu.rs"]
pub(crate) mod current;

#[cfg(not(any(target_arch = "nvptx64", target_arch = "amdgpu")))]
#[path = "sim.rs"]
pub(crate) mod current;
