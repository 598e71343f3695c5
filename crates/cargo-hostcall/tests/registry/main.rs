//! Programs of the registry, unmodified: each is built in a copy of its sources, runs over a tree of files, and must
//! print and leave what a native build does. The snapshots are what native builds print: `HOSTCALL_NATIVE=1 cargo test
//! -p cargo-hostcall --test registry` builds for this machine and compares with the same. By default two programs are
//! tried. `HOSTCALL_REGISTRY` names others, with commas between them; `all` are all of them (`cargo xtask crates` says
//! so) and larger libraries (interpreters, databases, formats of files: `tests/suites/registry-libraries`), which takes
//! some 25 minutes at first. `HOSTCALL_TEST_DEVICE` names another device than the simulator. With
//! `HOSTCALL_TEST_BUNDLE`, the folder that `cargo xtask registry-bundle` makes, nothing is built.

mod build;
mod programs;
#[path = "../support/mod.rs"]
mod support;

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use build::{Libraries, Made};
use programs::{PROGRAMS, Program};
use support::{bundle, can_build, device};

/// What each run is given as standard input.
const INPUT: &str = "b\na\nb\nc\na\nb\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Kept from run to run.
fn target_dir(what: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("registry").join(what)
}

/// The command line, and what it builds for.
fn made() -> Made {
    if std::env::var_os("HOSTCALL_NATIVE").is_some() {
        return Made::here();
    }
    let device = device();
    let target = match device.split(':').next() {
        Some("cuda") => "nvptx",
        Some("hsa") => "amdgpu",
        _ => "sim",
    };
    Made::by(Path::new(env!("CARGO_BIN_EXE_cargo-hostcall")), target)
}

/// Starts an image with a directory as its whole file system, and what a GPU's single lanes may need of time.
fn exec(image: &Path, tree: &Path) -> Command {
    let command = bundle().map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_cargo-hostcall")), |bundle| bundle.join("cargo-hostcall"));
    let device = device();
    let seconds = if device.starts_with("sim") { "120" } else { "600" };
    let grant: [&OsStr; 2] = [tree.as_os_str(), "::/".as_ref()];
    let mut command = Command::new(command);
    command.args(["hostcall", "exec", "-q", "--device", &device, "--threads", "24", "--timeout", seconds, "--dir"]);
    command.arg(grant.into_iter().collect::<std::ffi::OsString>()).arg(image);
    command
}

/// What programs that are tried only when they are asked for have besides: where the others see nothing.
const MORE: [(&str, &[u8]); 7] = [
    (".more/data.json", "{\"a\": {\"b\": [1, 2, {\"c\": \"déjà\"}]}, \"n\": [0, 1, 2, 3, 4, 5, 6]}\n".as_bytes()),
    (
        ".more/page.html",
        b"<html><body><h1 class=x>One &amp; two</h1><ul><li>1</li><li id=q>2</li></ul><a href='u?v=1'>l</a></body></html>\n",
    ),
    (".more/data.yaml", "one: [1, 2.5, true, ~]\ntwo:\n  - {a: b}\n  - |\n    déjà\n    vu\n".as_bytes()),
    (".more/numbers.txt", b"1\n2.5\n3\n3\n4\n9\n-2\n7.25\n3\n"),
    (".more/table.csv", "name,number,text\none,1,\"a, b\"\ntwo,22,naïve 表\nthree,,\n".as_bytes()),
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

/// Builds it, or finds it built; what starts it over a tree.
fn started(program: &Program) -> impl Fn(&Path) -> Command {
    let made = made();
    let file = match bundle() {
        Some(bundle) => bundle.join("registry").join(format!("{}.program.gz", program.bin)),
        None => made.program(&root(), program, &target_dir(made.kind())),
    };
    move |tree: &Path| {
        if made.is_native() {
            let mut command = Command::new(&file);
            command.current_dir(tree).env_clear().env("HOME", tree);
            return command;
        }
        let mut command = exec(&file, tree);
        command.args(["--env", "HOME=/", "--argv0", program.bin, "--"]);
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
fn tried(program: &Program) -> String {
    let start = started(program);
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

/// Compares with what native builds did.
#[track_caller]
fn is_as_here(program: &Program) {
    let said = tried(program);
    let Some(bundle) = bundle() else { return insta::assert_snapshot!(program.package, said) };
    let file = bundle.join(format!("registry/snapshots/registry__{}.snap", program.package));
    let snapshot = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let (_, expected) = snapshot.split_once("\n---\n").expect("what it is comes first");
    assert_eq!(said.trim_end(), expected.trim_end());
}

#[test]
fn programs_of_the_registry_print_and_leave_what_native_builds_do() {
    if !can_build() {
        return;
    }
    let which = std::env::var("HOSTCALL_REGISTRY").ok();
    let all = bundle().is_some() || made().is_native();
    let wanted = |program: &Program| match which.as_deref() {
        Some("all") => true,
        Some(names) => names.split(',').any(|name| name == program.package),
        None => program.usual || all,
    };
    let mut failed = Vec::new();
    for program in &PROGRAMS {
        if !wanted(program) {
            println!("not run: {} (HOSTCALL_REGISTRY=all tries it, or its name)", program.package);
            continue;
        }
        let begin = std::time::Instant::now();
        let result = std::panic::catch_unwind(|| is_as_here(program));
        let (word, seconds) = (if result.is_ok() { "ok  " } else { "FAIL" }, begin.elapsed().as_secs());
        println!("{word} {} {} ({seconds} s)", program.package, program.version);
        if result.is_err() {
            failed.push(program.package);
        }
    }
    assert!(failed.is_empty(), "these are not as here: {failed:?}");
}

/// Reads the table with DuckDB, and prints what is in it.
const DUCKDB: &str = "import sys, duckdb
print(duckdb.sql(f\"select count(*), sum(number), count(name), max(name), round(sum(root), 6) from '{sys.argv[1]}'\").fetchall())";

#[test]
fn larger_libraries_do_on_a_device_what_they_do_here() {
    if !can_build() {
        return;
    }
    if bundle().is_none() && std::env::var_os("HOSTCALL_REGISTRY").is_none_or(|which| which != "all") {
        return println!("not run: HOSTCALL_REGISTRY=all tries {:?}", Libraries::NAMES);
    }
    if made().is_native() {
        return println!("not run: this compares with native builds itself");
    }
    let libraries = match bundle() {
        Some(bundle) => bundle.join("registry/libraries"),
        None => {
            let all = Libraries { root: &root(), target: &target_dir("libraries") };
            let to = target_dir("libraries-made");
            all.make(&made(), &to);
            to
        }
    };
    for bin in Libraries::NAMES {
        let expected = libraries.join(bin);
        let there = tempfile::tempdir().expect("a directory");
        let output = exec(&libraries.join(format!("{bin}.program.gz")), there.path()).output().expect("it starts");
        assert!(output.status.success(), "{bin}: {}", String::from_utf8_lossy(&output.stderr));
        let [said, here] = [output.stdout, fs::read(expected.join(build::SAID)).expect("it was kept")]
            .map(|text| String::from_utf8_lossy(&text).into_owned());
        assert_eq!(said, here, "{bin}");
        let mut left = contents(&expected);
        left.retain(|(path, _)| path.file_name() != Some(OsStr::new(build::SAID)));
        for (path, bytes) in left {
            let name = path.file_name().expect("a file");
            assert!(fs::read(there.path().join(name)).expect("it is left") == bytes, "{bin}: {} is another", name.display());
        }
        println!("ok   {bin}\n{said}");
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
