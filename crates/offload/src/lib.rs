//! Safe Rust over devices: platforms, devices, queues, programs, kernels, globals, memory and events, on the CPU simulator and on CUDA.
