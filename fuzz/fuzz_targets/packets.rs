//! See [`hostcall_fuzz::packets`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostcall_fuzz::packets::run(data));
