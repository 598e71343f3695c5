//! The host side of the built-in services' traits. Only the traits' definitions are used. Handlers work on the
//! invocation, so that files are read into staging directly, and answers may be shorter than what was asked for.

hostcall_abi::builtin_services!(hostcall_macros::service(side = "host", krate = crate));
hostcall_abi::std_services!(hostcall_macros::service(side = "host", krate = crate));
