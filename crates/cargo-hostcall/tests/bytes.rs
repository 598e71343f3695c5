//! Arguments, variables and paths are bytes: what is not UTF-8 arrives as it was given. On the simulator.

mod support;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use support::package::{Package, command, succeeded, text};

const MAIN: &str = r#"
use std::io::Write;

fn main() {
    let argument = std::env::args_os().nth(1).unwrap();
    let variable = std::env::var_os("ODD").unwrap();
    let mut out = std::io::stdout();
    for bytes in [argument.as_encoded_bytes(), variable.as_encoded_bytes()] {
        out.write_all(bytes).unwrap();
        out.write_all(b"\n").unwrap();
    }
    // The directory is granted under the name that is the argument.
    for entry in std::fs::read_dir(&argument).unwrap() {
        let path = entry.unwrap().path();
        out.write_all(&std::fs::read(&path).unwrap()).unwrap();
        std::fs::rename(&path, path.with_extension("moved")).unwrap();
    }
    println!("{:?}", std::fs::canonicalize(&argument).unwrap().as_os_str().as_encoded_bytes());
}
"#;

fn odd(bytes: &'static [u8]) -> &'static OsStr {
    OsStr::from_bytes(bytes)
}

#[test]
fn what_is_not_utf_8_arrives_as_it_was_given() {
    let Some(package) = Package::new("", &[("src/main.rs", MAIN)]) else { return };
    let host = package.path().join(odd(b"h\xf6st"));
    fs::create_dir(&host).expect("made");
    let file = host.join(odd(b"f\xfcle"));
    let grant: OsString = [host.as_os_str(), odd(b"::g\xe9")].into_iter().collect();
    let options = |command: &mut Command| {
        fs::write(&file, "contents\n").expect("written");
        let _ = fs::remove_file(host.join(odd(b"f\xfcle.moved")));
        command.arg("--dir").arg(&grant).arg("--env").arg(odd(b"ODD=\xfe\xff"));
    };
    let expected = b"g\xe9\n\xfe\xff\ncontents\n[47, 103, 233]\n";

    let mut run = command(package.path(), &["run", "-q", "--device", "sim"]);
    options(&mut run);
    let output = run.arg("--").arg(odd(b"g\xe9")).output().expect("it starts");
    succeeded(&output);
    assert_eq!(text(&output.stdout), text(expected));
    assert_eq!(output.stdout, expected);
    assert!(host.join(odd(b"f\xfcle.moved")).exists());

    let mut exec = command(package.path(), &["exec", "-q", "--device", "sim"]);
    options(&mut exec);
    let output = exec.arg("--").arg(package.image()).arg(odd(b"g\xe9")).output().expect("it starts");
    succeeded(&output);
    assert_eq!(output.stdout, expected);

    // Its own variable, with its value here.
    let mut exec = command(package.path(), &["exec", "-q", "--device", "sim"]);
    options(&mut exec);
    let output = exec.args(["--env", "ODD"]).env("ODD", odd(b"\xfd")).arg("--").arg(package.image()).arg(odd(b"g\xe9")).output();
    let output = output.expect("it starts");
    succeeded(&output);
    assert!(output.stdout.starts_with(b"g\xe9\n\xfd\n"), "{}", text(&output.stdout));

    // For those who have cargo call us.
    let mut exec = command(package.path(), &["exec", "-q", "--device", "sim"]);
    let words: OsString = [odd(b"--env ODD=\xfc --dir "), &grant].into_iter().collect();
    let output = exec.env("HOSTCALL_RUN", words).arg("--").arg(package.image()).arg(odd(b"g\xe9")).output().expect("it starts");
    succeeded(&output);
    assert!(output.stdout.starts_with(b"g\xe9\n\xfc\n"), "{}", text(&output.stderr));

    // Cargo's settings are texts: that is said, and nothing is printed that would not work.
    let mut config = command(package.path(), &["config", "--device", "sim"]);
    options(&mut config);
    let output = config.output().expect("it starts");
    assert!(
        !output.status.success() && output.stdout.is_empty() && text(&output.stderr).contains("is not UTF-8"),
        "{}",
        text(&output.stderr)
    );
}
