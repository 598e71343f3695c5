//! See [`hostcall_fuzz::definitions`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostcall_fuzz::definitions::run(data));
