//! Programs of the registry, unmodified: each is built in a copy of its sources, runs over a tree of files, and must print and leave what a native build
//! does. The snapshots are what native builds print: `HOSTCALL_NATIVE=1 cargo test -p cargo-hostcall --test registry` builds for this machine and
//! compares with the same. By default two programs are tried; `HOSTCALL_REGISTRY=all` tries all of them (`cargo xtask crates` says so), which takes some
//! minutes. It also tries larger libraries: interpreters, databases, formats of files (`tests/registry-libraries`).

mod programs;

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use programs::{PROGRAMS, Program};

/// What each run is given as standard input.
const INPUT: &str = "b\na\nb\nc\na\nb\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Kept from run to run.
fn target_dir(what: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("registry").join(what)
}

/// What programs that are tried only when they are asked for have besides: where the others see nothing.
const MORE: [(&str, &[u8]); 4] = [
    (".more/data.json", "{\"a\": {\"b\": [1, 2, {\"c\": \"déjà\"}]}, \"n\": [0, 1, 2, 3, 4, 5, 6]}\n".as_bytes()),
    (
        ".more/page.html",
        b"<html><body><h1 class=x>One &amp; two</h1><ul><li>1</li><li id=q>2</li></ul><a href='u?v=1'>l</a></body></html>\n",
    ),
    (".more/picture.bob", "  +------+   .--.\n  | a  b +-->| é)\n  +---*--+   '--'\n".as_bytes()),
    (
        ".more/picture.svg",
        b"<svg xmlns='http://www.w3.org/2000/svg' width='12' height='8'><defs><linearGradient id='g'><stop stop-color='red'/>\
<stop offset='1' stop-color='blue'/></linearGradient></defs><rect id='r' width='9' height='5' fill='url(#g)' opacity='.7'/>\
<circle id='c' cx='7' cy='4' r='3' stroke='#080' fill='none'/></svg>\n",
    ),
];

/// Makes the tree of files.
fn tree(dir: &Path, program: &Program) {
    let files: [(&str, &[u8]); 9] = [
        ("text/a.txt", b"the first line\nwith a needle in the hay\nthe last\n"),
        ("text/words.txt", "naïve words\nstraße und mehr\nthe end\n".as_bytes()),
        ("text/deep/er/deepest.txt", b"only here\n"),
        ("src/lib.rs", b"pub fn one() {}\n\nfn two_more(x: u32) -> u32 { x }\n"),
        (".hidden/secret.txt", b"a secret\n"),
        ("build.log", b"secret, and ignored\n"),
        (".ignore", b"*.log\n"),
        ("empty", b""),
        ("data.bin", &[0, 1, 2, 0x7f, 0x80, 0xff, b'a', b'\n', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9]),
    ];
    let more = MORE.iter().copied().filter(|_| !program.usual);
    for (name, contents) in files.into_iter().chain(more) {
        let file = dir.join(name);
        fs::create_dir_all(file.parent().expect("it has one")).expect("made");
        fs::write(file, contents).expect("written");
    }
}

/// The files of a tree and what is in them.
fn contents(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).expect("it is there") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            all.extend(contents(&path));
        } else {
            let bytes = fs::read(&path).expect("read");
            all.push((path, bytes));
        }
    }
    all.sort();
    all
}

/// The program's sources, in a directory of its own.
fn sources(program: &Program) -> PathBuf {
    let which = if program.usual { "registry-programs" } else { "registry-programs-more" };
    let manifest = root().join(format!("tests/{which}/Cargo.toml"));
    let mut fetch = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    fetch.args(["fetch", "--locked", "--manifest-path"]).arg(&manifest);
    succeeded(fetch);
    // Cargo tells the place of no package without a library.
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").expect("a home")).join(".cargo"));
    let name = format!("{}-{}", program.package, program.version);
    let registries = fs::read_dir(home.join("registry/src")).expect("cargo has fetched them");
    let from = registries.map(|registry| registry.expect("an entry").path().join(&name)).find(|path| path.is_dir());
    let from = from.expect("cargo has fetched it");
    // Outside of this workspace, and always the same, so that what was built is found again.
    let to = std::env::temp_dir().join("hostcall-registry").join(&name);
    if !to.exists() {
        fs::create_dir_all(to.parent().expect("it has one")).expect("made");
        let mut copy = Command::new("cp");
        copy.arg("-r").arg(from).arg(&to);
        succeeded(copy);
    }
    to
}

#[track_caller]
fn succeeded(mut command: Command) {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}

/// Builds it for a device, or for this machine; what starts it over a tree.
fn build(program: &Program, native: bool) -> impl Fn(&Path) -> Command {
    let dir = sources(program);
    let bin = program.bin;
    let mut command;
    if native {
        command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.arg("build");
    } else {
        command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
        command.args(["hostcall", "build", "--for", "sim"]);
    }
    let target = target_dir(if native { "native" } else { "device" });
    command.args(["-q", "--locked", "--bin", bin]).args(program.build).arg("--target-dir").arg(&target).current_dir(&dir);
    // What the program is, not what this build is of it.
    command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "1").env("CARGO_PROFILE_DEV_DEBUG", "0").env("RUSTFLAGS", program.flags);
    succeeded(command);
    let file = if native {
        target.join("debug").join(bin)
    } else {
        target.join(format!("{}-hostcall-sim/debug", std::env::consts::ARCH)).join(format!("{bin}.program"))
    };
    move |tree: &Path| {
        if native {
            let mut command = Command::new(&file);
            command.current_dir(tree).env_clear().env("HOME", tree);
            return command;
        }
        let grant: [&OsStr; 2] = [tree.as_os_str(), "::/".as_ref()];
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
        command.args(["hostcall", "exec", "-q", "--device", "sim", "--threads", "24", "--timeout", "60"]);
        command.args(["--env", "HOME=/", "--argv0", bin, "--dir"]);
        command.arg(grant.into_iter().collect::<std::ffi::OsString>()).arg(&file).arg("--");
        command
    }
}

fn run(mut command: Command, args: &[&str]) -> Output {
    let mut child = command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    // Who does not read has ended.
    let _ = std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), INPUT.as_bytes());
    child.wait_with_output().expect("it ends")
}

/// What the runs print and leave.
fn tried(program: &Program, native: bool) -> String {
    let start = build(program, native);
    let dir = tempfile::tempdir().expect("a directory");
    tree(dir.path(), program);
    let mut before = contents(dir.path());
    let mut said = String::new();
    for args in program.runs {
        let output = run(start(dir.path()), args);
        let code = output.status.code();
        writeln!(
            said,
            "$ {} {}\n{}{}",
            program.bin,
            args.join(" "),
            output.stdout.escape_ascii().to_string().replace("\\n", "\n"),
            exit(code)
        )
        .expect("text");
        let after = contents(dir.path());
        for (path, bytes) in after.iter().filter(|file| !before.contains(file)) {
            let name = path.strip_prefix(dir.path()).expect("in it");
            writeln!(said, "{} is now {}", name.display(), bytes.escape_ascii()).expect("text");
        }
        before = after;
    }
    said
}

fn exit(code: Option<i32>) -> String {
    code.map_or_else(|| "ended by a signal".into(), |code| format!("exit code {code}"))
}

#[test]
fn programs_of_the_registry_print_and_leave_what_native_builds_do() {
    if let Err(error) = hostcall_build::DeviceToolchain::find() {
        return println!("not run: {error}");
    }
    let native = std::env::var_os("HOSTCALL_NATIVE").is_some();
    let all = native || std::env::var_os("HOSTCALL_REGISTRY").is_some_and(|which| which == "all");
    let mut failed = Vec::new();
    for program in &PROGRAMS {
        if !program.usual && !all {
            println!("not run: {} (HOSTCALL_REGISTRY=all tries it)", program.package);
            continue;
        }
        let result = std::panic::catch_unwind(|| insta::assert_snapshot!(program.package, tried(program, native)));
        println!("{} {} {}", if result.is_ok() { "ok  " } else { "FAIL" }, program.package, program.version);
        if result.is_err() {
            failed.push(program.package);
        }
    }
    assert!(failed.is_empty(), "these are not as here: {failed:?}");
}

/// Programs over larger libraries, and the files that they leave.
const LIBRARIES: [(&str, &[&str]); 3] = [("scripts", &[]), ("stores", &["archive.zip"]), ("tables", &["table.parquet"])];

/// Reads the table with DuckDB, and prints what is in it.
const DUCKDB: &str = "import sys, duckdb
print(duckdb.sql(f\"select count(*), sum(number), count(name), max(name), round(sum(root), 6) from '{sys.argv[1]}'\").fetchall())";

#[test]
fn larger_libraries_do_on_a_device_what_they_do_here() {
    if let Err(error) = hostcall_build::DeviceToolchain::find() {
        return println!("not run: {error}");
    }
    if std::env::var_os("HOSTCALL_REGISTRY").is_none_or(|which| which != "all") {
        return println!("not run: HOSTCALL_REGISTRY=all tries {:?}", LIBRARIES.map(|(bin, _)| bin));
    }
    let manifest = root().join("tests/registry-libraries/Cargo.toml");
    let target = target_dir("libraries");
    let built = |mut command: Command, bin: &str| {
        command
            .args(["-q", "--locked", "--bin", bin, "--manifest-path"])
            .arg(&manifest)
            .arg("--target-dir")
            .arg(&target)
            .env_remove("RUSTFLAGS");
        succeeded(command);
    };
    for (bin, files) in LIBRARIES {
        let mut native = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        native.arg("build");
        built(native, bin);
        let mut device = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
        device.args(["hostcall", "build", "--for", "sim"]);
        built(device, bin);
        let [here, there] = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
        let native = Command::new(target.join("debug").join(bin)).current_dir(here.path()).output().expect("it starts");
        assert!(native.status.success(), "{bin}: {}", String::from_utf8_lossy(&native.stderr));
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
        command.args(["hostcall", "exec", "-q", "--device", "sim", "--threads", "24", "--timeout", "120", "--dir"]);
        command.arg(format!("{}::/", there.path().display()));
        command.arg(target.join(format!("{}-hostcall-sim/debug/{bin}.program", std::env::consts::ARCH)));
        let output = command.output().expect("it starts");
        assert!(output.status.success(), "{bin}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&native.stdout), "{bin}");
        for file in files {
            let [left, expected] = [&there, &here].map(|dir| fs::read(dir.path().join(file)).expect("it is left"));
            assert!(left == expected, "{bin}: {file} is another");
        }
        println!("ok   {bin}\n{}", String::from_utf8_lossy(&output.stdout));
        if bin == "tables" {
            read_by_duckdb(&there.path().join("table.parquet"));
        }
    }
}

/// The host reads what was written on the device.
fn read_by_duckdb(table: &Path) {
    let python = root().join("target/python/bin/python");
    if !python.exists() {
        return println!("not run: DuckDB, because there is no {}, which `cargo xtask setup` makes", python.display());
    }
    let output = Command::new(python).args(["-c", DUCKDB]).arg(table).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let roots: f64 = (0..1000).map(|n| f64::from(n).sqrt()).sum();
    let expected = format!("[(1000, 499500, {}, 'name 9', {roots:.6})]\n", 1000 - 1000_usize.div_ceil(7));
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}
