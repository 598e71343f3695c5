//! What calls cost in the names of LLVM's `rpc.h` with `hostcall_rpc.h`, and what plain calls of the same bytes cost in
//! the same program: `llvm_rpc_rate [CALLS] IMAGE...`, on the device that `HOSTCALL_TEST_DEVICE` names. One lane calls.
//! It fails if a result is wrong.

use std::path::Path;
use std::process::ExitCode;

use hostcall::{RpcSession, Server};
use hostcall_cpp_tests::{bundle, device_spec};
use offload::{Args, Device, Launch};

/// What is called beside sessions.
#[hostcall::service]
pub trait Plain {
    /// The words, the first of them one more.
    fn echo(words: [u64; 8]) -> [u64; 8];
    /// The sum of the bytes.
    fn sum(bytes: &[u8]) -> u64;
}

/// The kernels, and what they do.
const KERNELS: [(&str, &str); 6] = [
    ("rate_plain", "64 B there and back, a plain call"),
    ("rate_together", "64 B there and back, send_and_recv"),
    ("rate_apart", "64 B there and back, send, recv"),
    ("rate_known", "64 B there and back, LIBC_TEST_INCREMENT"),
    ("rate_plain_string", "100 B there, a plain call with a slice"),
    ("rate_string", "100 B there, send_n, recv"),
];

async fn echo(mut session: RpcSession) {
    session.recv().await;
    let [first, rest @ ..] = session.packet(0);
    let [b, c, d, e, f, g, h] = rest;
    session.send(|_| [first + 1, b, c, d, e, f, g, h]).await;
}

async fn sum(mut session: RpcSession) {
    let bytes = session.recv_n().await;
    let sum = bytes[0].iter().flatten().map(|byte| u64::from(*byte)).sum();
    session.send(|_| [sum, 0, 0, 0, 0, 0, 0, 0]).await;
}

fn measure(image: &Path, calls: u32) -> Result<bool, Box<dyn std::error::Error>> {
    let device = Device::open(&device_spec())?;
    let server = Server::builder(&device)
        .service(plain::echo(|[first, b, c, d, e, f, g, h]: [u64; 8]| [first + 1, b, c, d, e, f, g, h]))
        .service(plain::sum(|bytes: &[u8]| bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>()))
        .rpc(0x7800_0003, echo)
        .rpc(0x7800_0004, sum)
        .start()?;
    let program = device.load(&bundle(&device, image))?;
    server.attach(&program)?;
    let queue = device.queue()?;
    let (out, bytes) = (device.alloc::<u64>(16)?, device.alloc::<u8>(128)?);
    let mut right = true;
    for (kernel, what) in KERNELS {
        let args = Args::new().address(out.address()).address(bytes.address()).value(calls);
        // SAFETY: the kernels write three words of `out`, and 100 bytes.
        unsafe { queue.launch(&program.kernel(kernel)?, Launch::threads(1, 1), args)? };
        server.wait(&queue)?;
        let found = queue.read(&out)?;
        let us = |picoseconds: u64| picoseconds as f64 / 1e6;
        println!("| {what} | {:.3} us | {:.3} us | {} wrong |", us(found[0]), us(found[1]), found[2]);
        right &= found[2] == 0;
    }
    Ok(right)
}

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let calls = arguments.first().and_then(|first| first.parse().ok());
    if calls.is_some() {
        arguments.remove(0);
    }
    let mut right = !arguments.is_empty();
    for image in &arguments {
        println!("\n{image}, {}: least of ten times, mean\n", device_spec());
        match measure(Path::new(image), calls.unwrap_or(2000)) {
            Ok(all) => right &= all,
            Err(error) => {
                eprintln!("{image}: {error}");
                right = false;
            }
        }
    }
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
