/* The functions of the library of v0 under the names that this library's header gives them: each goes on in the function
   of AMD's name, with whatever its registers hold. */
#if defined(__x86_64__)
#define GO(to) "jmp " to "@PLT"
#elif defined(__aarch64__)
#define GO(to) "b " to
#else
#error "how this processor jumps is not known"
#endif
#define ALSO(name)                                                                                          \
  __asm__(".text\n.globl hostcall_amd_v0_" name "\n.type hostcall_amd_v0_" name ", %function\nhostcall_amd_v0_" name \
          ":\n" GO("amd_hostcall_" name) "\n.size hostcall_amd_v0_" name ", .-hostcall_amd_v0_" name "\n")
ALSO("create_consumer");
ALSO("destroy_consumer");
ALSO("register_service");
ALSO("register_buffer");
ALSO("on_error");
