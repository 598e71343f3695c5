//! `cargo hostcall new`: a package to start from.

mod kernel;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use crate::Outcome;

/// Where, and what.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The directory to make; its last part is the package's name
    path: PathBuf,
    /// Make a program that runs here and launches a kernel, which calls it. Without this, the whole program runs on the
    /// device
    #[arg(long)]
    kernel: bool,
}

/// A program that shows where it is, and reads what it is given.
const MAIN: &str = r#"//! An ordinary program: `cargo run` runs it here, `cargo hostcall run` on a GPU (or on the simulator, where there is none).

use std::io::{self, BufRead, IsTerminal};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    println!("hello from {} with arguments {arguments:?}", std::env::consts::ARCH);
    if io::stdin().is_terminal() {
        println!("pipe something in, and its lines are counted: `ls | cargo hostcall run`");
        return Ok(());
    }
    let mut lines = 0;
    let mut longest = String::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        lines += 1;
        if line.len() > longest.len() {
            longest = line;
        }
    }
    println!("{lines} lines on standard input; the longest: {longest}");
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn threads_are_waves() {
        let sums: Vec<u32> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|n| scope.spawn(move || (0..=n).sum())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(sums, [0, 1, 3, 6]);
    }
}
"#;

/// What goes at the end of the manifest: rustc must know the name that tells the device from the host.
const LINTS: &str = "\n[lints.rust]\nunexpected_cfgs = { level = \"warn\", check-cfg = [\"cfg(hostcall_device)\"] }\n";

/// What a package with kernels gets in addition, if cargo takes profiles from it. A quarter of what waits for the first
/// build is debug information of packages that nobody steps through.
const PROFILE: &str = "\n# Remove this to step through dependencies in a debugger.\n[profile.dev.package.\"*\"]\ndebug = false\n";

/// `cargo new` makes the package; the program is ours.
pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let Arguments { path, kernel } = arguments;
    let cargo = hostcall_build::HostToolchain::find()?.cargo;
    let output = Command::new(&cargo).args(["new", "--bin", "--quiet"]).arg(path).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("cannot run {}: {error}", cargo.display()))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().trim_start_matches("error: ").to_owned().into());
    }
    let manifest = path.join("Cargo.toml");
    let mut text = fs::read_to_string(&manifest).map_err(|error| format!("cannot read {}: {error}", manifest.display()))?;
    if *kernel {
        text = kernel::with_dependencies(&text);
        if is_its_own_workspace(&cargo, &manifest) {
            text += PROFILE;
        }
        write(&path.join("build.rs"), kernel::BUILD)?;
        write(&path.join("src/main.rs"), &kernel::main(&text))?;
        write(&path.join("src/kernels.rs"), kernel::KERNELS)?;
        let settings = path.join(".vscode");
        fs::create_dir_all(&settings).map_err(|error| format!("cannot create {}: {error}", settings.display()))?;
        write(&settings.join("settings.json"), &kernel::editor(&text))?;
    } else {
        write(&path.join("src/main.rs"), MAIN)?;
    }
    write(&manifest, &with_lints(text))?;
    let next = if *kernel { "cargo run" } else { "cargo hostcall run" };
    println!("made {0}; now: cd {0} && {next}", path.display());
    Ok(ExitCode::SUCCESS)
}

/// Whether the package is a member of no other's workspace: of members cargo ignores profiles, with a warning.
fn is_its_own_workspace(cargo: &Path, manifest: &Path) -> bool {
    let mut ask = Command::new(cargo);
    ask.args(["locate-project", "--workspace", "--message-format", "plain", "--manifest-path"]).arg(manifest);
    let root = ask.stdin(Stdio::null()).output().ok().filter(|output| output.status.success());
    root.is_some_and(|output| {
        let root = PathBuf::from(String::from_utf8_lossy(output.stdout.trim_ascii_end()).into_owned());
        fs::canonicalize(root).ok() == fs::canonicalize(manifest).ok()
    })
}

/// The manifest with our lints, unless cargo has made the package a member of a workspace whose lints it has: a package
/// cannot have both.
fn with_lints(manifest: String) -> String {
    if manifest.lines().any(|line| line.trim() == "[lints]") { manifest } else { manifest + LINTS }
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_of_a_workspace_with_lints_keeps_those() {
        let member = "[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n";
        assert_eq!(with_lints(member.into()), member);
        assert!(with_lints("[package]\nname = \"a\"\n".into()).ends_with(LINTS));
    }
}
