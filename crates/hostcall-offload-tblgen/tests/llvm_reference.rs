//! Our text against LLVM's, byte for byte, where their files are at hand.
//!
//! `HOSTCALL_OFFLOAD_REFERENCE` names a folder with one folder for each version, `v22`, `v23`, … In each,
//! `offload/liboffload/API` holds LLVM's definitions, `offload/test/tools/offload-tblgen` the tests of their tool, and
//! `expected` what their tool writes, one file for each action (any of the three may be missing). The tests are run by
//! FileCheck (`FILECHECK`, or `/usr/lib/llvm-22/bin/FileCheck`).
//!
//! A test that has nothing to compare with is listed as ignored, with the reason: there is no run in which it seems to
//! have passed.

mod support;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use libtest_mimic::{Arguments, Trial};
use support::missing;

type Version = (String, PathBuf);

fn main() -> ExitCode {
    let filecheck = std::env::var("FILECHECK").unwrap_or_else(|_| "/usr/lib/llvm-22/bin/FileCheck".to_owned());
    let (versions, mut why) = match versions() {
        Ok(versions) => (versions, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    let compared = versions.clone();
    let mut trials = vec![trial("every_action_writes_what_llvm_s_tool_writes", why.as_deref(), move || every_action(&compared))];
    if why.is_none() && missing(&filecheck) {
        why = Some(format!("{filecheck} is not installed; name it in FILECHECK"));
    }
    trials.push(trial("the_tests_of_llvm_s_tool_pass", why.as_deref(), move || tests_of_the_tool(&versions, &filecheck)));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A test, ignored if there is a reason to.
fn trial(name: &str, why_not: Option<&str>, test: impl FnOnce() + Send + 'static) -> Trial {
    let trial = Trial::test(name, move || {
        test();
        Ok(())
    });
    match why_not {
        Some(why) => {
            eprintln!("skipped: {name}, since {why}");
            trial.with_ignored_flag(true).with_kind(format!("skipped, {why}"))
        }
        None => trial,
    }
}

/// The versions that are at hand, or why there are none.
fn versions() -> Result<Vec<Version>, String> {
    let folder =
        std::env::var_os("HOSTCALL_OFFLOAD_REFERENCE").ok_or("HOSTCALL_OFFLOAD_REFERENCE names no folder with LLVM's definitions")?;
    let folder = PathBuf::from(folder);
    let found: Vec<_> = ["22", "23", "24"]
        .map(|version| (version.to_owned(), folder.join(format!("v{version}"))))
        .into_iter()
        .filter(|(_, path)| path.is_dir())
        .collect();
    // A folder that was named and holds nothing is a mistake, not a reason.
    assert!(!found.is_empty(), "{} holds none of v22, v23, v24", folder.display());
    Ok(found)
}

fn tool(version: &str, api: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_offload-tblgen"));
    command.arg("--llvm-version").arg(version).arg("-I").arg(api);
    command
}

fn json(text: &[u8]) -> Option<serde_json::Value> {
    serde_json::from_slice(text).ok()
}

fn every_action(versions: &[Version]) {
    let (mut compared, mut wrong) = (0, String::new());
    for (version, folder) in versions {
        let api = folder.join("offload/liboffload/API");
        let Ok(expected) = std::fs::read_dir(folder.join("expected")) else { continue };
        for file in expected {
            let path = file.expect("readable").path();
            let action = path.file_name().expect("a name").to_string_lossy().into_owned();
            let output = tool(version, &api).arg(format!("-{action}")).arg(api.join("OffloadAPI.td")).output().expect("the program starts");
            let theirs = std::fs::read(&path).expect("readable");
            // JSON has no order of keys.
            let same = |ours: &[u8], theirs: &[u8]| match action.as_str() {
                "dump-json" => json(ours).is_some_and(|ours| Some(ours) == json(theirs)),
                _ => ours == theirs,
            };
            if !output.status.success() || !same(&output.stdout, &theirs) {
                let (ours, theirs) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&theirs));
                let at = ours.lines().zip(theirs.lines()).position(|(a, b)| a != b);
                let line = |text: &str| at.and_then(|at| text.lines().nth(at).map(|line| line.chars().take(200).collect::<String>()));
                let _infallible = writeln!(
                    wrong,
                    "LLVM {version} {action}: line {at:?}\n  ours   {:?}\n  theirs {:?}\n{}",
                    line(&ours),
                    line(&theirs),
                    if output.status.success() { String::new() } else { String::from_utf8_lossy(&output.stderr).into_owned() }
                );
            }
            compared += 1;
        }
    }
    println!("{compared} texts compared");
    assert!(wrong.is_empty(), "{wrong}");
    assert!(compared > 0, "there was nothing to compare with");
}

fn tests_of_the_tool(versions: &[Version], filecheck: &str) {
    let mut passed = 0;
    for (version, folder) in versions {
        let Ok(tests) = std::fs::read_dir(folder.join("offload/test/tools/offload-tblgen")) else { continue };
        for test in tests {
            let path = test.expect("readable").path();
            let text = std::fs::read_to_string(&path).expect("readable");
            for line in text.lines().filter_map(|line| line.trim_start().strip_prefix("// RUN: ")) {
                check(version, folder, filecheck, &path, line);
                passed += 1;
            }
        }
    }
    println!("{passed} runs passed");
    assert!(passed > 0, "there were no tests");
}

/// Runs one line: `%offload-tblgen -gen-x … %s | %fcheck-generic --check-prefix=X`.
fn check(version: &str, folder: &Path, filecheck: &str, test: &Path, line: &str) {
    let (ours, theirs) = line.split_once('|').expect("a pipe");
    let action = ours.split_whitespace().find(|word| word.starts_with("-gen")).expect("an action");
    let api = folder.join("offload/liboffload/API");
    let output = tool(version, &api).arg(action).arg(test).output().expect("the program starts");
    assert!(output.status.success(), "{}: {}", test.display(), String::from_utf8_lossy(&output.stderr));
    let prefixes = theirs.split_whitespace().filter(|word| word.starts_with("--check-prefix"));
    let mut child =
        Command::new(filecheck).args(prefixes).arg(test).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("FileCheck starts");
    child.stdin.take().expect("piped").write_all(&output.stdout).expect("written");
    let checked = child.wait_with_output().expect("FileCheck ends");
    assert!(checked.status.success(), "LLVM {version}, {}, {line}\n{}", test.display(), String::from_utf8_lossy(&checked.stderr));
}
