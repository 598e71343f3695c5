//! A real simulator image: compiled by rustc here, loaded, patched through its globals, launched.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use hostcall_abi::sim::SIM_VERSION;
use offload::{Args, Device, Error, Image, ImageKind, Launch, ProgramBundle};

const SOURCE: &str = r#"
#![no_std]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }
#[unsafe(no_mangle)] #[used] static mut __hostcall_sim_ops: *const [usize; 12] = core::ptr::null();
#[unsafe(no_mangle)] #[used] static __hostcall_sim_version: u32 = VERSION;
#[unsafe(no_mangle)] #[used] static mut FACTOR: u32 = 3;
#[unsafe(no_mangle)] #[used] static mut CALLS: u64 = 0;
#[unsafe(no_mangle)] #[used] static NAME: &str = "scale";
#[repr(C)] struct Params { count: u32, sizes: [u32; 31] }
#[unsafe(no_mangle)] #[used] static __HOSTCALL_KERNEL__scale: Params = {
    let mut sizes = [0; 31];
    sizes[0] = 4; sizes[1] = 8; sizes[2] = 8;
    Params { count: 3, sizes }
};
#[unsafe(no_mangle)]
unsafe extern "C" fn __hostcall_sim_kernel_scale(params: *const u8) {
    unsafe {
        let add = params.cast::<u32>().read();
        let data = params.add(8).cast::<*mut u32>().read();
        let len = params.add(16).cast::<u64>().read();
        let info: unsafe extern "C" fn() -> *const [u32; 16] = core::mem::transmute((*__hostcall_sim_ops)[0]);
        let info = &*info();
        let i = (info[4] * info[13] + info[10]) as usize;
        if (i as u64) < len { *data.add(i) = *data.add(i) * FACTOR + add; }
        if i == 0 { CALLS += 1; }
    }
}
"#;

/// [`SOURCE`] for this simulator.
fn source() -> String {
    SOURCE.replace("VERSION", &SIM_VERSION.to_string())
}

fn compile(name: &str, source: &str) -> Image {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let (input, output) = (dir.join("image.rs"), dir.join("image.so"));
    std::fs::write(&input, source).unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let result = Command::new(rustc)
        .args(["--edition=2024", "--crate-type=cdylib", "-Cpanic=abort", "-Copt-level=1", "-Clink-arg=-nostartfiles", "-Awarnings"])
        .arg(&input)
        .arg("-o")
        .arg(&output)
        .output()
        .unwrap();
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
    let bytes = std::fs::read(&output).unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
    Image::new(ImageKind::Sim, Device::open("sim").unwrap().info().arch.clone(), bytes)
}

fn bundle() -> &'static ProgramBundle {
    static BUNDLE: OnceLock<ProgramBundle> = OnceLock::new();
    BUNDLE.get_or_init(|| ProgramBundle::new("scale", vec![compile("scale", &source())]))
}

#[test]
fn an_image_runs_and_each_load_has_its_own_globals() {
    let device = Device::open("sim").unwrap();
    let (one, two) = (device.load(bundle()).unwrap(), device.load(bundle()).unwrap());
    let queue = device.queue().unwrap();
    let factor = two.global("FACTOR").unwrap();
    assert_eq!(factor.size(), 4);
    factor.write(&10u32.to_ne_bytes()).unwrap();
    for (program, expected) in [(&one, [3, 6, 9]), (&two, [10, 20, 30])] {
        let data = device.alloc::<u32>(1000).unwrap();
        queue.copy_to(&data, 0, &(0..1000).collect::<Vec<u32>>()).unwrap();
        let kernel = program.kernel("scale").unwrap();
        assert_eq!(kernel.params(), Some(&[4, 8, 8][..]));
        // SAFETY: the kernel takes a number and a slice of `u32`, which lives until the queue is read.
        unsafe { queue.launch(&kernel, Launch::threads(1000, 96), Args::new().value(7u32).slice(&data)) }.unwrap();
        let got = queue.read(&data).unwrap();
        assert_eq!(got[..4], [7, 7 + expected[0], 7 + expected[1], 7 + expected[2]]);
        assert_eq!(got[999], 7 + 999 * expected[0]);
        let mut calls = [0; 8];
        program.global("CALLS").unwrap().read(&mut calls).unwrap();
        assert_eq!(u64::from_ne_bytes(calls), 1);
    }
}

#[test]
fn wrong_arguments_are_errors_before_anything_runs() {
    let device = Device::open("sim").unwrap();
    let program = device.load(bundle()).unwrap();
    let (queue, kernel) = (device.queue().unwrap(), program.kernel("scale").unwrap());
    // SAFETY: these launches are refused.
    let launch = |args| unsafe { queue.launch(&kernel, Launch::linear(1, 1), args) }.unwrap_err();
    assert!(matches!(launch(Args::new().value(1u32)), Error::ArgumentCount { expected: 3, given: 1, .. }));
    let error = launch(Args::new().value(1u64).address(0).value(1u64));
    assert!(matches!(error, Error::ArgumentSize { index: 0, expected: 4, given: 8, .. }), "{error}");
    assert_eq!(device.in_flight(), 0);
}

#[test]
fn missing_kernels_and_globals_and_foreign_ranges_are_named() {
    let device = Device::open("sim").unwrap();
    let program = device.load(bundle()).unwrap();
    assert!(matches!(program.kernel("absent"), Err(Error::NoKernel { kernel, .. }) if kernel == "absent"));
    assert!(program.kernel("nul\0").is_err());
    assert!(matches!(program.global("absent"), Err(Error::NoGlobal { .. })));
    assert!(program.find_global("absent").unwrap().is_none());
    let factor = program.global("FACTOR").unwrap();
    assert!(matches!(factor.write(&[0; 5]), Err(Error::Range { len: 5, size: 4, .. })));
    assert!(matches!(factor.read(&mut [0; 5]), Err(Error::Range { .. })));
}

#[test]
fn a_constant_can_be_read_and_is_not_written() {
    let device = Device::open("sim").unwrap();
    let program = device.load(bundle()).unwrap();
    // In `.rodata`, and, as its contents are relocated, in `.data.rel.ro`.
    for name in ["__hostcall_sim_version", "NAME"] {
        let constant = program.global(name).unwrap();
        constant.read(&mut [0; 4]).unwrap();
        let error = constant.write(&[0; 4]).unwrap_err();
        assert!(matches!(&error, Error::ReadOnly { global } if global == name), "{error}");
    }
}

#[test]
fn a_program_stays_loaded_as_long_as_its_kernels() {
    let device = Device::open("sim").unwrap();
    let kernel = device.load(bundle()).unwrap().kernel("scale").unwrap();
    let queue = device.queue().unwrap();
    let data = device.alloc::<u32>(1).unwrap();
    queue.copy_to(&data, 0, &[5]).unwrap();
    // SAFETY: as above.
    unsafe { queue.launch(&kernel, Launch::linear(1, 1), Args::new().value(1u32).slice(&data)) }.unwrap();
    drop(kernel);
    assert_eq!(queue.read(&data).unwrap(), [16]);
}

#[test]
fn images_that_are_none_or_of_another_version_are_refused() {
    let device = Device::open("sim").unwrap();
    let load = |image| device.load(&ProgramBundle::new("bad", vec![image])).unwrap_err().to_string();
    let arch = device.info().arch.clone();
    let error = load(Image::new(ImageKind::Sim, arch.clone(), &b"\x7fELF but nothing else"[..]));
    assert!(error.contains("no shared library"), "{error}");
    let error = load(compile("version", &SOURCE.replace("VERSION", "77")));
    assert!(error.contains("version 77") && error.contains(&format!("version {SIM_VERSION}")), "{error}");
    let error = load(compile("plain", "#![no_std]\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! { loop {} }\n"));
    assert!(error.contains("__hostcall_sim_version"), "{error}");
    // Shared references instead of raw pointers, so that the word may be a constant.
    let constant = source().replace(
        "static mut __hostcall_sim_ops: *const [usize; 12] = core::ptr::null()",
        "static __hostcall_sim_ops: &[usize; 12] = &[0; 12]",
    );
    let error = load(compile("constant", &constant));
    assert!(error.contains("is a constant"), "{error}");
    let mut damaged = compile("damaged", &source());
    damaged.bytes.to_mut()[100] ^= 1;
    assert!(load(damaged).contains("SHA-256"), "the hash is checked");
}

#[test]
fn a_file_is_a_bundle_or_an_image_and_what_is_neither_is_told() {
    let device = Device::open("sim").unwrap();
    let image = &bundle().images[0];
    for bytes in [&bundle().to_bytes()[..], &image.bytes] {
        assert!(device.load_file("scale", bytes).unwrap().kernel("scale").is_ok());
    }
    let told = |bytes: &[u8]| device.load_file("mine", bytes).map(drop).unwrap_err().to_string();
    for bytes in [&b""[..], b"nothing", &image.bytes[..100], b"// PTX\n.version 8.4\n"] {
        assert!(told(bytes).contains("mine") && told(bytes).contains("simulator image"), "{}", told(bytes));
    }
    let cut = &bundle().to_bytes()[..40];
    assert!(matches!(device.load_file("mine", cut), Err(Error::Image { .. })), "{}", told(cut));
}
