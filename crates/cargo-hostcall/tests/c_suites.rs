//! Programs in C whose authors have tests for them: Lua's interpreter runs its own test suite, and SQLite's shell the
//! statements of SQLite's own tests, compiled by `cargo hostcall cc` as they are. What they print and leave on a device
//! is what a build for this machine prints and leaves.
//!
//! `cargo xtask crates` downloads their sources, and says by `HOSTCALL_C_SUITES` where they are. Without that nothing
//! is run here. Both programs need `setjmp` or minutes of one GPU thread, so they run in the simulator.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

mod support;

use support::package::{succeeded, text};

/// The directory of a suite's sources, if they were downloaded.
fn suite(name: &str) -> Option<PathBuf> {
    let place = std::env::var_os("HOSTCALL_C_SUITES").map(|place| Path::new(&place).join(name));
    if place.is_none() {
        println!("not run: `cargo xtask crates` downloads {name}");
    }
    place
}

fn hostcall(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
    command.arg("hostcall").args(arguments);
    command
}

/// Seconds that a program may take here. Some of SQLite's statements would go on for ever without their Tcl.
const LONGEST: &str = "60";
/// The code of what took longer (`timeout(1)`).
const TOOK_LONGER: i32 = 124;

/// One program in C, built for the simulator and for this machine.
struct Built {
    dir: TempDir,
}

impl Built {
    fn new(sources: &Path, files: &[String], options: &[&str]) -> Built {
        let built = Built { dir: TempDir::new().expect("a directory") };
        let compile = |mut command: Command, to: PathBuf| {
            command.args(["-O1", "-w", "-I."]).args(options).args(files).arg("-lm").arg("-o").arg(to).current_dir(sources);
            succeeded(&command.output().expect("it starts"));
        };
        compile(hostcall(&["cc", "--target=sim"]), built.there());
        compile(Command::new("cc"), built.here());
        built
    }

    fn there(&self) -> PathBuf {
        self.dir.path().join("there.program")
    }

    fn here(&self) -> PathBuf {
        self.dir.path().join("here")
    }

    /// Runs it here and on the device, each in `room` as `prepare` makes it; standard input is a file.
    fn both(&self, arguments: &[&str], input: &Path, room: &Path, prepare: impl Fn(&Path)) -> [Output; 2] {
        let place = room.to_str().expect("UTF-8");
        let variables = [format!("HOME={place}"), format!("PATH={place}")];
        let mut here = Command::new("timeout");
        here.args([LONGEST, "env", "-i"]).args(&variables).arg(self.here()).current_dir(room);
        let mut there = hostcall(&["exec", "-q", "--timeout", "300", "--heap", "4G", "--dir", place, "--dir", "/tmp", "--cwd", place]);
        there.args(["--env", &variables[0], "--env", &variables[1]]).arg(self.there());
        [here, there].map(|mut command| {
            prepare(room);
            let input = fs::File::open(input).expect("the input is a file");
            let child = command.args(arguments).stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
            child.expect("it starts").wait_with_output().expect("it ends")
        })
    }
}

/// The files of a directory with an ending, without those, in order.
fn files(dir: &Path, ending: &str, without: &[&str]) -> Vec<String> {
    let names = fs::read_dir(dir).expect("the sources").map(|entry| entry.expect("a name").file_name().into_string().expect("UTF-8"));
    let mut names: Vec<String> = names.filter(|name| name.ends_with(ending) && !without.contains(&name.as_str())).collect();
    names.sort();
    names
}

/// What is left out of Lua's tests: `all.lua` runs the others, two are their tools, `main.lua` starts programs, and
/// `heavy.lua`, which `all.lua` leaves out too, fills all memory.
const NO_TESTS_OF_LUA: [&str; 4] = ["all.lua", "tracegc.lua", "main.lua", "heavy.lua"];
/// A test of Lua's that cannot succeed over musl, on whatever machine: musl takes any name for a locale, and none of
/// its locales has a decimal comma.
const NOT_OVER_MUSL: [&str; 1] = ["literals.lua"];

#[test]
fn luas_own_tests_succeed() {
    let Some(lua) = suite("lua") else { return };
    let sources = files(&lua, ".c", &["ltests.c", "onelua.c", "luac.c"]);
    assert!(sources.len() > 30, "{sources:?}");
    let built = Built::new(&lua, &sources, &["-std=gnu99", "-DLUA_USE_POSIX"]);
    let tests = files(&lua.join("testes"), ".lua", &NO_TESTS_OF_LUA);
    let mut failed = Vec::new();
    let room = TempDir::new().expect("a directory");
    for test in &tests {
        // As `all.lua` runs them: this one yields.
        let run = match test.as_str() {
            "big.lua" => "local f = coroutine.wrap(assert(loadfile('big.lua'))) assert(f() == 'b') assert(f() == 'a')".to_owned(),
            _ => format!("dofile('{test}')"),
        };
        let prepare = |room: &Path| {
            let _ = fs::remove_dir_all(room);
            succeeded(&Command::new("cp").arg("-r").arg(lua.join("testes")).arg(room).output().expect("`cp` runs"));
        };
        let arguments = ["-e", "_port = true; _nomsg = true", "-e", &run];
        let [here, there] = built.both(&arguments, Path::new("/dev/null"), &room.path().join("testes"), prepare);
        assert!(here.status.success(), "{test} fails on this machine: {}", text(&here.stderr));
        if !there.status.success() {
            println!("{test}: {}", text(&there.stderr));
            failed.push(test.as_str());
        }
    }
    assert!(tests.len() >= 28, "{tests:?}");
    assert_eq!(failed, NOT_OVER_MUSL);
}

/// A test that sorts gigabytes in memory, and one whose numbers of rows are random.
const LEFT_OUT: [&str; 2] = ["bigsort.test", "rowid.test"];
/// What Tcl puts something in for, and what is another text in each run or by each compiler.
const NOT_ALWAYS_THE_SAME: [&str; 7] = ["$", "[", "random", "'now'", "current_", "compile_option", "compileoption"];

/// The statements in a test of SQLite's, which is a program in Tcl: what its commands `do_execsql_test`, `execsql` and
/// the like are given in braces, but for those that are not the same in each run.
fn statements(test: &str) -> String {
    let lines = test.lines().filter(|line| !line.trim_start().starts_with('#'));
    let test: String = lines.flat_map(|line| [line, "\n"]).collect();
    let mut statements = String::new();
    for command in ["execsql_test", "execsql", "catchsql_test", "catchsql"] {
        for (at, _) in test.match_indices(command) {
            let rest = &test[at + command.len()..];
            // A test has a name before its statements.
            let (name, Some(text)) = (rest.split('{').next().unwrap_or_default(), braced(rest)) else { continue };
            let named = usize::from(command.ends_with("_test"));
            if name.split_whitespace().count() == named && name.starts_with(char::is_whitespace) && is_the_same(text) {
                statements += text.trim();
                statements += if text.trim().ends_with(';') { "\n" } else { ";\n" };
            }
        }
    }
    statements
}

fn is_the_same(statements: &str) -> bool {
    let statements = statements.to_lowercase();
    !NOT_ALWAYS_THE_SAME.iter().any(|text| statements.contains(text))
}

/// What is between the first brace and the one that belongs to it.
fn braced(text: &str) -> Option<&str> {
    let begin = text.find('{')? + 1;
    let (mut depth, mut escaped) = (1, false);
    for (at, byte) in text.bytes().enumerate().skip(begin) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&text[begin..at]);
        }
    }
    None
}

#[test]
fn statements_are_found_in_a_program_in_tcl() {
    let test = "# execsql {no}\ndo_execsql_test 1.1 {\n  SELECT '{}' , \"a\\}\"\n} {1}\nexecsql { BEGIN; }\nexecsql {$x}\nexecsql {SELECT Random()}\nmyexecsql2 {c}\nset x {execsql";
    assert_eq!(statements(test), "SELECT '{}' , \"a\\}\";\nBEGIN;\n");
    assert_eq!(braced("a"), None);
}

#[test]
fn sqlites_shell_does_with_the_statements_of_sqlites_own_tests_what_it_does_here() {
    let Some(sqlite) = suite("sqlite") else { return };
    let options = [
        "-DSQLITE_OMIT_LOAD_EXTENSION",
        "-DSQLITE_NOHAVE_SYSTEM",
        "-DSQLITE_ENABLE_FTS3",
        "-DSQLITE_ENABLE_FTS5",
        "-DSQLITE_ENABLE_RTREE",
        "-DSQLITE_THREADSAFE=0",
    ];
    let built = Built::new(&sqlite, &["shell.c".to_owned(), "sqlite3.c".to_owned()], &options);
    let dir = TempDir::new().expect("a directory");
    let (script, room) = (dir.path().join("script.sql"), dir.path().join("room"));
    let (mut ran, mut differ) = (0, Vec::new());
    for test in files(&sqlite.join("test"), ".test", &LEFT_OUT) {
        let Ok(statements) = fs::read_to_string(sqlite.join("test").join(&test)).map(|test| statements(&test)) else {
            // (A few are no UTF-8.)
            continue;
        };
        if statements.lines().count() < 3 {
            continue;
        }
        fs::write(&script, statements).expect("written");
        let prepare = |room: &Path| {
            let _ = fs::remove_dir_all(room);
            fs::create_dir(room).expect("made");
        };
        let [here, there] = built.both(&["-batch", "test.db"], &script, &room, prepare);
        if here.status.code() == Some(TOOK_LONGER) {
            println!("{test} does not end here");
            continue;
        }
        ran += 1;
        if (here.status.code(), &here.stdout) != (there.status.code(), &there.stdout) || !there.stderr.starts_with(&here.stderr) {
            println!("{test}: {} here, {} there: {}", here.status, there.status, text(&there.stderr));
            differ.push(test);
        }
    }
    println!("{ran} scripts");
    assert!(ran >= 500, "{ran}");
    assert_eq!(differ, [""; 0]);
}
