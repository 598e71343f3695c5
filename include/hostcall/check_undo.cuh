// Before PyTorch's header defines its macros, ours are taken back: a macro has one definition at a time.
#if defined(HOSTCALL_OWN_KERNEL_ASSERT)
#undef HOSTCALL_OWN_KERNEL_ASSERT
#undef CUDA_KERNEL_ASSERT
#undef CUDA_KERNEL_ASSERT_MSG
#undef CUDA_KERNEL_ASSERT_PRINTF
#endif
