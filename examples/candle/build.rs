//! Builds the kernel for NVIDIA GPUs.

use hostcall_build::Target;

fn main() {
    hostcall_build::program("../add42/kernel").targets([Target::nvptx()]).emit();
}
