//! The machines a kernel can run on. Each module offers the same items; exactly one is compiled in as
//! [`current`].
//!
//! * `Machine`: a copy of what the descriptor says, implementing [`hostcall_abi::port::Arch`];
//! * lane and workgroup coordinates;
//! * `converged_at`, `fence_system`, `sync_group`, `group_scratch`, `exit_lane`, `trap`, `wake_patient`;
//! * bulk loads and stores of host memory;
//! * what the rings of streams need (`ring.rs`);
//! * what AMD's packets need (`packet_words`).

/// What every machine's `Arch` reads from the descriptor.
macro_rules! from_descriptor {
    () => {
        #[inline(always)]
        fn ports(self) -> u32 {
            descriptor().ports
        }

        #[inline(always)]
        fn request_words(self) -> u32 {
            descriptor().request_words
        }

        #[inline(always)]
        fn reply_words(self) -> u32 {
            descriptor().reply_words
        }

        #[inline(always)]
        fn lone_stride(self) -> u32 {
            descriptor().lone_stride
        }

        #[inline(always)]
        fn has_window(self) -> bool {
            descriptor().window != 0
        }
    };
}

mod ring;

#[cfg(target_arch = "nvptx64")]
#[path = "nvptx.rs"]
pub(crate) mod current;

#[cfg(target_arch = "amdgpu")]
#[path = "amdgpu.rs"]
pub(crate) mod current;

#[cfg(not(any(target_arch = "nvptx64", target_arch = "amdgpu")))]
#[path = "sim.rs"]
pub(crate) mod current;
