# `sigsetjmp` and `siglongjmp` on x86-64: no signal comes, so there is no mask of signals to keep.
.globl sigsetjmp
.globl __sigsetjmp
.globl siglongjmp
sigsetjmp:
__sigsetjmp:
	jmp setjmp@PLT
siglongjmp:
	jmp longjmp@PLT
.section .note.GNU-stack,"",@progbits
