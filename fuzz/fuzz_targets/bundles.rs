//! See [`hostcall_fuzz::bundles`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostcall_fuzz::bundles::run(data));
