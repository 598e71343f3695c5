//! What two kernels say of themselves, kept as Parquet and asked about in SQL. The kernels are in
//! `examples/heatmap/kernel`: they add up the rows and the columns of a matrix, and say what they access and how long
//! each lane takes.
//!
//! `cargo run --release -p hostcall-examples --features sinks --example analysis -- run7` prints the queries' answers
//! if there is a `duckdb`, and the commands to run if not.

use std::error::Error;
use std::process::Command;

use hostcall::{Args, Device, DeviceKind, Launch, Server};
use hostcall_build::{ProgramSpec, Target, build_program};
use hostcall_sinks::Parquet;
use hostcall_stream::{Access, Interval, Streams};

/// Rows and columns of the matrix.
const SIDE: u32 = 64;

/// What is asked: how long lanes take by launch, and how many accesses each page of memory sees.
const QUERIES: [(&str, &str); 2] = [
    (
        "Interval",
        "select launch, count(*) as lanes, avg(\"end\" - start)::bigint as mean_ns, max(\"end\" - start) as max_ns from stream group by launch order by launch",
    ),
    // The low 56 bits of an access are its address, the next two its kind; see `hostcall_stream::Access`.
    (
        "Access",
        "select launch, (bits & 72057594037927935) >> 12 as page, count(*) as accesses from stream group by all order by accesses desc limit 5",
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).ok_or("give a directory, which is made")?;
    let (device, why) = Device::choose();
    println!("{why}");
    let target = if device.info().kind == DeviceKind::Sim { Target::Sim } else { Target::nvptx() };
    let kernels = concat!(env!("CARGO_MANIFEST_DIR"), "/heatmap/kernel");
    let built = build_program(&ProgramSpec { targets: vec![target], ..ProgramSpec::new(kernels) })?;
    let program = device.load(&built.bundle)?;
    let server = Server::builder(&device).start()?;
    server.attach(&program)?;
    let streams = Streams::builder().sink(Parquet::to(&directory).open()?).start(&device)?;
    streams.attach(&program)?;

    let queue = device.queue()?;
    let matrix = device.alloc::<f32>((SIDE * SIDE) as usize)?;
    queue.copy_to(&matrix, 0, &vec![1.0; (SIDE * SIDE) as usize])?;
    let sums = device.alloc::<f32>(SIDE as usize)?;
    for kernel in ["sum_rows", "sum_columns"] {
        let args = Args::new().slice(&matrix).slice(&sums);
        // SAFETY: the kernel takes two slices of `f32`; both outlive the launch, which `wait` waits for.
        unsafe { queue.launch(&program.kernel(kernel)?, Launch::threads(SIDE, 32), args)? };
        server.wait(&queue)?;
        println!("{}", streams.wait(&queue)?);
    }
    drop(streams);

    // Back as values of their types.
    let mut accesses = 0;
    for rows in hostcall_sinks::open::<Access>(&directory)? {
        accesses += rows?.values.iter().filter(|access| access.kind().reads()).count();
    }
    assert_eq!(accesses, 2 * (SIDE * SIDE) as usize, "each element is read by both kernels");
    let intervals = hostcall_sinks::open::<Interval>(&directory)?.map(|rows| rows.map(|rows| rows.values.len()));
    println!("{accesses} reads and {} intervals in {directory}", intervals.sum::<Result<usize, _>>()?);
    for (stream, query) in QUERIES {
        let query = query
            .replace("from stream", &format!("from read_parquet('{directory}/stream={stream}/**/*.parquet', hive_partitioning = true)"));
        match Command::new("duckdb").args(["-c", &query]).status() {
            Ok(status) if status.success() => {}
            Ok(status) => return Err(format!("duckdb: {status}").into()),
            Err(_) => println!("duckdb -c {query:?}"),
        }
    }
    Ok(())
}
