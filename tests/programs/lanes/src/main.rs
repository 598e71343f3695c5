//! What the lanes of kernels do that are threads: `cargo hostcall run -p lanes --kernel locks --lanes 256`.

#[cfg(hostcall_device)]
mod kernels;

fn main() {
    println!("main and the kernels are one image: --kernel NAME --lanes N launches a kernel of it");
}
