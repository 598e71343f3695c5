//! See [`hostcall_fuzz::tablegen`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostcall_fuzz::tablegen::run(data));
