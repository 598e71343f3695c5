//! Ending a kernel from within: `exit` and `abort`.

use crate::builtin::Process;
use crate::ending::end_lane;
use crate::wave;

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
