//! Builds the kernels of `demo`.

fn main() {
    hostcall_build::program("../../examples/wordcount/kernel").emit();
}
