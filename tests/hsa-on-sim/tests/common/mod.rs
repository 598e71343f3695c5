//! What the tests share: the library beside this program, and an image whose kernels they run.

#![allow(dead_code, reason = "not every test uses everything")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use offload::{Args, Device, Image, ImageKind, Kernel, Launch, Program, ProgramBundle, Queue};

/// The library that cargo built with this test.
pub(crate) fn library() -> PathBuf {
    let test = std::env::current_exe().expect("this program has a path");
    let beside = test.parent().expect("it is in a directory").join("libhsa_on_sim.so");
    assert!(beside.exists(), "{} was not built", beside.display());
    beside
}

/// A device: 0 is reached by the host, 1 is not, 2 has waves of 64 lanes.
pub(crate) fn device(number: u32) -> Device {
    assert!(offload::hsa::use_library(library()), "another library was opened");
    Device::hsa(number).expect("the stand-in has this device")
}

/// Kernels: `scale` (table of parameters), and `waits`, `traps`, `wild`, `illegal`, `shape`, `tick`.
const SOURCE: &str = r#"
#![no_std]
use core::sync::atomic::{AtomicU32, Ordering::SeqCst};
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }
#[unsafe(no_mangle)] #[used] static mut __hostcall_sim_ops: *const [usize; 12] = core::ptr::null();
#[unsafe(no_mangle)] #[used] static __hostcall_sim_version: u32 = VERSION;
#[unsafe(no_mangle)] #[used] static FACTOR: AtomicU32 = AtomicU32::new(3);
#[unsafe(no_mangle)] #[used] static CONSTANT: u32 = 7;
#[unsafe(no_mangle)] #[used] static __hostcall_tick: [AtomicU32; 2] = [AtomicU32::new(10), AtomicU32::new(0)];
#[repr(C)] pub struct Params { count: u32, sizes: [u32; 31] }
const fn params(list: &[u32]) -> Params {
    let mut sizes = [0; 31];
    let mut i = 0;
    while i < list.len() { sizes[i] = list[i]; i += 1; }
    Params { count: list.len() as u32, sizes }
}
#[unsafe(no_mangle)] #[used] static __HOSTCALL_KERNEL__scale: Params = params(&[4, 8, 8]);
#[unsafe(no_mangle)] #[used] static __HOSTCALL_KERNEL__waits: Params = params(&[8, 8]);
#[unsafe(no_mangle)] #[used] static __HOSTCALL_KERNEL__traps: Params = params(&[]);
#[unsafe(no_mangle)] #[used] static __HOSTCALL_KERNEL__wild: Params = params(&[8]);
#[unsafe(no_mangle)] #[used] static __HOSTCALL_KERNEL__illegal: Params = params(&[]);
#[unsafe(no_mangle)] #[used] static __HOSTCALL_KERNEL__shape: Params = params(&[8]);
#[unsafe(no_mangle)] #[used] static __HOSTCALL_KERNEL__tick: Params = params(&[8]);
unsafe fn info() -> &'static [u32; 16] {
    unsafe { let info: unsafe extern "C" fn() -> *const [u32; 16] = core::mem::transmute((*__hostcall_sim_ops)[0]); &*info() }
}
#[unsafe(no_mangle)]
unsafe extern "C" fn __hostcall_sim_kernel_scale(params: *const u8) {
    unsafe {
        let add = params.cast::<u32>().read();
        let data = params.add(8).cast::<*mut u32>().read();
        let len = params.add(16).cast::<u64>().read();
        let i = (info()[4] * info()[13] + info()[10]) as usize;
        if (i as u64) < len { *data.add(i) = (*data.add(i)).wrapping_mul(FACTOR.load(SeqCst)).wrapping_add(add); }
    }
}
// Says that it is there, and waits for an answer.
#[unsafe(no_mangle)]
unsafe extern "C" fn __hostcall_sim_kernel_waits(params: *const u8) {
    unsafe {
        let here = &*params.cast::<*const AtomicU32>().read();
        let answer = &*params.add(8).cast::<*const AtomicU32>().read();
        let pause: unsafe extern "C" fn(u32) = core::mem::transmute((*__hostcall_sim_ops)[6]);
        here.fetch_add(1, SeqCst);
        let mut attempt = 0;
        while answer.load(SeqCst) == 0 { pause(attempt); attempt += 1; }
    }
}
#[unsafe(no_mangle)]
unsafe extern "C" fn __hostcall_sim_kernel_traps(_: *const u8) {
    unsafe { let trap: unsafe extern "C" fn() -> ! = core::mem::transmute((*__hostcall_sim_ops)[10]); trap() }
}
#[unsafe(no_mangle)]
unsafe extern "C" fn __hostcall_sim_kernel_wild(params: *const u8) {
    unsafe { params.cast::<*mut u32>().read().write_volatile(1) }
}
#[unsafe(no_mangle)]
unsafe extern "C" fn __hostcall_sim_kernel_illegal(_: *const u8) {
    unsafe { core::arch::asm!("ud2") }
}
// As the build marks a kernel that calls itself: the compiler says of it that its stack is known.
#[unsafe(no_mangle)] #[used] static __HOSTCALL_STACK__tick: u32 = 1;
// What a kernel of an AMD GPU reads when it asks for the time.
#[unsafe(no_mangle)]
unsafe extern "C" fn __hostcall_sim_kernel_tick(params: *const u8) {
    unsafe {
        let to = params.cast::<*mut [u32; 2]>().read();
        *to = [__hostcall_tick[0].load(SeqCst), __hostcall_tick[1].load(SeqCst)];
    }
}
#[unsafe(no_mangle)]
unsafe extern "C" fn __hostcall_sim_kernel_shape(params: *const u8) {
    unsafe {
        let to = params.cast::<*mut [u32; 16]>().read();
        if info()[4..7] == [0; 3] && info()[10..13] == [0; 3] { *to = *info(); }
    }
}
"#;

/// The kernels as an image of the simulator.
pub(crate) fn bundle() -> &'static ProgramBundle {
    static BUNDLE: OnceLock<ProgramBundle> = OnceLock::new();
    BUNDLE.get_or_init(|| {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hsa-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a directory");
        let (input, output) = (dir.join("image.rs"), dir.join("image.so"));
        std::fs::write(&input, SOURCE.replace("VERSION", &hostcall_abi::sim::SIM_VERSION.to_string())).expect("written");
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let result = Command::new(rustc)
            .args(["--edition=2024", "--crate-type=cdylib", "-Cpanic=abort", "-Copt-level=1", "-Clink-arg=-nostartfiles", "-Awarnings"])
            .arg(&input)
            .arg("-o")
            .arg(&output)
            .output()
            .expect("rustc starts");
        assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
        let bytes = std::fs::read(&output).expect("an image");
        std::fs::remove_dir_all(&dir).expect("removed");
        let arch = Device::open("sim").expect("a simulator").info().arch.clone();
        ProgramBundle::new("kernels", vec![Image::new(ImageKind::Sim, arch, bytes)])
    })
}

/// The kernels, loaded.
pub(crate) fn program(device: &Device) -> Program {
    device.load(bundle()).expect("the kernels load")
}

/// Launches a kernel of the image.
pub(crate) fn launch(queue: &Queue, kernel: &Kernel, launch: Launch, args: Args) {
    // SAFETY: the kernels of the image write only where their arguments say, and what a test passes lives until it has
    // waited.
    unsafe { queue.launch(kernel, launch, args) }.expect("the launch");
}

/// Runs a test in a process of its own, with other variables; `None` in the child, which runs `body`.
pub(crate) fn in_child(test: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    const MARK: &str = "HSA_ON_SIM_TEST_CHILD";
    if std::env::var_os(MARK).is_some_and(|name| name == test) {
        return body();
    }
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(program);
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(MARK, test).envs(variables.iter().copied());
    let output = command.output().expect("a child");
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{test} in a process of its own: {}\n{text}", output.status);
}
