//! `--devices`: a program on several devices at once; and ranks, which launchers say by variables. On the simulator.

mod support;

use std::fs;
use std::process::Command;

use support::package::{Package, command, succeeded, text};

const MAIN: &str = r#"
use std::io::Read;

fn main() {
    let variable = |name| std::env::var(name).unwrap_or_else(|_| "none".into());
    let (rank, world) = (variable("HOSTCALL_RANK"), variable("HOSTCALL_WORLD_SIZE"));
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

    for (options, why) in [
        (&["--devices", "sim*2", "--trace", "t.json"][..], "%r"),
        (&["--devices", "sim*2", "--stream", "s.hcs"], "%r"),
        (&["--devices", "sim*2", "--device", "sim"], "cannot be used with"),
        (&["--devices", "sim*0"], "1 to 1024"),
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
    let slurm = [("SLURM_PROCID", "5"), ("SLURM_NTASKS", "8"), ("SLURM_LOCALID", "1")];
    let output = ranked(&slurm, &["--device", "sim", "--trace", "of-%r.json"]);
    assert_eq!(succeeded(&output), "rank 5 of 8: [] \"\"\n");
    assert!(package.path().join("of-5.json").exists());
    let mine = [("HOSTCALL_RANK", "2"), ("HOSTCALL_WORLD_SIZE", "3")];
    assert_eq!(succeeded(&ranked(&mine, &["--device", "sim", "--env", "HOSTCALL_RANK=9"])), "rank 9 of none: [] \"\"\n");
    assert_eq!(succeeded(&ranked(&[], &["--device", "sim"])), "rank none of none: [] \"\"\n");
    let odd = ranked(&[("HOSTCALL_RANK", "two"), ("HOSTCALL_WORLD_SIZE", "3")], &["--device", "rank"]);
    assert!(!odd.status.success() && text(&odd.stderr).contains("HOSTCALL_RANK is \"two\""), "{}", text(&odd.stderr));

    // Built anew, it is another image.
    package.write("src/main.rs", "fn main() { println!(\"{}\", std::env::var(\"HOSTCALL_RANK\").unwrap()) }");
    assert_eq!(lines(&succeeded(&run(&["--devices", "sim*2"], &[]))), ["0", "1"]);

    mpirun(&package);
}

/// The same under Open MPI, where it is installed.
fn mpirun(package: &Package) {
    let mut command = Command::new("mpirun");
    alone(&mut command);
    command.args([
        "--allow-run-as-root",
        "--oversubscribe",
        "-n",
        "2",
        env!("CARGO_BIN_EXE_cargo-hostcall"),
        "exec",
        "-q",
        "--device",
        "sim",
    ]);
    match command.arg(package.image()).output() {
        Ok(output) => assert_eq!(lines(&succeeded(&output)), ["0", "1"]),
        Err(error) => println!("not run under mpirun: {error}"),
    }
}
