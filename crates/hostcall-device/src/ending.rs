//! The end of lanes whose kernel ends.

use core::sync::atomic::{AtomicU32, Ordering};

#[cfg(target_vendor = "hostcall")]
unsafe extern "C" {
    /// The runtime's [`end_lane`].
    #[link_name = "sys_lane_end"]
    safe fn end_in_runtime() -> !;
}

/// Not 0 when a lane learnt that the kernel ends, or ended it: lanes that wait on the device, where no call tells them,
/// look here.
static ENDED: AtomicU32 = AtomicU32::new(0);

/// Whether the kernel is known to end.
#[inline(always)]
pub(crate) fn is_ended() -> bool {
    // Relaxed, as the store: who waits looks again and again.
    ENDED.load(Ordering::Relaxed) != 0
}

/// Ends the calling lane, whose kernel ends.
#[cold]
#[inline(never)]
pub(crate) fn end_lane() -> ! {
    #[cfg(target_vendor = "hostcall")]
    end_in_runtime();
    #[cfg(not(target_vendor = "hostcall"))]
    {
        // Pairs with `is_ended`.
        ENDED.store(1, Ordering::Relaxed);
        crate::arch::current::wake_patient(hostcall_abi::sim::WHATEVER);
        #[cfg(all(feature = "helpers", target_arch = "nvptx64"))]
        crate::arch::current::helpers::dismiss();
        crate::arch::current::exit_lane()
    }
}
