//! See [`hostcall_fuzz::hostile_device`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostcall_fuzz::hostile_device::run(data));
