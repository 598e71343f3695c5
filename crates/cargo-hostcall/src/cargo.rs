//! Cargo, for a device: `build`, `run` and `test` of ordinary packages.
//!
//! Cargo does what it always does. It is given our compiler (`RUSTC`), a target, and a runner: this program's `exec`,
//! with the run's options.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};

use hostcall_build::{INSTRUMENT_VARIABLE, INSTRUMENTED_DIR, Instrument, Machine, PROGRESS_VARIABLE, Sysroot, Target};
use offload::{Device, DeviceKind};

use crate::options::Options;
use crate::{Outcome, environment};

/// What cargo is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Run {
        /// In the simulator, too, the program is to be one that a GPU could run, as far as that can be said at once.
        is_checked: bool,
    },
    Test(Targets),
}

/// Which targets of a package are tested.
#[derive(clap::Args, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Targets {
    /// Run the library's tests
    #[arg(long)]
    lib: bool,
    /// Run the tests of all programs
    #[arg(long)]
    bins: bool,
    /// Run all integration tests
    #[arg(long)]
    tests: bool,
    /// Run this integration test
    #[arg(long, value_name = "NAME")]
    test: Vec<String>,
    /// Build the tests and do not run them
    #[arg(long)]
    no_run: bool,
}

impl Targets {
    /// The library's tests or integration tests, or all if neither is said, to be built and not run.
    pub(crate) fn to_build(lib: bool, test: Vec<String>) -> Targets {
        Targets { lib, test, no_run: true, ..Targets::default() }
    }

    /// Documentation's examples are compiled by rustdoc, which knows nothing of devices: without a choice, everything
    /// else is tested.
    fn arguments(&self, selection: &Selection) -> Vec<OsString> {
        let mut all: Vec<OsString> = self.test.iter().flat_map(|name| ["--test".into(), name.into()]).collect();
        let chosen =
            self.lib || self.bins || self.tests || !self.test.is_empty() || !selection.bin.is_empty() || !selection.example.is_empty();
        // `--tests` is all that a plain `cargo test` runs but documentation and examples.
        let flags = [("--lib", self.lib), ("--bins", self.bins), ("--tests", self.tests || !chosen), ("--no-run", self.no_run)];
        all.extend(flags.into_iter().filter(|(_, set)| *set).map(|(name, _)| name.into()));
        all
    }
}

/// Which packages and how: cargo's own options.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Cargo's options")]
pub(crate) struct Selection {
    /// Choose this package
    #[arg(short, long, value_name = "SPEC")]
    pub(crate) package: Vec<String>,
    /// Choose this binary
    #[arg(long, value_name = "NAME")]
    pub(crate) bin: Vec<String>,
    /// Choose this example
    #[arg(long, value_name = "NAME")]
    pub(crate) example: Vec<String>,
    /// Build with optimisations
    #[arg(short, long)]
    pub(crate) release: bool,
    /// Build with this profile
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Features to enable
    #[arg(short = 'F', long, value_name = "LIST")]
    pub(crate) features: Vec<String>,
    /// Enable all features
    #[arg(long)]
    pub(crate) all_features: bool,
    /// Disable the default features
    #[arg(long)]
    pub(crate) no_default_features: bool,
    /// Path of the package's Cargo.toml
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest_path: Option<PathBuf>,
    /// Directory for what is built
    #[arg(long, value_name = "DIR")]
    pub(crate) target_dir: Option<PathBuf>,
    /// Do not use the network
    #[arg(long)]
    pub(crate) offline: bool,
    /// Use exactly the versions of Cargo.lock
    #[arg(long)]
    pub(crate) locked: bool,
    /// Print less
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl Selection {
    fn arguments(&self) -> Vec<OsString> {
        let mut all: Vec<OsString> = Vec::new();
        let named = [("--package", &self.package), ("--bin", &self.bin), ("--example", &self.example), ("--features", &self.features)];
        for (name, values) in named {
            all.extend(values.iter().flat_map(|value| [name.into(), value.into()]));
        }
        if let Some(profile) = &self.profile {
            all.extend(["--profile".into(), profile.into()]);
        }
        for (name, path) in [("--manifest-path", &self.manifest_path), ("--target-dir", &self.target_dir)] {
            if let Some(path) = path {
                all.extend([name.into(), path.into()]);
            }
        }
        let flags = [
            ("--release", self.release),
            ("--all-features", self.all_features),
            ("--no-default-features", self.no_default_features),
            ("--offline", self.offline),
            ("--locked", self.locked),
            ("--quiet", self.quiet),
        ];
        all.extend(flags.into_iter().filter(|(_, set)| *set).map(|(name, _)| name.into()));
        all
    }
}

/// Refuses, before anything is compiled for a device, to build programs where there are none: most likely the package
/// is a kernel crate. Which packages `-p` means, and what is wrong with a manifest, is cargo's to say.
pub(crate) fn ensure_programs(selection: &Selection) -> Result<(), Box<dyn std::error::Error>> {
    if !selection.package.is_empty() {
        return Ok(());
    }
    let (Ok(host), Ok(here)) = (hostcall_build::HostToolchain::find(), std::env::current_dir()) else { return Ok(()) };
    let output = metadata(&host.cargo, selection)?;
    let all: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let (Some(packages), Some(root)) = (all["packages"].as_array(), all["workspace_root"].as_str()) else { return Ok(()) };
    let manifest = match &selection.manifest_path {
        Some(path) => here.join(path),
        None => here.ancestors().map(|dir| dir.join("Cargo.toml")).find(|file| file.is_file()).unwrap_or_default(),
    };
    // In the workspace's own directory its default members are built, below it one member.
    let is_root = manifest == Path::new(root).join("Cargo.toml");
    let is_chosen = |package: &&serde_json::Value| match is_root {
        true => all["workspace_default_members"].as_array().is_none_or(|members| members.contains(&package["id"])),
        false => package["manifest_path"].as_str().map(Path::new) == Some(&manifest),
    };
    let chosen = || packages.iter().filter(is_chosen);
    let is_program = |target: &serde_json::Value| target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "bin"));
    let programs = |package: &serde_json::Value| package["targets"].as_array().is_some_and(|targets| targets.iter().any(is_program));
    let names: Vec<&str> = chosen().filter_map(|package| package["name"].as_str()).collect();
    if names.is_empty() || !selection.example.is_empty() || chosen().any(programs) {
        return Ok(());
    }
    Err(format!(
        "nothing to build: {} has no program (`fn main()` in src/main.rs). A kernel of a kernel crate is launched by `cargo hostcall run . NAME`",
        names.join(", ")
    )
    .into())
}

/// Builds, and runs or tests, for the device that `options` name. `more` are further options of the run.
pub(crate) fn run(verb: Verb, options: &Options, more: Vec<OsString>, selection: &Selection, rest: &[OsString]) -> Outcome {
    let is_run = matches!(verb, Verb::Run { .. });
    if options.devices.is_some() && !is_run {
        return Err("--devices is for programs: tests run on one device, which --device names".into());
    }
    let options = &options.of_process()?;
    if let Some(spec) = first(options)?.as_deref().filter(|spec| spec.starts_with("cuda"))
        && !Path::new("/dev/nvidiactl").exists()
    {
        // It is most likely not there, and that is said before anything is compiled for it.
        Device::open(spec)?;
    }
    if is_run {
        ensure_programs(selection)?;
    }
    let machine = machine(options)?;
    if verb == (Verb::Run { is_checked: true })
        && machine == Machine::Sim
        && can_check_gpu()
        && let Some(code) = check_gpu(selection)?
    {
        eprintln!("note: this was checked as a GPU's code; `--no-check-gpu` runs it in the simulator all the same");
        return Ok(code);
    }
    let sysroot = prepare(&machine, selection.quiet)?;
    let instrument = options.instrument.as_ref();
    let mut command = match &verb {
        Verb::Run { .. } => command(&sysroot, "run", selection, instrument)?,
        Verb::Test(targets) => {
            let mut command = command(&sysroot, "test", selection, instrument)?;
            command.args(targets.arguments(selection));
            command
        }
    };
    let runner = runner(&[], selection.quiet || !is_run)?;
    command.env(environment::ENCODED, environment::encoded(&[options.to_arguments(), more].concat()));
    command.arg("--config").arg(format!("target.{}.runner={}", machine.name(), serde_json::Value::from(runner)));
    command.arg("--").args(rest);
    // Ctrl-C reaches the whole group: the runner ends the run and says so, and cargo ends with it.
    ctrlc::set_handler(|| {})?;
    Ok(exit_code(command.status().map_err(|error| format!("cannot run {}: {error}", sysroot.cargo().display()))?))
}

/// Has the compiler check programs as a GPU's code, and generates none: what only this machine's processor has (its
/// assembly, its intrinsics) is an error, which the simulator, whose code this processor runs, takes without a word.
/// `None` if all is right, else what to end with. Nothing else is said: warnings are those of the build.
pub(crate) fn check_gpu(selection: &Selection) -> Result<Option<ExitCode>, Box<dyn std::error::Error>> {
    let sysroot = prepare(&Machine::Nvptx, selection.quiet)?;
    let mut command = command(&sysroot, "check", &Selection { quiet: true, ..selection.clone() }, None)?;
    command.arg("--message-format=json").stdout(Stdio::piped()).stderr(Stdio::piped());
    let Output { status, stdout, stderr } =
        command.output().map_err(|error| format!("cannot run {}: {error}", sysroot.cargo().display()))?;
    if status.success() {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    for message in messages.filter(|message| message["message"]["level"] == "error") {
        eprintln!("{}", message["message"]["rendered"].as_str().unwrap_or_default().trim_end());
    }
    eprint!("{}", String::from_utf8_lossy(&stderr));
    Ok(Some(exit_code(status)))
}

/// Whether programs can be checked as a GPU's code at once: std for it has been built.
fn can_check_gpu() -> bool {
    Sysroot::prepared(&Machine::Nvptx).is_some()
}

/// Builds programs, or the programs that `tests` are, for a machine; the files that it left.
pub(crate) fn build(
    machine: &Machine,
    selection: &Selection,
    tests: Option<&Targets>,
    instrument: Option<&Instrument>,
) -> Result<Result<Vec<PathBuf>, ExitCode>, Box<dyn std::error::Error>> {
    let sysroot = prepare(machine, selection.quiet)?;
    let mut command = command(&sysroot, if tests.is_some() { "test" } else { "build" }, selection, instrument)?;
    command.args(tests.map(|targets| targets.arguments(selection)).unwrap_or_default());
    command.arg("--message-format=json-render-diagnostics").stdout(Stdio::piped()).stderr(Stdio::inherit());
    let output = command.output().map_err(|error| format!("cannot run {}: {error}", sysroot.cargo().display()))?;
    if !output.status.success() {
        return Ok(Err(exit_code(output.status)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    Ok(Ok(messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from)).collect()))
}

/// What cargo starts programs with: this program, and the run's options, all of which are texts in cargo's settings.
pub(crate) fn runner(options: &[OsString], quiet: bool) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let program = std::env::current_exe()?.into_os_string();
    let quiet = quiet.then(|| "--quiet".into());
    // Cargo appends the image and the program's arguments, which are none of our options.
    let words = [program, "exec".into()].into_iter().chain(options.iter().cloned()).chain(quiet).chain(["--".into()]);
    let text =
        |word: OsString| word.into_string().map_err(|word| format!("{} is not UTF-8, and cargo's settings are", word.display()).into());
    words.map(text).collect()
}

/// The device that was asked for, or the first of several.
fn first(options: &Options) -> Result<Option<String>, offload::Error> {
    match &options.devices {
        Some(list) => Ok(Device::list(list)?.into_iter().next()),
        None => Ok(options.device.clone()),
    }
}

/// The machine of the device that was asked for. A GPU is opened only to find out whether there is one.
pub(crate) fn machine(options: &Options) -> Result<Machine, Box<dyn std::error::Error>> {
    let spec = first(options)?;
    match spec.as_deref().map(|spec| spec.split(':').next().unwrap_or(spec)) {
        Some("sim") => return Ok(Machine::Sim),
        Some("cuda") => return Ok(Machine::of(&Target::nvptx())),
        None if !["/dev/nvidiactl", "/dev/kfd"].iter().any(|device| Path::new(device).exists()) => return Ok(Machine::Sim),
        _ => {}
    }
    let device = match &spec {
        Some(spec) => Device::open(spec)?,
        None => Device::choose().0,
    };
    match device.info().kind {
        DeviceKind::Sim => Ok(Machine::Sim),
        DeviceKind::Cuda => Ok(Machine::of(&Target::nvptx())),
        DeviceKind::Hsa => Ok(Machine::of(&amd_target(&device.info().arch))),
        kind => Err(format!("std is not built for {kind} devices").into()),
    }
}

/// What is built for an HSA device of this architecture. One that is emulated on this machine's processor runs the
/// simulator's images.
pub(crate) fn amd_target(arch: &str) -> Target {
    if arch.starts_with("gfx") { Target::Amdgpu { arch: arch.to_owned() } } else { Target::Sim }
}

/// std for the machine, with progress on stderr.
pub(crate) fn prepare(machine: &Machine, quiet: bool) -> Result<Sysroot, Box<dyn std::error::Error>> {
    Ok(Sysroot::prepare(machine, None, |step| {
        if !quiet {
            eprintln!("{step}");
        }
    })?)
}

fn command(
    sysroot: &Sysroot,
    verb: &str,
    selection: &Selection,
    instrument: Option<&Instrument>,
) -> Result<Command, Box<dyn std::error::Error>> {
    let mut command = Command::new(sysroot.cargo());
    let apart = match instrument {
        Some(wanted) => {
            sysroot.prepare_instrumented(wanted, |step| {
                if !selection.quiet {
                    eprintln!("{step}");
                }
            })?;
            // Cargo does not see what our compiler adds to a crate's flags.
            Some(Selection { target_dir: Some(target_dir(sysroot, selection)?.join(INSTRUMENTED_DIR)), ..selection.clone() })
        }
        None => None,
    };
    let selection = apart.as_ref().unwrap_or(selection);
    command.env(INSTRUMENT_VARIABLE, instrument.map(ToString::to_string).unwrap_or_default());
    // A rustup proxy that runs us has chosen a toolchain by variables; the device's cargo is none of its.
    command.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").envs(sysroot.variables()?);
    command.arg(verb).args(selection.arguments()).args(["--target", &sysroot.machine.name()]);
    command.args(sysroot.settings().iter().map(|setting| format!("--config={setting}")));
    if !selection.quiet {
        // This process's own, which cargo's linkers do not have.
        command.env(PROGRESS_VARIABLE, format!("/proc/{}/fd/2", std::process::id()));
    }
    Ok(command)
}

/// Where cargo builds the selected packages.
fn target_dir(sysroot: &Sysroot, selection: &Selection) -> Result<PathBuf, Box<dyn std::error::Error>> {
    if let Some(dir) = &selection.target_dir {
        return Ok(dir.clone());
    }
    let output = metadata(sysroot.cargo(), selection)?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    match metadata["target_directory"].as_str() {
        Some(dir) => Ok(dir.into()),
        None => Err(String::from_utf8_lossy(&output.stderr).trim_end().to_owned().into()),
    }
}

/// What `cargo metadata` says of the workspace alone.
fn metadata(cargo: &Path, selection: &Selection) -> Result<Output, String> {
    let mut command = Command::new(cargo);
    command.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").args(["metadata", "--no-deps", "--format-version=1"]);
    command.args(selection.manifest_path.iter().flat_map(|path| [OsString::from("--manifest-path"), path.into()]));
    command.output().map_err(|error| format!("cannot run {}: {error}", cargo.display()))
}

fn exit_code(status: std::process::ExitStatus) -> ExitCode {
    match status.code() {
        Some(0) => ExitCode::SUCCESS,
        Some(code) => ExitCode::from((code as u8).max(1)),
        None => ExitCode::FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargos_options_are_handed_on() {
        let selection = Selection { package: vec!["a".into()], release: true, features: vec!["x,y".into()], ..Selection::default() };
        assert_eq!(selection.arguments(), ["--package", "a", "--features", "x,y", "--release"]);
    }

    #[test]
    fn without_a_choice_all_but_documentation_is_tested() {
        let none = Selection::default();
        assert_eq!(Targets::default().arguments(&none), ["--tests"]);
        assert_eq!(Targets { lib: true, no_run: true, ..Targets::default() }.arguments(&none), ["--lib", "--no-run"]);
        assert_eq!(Targets { test: vec!["a".into()], ..Targets::default() }.arguments(&none), ["--test", "a"]);
        assert_eq!(Targets::to_build(false, Vec::new()).arguments(&none), ["--tests", "--no-run"]);
        assert_eq!(Targets::to_build(false, vec!["a".into()]).arguments(&none), ["--test", "a", "--no-run"]);
    }

    #[test]
    fn the_device_names_the_machine_without_being_opened() {
        let options = |device: &str| Options { device: Some(device.into()), ..Options::default() };
        assert_eq!(machine(&options("sim:lanes=64")).expect("known"), Machine::Sim);
        assert_eq!(machine(&options("cuda:7")).expect("known"), Machine::Nvptx);
        assert!(machine(&options("quantum")).is_err());
    }
}
