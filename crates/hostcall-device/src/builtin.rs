//! The stubs of the built-in services.

hostcall_abi::builtin_services!(hostcall_macros::service(side = "device", krate = crate));

/// The word of `Process::failed`, which `failure.rs` posts without its stub.
#[inline(always)]
pub(crate) fn failed_word() -> &'static crate::ServiceWord {
    &__HOSTCALL__Process__failed
}
