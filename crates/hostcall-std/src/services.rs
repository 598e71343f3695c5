//! The stubs of the services that only programs with `std` call.

hostcall_abi::std_services!(hostcall_macros::service(side = "device", krate = hostcall_device));
