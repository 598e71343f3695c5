//! `cargo hostcall setup`: installs what building for GPUs needs.

use std::os::unix::fs::symlink;
use std::process::ExitCode;

use crate::Outcome;

/// There is nothing to choose.
#[derive(clap::Args)]
pub(crate) struct Arguments {}

/// Installs what is missing. The exit code says whether all is there now.
pub(crate) fn run(_: Arguments) -> Outcome {
    let mut report = hostcall_build::setup(|step| eprintln!("  running  {step}"));
    match links() {
        Ok(line) => report.done.push(line),
        Err(line) => report.failed.push(line),
    }
    for line in &report.done {
        println!("  ok       {line}");
    }
    for line in &report.failed {
        println!("  missing  {line}");
    }
    Ok(if report.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The names under which this program compiles C and C++.
const COMPILERS: [&str; 2] = ["hostcall-cc", "hostcall-c++"];

/// Makes links with those names beside this program; what is to be said of them.
fn links() -> Result<String, String> {
    let program = std::env::current_exe().map_err(|error| format!("compilers of C and C++: cannot find this program: {error}"))?;
    for name in COMPILERS {
        let link = program.with_file_name(name);
        if std::fs::read_link(&link).is_ok_and(|to| to == program) {
            continue;
        }
        // Another program's link, perhaps.
        let _ = std::fs::remove_file(&link);
        symlink(&program, &link)
            .map_err(|error| format!("{name}: cannot link {} to this program: {error}; `cargo hostcall cc` is the same", link.display()))?;
    }
    Ok(format!("{}: beside {}", COMPILERS.join(" and "), program.display()))
}
