//! Instrumented programs, whose source says nothing of streams: what is counted is what they do.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use hostcall::Server;
use hostcall_build::{BuildError, DeviceToolchain, ProgramSpec, Target, build_program};
use hostcall_stream::handlers::{BankConflicts, Banks, ByKernel, CacheLines, HeatMap, Intervals, LineUse, Steps};
use hostcall_stream::{Access, AccessKind, Handler, Interval, Message, Step, StepKind, Streams};
use object::{Object as _, ObjectSymbol as _};
use offload::{Args, Device, Launch, Program, Queue};
use support::Ran;

const SOURCE: &str = include_str!("../../hostcall-build/tests/fixtures/probed/src/lib.rs");

fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../hostcall-build/tests/fixtures/probed")
}

/// The number of the line with that comment.
fn line(comment: &str) -> u32 {
    let at = SOURCE.lines().position(|line| line.ends_with(&format!("// {comment}")));
    at.unwrap_or_else(|| panic!("no line ends with `// {comment}`")) as u32 + 1
}

/// The kernels on the simulator, instrumented.
struct Probed {
    device: Device,
    program: Program,
    queue: Queue,
    streams: Streams,
    _server: Server,
}

impl Probed {
    /// `None`: programs cannot be instrumented here, which is said.
    fn new(device: &str, instrument: &str) -> Option<Self> {
        if let Err(error) = DeviceToolchain::find() {
            println!("not run: {error}");
            return None;
        }
        let spec = ProgramSpec {
            targets: vec![Target::Sim],
            target_dir: Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("probed")),
            instrument: Some(instrument.parse().expect("a good list")),
            ..ProgramSpec::new(kernels())
        };
        let built = match build_program(&spec) {
            Err(error @ BuildError::Missing { .. }) => {
                println!("not run: {error}");
                return None;
            }
            built => built.unwrap_or_else(|error| panic!("{error}")),
        };
        let device = Device::open(device).expect("a simulator");
        let program = device.load(&built.bundle).expect("it loads");
        let server = Server::builder(&device).start().expect("a server");
        server.attach(&program).expect("attached");
        let streams = Streams::builder()
            .on::<Access, _>(ByKernel(CacheLines::default()))
            .on::<Access, _>(ByKernel(HeatMap::pages(4096)))
            .on::<Access, _>(ByKernel(BankConflicts::of(Banks::nvidia())))
            .on::<Step, _>(ByKernel(Steps))
            .on::<Interval, _>(ByKernel(Intervals::default()))
            .start(&device)
            .expect("streams");
        streams.attach(&program).expect("attached");
        let queue = device.queue().expect("a queue");
        Some(Self { device, program, queue, streams, _server: server })
    }

    fn launch(&self, kernel: &str, launch: Launch, args: Args) {
        let kernel = self.program.kernel(kernel).expect("the kernel");
        // SAFETY: the callers pass what the kernels of the fixture take, and what is passed outlives the launch.
        unsafe { self.queue.launch(&kernel, launch, args) }.expect("launched");
        let summary = self.streams.wait(&self.queue).expect("all messages came");
        assert!(summary.streams.iter().all(|stream| stream.dropped == 0), "{summary}");
    }

    fn state<M: Message, H: Handler<M>>(&self) -> H::State {
        self.streams.state::<M, H>().expect("the handler listens")
    }

    fn line_of(&self, site: u32) -> u32 {
        let site = self.streams.sites().get(site).expect("each message has a place");
        assert_eq!(site.file.as_str(), "src/lib.rs");
        site.line
    }

    /// What each line of a kernel touches.
    fn lines(&self, kernel: &str) -> Vec<(u32, AccessKind, LineUse)> {
        let state = self.state::<Access, ByKernel<CacheLines>>();
        let rows = state.get(kernel).map(|lines| lines.rows()).unwrap_or_default();
        let mut rows: Vec<_> = rows.into_iter().map(|(site, kind, used)| (self.line_of(site), kind, used)).collect();
        rows.sort_by_key(|(line, kind, _)| (*line, *kind));
        rows
    }
}

/// Accesses of waves and of lanes, bytes, sectors, and the least sectors.
fn said(used: &LineUse) -> (u64, u64, u64, u64, u64) {
    (used.accesses, used.lanes, used.bytes, used.sectors, used.least_sectors)
}

#[test]
fn accesses_of_kernels_are_counted_exactly_by_kernel_and_line() {
    let Some(probed) = Probed::new("sim", "access") else { return };
    let [from, to] = [4096, 4096].map(|count| probed.device.alloc::<u32>(count).expect("memory"));
    probed.queue.copy_to(&from, 0, &[5; 4096]).expect("written");
    // 96 lanes, of which 80 have an element.
    let part = probed.device.alloc::<u32>(80).expect("memory");
    probed.launch("copy", Launch::threads(96, 32), Args::new().slice(&from).slice(&part));
    let copies = line("copies");
    let rows = probed.lines("copy");
    assert_eq!(
        rows.iter().map(|(line, kind, _)| (*line, *kind)).collect::<Vec<_>>(),
        [(copies, AccessKind::Read), (copies, AccessKind::Write)]
    );
    for (_, _, used) in &rows {
        assert_eq!(said(used), (3, 80, 320, 4 + 4 + 2, 4 + 4 + 2));
    }
    assert_eq!(probed.queue.read(&part).expect("read"), vec![6; 80]);

    // 64 lanes read a line each, and write side by side.
    probed.launch("columns", Launch::threads(64, 32), Args::new().slice(&from).slice(&to));
    let rows = probed.lines("columns");
    assert_eq!(
        rows.iter().map(|(line, kind, used)| (*line, *kind, said(used))).collect::<Vec<_>>(),
        [(line("a column"), AccessKind::Read, (2, 64, 256, 64, 8)), (line("a row"), AccessKind::Write, (2, 64, 256, 8, 8)),]
    );
    assert_eq!(rows[0].2.in_words(), "32 lanes touch 32 sectors, 4 would do");

    // The function that two kernels call is told apart by them.
    probed.launch("first", Launch::threads(32, 32), Args::new().slice(&from).slice(&to));
    probed.launch("second", Launch::threads(64, 32), Args::new().slice(&from).slice(&to));
    for (kernel, waves) in [("first", 1), ("second", 2)] {
        let rows = probed.lines(kernel);
        let counted: Vec<_> = rows.iter().map(|(line, kind, used)| (*line, *kind, used.accesses, used.lanes)).collect();
        let its = |comment: &str, kind| (line(comment), kind, waves, 32 * waves);
        assert_eq!(
            counted,
            [its("one of a pair", AccessKind::Read), its("and the other", AccessKind::Read), its(kernel, AccessKind::Write)]
        );
    }
}

#[test]
fn atomic_operations_single_bytes_and_copies_are_what_they_are() {
    let Some(probed) = Probed::new("sim", "access") else { return };
    let bytes = probed.device.alloc::<u8>(64).expect("memory");
    probed.queue.copy_to(&bytes, 0, &(0..64).map(|i| i % 4).collect::<Vec<u8>>()).expect("written");
    let bins = probed.device.alloc::<u32>(256).expect("memory");
    probed.queue.copy_to(&bins, 0, &[0; 256]).expect("written");
    probed.launch("histogram", Launch::threads(64, 32), Args::new().slice(&bytes).address(bins.address()));
    assert_eq!(probed.queue.read(&bins).expect("read")[..5], [16, 16, 16, 16, 0]);
    let rows = probed.lines("histogram");
    assert_eq!(
        rows.iter().map(|(line, kind, used)| (*line, *kind, said(used))).collect::<Vec<_>>(),
        [
            (line("what is counted"), AccessKind::Read, (2, 64, 64, 2, 2)),
            // 32 lanes to four words.
            (line("counts"), AccessKind::Atomic, (2, 64, 32, 2, 2)),
        ]
    );

    let [from, to] = [64, 64].map(|count| probed.device.alloc::<[u32; 75]>(count).expect("memory"));
    probed.launch("barrier", Launch::threads(64, 32), Args::new().slice(&from).slice(&to));
    let state = probed.state::<Access, ByKernel<HeatMap>>();
    let traffic = state.get("barrier").expect("it ran").all();
    assert_eq!((traffic.reads, traffic.writes), (traffic.accesses / 2, traffic.accesses / 2));
    assert_eq!(traffic.bytes, 64 * 2 * 300, "each of 64 lanes reads and writes 300 bytes, in pieces");
}

#[test]
fn stacks_are_left_out_whoever_is_given_their_address() {
    for device in ["sim", "sim:threads"] {
        let Some(probed) = Probed::new(device, "access") else { return };
        let to = probed.device.alloc::<u32>(64).expect("memory");
        probed.launch("stacks", Launch::threads(64, 32), Args::new().slice(&to));
        let rows = probed.lines("stacks");
        let counted: Vec<_> = rows.iter().map(|(line, kind, used)| (*line, *kind, used.accesses, used.lanes)).collect();
        assert_eq!(counted, [(line("off the stack"), AccessKind::Write, 2, 64)], "{device}");
    }
}

#[test]
fn lanes_that_part_are_counted_in_the_rounds_that_they_make() {
    for device in ["sim", "sim:seed=7", "sim:lanes=64"] {
        let Some(probed) = Probed::new(device, "access,loops") else { return };
        let to = probed.device.alloc::<u64>(32).expect("memory");
        probed.launch("triangle", Launch::threads(32, 32), Args::new().slice(&to));
        let rows = probed.lines("triangle");
        let [(at, AccessKind::Write, used)] = rows[..] else { panic!("{rows:?}") };
        assert_eq!((at, used.lanes), (line("rounds"), (0..32).sum()), "{device}");
        let steps = probed.state::<Step, ByKernel<Steps>>();
        let rows = steps.get("triangle").expect("it ran").rows();
        let loops: Vec<_> = rows.iter().filter(|((_, kind, _), _)| *kind == StepKind::Loop).collect();
        // (The compiler may make two of it, with several rounds at once in one.)
        assert!(
            !loops.is_empty() && loops.iter().all(|((site, ..), used)| probed.line_of(*site) + 2 == line("rounds") && used.lanes > 31),
            "{rows:?}"
        );
        let [kernel] = rows.iter().filter(|((_, kind, _), _)| *kind == StepKind::Kernel).collect::<Vec<_>>()[..] else {
            panic!("{rows:?}")
        };
        assert_eq!((kernel.1.steps, kernel.1.lanes), (1, 32));
    }
}

#[test]
fn waits_at_barriers_and_runs_of_kernels_are_intervals() {
    let Some(probed) = Probed::new("sim", "barriers,blocks") else { return };
    let [from, to] = [64, 64].map(|count| probed.device.alloc::<[u32; 75]>(count).expect("memory"));
    probed.launch("barrier", Launch::threads(64, 64), Args::new().slice(&from).slice(&to));
    assert_eq!(probed.lines("barrier"), [], "accesses were not asked for");
    let times = probed.state::<Interval, ByKernel<Intervals>>();
    let rows = times.get("barrier").expect("it ran").rows();
    let rows: Vec<_> = rows.iter().map(|(label, site, measured)| (*label, probed.line_of(*site), measured.times.count())).collect();
    let kernel = SOURCE.lines().position(|line| line.contains("fn barrier(")).expect("the kernel") as u32;
    // The kernel begins where its attribute is.
    assert_eq!(rows, [(0, kernel, 2), (1, line("waits"), 2)]);
}

#[test]
fn kernels_that_are_not_meant_send_nothing() {
    let Some(probed) = Probed::new("sim", "access,kernel=first") else { return };
    let [from, to] = [256, 256].map(|count| probed.device.alloc::<u32>(count).expect("memory"));
    for kernel in ["second", "copy", "first"] {
        probed.launch(kernel, Launch::threads(32, 32), Args::new().slice(&from).slice(&to));
    }
    assert_eq!((probed.lines("second"), probed.lines("copy")), (Vec::new(), Vec::new()));
    assert_eq!(probed.lines("first").len(), 3, "with the function that it calls");
}

/// What dh_comms and omniprobe report of such kernels, from handlers that were written before anything could be
/// instrumented: reads and writes of each page, cache lines needed and used, and times.
#[test]
fn the_analyses_of_others_come_out_of_kernels_without_a_changed_line() {
    let Some(probed) = Probed::new("sim", "access,blocks") else { return };
    let to = probed.device.alloc::<u32>(4096).expect("memory");
    let from = probed.device.alloc::<u32>(4096).expect("memory");
    probed.launch("copy", Launch::threads(4096, 256), Args::new().slice(&from).slice(&to));
    let heat = probed.state::<Access, ByKernel<HeatMap>>();
    let heat = heat.get("copy").expect("it ran");
    let traffic = heat.all();
    assert_eq!((traffic.accesses, traffic.reads, traffic.writes, traffic.bytes), (8192, 4096, 4096, 32768));
    let pages = heat.pages();
    let inside = |address: u64, memory: u64| (memory & !4095..memory + 16384).contains(&address);
    assert!(pages.iter().all(|(page, _)| inside(*page, from.address()) || inside(*page, to.address())), "{pages:?}");
    let lines = probed.lines("copy");
    for (_, _, used) in &lines {
        assert_eq!((used.accesses, used.lines, used.least_lines), (128, 128, 128), "128 waves, a line of 128 bytes each");
    }
    assert!(probed.streams.reports().iter().any(|report| report.title.starts_with("Memory heat map")));
}

fn cargo_hostcall(arguments: &[&str]) -> Ran {
    Ran::of(Command::new(env!("CARGO_BIN_EXE_cargo-hostcall")).arg("hostcall").args(arguments).output().expect("it starts"))
}

const PROGRAM: &str = r#"use std::hint::black_box;

fn main() {
    let mut values = vec![0u64; 100];
    for (i, value) in values.iter_mut().enumerate() {
        *value = black_box(i as u64); // 100 writes
    }
    let mut sum = 0;
    for value in &values {
        sum += black_box(*value); // 100 reads
    }
    println!("{sum}");
}
"#;

/// An ordinary program, whose manifest knows nothing of hostcall.
fn program() -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(dir.path().join("src")).expect("made");
    std::fs::write(dir.path().join("src/main.rs"), PROGRAM).expect("written");
    let manifest = dir.path().join("Cargo.toml");
    std::fs::write(&manifest, "[package]\nname = \"plain\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n").expect("written");
    let manifest = manifest.to_str().expect("UTF-8").to_owned();
    (dir, manifest)
}

fn can_instrument() -> bool {
    Probed::new("sim", "access").is_some()
}

#[test]
fn a_program_that_says_nothing_of_streams_is_told_of_line_by_line() {
    if !can_instrument() {
        return;
    }
    let (dir, manifest) = program();
    let recording = dir.path().join("run.hcs");
    let recording = recording.to_str().expect("UTF-8");
    let run = ["run", "--no-check-gpu", "--device", "sim", "--manifest-path", &manifest];
    let ran = cargo_hostcall(&[&run[..], &["--instrument", "access", "--stream", recording]].concat()).succeeded();
    assert_eq!(ran.text(), "4950\n");
    for (line, said) in [(6, "100 writes by waves, 1 lane touches 1 sector"), (10, "100 reads by waves, 1 lane touches 1 sector")] {
        let found = ran.stderr.lines().find(|found| found.trim_start().starts_with(&format!("src/main.rs:{line}:")));
        assert!(found.is_some_and(|found| found.ends_with(said)), "line {line}: {}", ran.stderr);
    }
    // What is recorded is the same, and makes a page.
    let ran = cargo_hostcall(&["stream", "cat", recording, "--stream", "Access"]).succeeded();
    assert!(ran.text().lines().count() >= 200, "{}", ran.text());
    cargo_hostcall(&["stream", "check", recording]).succeeded();
    let page = dir.path().join("run.html");
    cargo_hostcall(&["stream", "report", recording, "-o", page.to_str().expect("UTF-8")]).succeeded();
    let page = std::fs::read_to_string(page).expect("the page");
    assert!(page.contains("main.rs:6:") && page.contains("1 lane touches 1 sector"));
    // Without, it is the program that it was.
    let ran = cargo_hostcall(&run).succeeded();
    assert_eq!(ran.text(), "4950\n");
    assert!(!ran.stderr.contains("Access"), "{}", ran.stderr);
}

#[test]
fn a_program_is_instrumented_for_nvidia_and_for_amd() {
    if !can_instrument() {
        return;
    }
    let (dir, manifest) = program();
    let out = dir.path().join("out");
    let out = out.to_str().expect("UTF-8");
    let build = ["build", "--manifest-path", &manifest, "--for", "nvptx,amdgpu:gfx90a", "-o", out];
    cargo_hostcall(&[&build[..], &["--instrument", "access,blocks"]].concat()).succeeded();
    let bundle = std::fs::read(Path::new(out).join("plain.program")).expect("the bundle");
    let bundle = hostcall_build::ProgramBundle::from_bytes(&bundle).expect("it is one");
    let mentioned = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    for image in &bundle.images {
        for name in ["__hostcall_probe_access", "__HOSTCALL_SITE__probe_1", "__HOSTCALL_STREAM__Step"] {
            assert!(mentioned(&image.bytes, name), "{name} is not in the image for {}", image.arch);
        }
    }
    let ptx = bundle.images.iter().find(|image| image.arch.starts_with("sm_")).expect("PTX");
    match hostcall_build::Ptxas::find() {
        Ok(ptxas) => drop(hostcall_build::assemble_quickly(&ptxas, &ptx.bytes, "sm_90").unwrap_or_else(|error| panic!("{error}"))),
        Err(error) => println!("not assembled: {error}"),
    }
}

#[test]
fn a_list_that_means_nothing_is_refused_before_anything_is_built() {
    let ran = cargo_hostcall(&["run", "--instrument", "acess"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("`acess` is none of access, blocks, loops, barriers and kernel=NAME"), "{}", ran.stderr);
}

/// What `nvcc --ptx -lineinfo` makes of a kernel, or nearly.
const PTX: &str = "\
.version 8.0
.target sm_80
.address_size 64
.visible .entry rows(.param .u64 p)
{
	.reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<5>;
	.loc 1 41 9
	ld.param.u64 %rd1, [p];
	cvta.to.global.u64 %rd2, %rd1;
	mov.u32 %r1, %tid.x;
	setp.lt.u32 %p1, %r1, 7;
	mul.wide.u32 %rd3, %r1, 4;
	add.s64 %rd4, %rd2, %rd3;
	@%p1 ld.global.u32 %r2, [%rd4+128];
	bar.sync 0;
	.loc 1 43 5
	st.global.u32 [%rd4], %r2;
	ret;
}
.visible .entry others(.param .u64 p) { ret; }
	.file 1 \"rows.cu\"
";

#[test]
fn ptx_of_another_compiler_is_instrumented_and_assembled() {
    if let Err(error) = DeviceToolchain::find() {
        println!("skipped: {error}");
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
    std::fs::write(path("rows.ptx"), PTX).expect("written");
    let build = ["build", "--instrument", "access,blocks,barriers", "--kernel", "^row", &path("rows.ptx")];
    let ran = cargo_hostcall(&build).succeeded();
    let said = ran.text();
    assert!(said.contains("rows.probed.ptx\n  for sm_80, kernels rows; 2 accesses; 1 step; 1 barrier; "), "{said}");
    let made = std::fs::read_to_string(path("rows.probed.ptx")).expect("PTX");
    for name in ["call.uni __hostcall_probe_access", "__HOSTCALL_STREAM__Access", "__hostcall_device", "__hostcall_rings", "__hostcall_abi"]
    {
        assert!(made.contains(name), "no {name}");
    }
    assert!(made.contains("\n.visible .entry others(.param .u64 p) { ret; }\n"));
    if let Err(error) = hostcall_build::Ptxas::find() {
        println!("not assembled: {error}");
        return;
    }
    cargo_hostcall(&[&build[..], &["-o", &path("rows.cubin")]].concat()).succeeded();
    let cubin = std::fs::read(path("rows.cubin")).expect("machine code");
    let file = object::File::parse(&*cubin).expect("an ELF file");
    let names: Vec<&str> = file.symbols().filter_map(|symbol| symbol.name().ok()).collect();
    for name in ["rows", "others", "__HOSTCALL_STREAM__Access", "__HOSTCALL_SCHEMA__Access", "__hostcall_device"] {
        assert!(names.contains(&name), "no {name} in {names:?}");
    }
    assert!(names.iter().any(|name| name.starts_with("__HOSTCALL_SITE__probe_")));
}

#[test]
fn what_has_no_ptx_is_refused_by_name_and_needs_no_toolchain() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("k.cubin");
    let name = file.to_str().expect("UTF-8");
    let cubin = [&b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0"[..], &190u16.to_le_bytes(), &[0; 44]].concat();
    std::fs::write(&file, cubin).expect("written");
    let ran = cargo_hostcall(&["build", "--instrument", "access", name]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("k.cubin: a cubin is machine code without PTX"), "{}", ran.stderr);
    std::fs::write(&file, "int main() {}").expect("written");
    let ran = cargo_hostcall(&["build", "--instrument", "access", name]);
    assert!(ran.code == Some(1) && ran.stderr.contains("line 1: `int` outside of functions"), "{}", ran.stderr);
    // A file is for `--instrument`, and `--kernel` is for a file.
    assert_eq!(cargo_hostcall(&["build", name]).code, Some(2));
    assert_eq!(cargo_hostcall(&["build", "--instrument", "access", "--kernel", "x"]).code, Some(2));
}
