//! See [`hostcall_fuzz::hsa_packets`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostcall_fuzz::hsa_packets::run(data));
