//! An embedding lookup in the simulator, with an index that is out of range: examples/asserts.

use hostcall::Server;
use hostcall_cpp_tests::{assert_images, bundle};
use offload::{Args, Device, Launch};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (_, image) = assert_images().pop().ok_or("there is no C++ compiler")?;
    let device = Device::open("sim")?;
    let server = Server::builder(&device).start()?;
    let program = device.load(&bundle(&device, &image))?;
    server.attach(&program)?;
    let (queue, kernel) = (device.queue()?, program.kernel("embedding")?);
    let (count, width, rows) = (100u32, 8u32, 50_257i64);
    let [out, table] = [u64::from(count), rows as u64].map(|len| device.alloc::<f32>(len as usize * width as usize));
    let (out, table, index) = (out?, table?, device.alloc::<i64>(count as usize)?);
    queue.copy_to(&table, 0, &vec![1.0; rows as usize * width as usize])?;
    let mut wanted: Vec<i64> = (0..i64::from(count)).map(|i| i * 50).collect();
    wanted[17] = rows;
    for launch in 0..2 {
        queue.copy_to(&index, 0, &wanted)?;
        let args = Args::new().address(out.address()).address(table.address()).address(index.address());
        let args = args.value(count).value(width).value(rows).value(0u64);
        // SAFETY: the kernel reads and writes what its arguments say, and refuses an index that is out of range.
        unsafe { queue.launch(&kernel, Launch::threads(count * width, 128), args)? };
        match server.wait(&queue) {
            Ok(()) => println!("launch {launch}: no error"),
            Err(error) => println!("launch {launch}: {error}"),
        }
        wanted[17] = 0;
    }
    Ok(())
}
