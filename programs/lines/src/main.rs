//! Kernels in a program with std: `cargo hostcall run -p lines --kernel lines --lanes 100000 -- 1`.

#[cfg(hostcall_device)]
mod kernels;

fn main() {
    println!("a program and its kernels are one image: --kernel NAME --lanes N launches a kernel of it");
}
