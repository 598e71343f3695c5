// hostcall for kernels in C++: calls from a GPU to its host while the kernel runs.
//
// The client half of the wire in C++17, without standard headers: for nvcc, clang and NVRTC (NVIDIA), for clang as HIP
// (AMD), and for g++ and clang++ as the CPU simulator builds kernels. It is the Rust client
// (`hostcall_abi::port::Client` and the crate `hostcall-device`), function by function. `docs/guide/cpp.md` says how to
// use it; `docs/reference/protocol.md` describes the wire.
//
// A file under `hostcall/` includes nothing: this one includes all of them, in order, so that NVRTC needs their names
// only.
#pragma once

#include "hostcall_abi.h"

#include "hostcall/config.cuh"

#if defined(HOSTCALL_MACHINE_SIM)
#include "hostcall/machine_sim.cuh"
#elif defined(HOSTCALL_MACHINE_AMD)
#include "hostcall/machine_amd.cuh"
#else
#include "hostcall/machine_nvidia.cuh"
#endif

#include "hostcall/wire.cuh"
#include "hostcall/client.cuh"
#include "hostcall/types.cuh"
#include "hostcall/codec.cuh"
#include "hostcall/service.cuh"
#include "hostcall/answer.cuh"
#include "hostcall/fixed_call.cuh"
#include "hostcall/copy.cuh"
#include "hostcall/staging.cuh"
#include "hostcall/together.cuh"
#include "hostcall/call.cuh"
#include "hostcall/failure.cuh"
#include "hostcall/kernel.cuh"
#include "hostcall/rings.cuh"
#include "hostcall/stream.cuh"
#include "hostcall/stream_bytes.cuh"
#include "hostcall/builtin.cuh"
#include "hostcall/print.cuh"
