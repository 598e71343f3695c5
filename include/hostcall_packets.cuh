// Packets of AMD's hostcall interface for kernels in C++, beside the calls of hostcall.cuh: for CUDA, HIP and the CPU
// simulator.
//
// `hostcall_amd_preview(buffer, service, a0, …, a7)` is one call of all lanes that run together. Buffers, and the
// threads that serve them, are libamd_hostcall's. `docs/guide/amd-hostcall.md` describes the memory, and says which
// form of a buffer a GPU can use.
#pragma once

#include "hostcall.cuh"

#include "hostcall/packets_machine.cuh"

#include "hostcall/packets.cuh"
