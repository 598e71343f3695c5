//! See [`hostcall_fuzz::streams`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostcall_fuzz::streams::run(data));
