//! `--devices`: a program on several devices at once; and ranks, which launchers say by variables. On the simulator.

mod support;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Output, Stdio};

use offload::Device;

use support::package::{Package, command, succeeded, text};

const MAIN: &str = r#"
use std::io::Read;

fn main() {
    let variable = |name| std::env::var(name).unwrap_or_else(|_| "none".into());
    let (rank, world) = (variable("HOSTCALL_RANK"), variable("HOSTCALL_WORLD_SIZE"));
    if std::env::args().nth(1).is_some_and(|word| word == "one fails") {
        if rank == "1" {
            // SAFETY: there is no memory: the device says so, and ends the program.
            unsafe { std::ptr::without_provenance_mut::<u8>(64).write_volatile(1) };
        }
        while rank == "0" && !std::path::Path::new("go").exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input).unwrap();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    println!("rank {rank} of {world}: {arguments:?} {input:?}");
    if arguments.first().is_some_and(|fails| *fails == rank) {
        std::process::exit(40 + rank.parse::<i32>().unwrap());
    }
}
"#;

/// Started by no launcher.
fn alone(command: &mut Command) -> &mut Command {
    let all = ["HOSTCALL", "SLURM", "OMPI", "PMI", "PMIX", "FLUX", "MPI", "RANK", "WORLD", "LOCAL"];
    for (name, _) in std::env::vars_os() {
        let said = name.to_string_lossy();
        if all.iter().any(|prefix| said.starts_with(prefix)) && said.contains("RANK") | said.contains("SIZE") | said.contains("SLURM") {
            command.env_remove(&name);
        }
    }
    command
}

fn lines(stdout: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = stdout.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn a_program_runs_on_each_device_and_knows_its_rank() {
    let Some(package) = Package::new("", &[("src/main.rs", MAIN)]) else { return };
    let run = |options: &[&str], arguments: &[&str]| {
        let mut command = command(package.path(), &["run", "-q"]);
        alone(&mut command).args(options).arg("--").args(arguments).output().expect("it starts")
    };
    let three = run(&["--devices", "sim*3", "--stats", "--trace", "trace-%r.json"], &["x"]);
    let expected: Vec<String> = (0..3).map(|rank| format!("rank {rank} of 3: [\"x\"] \"\"")).collect();
    assert_eq!(lines(&succeeded(&three)), expected);
    let said = text(&three.stderr);
    for rank in 0..3 {
        assert!(said.lines().any(|line| line.starts_with(&format!("{rank}: sim")) && line.contains("StdSystem__write")), "{said}");
        let trace = fs::read_to_string(package.path().join(format!("trace-{rank}.json"))).expect("each has its trace");
        assert!(trace.contains("StdSystem__write"), "{trace}");
    }

    // The one that fails says so, and its code is that of all.
    let failed = run(&["--devices", "sim*3"], &["1"]);
    assert_eq!((failed.status.code(), lines(&text(&failed.stdout)).len()), (Some(41), 3), "{}", text(&failed.stderr));

    // It says so at once: the first one runs until then.
    let mut running = command(package.path(), &["run", "-q", "--devices", "sim*3", "--dir", ".", "--", "one fails"]);
    let mut running = alone(&mut running).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let said = BufReader::new(running.stderr.take().expect("a pipe"));
    let mut said = said.lines().map(|line| line.expect("text"));
    let failure = said.find(|line| line.contains("device 1: sim")).expect("the failure is told");
    assert!(running.try_wait().expect("its state").is_none(), "{failure}");
    fs::write(package.path().join("go"), "").expect("written");
    said.for_each(drop);
    assert_eq!(running.wait().expect("it ends").code(), Some(139));

    isolated(&package, run);

    // All GPUs of a machine without one are the simulator, and it says why; a driver that does not work is none to go
    // without.
    if Device::list("cuda").is_ok() || Device::list("hsa").is_ok() {
        println!("skipped: what `all` is without a GPU; there is one");
    } else {
        let mut all = command(package.path(), &["exec", "--devices", "all"]);
        let all = alone(&mut all).arg(package.image()).output().expect("it starts");
        assert_eq!(succeeded(&all), "rank 0 of 1: [] \"\"\n");
        assert!(text(&all.stderr).contains("using the simulator"), "{}", text(&all.stderr));
        let broken = |options: &[&str]| {
            let mut command = command(package.path(), &["exec", "-q"]);
            let ranked = [("HOSTCALL_RANK", "0"), ("HOSTCALL_WORLD_SIZE", "1"), ("HOSTCALL_HSA_LIBRARY", "/nowhere/libhsa.so")];
            let output = alone(&mut command).envs(ranked).args(options).arg(package.image()).output().expect("it starts");
            (output.status.success(), text(&output.stderr))
        };
        for options in [["--devices", "all"], ["--device", "rank"]] {
            let (succeeded, said) = broken(&options);
            assert!(!succeeded && said.contains("/nowhere/libhsa.so") && said.contains("HOSTCALL_HSA_LIBRARY"), "{options:?}: {said}");
        }
        assert!(broken(&["--device", "sim"]).0);
    }

    for (options, why) in [
        (&["--devices", "sim*2", "--trace", "t.json"][..], "%r"),
        (&["--devices", "sim*2", "--stream", "s.hcs"], "%r"),
        (&["--devices", "sim*2", "--device", "sim"], "cannot be used with"),
        (&["--devices", "sim*0"], "1 to 1024"),
        (&["--devices", "sim*2", "--isolated", "--trace", "t.json"], "%r"),
        (&["--isolated"], "--devices"),
        (&["--device", "rank"], "mpirun"),
    ] {
        let refused = run(options, &[]);
        assert!(!refused.status.success() && text(&refused.stderr).contains(why), "{options:?}: {}", text(&refused.stderr));
    }

    // As launchers do it: a process for each rank. (Without a GPU each takes the simulator.)
    let ranked = |variables: &[(&str, &str)], options: &[&str]| {
        let mut command = command(package.path(), &["exec", "-q"]);
        alone(&mut command).envs(variables.iter().copied()).args(options).arg(package.image()).output().expect("it starts")
    };
    for (launcher, [rank, world, local]) in [
        ("slurm", ["SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"]),
        ("openmpi", ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"]),
        ("mpich", ["PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"]),
        ("pmi", ["PMI_RANK", "PMI_SIZE", "PMI_LOCAL_RANK"]),
        ("flux", ["FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID"]),
        ("torchrun", ["RANK", "WORLD_SIZE", "LOCAL_RANK"]),
    ] {
        let output = ranked(&[(rank, "5"), (world, "8"), (local, "1")], &["--device", "sim", "--trace", &format!("{launcher}-%r.json")]);
        assert_eq!(succeeded(&output), "rank 5 of 8: [] \"\"\n", "{launcher}");
        assert!(package.path().join(format!("{launcher}-5.json")).exists());
    }
    let mine = [("HOSTCALL_RANK", "2"), ("HOSTCALL_WORLD_SIZE", "3")];
    assert_eq!(succeeded(&ranked(&mine, &["--device", "sim", "--env", "HOSTCALL_RANK=9"])), "rank 9 of none: [] \"\"\n");
    assert_eq!(succeeded(&ranked(&[], &["--device", "sim"])), "rank none of none: [] \"\"\n");
    let odd = ranked(&[("HOSTCALL_RANK", "two"), ("HOSTCALL_WORLD_SIZE", "3")], &["--device", "rank"]);
    assert!(!odd.status.success() && text(&odd.stderr).contains("HOSTCALL_RANK is \"two\""), "{}", text(&odd.stderr));

    // Built anew, it is another image.
    package.write("src/main.rs", "fn main() { println!(\"{}\", std::env::var(\"HOSTCALL_RANK\").unwrap()) }");
    assert_eq!(lines(&succeeded(&run(&["--devices", "sim*2"], &[]))), ["0", "1"]);

    launched(&package);
}

/// The same with a process for each device: one that dies, by a signal even, leaves the others running.
fn isolated(package: &Package, run: impl Fn(&[&str], &[&str]) -> Output) {
    let three = run(&["--devices", "sim*3", "--isolated", "--stats", "--trace", "apart-%r.json"], &["x"]);
    let expected: Vec<String> = (0..3).map(|rank| format!("rank {rank} of 3: [\"x\"] \"\"")).collect();
    assert_eq!(lines(&succeeded(&three)), expected);
    assert!((0..3).all(|rank| package.path().join(format!("apart-{rank}.json")).exists()));
    let failed = run(&["--devices", "sim*3", "--isolated"], &["1"]);
    assert_eq!((failed.status.code(), lines(&text(&failed.stdout)).len()), (Some(41), 3), "{}", text(&failed.stderr));

    fs::remove_file(package.path().join("go")).expect("it is there from before");
    let mut running = command(package.path(), &["run", "-q", "--devices", "sim*3", "--isolated", "--dir", ".", "--", "one fails"]);
    let running = alone(&mut running).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = running.spawn().expect("it starts");
    let said = BufReader::new(running.stderr.take().expect("a pipe"));
    let mut said = said.lines().map(|line| line.expect("text"));
    said.find(|line| line.starts_with("device 1: sim: its process ended with 1")).expect("the failure is told");
    fs::write(package.path().join("go"), "").expect("written");
    said.for_each(drop);
    let output = running.wait_with_output().expect("it ends");
    let expected = ["rank 0 of 3: [\"one fails\"] \"\"", "rank 2 of 3: [\"one fails\"] \"\""];
    assert_eq!((output.status.code(), lines(&text(&output.stdout))), (Some(139), expected.to_vec()));
}

/// The same under launchers that are there: Open MPI's and MPICH's, whose variables differ. `cargo xtask setup`
/// installs both.
fn launched(package: &Package) {
    // Without a GPU each rank's share of all of them is the simulator, for which the program is built.
    let device = if Device::list("all").is_ok_and(|all| all == ["sim"]) { "rank" } else { "sim" };
    for (launcher, debian, options) in
        [("mpirun.openmpi", "openmpi-bin", &["--allow-run-as-root", "--oversubscribe"][..]), ("mpiexec.hydra", "mpich", &[])]
    {
        if !hostcall_test_support::has(launcher, debian) {
            continue;
        }
        let mut command = Command::new(launcher);
        alone(&mut command).args(options).args(["-n", "2", env!("CARGO_BIN_EXE_cargo-hostcall"), "exec", "-q", "--device", device]);
        let traces = package.path().join(format!("{launcher}-%r.json"));
        let output = command.arg("--trace").arg(&traces).arg(package.image()).output().expect("it starts");
        assert_eq!(lines(&succeeded(&output)), ["0", "1"], "{launcher}");
        for rank in ["0", "1"] {
            assert!(package.path().join(format!("{launcher}-{rank}.json")).exists(), "{launcher}: rank {rank} has its trace");
        }
    }
}
