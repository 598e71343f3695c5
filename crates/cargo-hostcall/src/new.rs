//! `cargo hostcall new`: a package to start from.

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use crate::Outcome;

/// Where.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The directory to make; the package is called as its last part
    path: PathBuf,
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

/// `cargo new` makes the package; the program is ours.
pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(&cargo).args(["new", "--bin", "--quiet"]).arg(&arguments.path).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("cannot run {}: {error}", cargo.display()))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().trim_start_matches("error: ").to_owned().into());
    }
    let main = arguments.path.join("src/main.rs");
    std::fs::write(&main, MAIN).map_err(|error| format!("cannot write {}: {error}", main.display()))?;
    println!("made {0}; now: cd {0} && cargo hostcall run", arguments.path.display());
    Ok(ExitCode::SUCCESS)
}
