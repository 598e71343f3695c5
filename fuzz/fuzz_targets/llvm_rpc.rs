//! See [`hostcall_fuzz::llvm_rpc`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostcall_fuzz::llvm_rpc::run(data));
