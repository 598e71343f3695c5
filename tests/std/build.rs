//! Builds the programs against the system calls themselves.

fn main() {
    hostcall_build::program("kernels").emit();
}
