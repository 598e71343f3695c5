//! See [`hostcall_fuzz::two_programs`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostcall_fuzz::two_programs::run(data));
