//! See [`hostcall_fuzz::policy_paths`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostcall_fuzz::policy_paths::run(data));
