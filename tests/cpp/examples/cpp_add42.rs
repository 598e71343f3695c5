//! The host of the first example of docs/guide/cpp.md. `add42.so`, in the current directory, is examples/cuda/add42.cu,
//! compiled for the simulator.

use hostcall::Server;
use hostcall_cpp_tests::services::host;
use offload::{Args, Device, Launch};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::open("sim")?;
    let log = host::log(|text: &str| println!("{text}"));
    let server = Server::builder(&device).service(host::add42(|x| x + 42.0)).service(log).start()?;
    let program = device.load_file("add42", &std::fs::read("add42.so")?)?;
    server.attach(&program)?;
    let y = device.alloc::<f32>(100)?;
    let queue = device.queue()?;
    queue.copy_to(&y, 0, &std::array::from_fn::<f32, 100, _>(|i| i as f32))?;
    // SAFETY: `y` has the 100 elements that the kernel writes.
    unsafe { queue.launch(&program.kernel("demo")?, Launch::threads(100, 32), Args::new().slice(&y))? };
    server.wait(&queue)?;
    println!("{:?}", queue.read(&y)?);
    Ok(())
}
