/* What musl keeps of a thread: `thread.c` has it for each. */
unsigned long hostcall_c_thread(void);
static inline uintptr_t __get_tp(void) { return hostcall_c_thread(); }
