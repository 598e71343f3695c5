//! The stubs of the built-in services.

hostcall_abi::builtin_services!(hostcall_macros::service(side = "device", krate = crate));
