//! A kernel each of whose lanes formats and writes lines: `cargo hostcall run -p lines --kernel lines --lanes 100000 --
//! 1`.

#[cfg(hostcall_device)]
mod kernels;

fn main() {
    println!("main and the kernel are one image: --kernel NAME --lanes N launches it");
}
