/* Kernels in the names of LLVM's `rpc.h`, over LLVM's wire. */
#include "llvm_rpc_names.h"

extern "C" {
wire::Client __llvm_rpc_client;
}

#define DEVICE static inline
#define CLIENT rpc::Client()
#define ITEM (__gpu_block_id_x() * __gpu_num_threads_x() + __gpu_thread_id_x())
#define KERNEL2(name, T1, a1, T2, a2) OFFLOAD_KERNEL2(name, T1, a1, T2, a2)

#include "llvm_rpc_body.h"
