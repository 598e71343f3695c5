//! Which launch and kernel a message is of.

use std::path::Path;
use std::sync::{Arc, Mutex};

use behaviours_services::Numbered;
use behaviours_services::soaked::STREAMS;
use hostcall_stream::{Access, Dispatch, Streams};
use hostcall_tests::{Bench, bundle, device_spec, slow};
use offload::{Args, Device, DeviceKind, Launch, LaunchEvent, Memory, Program, Queue, SimConfig, Watch};

use crate::listening::start;

/// Lanes of a launch.
const LANES: u32 = 64;
/// Messages of each wave in a launch of `soak_streams`.
const MESSAGES: u32 = 4;

/// A device with the program, and what its kernels write.
struct Ours {
    queue: Queue,
    program: Program,
    notes: Memory<[u64; 6]>,
    outcomes: Memory<[u32; 3]>,
}

impl Ours {
    fn new(queue: &Queue, program: &Program) -> Self {
        let device = queue.device();
        let (notes, outcomes) = (device.alloc(LANES as usize * STREAMS).expect("memory"), device.alloc(LANES as usize).expect("memory"));
        Self { queue: queue.clone(), program: program.clone(), notes, outcomes }
    }

    fn launch(&self, kernel: &str, args: Args) {
        let kernel = self.program.kernel(kernel).expect("a kernel");
        // SAFETY: what it writes has as many elements as the kernel takes it to have, and lives as long as `self`, who
        // waits.
        unsafe { self.queue.launch(&kernel, Launch::threads(LANES, 64), args) }.expect("it is launched");
    }

    /// Values of `Numbered` that say `index`.
    fn soak(&self, index: u32) {
        self.launch("soak_streams", Args::new().value(5u64).value(index).value(MESSAGES).slice(&self.notes));
    }

    /// Values of `Numbered` whose lanes are above all others.
    fn numbered(&self) {
        self.launch("stream_numbered", Args::new().value(2u32).value(u64::MAX).slice(&self.outcomes));
    }
}

/// A value, and what was said of its launch.
type Said = (Numbered, Dispatch);

/// The kernels that are launched on a device, by number from 1 on.
type Log = Arc<Mutex<Vec<(u64, String)>>>;

fn log(device: &Device) -> (Log, Watch) {
    let log = Log::default();
    let theirs = log.clone();
    let watch = device.watch_launches(Arc::new(move |event| {
        if let LaunchEvent::Begun { number, kernel, .. } = event {
            theirs.lock().unwrap().push((number, kernel.unwrap_or("none").to_owned()));
        }
    }));
    (log, watch)
}

/// The kernel whose value it is.
fn sender(value: &Numbered) -> &'static str {
    if value.lane > u32::MAX / 2 { "stream_numbered" } else { "soak_streams" }
}

/// Looks that each value is of its launch. `exact`: otherwise it may be unknown.
fn check(said: &[Said], log: &[(u64, String)], exact: bool) {
    let soaks: Vec<u64> = log.iter().filter(|(_, kernel)| kernel == "soak_streams").map(|(number, _)| *number).collect();
    for (value, dispatch) in said {
        assert!(dispatch.kernel == Some(sender(value)) || !exact && dispatch.kernel.is_none(), "{value:?} is said to be of {dispatch}");
        let Some(number) = dispatch.number else {
            assert!(!exact, "{value:?}: {dispatch}");
            continue;
        };
        if sender(value) == "soak_streams" {
            assert_eq!(number, soaks[(value.number / 4 / MESSAGES) as usize], "{value:?}");
        } else {
            assert!(log.contains(&(number, "stream_numbered".into())), "{value:?}: {dispatch}");
        }
    }
}

/// Whether waves say which launch they are of: on AMD GPUs they know no number.
fn knows_numbers(bench: &Bench) -> bool {
    matches!(bench.device.info().kind, DeviceKind::Sim | DeviceKind::Cuda)
}

/// What a recording says of `Numbered`.
fn recorded(path: &Path) -> Vec<Said> {
    let mut reader = hostcall_stream::open(path).expect("a recording");
    let mut said = Vec::new();
    while let Some(message) = reader.next().expect("it is whole") {
        if message.schema.name == "Numbered" {
            let (units, _) = message.bytes().as_chunks::<4>();
            let units: Vec<u32> = units.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
            said.extend(
                units.as_chunks::<2>().0.iter().map(|[lane, number]| (Numbered { lane: *lane, number: *number }, message.dispatch)),
            );
        }
    }
    said
}

fn sorted(said: &[Said]) -> Vec<(u32, u32, Dispatch)> {
    let mut all: Vec<_> = said.iter().map(|(value, dispatch)| (value.lane, value.number, *dispatch)).collect();
    all.sort_unstable();
    all
}

#[test]
fn two_kernels_send_to_one_stream_in_far_more_launches_than_a_message_can_number_and_each_value_says_which() {
    let bench = Bench::new(|builder| builder);
    let (log, _watch) = log(&bench.device);
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("run.hcs");
    let said = Arc::new(Mutex::new(Vec::<Said>::new()));
    let streams = start(&bench, |builder| {
        let said = said.clone();
        builder.each::<Numbered>(move |origin, value| said.lock().unwrap().push((*value, origin.dispatch))).record(&path)
    });
    let ours = Ours::new(&bench.queue, &bench.program);
    // Between two waits fewer than 1024, so that each is known however late threads look.
    let (bursts, pairs) = if slow() { (2, 20) } else { (3, 250) };
    for burst in 0..bursts {
        for index in 0..pairs {
            ours.soak(burst * pairs + index);
            ours.numbered();
        }
        streams.wait(&bench.queue).expect("nothing is lost");
    }
    drop(streams);
    let (said, log) = (said.lock().unwrap(), log.lock().unwrap());
    assert!(slow() || log.last().is_some_and(|(number, _)| *number > 1024), "numbers in messages begin again");
    assert_eq!(said.iter().filter(|(value, _)| sender(value) == "stream_numbered").count() as u32, bursts * pairs * LANES * 2);
    assert!(said.iter().any(|(value, _)| sender(value) == "soak_streams"));
    check(&said, &log, knows_numbers(&bench));
    assert_eq!(sorted(&recorded(&path)), sorted(&said), "the recording says the same");
}

#[test]
fn kernels_none_of_which_is_ever_alone_are_told_apart() {
    let bench = Bench::new(|builder| builder);
    let (log, _watch) = log(&bench.device);
    let said = Arc::new(Mutex::new(Vec::<Said>::new()));
    let theirs = said.clone();
    let streams =
        start(&bench, |builder| builder.each::<Numbered>(move |origin, value| theirs.lock().unwrap().push((*value, origin.dispatch))));
    let queues = [(); 2].map(|()| bench.device.queue().expect("a queue"));
    let [soaking, numbering] = queues.each_ref().map(|queue| Ours::new(queue, &bench.program));
    let pairs = if slow() { 10 } else { 200 };
    for index in 0..pairs {
        numbering.numbered();
        soaking.soak(index);
    }
    queues.iter().for_each(|queue| drop(streams.wait(queue).expect("nothing is lost")));
    let (said, log) = (said.lock().unwrap(), log.lock().unwrap());
    assert_eq!(said.iter().filter(|(value, _)| sender(value) == "stream_numbered").count() as u32, pairs * LANES * 2);
    check(&said, &log, knows_numbers(&bench));
}

#[test]
fn what_a_graph_sends_and_what_is_launched_behind_it_is_never_said_to_be_of_another_kernel() {
    let bench = Bench::new(|builder| builder);
    let recording = bench.device.queue().expect("a queue");
    let said = Arc::new(Mutex::new(Vec::<Said>::new()));
    let theirs = said.clone();
    let streams =
        start(&bench, |builder| builder.each::<Numbered>(move |origin, value| theirs.lock().unwrap().push((*value, origin.dispatch))));
    let [ours, recorded] = [&bench.queue, &recording].map(|queue| Ours::new(queue, &bench.program));
    if let Err(error) = recording.begin_capture() {
        println!("skipped: {error}");
        return;
    }
    recorded.numbered();
    let graph = recording.end_capture().expect("a graph");
    let rounds = 20;
    for round in 0..rounds {
        for part in 0..5 {
            ours.soak(round * 6 + part);
            // SAFETY: what its kernel writes lives as long as `recorded`, and the queue is waited for.
            unsafe { recording.launch_graph(&graph) }.expect("it is launched");
        }
        streams.wait(&recording).expect("nothing is lost");
        streams.wait(&bench.queue).expect("nothing is lost");
        // Behind all of them, and alone.
        ours.soak(round * 6 + 5);
        streams.wait(&bench.queue).expect("nothing is lost");
    }
    let said = said.lock().unwrap();
    assert_eq!(said.iter().filter(|(value, _)| sender(value) == "stream_numbered").count() as u32, rounds * 5 * LANES * 2);
    for (value, dispatch) in &*said {
        let right = dispatch.kernel.is_none() || dispatch.kernel == Some(sender(value));
        assert!(right, "{value:?} is said to be of {dispatch}");
        let alone = sender(value) == "soak_streams" && value.number / 4 / MESSAGES % 6 == 5;
        assert!(!alone || dispatch.kernel == Some("soak_streams"), "{value:?} was alone, and is said to be of {dispatch}");
    }
}

#[test]
fn launches_of_several_devices_are_told_apart() {
    if !device_spec().starts_with("sim") {
        println!("skipped: it makes devices of its own, which the simulator has as many of as one likes");
        return;
    }
    let devices = [(); 2].map(|()| Device::sim(SimConfig::default()).expect("a simulator"));
    let said = Arc::new(Mutex::new(Vec::<Said>::new()));
    let theirs = said.clone();
    let builder = Streams::builder().each::<Numbered>(move |origin, value| theirs.lock().unwrap().push((*value, origin.dispatch)));
    let streams = builder.start(&devices[0]).expect("the threads start");
    let ours = devices.each_ref().map(|device| {
        let program = device.load(&bundle()).expect("a program");
        program.without_server();
        streams.attach(&program).expect("it is attached");
        Ours::new(&device.queue().expect("a queue"), &program)
    });
    // The same numbers, of different kernels.
    for index in 0..20 {
        ours[0].soak(index);
        ours[1].numbered();
    }
    ours.iter().for_each(|ours| drop(streams.wait(&ours.queue).expect("nothing is lost")));
    let said = said.lock().unwrap();
    for (value, dispatch) in &*said {
        assert_eq!(dispatch.kernel, Some(sender(value)), "{value:?}");
        if sender(value) == "soak_streams" {
            assert_eq!(dispatch.number, Some(u64::from(value.number / 4 / MESSAGES) + 1), "{value:?}");
        }
    }
    assert!(["soak_streams", "stream_numbered"].iter().all(|kernel| said.iter().any(|(value, _)| sender(value) == *kernel)));
}

#[test]
fn a_heat_map_says_what_each_kernel_accessed() {
    use hostcall_stream::handlers::HeatMap;
    let bench = Bench::new(|builder| builder);
    let streams = start(&bench, |builder| builder.on::<Access, _>(HeatMap::pages(4096)));
    let values = bench.device.alloc::<u32>(4096).expect("memory");
    let sums = bench.device.alloc::<u32>(LANES as usize).expect("memory");
    let shape = Launch::threads(LANES, 64);
    bench.launch("access_walk", shape, Args::new().slice(&values).value(3u32).value(1u32).slice(&sums));
    streams.wait(&bench.queue).expect("nothing is lost");
    let kinds = bench.device.alloc::<u64>(4096).expect("memory");
    bench.launch("access_kinds", shape, Args::new().slice(&kinds).slice(&sums));
    streams.wait(&bench.queue).expect("nothing is lost");
    let heat = streams.state::<Access, HeatMap>().expect("a heat map");
    let kernels: Vec<_> = heat.kernels().into_iter().map(|(_, kernel, traffic)| (kernel, traffic.accesses > 0)).collect();
    assert_eq!(kernels, [(Some("access_kinds"), true), (Some("access_walk"), true)]);
    assert_eq!(heat.kernels().iter().map(|(_, _, traffic)| traffic.accesses).sum::<u64>(), heat.all().accesses);
    let report = streams.reports_of::<HeatMap>().remove(0).to_string();
    assert!(report.contains("access_walk"), "{report}");
}
