//! See [`hostcall_fuzz::decode_arguments`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostcall_fuzz::decode_arguments::run(data));
