//! The stubs of the built-in services.
#![expect(missing_docs, reason = "the table in hostcall_abi::services documents them; these stubs are not public")]

hostcall_abi::builtin_services!(hostcall_macros::service(side = "device", krate = crate));
