//! Ending a kernel from within: `exit` and `abort`.

use crate::builtin::Process;
use crate::wave;
use core::sync::atomic::{AtomicU32, Ordering};

#[cfg(target_os = "hermit")]
unsafe extern "C" {
    /// The runtime's [`end_lane`].
    #[link_name = "sys_lane_end"]
    safe fn end_in_runtime() -> !;
}

/// Not 0 when a lane learnt that the kernel ends, or ended it: lanes that wait on the device, where no call tells them, look here.
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
    #[cfg(target_os = "hermit")]
    end_in_runtime();
    #[cfg(not(target_os = "hermit"))]
    {
        // Pairs with `is_ended`.
        ENDED.store(1, Ordering::Relaxed);
        #[cfg(all(feature = "helpers", target_arch = "nvptx64"))]
        crate::arch::current::helpers::dismiss();
        crate::arch::current::exit_lane()
    }
}

/// Ends the kernel: the host learns the code, this lane ends here, and every other at its next call.
///
/// The context stays usable, and whatever the kernel printed or wrote before is delivered.
pub fn exit(code: i32) -> ! {
    // A host that is gone cannot be told; the lane ends all the same.
    let _ = Process::exit(code);
    end_lane()
}

/// Ends the kernel as failed, without a message.
pub fn abort() -> ! {
    // As in `exit`.
    let _ = Process::abort(wave::group_id(), wave::local_id());
    end_lane()
}
