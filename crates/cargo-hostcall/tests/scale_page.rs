//! What docs/guide/scale.md and docs/guide/ranks.md show and no other test runs: the compose file, the Slurm job and
//! the launchers' lines. Not whether a cluster would run them: whether they are what their tools read, and whether
//! the options in them exist.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use hostcall_test_support::{Broker, has, succeed, text};
use tempfile::TempDir;

fn page() -> String {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
    ["scale.md", "ranks.md"].map(|name| fs::read_to_string(guide.join(name)).expect("the page")).concat()
}

/// The one block of code of this language that has this text.
fn block(language: &str, with: &str) -> String {
    let (page, begin) = (page(), format!("```{language}\n"));
    let mut blocks = page.split(&begin).skip(1).filter_map(|rest| rest.split("```").next());
    let found = blocks.find(|block| block.contains(with)).unwrap_or_else(|| panic!("the pages have no {language} with {with}"));
    found.to_owned()
}

/// A directory with an executable file in it.
fn stub(dir: &Path, name: &str, script: &str) {
    let path = dir.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("changed");
}

/// The long options of a line.
fn options(line: &str) -> Vec<&str> {
    let words = line.split_whitespace().filter(|word| word.starts_with("--") && word.len() > 2);
    words.map(|word| word.split('=').next().unwrap_or(word)).collect()
}

/// Each option is one that the help names.
fn are_known(help: &str, options: &[&str]) {
    let known: Vec<&str> = help.split(|c: char| !(c.is_alphanumeric() || c == '-')).collect();
    assert!(!options.is_empty());
    for option in options {
        assert!(known.contains(option), "{option} is not in: {help}");
    }
}

#[test]
fn the_compose_file_is_one() {
    if !has("docker-compose", "docker-compose") {
        return;
    }
    let dir = TempDir::new().expect("a directory");
    let compose = |yaml: &str| {
        fs::write(dir.path().join("docker-compose.yml"), yaml).expect("written");
        let mut command = Command::new("docker-compose");
        command.current_dir(dir.path()).args(["config"]).output().expect("it starts")
    };
    let yaml = block("yaml", "services:");
    let output = compose(&yaml);
    assert!(output.status.success(), "{}", text(&output.stderr));
    // What follows the names has come through: both sides have the address and the password's file.
    let said = text(&output.stdout);
    assert_eq!(said.matches("HOSTCALL_REMOTE: nats://broker:4222").count(), 2, "{said}");
    assert_eq!(said.matches("HOSTCALL_REMOTE_PASSWORD: /run/secrets/password").count(), 2, "{said}");
    assert!(said.contains("replicas: 4") && said.contains("driver: nvidia"), "{said}");
    // The check can fail.
    assert!(!compose(&yaml.replace("replicas: 4", "replica: 4")).status.success());
}

#[test]
fn the_brokers_configuration_and_the_password_are_accepted() {
    let page = page();
    let configuration = page.split("`nats.conf` is `").nth(1).and_then(|rest| rest.split('`').next()).expect("the page says it");
    let configuration = configuration.replace('…', "s3cret");
    let Some(broker) = Broker::start(&format!("jetstream {{ store_dir: store }}\n{configuration}"), &[("password", "kernel:s3cret")])
    else {
        return;
    };
    let command = block("yaml", "services:");
    let command = command.lines().find_map(|line| line.trim().strip_prefix("command: ")).expect("the broker's command");
    let words: Vec<String> = serde_json::from_str(command).expect("a list of words");
    let help = text(&succeed(Command::new(broker.program()).arg("--help")).stdout);
    are_known(&help, &words.iter().map(String::as_str).filter(|word| word.starts_with("--")).collect::<Vec<_>>());
    served(&broker);
}

/// A worker whose password is in the file is let in, and says what it serves.
#[cfg(feature = "remote")]
fn served(broker: &Broker) {
    use std::io::BufRead as _;
    let dir = TempDir::new().expect("a directory");
    fs::write(dir.path().join("text"), "a b").expect("written");
    let start = |password: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
        command
            .current_dir(dir.path())
            .args(["hostcall", "demo", "text", "--serve", "env"])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        command.env("HOSTCALL_REMOTE", broker.address()).env("HOSTCALL_REMOTE_PASSWORD", password);
        command.spawn().expect("it starts")
    };
    let mut worker = start(&broker.file("password"));
    let said = std::io::BufReader::new(worker.stdout.take().expect("a pipe")).lines().next().map(|line| line.expect("text"));
    assert!(said.as_ref().is_some_and(|line| line.contains("serves")), "{said:?}");
    worker.kill().and_then(|()| worker.wait()).expect("it ends");
    fs::write(dir.path().join("wrong"), "kernel:guess").expect("written");
    let refused = start(&dir.path().join("wrong")).wait_with_output().expect("it ends");
    assert!(!refused.status.success() && !text(&refused.stderr).contains("guess"), "{}", text(&refused.stderr));
}

#[cfg(not(feature = "remote"))]
fn served(_: &Broker) {
    println!("skipped: a worker with the password; this build has no feature `remote`");
}

#[test]
fn the_slurm_job_is_a_script_and_ends_what_it_started() {
    let dir = TempDir::new().expect("a directory");
    let script = block("sh", "#SBATCH");
    let job = dir.path().join("job.sh");
    fs::write(&job, &script).expect("written");
    succeed(Command::new("bash").arg("-n").arg(&job));
    if has("shellcheck", "shellcheck") {
        succeed(Command::new("shellcheck").arg(&job));
    }
    // With stand-ins for what a cluster has: `srun` runs its command once, here.
    stub(dir.path(), "srun", "echo \"srun $1\" >>log\nshift\nexec \"$@\"");
    stub(dir.path(), "nats-server", "echo \"broker $*\" >>log\nexec sleep 600");
    stub(dir.path(), "worker", "echo \"worker $HOSTCALL_REMOTE\" >>log\nexec sleep 600");
    // The program is there when the worker is.
    stub(dir.path(), "program", "until grep -q '^worker' log; do sleep 0.01; done\necho \"program $HOSTCALL_REMOTE\" >>log");
    let path = format!("{}:{}", dir.path().display(), std::env::var("PATH").unwrap_or_default());
    let mut run = Command::new("timeout");
    run.args(["--kill-after=5", "60", "bash"]).arg(&job).current_dir(dir.path()).env("PATH", path).env("HOME", "/nowhere");
    // What outlives the script would hold the pipe, and the test would wait for it.
    succeed(&mut run);
    let log = fs::read_to_string(dir.path().join("log")).expect("a log");
    for line in ["broker -a 0.0.0.0 -c /nowhere/nats.conf", "srun --het-group=0", "srun --het-group=1"] {
        assert!(log.contains(line), "no {line} in {log}");
    }
    let place = |who: &str| log.lines().find_map(|line| line.strip_prefix(who)).map(str::to_owned);
    assert_eq!(place("worker "), place("program "), "{log}");
    assert!(place("worker ").is_some_and(|place| place.starts_with("nats://") && place.ends_with(":4222")), "{log}");
}

/// Slurm's programs, which `cargo xtask setup` unpacks: they say their help without a cluster.
fn slurm(program: &str, dir: &Path) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/debian/usr");
    let path: PathBuf = root.join("bin").join(program);
    if !path.exists() {
        assert!(std::env::var_os("CI").is_none(), "`cargo xtask setup` unpacks {program} into target/debian");
        println!("skipped: there is no `{program}`; `cargo xtask setup` unpacks Debian's into target/debian");
        return None;
    }
    let machine = format!("{}-linux-gnu", std::env::consts::ARCH);
    let libraries = root.join("lib").join(machine).join("slurm-wlm").canonicalize().expect("its libraries");
    let configuration = dir.join("slurm.conf");
    fs::write(&configuration, format!("ClusterName=x\nSlurmctldHost=localhost\nPluginDir={}\n", libraries.display())).expect("written");
    let mut command = Command::new(path);
    command.arg("--help").env("LD_LIBRARY_PATH", libraries).env("SLURM_CONF", configuration);
    Some(text(&succeed(&mut command).stdout))
}

#[test]
fn options_of_launchers_exist() {
    let dir = TempDir::new().expect("a directory");
    let job = block("sh", "#SBATCH");
    let lines = block("sh", "mpirun -n 8");
    if let (Some(sbatch), Some(srun)) = (slurm("sbatch", dir.path()), slurm("srun", dir.path())) {
        let directives: Vec<&str> = job.lines().filter_map(|line| line.strip_prefix("#SBATCH ")).flat_map(options).collect();
        are_known(&sbatch, &directives);
        let runs = job.lines().chain(lines.lines()).filter_map(|line| line.strip_prefix("srun "));
        // Up to the program, whose options are its own.
        let runs: Vec<&str> = runs.filter_map(|line| line.split(" ./").next()?.split(" cargo-hostcall").next()).collect();
        assert_eq!(runs.len(), 3);
        are_known(&srun, &runs.into_iter().flat_map(options).collect::<Vec<_>>());
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
    let exec = text(&succeed(command.args(["hostcall", "exec", "--help"])).stdout);
    let ours = lines.lines().filter_map(|line| line.split("cargo-hostcall exec ").nth(1));
    are_known(&exec, &ours.flat_map(options).collect::<Vec<_>>());
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
    let build = text(&succeed(command.args(["hostcall", "build", "--help"])).stdout);
    let ours = lines.lines().filter_map(|line| line.strip_prefix("cargo hostcall build ")?.split('#').next());
    are_known(&build, &ours.flat_map(options).collect::<Vec<_>>());
}
