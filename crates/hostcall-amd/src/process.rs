//! What `fork` leaves of this library: a child may have consumers of its own, and must not find a lock held by a thread
//! that it has not. (What is its parent's, an [`Origin`](hostcall_error::Origin) tells.)

use std::sync::Once;

/// Makes `fork` wait until nobody holds the library's locks, and releases them on both sides.
pub(crate) fn prepare_for_fork() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the functions take and release locks of this library, in order; the child's frees memory besides,
        // which the C library allows there.
        unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after_in_child)) };
    });
}

thread_local! {
    static HELD: std::cell::RefCell<Option<crate::tables::Frozen>> = const { std::cell::RefCell::new(None) };
}

extern "C" fn before() {
    let _ = HELD.try_with(|held| held.replace(Some(crate::tables::freeze())));
}

extern "C" fn after() {
    let _ = HELD.try_with(std::cell::RefCell::take);
}

extern "C" fn after_in_child() {
    let _ = HELD.try_with(|held| {
        if let Some(frozen) = held.replace(None) {
            // Nobody here answers the packets of the parent's buffers.
            frozen.forget_buffers();
        }
    });
}
