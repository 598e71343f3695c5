//! See [`hostcall_fuzz::remote`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostcall_fuzz::remote::run(data));
