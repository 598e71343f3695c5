//! Kernels that LLVM's own header for GPUs is all they know of, compiled by clang for the simulator.

use std::path::{Path, PathBuf};
use std::process::Command;

use offload::{Args, Device, Error, Image, ImageKind, Kernel, Launch, Program, ProgramBundle, Queue};

/// The crate that has the header and the kernels.
fn liboffload() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../hostcall-offload-api")
}

/// Whether the compiler is there. Without it a test is skipped, but not in CI.
fn has_clang() -> bool {
    let found = Command::new("clang-22").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        assert!(std::env::var_os("CI").is_none(), "clang-22 is not installed, and CI has to run this test (Debian: clang-22)");
        println!("skipped: clang-22 is not installed");
    }
    found
}

/// A folder of one test, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("c-kernels-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Compiles sources of kernels.
fn compile(folder: &Folder, sources: &[&Path], more: &[&str]) -> ProgramBundle {
    let image = folder.0.join("image.so");
    let mut compile = Command::new("clang-22");
    compile.args(["-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC", "-I"]);
    let output = compile.arg(liboffload().join("include/simulator")).args(more).args(sources).arg("-o").arg(&image).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (bytes, arch) = (std::fs::read(image).unwrap(), Device::open("sim").unwrap().info().arch.clone());
    ProgramBundle::new("gpuintrin", vec![Image::new(ImageKind::Sim, arch, bytes)])
}

/// The source of most kernels.
fn source() -> PathBuf {
    liboffload().join("tests/images/gpuintrin.cpp")
}

/// The kernels of the tests on simulators of all kinds; `None` without a compiler.
fn programs(test: &str) -> Option<Vec<(Queue, Program)>> {
    if !has_clang() {
        return None;
    }
    let bundle = compile(&Folder::new(test), &[&source()], &[]);
    let devices = ["sim", "sim:lanes=64", "sim:threads", "sim:seed=3"].map(|name| Device::open(name).unwrap());
    Some(devices.iter().map(|device| (device.queue().unwrap(), device.load(&bundle).unwrap())).collect())
}

fn run(queue: &Queue, kernel: &Kernel, launch: Launch, args: Args) -> Result<(), Error> {
    // SAFETY: the kernels of the tests with the arguments that they take.
    unsafe { queue.launch(kernel, launch, args) }?;
    queue.synchronize()
}

#[test]
fn groups_share_memory_that_the_launch_gives_them_and_no_other_group_sees() {
    let Some(programs) = programs("reduce") else { return };
    for (queue, program) in &programs {
        let (groups, items) = (40, 100);
        let out = queue.device().alloc::<u32>(groups as usize).unwrap();
        let args = Args::new().address(out.address());
        run(queue, &program.kernel("reduce").unwrap(), Launch::linear(groups, items).dynamic_shared(4 * items), args).unwrap();
        let expected: Vec<u32> = (0..groups).map(|group| group * 1000 * items + items * (items - 1) / 2).collect();
        assert_eq!(queue.read(&out).unwrap(), expected, "{}", queue.device().info().name);
    }
}

#[test]
fn declared_and_dynamic_memory_lie_beside_each_other_and_are_zero_at_first() {
    let Some(programs) = programs("kinds") else { return };
    for (queue, program) in &programs {
        let out = queue.device().alloc::<u32>(64 * 30).unwrap();
        let kernel = program.kernel("kinds").unwrap();
        assert_eq!(kernel.info().shared_bytes, 64 * 4 + 32 * 8);
        let args = Args::new().address(out.address());
        run(queue, &kernel, Launch::linear(30, 64).dynamic_shared(64 * 4), args).unwrap();
        let wrong: Vec<usize> = (0..).zip(queue.read(&out).unwrap()).filter(|(_, wrong)| *wrong != 0).map(|(item, _)| item).collect();
        assert_eq!(wrong, [0; 0], "{}", queue.device().info().name);
    }
}

#[test]
fn arguments_of_all_kinds_reach_a_kernel_that_is_a_plain_function() {
    let Some(programs) = programs("mixed") else { return };
    for (queue, program) in &programs {
        let out = queue.device().alloc::<u64>(70).unwrap();
        let mut large = [0; 40];
        large[..4].copy_from_slice(&100u32.to_ne_bytes());
        large[8..16].copy_from_slice(&0.25f64.to_ne_bytes());
        (large[16], large[35]) = (3, 4);
        let args = Args::new().value(10i8).value(1.5f32).value(2.25f64).value(-5i16).value(large);
        let args = args.value(1000.0f32).value(1u64 << 40).address(out.address());
        run(queue, &program.kernel("mixed").unwrap(), Launch::linear(1, 70), args).unwrap();
        let expected: Vec<u64> = (0..70).map(|item| 10 - 5 + 100 + 3 + 4 + 1000 + 4 + (1 << 40) + item).collect();
        assert_eq!(queue.read(&out).unwrap(), expected, "{}", queue.device().info().name);
        run(queue, &program.kernel("nothing").unwrap(), Launch::linear(3, 7), Args::new()).unwrap();
        run(queue, &program.kernel("write_table").unwrap(), Launch::linear(1, 4), Args::new()).unwrap();
        let mut table = [0; 16];
        program.global("table").unwrap().read(&mut table).unwrap();
        assert_eq!(table.chunks(4).map(|word| word[0]).collect::<Vec<_>>(), [0, 7, 14, 21]);
    }
}

#[test]
fn lanes_of_a_wave_tell_each_other_what_they_do_on_a_gpu() {
    let Some(programs) = programs("collectives") else { return };
    for (queue, program) in &programs {
        let n = u64::from(queue.device().info().wave_size);
        let out = queue.device().alloc::<u64>(12 * n as usize).unwrap();
        run(queue, &program.kernel("collectives").unwrap(), Launch::linear(1, n as u32), Args::new().address(out.address())).unwrap();
        let all = if n == 64 { u64::MAX } else { (1 << n) - 1 };
        let those = |which: &dyn Fn(u64) -> bool| (0..n).filter(|lane| which(*lane)).fold(0, |mask, lane| mask | 1 << lane);
        for (lane, row) in queue.read(&out).unwrap().chunks(12).enumerate() {
            let lane = lane as u64;
            let odd = if lane % 2 == 1 { n / 2 * (n / 2) } else { 0 };
            let expected = [
                all,
                those(&|other| other % 3 == 0),
                40,
                (lane / 8 * 8 + 3).pow(2),
                ((lane + 1) % n) << 32,
                n * (n - 1) / 2,
                n * n / 2,
                those(&|other| other % 4 == lane % 4),
                1,
                u64::from(lane == 0),
                1,
                if lane == 5 { odd } else { odd + 1000 },
            ];
            assert_eq!(row, expected, "lane {lane} of {}", queue.device().info().name);
        }
    }
}

#[test]
fn items_of_a_group_wait_for_one_another_in_its_memory() {
    let Some(programs) = programs("waits") else { return };
    for (queue, program) in &programs {
        let out = queue.device().alloc::<u32>(70).unwrap();
        run(queue, &program.kernel("waits").unwrap(), Launch::linear(1, 70), Args::new().address(out.address())).unwrap();
        assert_eq!(queue.read(&out).unwrap(), [70; 70], "{}", queue.device().info().name);
    }
}

#[test]
fn an_access_past_group_memory_is_a_fault_and_more_than_there_is_is_refused() {
    let Some(programs) = programs("past") else { return };
    for (queue, program) in &programs {
        let kernel = program.kernel("past_the_end").unwrap();
        let launch = Launch::linear(1, 1).dynamic_shared(64);
        run(queue, &kernel, launch, Args::new().value(15u32)).unwrap();
        let error = run(queue, &kernel, launch, Args::new().value(16u32)).unwrap_err();
        assert!(matches!(error, Error::Fault(_)), "{error}");
        let most = 227 * 1024 - 512;
        run(queue, &kernel, launch.dynamic_shared(most), Args::new().value(most / 4 - 1)).unwrap();
        let error = run(queue, &kernel, launch.dynamic_shared(most + 1), Args::new().value(0u32)).unwrap_err();
        assert!(error.to_string().contains("at most 232448 bytes of shared memory: the program declares 512"), "{error}");
    }
}

#[test]
fn group_memory_that_no_gpu_would_have_is_refused_when_the_image_is_loaded() {
    if !has_clang() {
        return;
    }
    let folder = Folder::new("refused");
    let source = folder.0.join("source.cpp");
    let error = |declaration: &str, more: &[&str]| {
        std::fs::write(
            &source,
            format!("#include <gpuintrin.h>\n{declaration}\nextern \"C\" __gpu_kernel void k(uint32_t *out) {{ out[0] = v[0]; }}"),
        )
        .unwrap();
        let image = compile(&folder, &[&source], more);
        Device::open("sim").unwrap().load(&image).map(drop).unwrap_err().to_string()
    };
    let told = error("__gpu_local uint32_t v[4] = {1, 2};", &[]);
    assert!(told.contains("gives initial values to group memory, which no GPU has"), "{told}");
    let told = error("__gpu_local uint32_t v[100000];", &[]);
    assert!(told.contains("declares 400000 bytes of group memory: a workgroup has at most 232448"), "{told}");
    let told = error("alignas(8192) __gpu_local uint32_t v[4];", &[]);
    assert!(told.contains("aligns group memory to 8192 bytes: the most is 4096"), "{told}");
    for model in ["-ftls-model=initial-exec", "-mtls-dialect=gnu2"] {
        let told = error("__gpu_local uint32_t v[4];", &[model]);
        assert!(told.contains("compile it with -fPIC, and without -ftls-model and -mtls-dialect"), "{told}");
    }
}

#[test]
fn an_image_of_several_sources_has_one_of_everything() {
    if !has_clang() {
        return;
    }
    let folder = Folder::new("several");
    let other = folder.0.join("other.cpp");
    std::fs::write(
        &other,
        "#include <gpuintrin.h>\nextern \"C\" __gpu_kernel void other(uint32_t *out) { out[0] = __gpu_num_threads_x(); }",
    )
    .unwrap();
    let image = compile(&folder, &[&other, &source()], &[]);
    let device = Device::open("sim").unwrap();
    let (queue, program) = (device.queue().unwrap(), device.load(&image).unwrap());
    let out = device.alloc::<u32>(64).unwrap();
    for (name, expected) in [("other", 3), ("waits", 3)] {
        run(&queue, &program.kernel(name).unwrap(), Launch::linear(1, 3), Args::new().address(out.address())).unwrap();
        assert_eq!(queue.read(&out).unwrap()[0], expected, "{name}");
    }
}
