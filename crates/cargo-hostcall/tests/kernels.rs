//! `cargo hostcall run --kernel`: kernels of programs with std (`tests/programs/lines`, `tests/programs/lanes`), each
//! of whose lanes is a thread. Where, and with what: [`support`].

mod support;

use std::collections::BTreeMap;

use hostcall::Server;
use hostcall_build::ProgramBundle;
use offload::{Args, Device, Launch};
use support::{Ran, bundle, device, needs_toolchain, on, output, programs};

/// The lines, which come in any order.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

/// `cargo hostcall run OPTIONS -p PROGRAM -- ARGUMENTS`
fn run(device: &str, program: &str, options: &[&str], arguments: &[&str]) -> Ran {
    let options: Vec<&str> = ["--timeout", "120"].into_iter().chain(options.iter().copied()).collect();
    output(on(device, "run", &options, program, arguments), b"")
}

fn lanes(kernel: &str, lanes: u32, more: &[&str], arguments: &[&str]) -> Ran {
    let count = lanes.to_string();
    let options: Vec<&str> = ["--kernel", kernel, "--lanes", &count].into_iter().chain(more.iter().copied()).collect();
    run(&device(), "lanes", &options, arguments)
}

#[test]
fn of_a_hundred_thousand_lanes_that_write_a_line_each_none_is_lost() {
    needs_toolchain!();
    let ran = run(&device(), "lines", &["--kernel", "lines", "--lanes", "100000"], &["1"]).succeeded();
    let line = |lane: u32| format!("lane {lane} line 0 {:08x}", lane.wrapping_mul(0x9e37_79b9));
    let mut expected: Vec<String> = (0..100_000).map(line).collect();
    expected.sort_unstable();
    assert!(sorted(&ran.text()) == expected, "{} lines", ran.text().lines().count());
    assert_eq!(ran.stderr, "");
}

#[test]
fn lines_of_a_lane_stay_in_order_and_its_parts_of_lines_together() {
    needs_toolchain!();
    let ran = lanes("parts", 320, &[], &[]).succeeded();
    let mut next = vec![0; 320];
    for line in ran.text().lines() {
        // What its parts are, in their order; the text behind a letter is the lane's number.
        let parts: Vec<&str> = line.split(' ').collect();
        let lane: usize = parts[0][1..].parse().unwrap_or_else(|_| panic!("{line:?}"));
        next[lane] += 1;
        let expected = match next[lane] {
            1 => format!("a{lane} b{lane} c{lane}"),
            2 => format!("d{lane} {}", "long ".repeat(100)),
            3 => format!("e{lane}"),
            _ => format!("f{lane} g{lane}"),
        };
        assert_eq!(line, expected);
    }
    assert!(next.iter().all(|&next| next == 4), "{next:?}");
    let mut errors: Vec<&str> = ran.stderr.lines().collect();
    errors.sort_unstable();
    let mut expected: Vec<String> = (0..320).map(|lane| format!("h{lane}")).collect();
    expected.sort_unstable();
    assert_eq!(errors, expected);
}

#[test]
fn a_lane_has_its_own_thread_local_values_and_error_number() {
    needs_toolchain!();
    let ran = lanes("own", 1000, &[], &[]).succeeded();
    let mut expected: Vec<String> = (0..1000).map(|lane| format!("mine {lane}, dropped {lane}")).collect();
    expected.sort_unstable();
    assert_eq!(sorted(&ran.text()), expected);
}

#[test]
fn a_lane_has_a_stack_and_is_told_when_it_overflows() {
    needs_toolchain!();
    let ran = lanes("stacks", 1000, &[], &["20"]).succeeded();
    let mut expected: Vec<String> = (0..1000).map(|lane| format!("{lane} {}", 2048 * lane + 2047 * 1024 + 210)).collect();
    expected.sort_unstable();
    assert_eq!(sorted(&ran.text()), expected);
    let ran = lanes("stacks", 64, &[], &["4000000000"]);
    assert!(!matches!(ran.code, Some(0) | None) && ran.stderr.contains("stack overflow") && ran.stderr.contains("--stack"), "{ran:?}");
}

#[test]
fn lanes_have_collections() {
    needs_toolchain!();
    let ran = lanes("collections", 2000, &[], &[]).succeeded();
    let mut expected: Vec<String> = (0..2000).map(|lane| format!("{lane} 10 {}", 63 * 64 / 2)).collect();
    expected.sort_unstable();
    assert_eq!(sorted(&ran.text()), expected);
}

#[test]
fn lanes_wait_for_each_others_locks_and_channels() {
    needs_toolchain!();
    let own = device();
    let run_on = |device: &str, lanes: &str| run(device, "lanes", &["--kernel", "locks", "--lanes", lanes], &[]).succeeded().text();
    assert_eq!(run_on(&own, "256"), "256 lanes, 5559680, 32640\n");
    if own == "sim" {
        // Waves of another size; lanes that are threads of the processor.
        for device in ["sim:lanes=64", "sim:threads"] {
            assert_eq!(run_on(device, "256"), "256 lanes, 5559680, 32640\n", "{device}");
        }
        // A seed decides at every point where a lane can wait which goes on.
        assert_eq!(run_on("sim:seed=1", "64"), "64 lanes, 85344, 2016\n");
    }
}

#[test]
fn lanes_have_files_arguments_and_variables() {
    needs_toolchain!();
    let dir = tempfile::tempdir().expect("a directory");
    let grant = format!("{}::w", dir.path().display());
    let ran = lanes("files", 64, &["--dir", &grant, "--env", "COLOUR=red"], &["a", "b c"]).succeeded();
    let text = ran.text();
    let lines: BTreeMap<u32, &str> =
        text.lines().map(|line| line.split_once(' ').expect(line)).map(|(n, rest)| (n.parse().expect(rest), rest)).collect();
    assert_eq!(lines.len(), 64);
    assert!(lines.values().all(|rest| rest.ends_with(r#", "a", "b c"] Some("red")"#)), "{lines:?}");
    assert_eq!(std::fs::read_dir(dir.path()).expect("it is there").count(), 0);
}

#[test]
fn a_panic_of_a_lane_ends_the_kernel_and_names_the_lane() {
    needs_toolchain!();
    let ran = lanes("panics", 300, &[], &["77"]);
    assert_eq!(ran.code, Some(101), "{ran:?}");
    assert!(ran.stderr.contains("kernels.rs:") && ran.stderr.contains("lane 77 has had enough"), "{}", ran.stderr);
    assert!(ran.stderr.contains("thread (77, 0, 0)"), "{}", ran.stderr);
}

#[test]
fn a_lane_ends_the_kernel_with_an_exit_code_and_what_it_printed_is_there() {
    needs_toolchain!();
    let ran = lanes("exits", 64, &[], &["7"]);
    assert_eq!((ran.code, &*ran.text()), (Some(7), "unfinished"), "{}", ran.stderr);
}

#[test]
fn what_a_lane_may_not_do_is_an_error_that_says_so() {
    needs_toolchain!();
    assert_eq!(lanes("refused", 2, &[], &[]).succeeded().text(), "a kernel's lane starts no threads; launch more lanes\n".repeat(2));
}

#[test]
fn main_and_the_kernels_are_one_image() {
    needs_toolchain!();
    assert!(run(&device(), "lanes", &[], &[]).succeeded().text().starts_with("main and the kernels are one image"));
    let ran = lanes("nothing", 1, &[], &[]);
    assert!(ran.code == Some(1) && ran.stderr.contains("nothing"), "{ran:?}");
    let ran = lanes("panics", 1, &[], &[]);
    assert!(ran.code == Some(1) && ran.stderr.contains("1 parameters"), "{ran:?}");
}

#[test]
fn an_application_launches_a_kernel_with_std_beside_services_of_its_own() {
    needs_toolchain!();
    let spec = device();
    let dir = tempfile::tempdir().expect("a directory");
    let built = if bundle().is_some() {
        programs()
    } else {
        let arch = Device::open(&spec).expect("a device").info().arch.clone();
        // The stand-in for AMD's runtime runs the simulator's images.
        let target = match &*arch {
            gfx if gfx.starts_with("gfx") => format!("amdgpu:{gfx}"),
            sm if sm.starts_with("sm") => "nvptx".to_owned(),
            _ => "sim".to_owned(),
        };
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
        command.args(["hostcall", "build", "-q", "-p", "lanes", "--for", &target, "-o"]).arg(dir.path());
        output(command, b"").succeeded();
        dir.path().to_owned()
    };
    let image = std::fs::read(built.join("lanes.program")).expect("it was built");
    let bundle = ProgramBundle::from_bytes(&image).expect("a bundle");

    let device = Device::open(&spec).expect("a device");
    let server = Server::builder(&device).heap(64 << 20).service(add42_services::host::add42(|x| x + 42.0)).start().expect("a server");
    let program = device.load(&bundle).expect("loaded");
    server.attach(&program).expect("attached");
    let queue = device.queue().expect("a queue");
    let numbers: Vec<f32> = (0..1024u16).map(f32::from).collect();
    let y = device.alloc::<f32>(numbers.len()).expect("memory");
    // One image, launched more than once: what lanes had is given back.
    for _ in 0..3 {
        queue.copy_to(&y, 0, &numbers).expect("copied");
        // SAFETY: the kernel has one slice, which is as long as there are lanes.
        unsafe { queue.launch(&program.kernel("services").expect("it is there"), Launch::linear(8, 128), Args::new().slice(&y)) }
            .expect("launched");
        server.wait(&queue).expect("no lane failed");
        let answers = queue.read(&y).expect("copied");
        assert!(answers.iter().zip(&numbers).all(|(answer, x)| *answer == x + 42.0));
    }

    // A kernel's error is told as that of a kernel without std is.
    let server = Server::builder(&device).heap(64 << 20).start().expect("a server");
    let program = device.load(&bundle).expect("loaded");
    server.attach(&program).expect("attached");
    // SAFETY: as above.
    unsafe { queue.launch(&program.kernel("services").expect("it is there"), Launch::linear(1, 32), Args::new().slice(&y)) }
        .expect("launched");
    let error = server.wait(&queue).expect_err("nobody serves add42").to_string();
    assert!(error.contains("kernel `services` failed"), "{error}");
}
