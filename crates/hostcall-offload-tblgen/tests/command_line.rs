//! The command line: one clear message and exit status 1 for what cannot be done, and an output that is whole or
//! untouched.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{api_dir, generate, program, run};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.path(name), text).expect("written");
        self.path(name)
    }
}

fn definitions() -> PathBuf {
    api_dir().join("OffloadAPI.td")
}

/// What is said when a run fails.
fn complaint(args: &[&str], file: &Path) -> String {
    let output = run(args, file);
    assert_eq!(output.status.code(), Some(1), "{args:?}");
    assert!(output.stdout.is_empty(), "{args:?} wrote something");
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn records_are_printed_and_dumped() {
    let folder = Folder::new();
    let file = folder.file("a.td", "class A { int x = 1; }\ndef a : A;\n");
    let printed = "------------- Classes -----------------\nclass A {\n  int x = 1;\n}\n------------- Defs -----------------\ndef a {\t// A\n  int x = 1;\n}\n";
    assert_eq!(generate(&[], &file), printed);
    assert_eq!(generate(&["-print-records"], &file), printed);
    let json: serde_json::Value = serde_json::from_str(&generate(&["-dump-json"], &file)).expect("JSON");
    assert_eq!(json["a"]["x"], 1);
}

#[test]
fn an_output_file_is_written_with_its_dependencies() {
    let folder = Folder::new();
    let (out, deps) = (folder.path("api.h"), folder.path("api.h.d"));
    let args = ["-gen-api", "-o", out.to_str().expect("text"), "-d", deps.to_str().expect("text")];
    assert!(generate(&args, &definitions()).is_empty());
    assert!(fs::read_to_string(&out).expect("written").contains("olInit"));
    let deps = fs::read_to_string(&deps).expect("written");
    let (target, names) = deps.trim_end().split_once(": ").expect("a rule");
    assert_eq!(target, out.to_str().expect("text"));
    let names: Vec<_> = names.split(' ').map(|name| Path::new(name).file_name().expect("a name").to_str().expect("text")).collect();
    assert!(names.contains(&"APIDefs.td") && names.contains(&"Kernel.td"), "{names:?}");
    assert!(!names.contains(&"OffloadAPI.td"), "the file itself is not among what it includes");
}

#[test]
fn an_output_that_would_not_change_is_left_alone() {
    let folder = Folder::new();
    let out = folder.path("api.h");
    let args = ["-gen-api", "--write-if-changed", "-o", out.to_str().expect("text")];
    generate(&args, &definitions());
    let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    fs::File::options().write(true).open(&out).and_then(|file| file.set_modified(long_ago)).expect("set");
    generate(&args, &definitions());
    assert_eq!(fs::metadata(&out).and_then(|data| data.modified()).expect("there"), long_ago);
    fs::write(&out, "old").expect("written");
    generate(&args, &definitions());
    assert!(fs::read_to_string(&out).expect("there").contains("olInit"));
}

#[test]
fn a_check_says_where_a_file_differs_and_writes_nothing() {
    let folder = Folder::new();
    let out = folder.path("api.h");
    let name = out.to_str().expect("text");
    assert!(complaint(&["-gen-api", "--check", "-o", name], &definitions()).contains("cannot read"));
    generate(&["-gen-api", "-o", name], &definitions());
    assert!(generate(&["-gen-api", "--check", "-o", name], &definitions()).is_empty());
    let text = fs::read_to_string(&out).expect("there");
    let changed = text.replacen("#pragma once", "#pragma twice", 1);
    let line = changed.lines().position(|line| line == "#pragma twice").map(|at| at + 1);
    let changed = if line.is_some() { changed } else { text.replacen("olInit", "olStart", 1) };
    fs::write(&out, &changed).expect("written");
    let line = changed.lines().zip(text.lines()).position(|(a, b)| a != b).expect("changed") + 1;
    let said = complaint(&["-gen-api", "--check", "-o", name], &definitions());
    assert!(said.contains(&format!("line {line} ")), "{said}");
    assert_eq!(fs::read_to_string(&out).expect("there"), changed);
}

#[test]
fn a_failed_run_leaves_the_output_as_it_was() {
    let folder = Folder::new();
    let out = folder.file("out.h", "as it was");
    let deps = folder.path("out.d");
    for (name, text) in [
        ("missing.td", "include \"nowhere.td\"\n"),
        ("undefined.td", "def a : B;\n"),
        ("string.td", "def a { string s = \"no end\n"),
        ("wrong.td", "include \"APIDefs.td\"\ndef olX : Function { let desc = 1; }\n"),
    ] {
        let file = folder.file(name, text);
        let said = complaint(&["-gen-api", "-o", out.to_str().expect("text"), "-d", deps.to_str().expect("text")], &file);
        assert!(said.contains(name) && said.contains("error"), "{said}");
        assert_eq!(fs::read_to_string(&out).expect("there"), "as it was");
        assert!(!deps.exists());
    }
    let left: Vec<_> = fs::read_dir(folder.0.path()).expect("readable").map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(left.len(), 5, "{left:?}");
}

#[test]
fn what_cannot_be_written_or_read_is_said() {
    let folder = Folder::new();
    let said = complaint(&["-gen-api", "-o", "/nowhere/at/all.h"], &definitions());
    assert!(said.contains("/nowhere/at/all.h") && said.contains("cannot write"), "{said}");
    let said = complaint(&["-gen-api", "-o", folder.0.path().to_str().expect("text")], &definitions());
    assert!(said.contains("cannot write"), "{said}");
    assert!(complaint(&["-gen-api"], &folder.path("nothing.td")).contains("nothing.td"));
    assert!(complaint(&["-gen-nonsense"], &definitions()).contains("gen-nonsense"));
}

#[test]
fn the_standard_input_is_read_where_no_file_is_named() {
    use std::io::Write as _;
    let mut child = program()
        .args(["-print-records"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().expect("piped").write_all(b"def here;").expect("written");
    let output = child.wait_with_output().expect("it ends");
    assert!(String::from_utf8_lossy(&output.stdout).contains("def here {"));
}

#[test]
fn definitions_say_for_which_dialect_they_are() {
    let folder = Folder::new();
    let settings = |name: &str| folder.file("d.td", &format!("include \"APIDefs.td\"\ndef s : ApiSettings<\"{name}\">;\n"));
    assert!(generate(&["-gen-api"], &settings("llvm")).contains("part of the LLVM/Offload project"));
    let said = complaint(&["-gen-api"], &settings("pascal"));
    assert!(said.contains("`pascal`") && said.contains("d.td:2:"), "{said}");
}

#[test]
fn an_abi_is_recorded_and_what_breaks_it_is_named() {
    let folder = Folder::new();
    let lock = folder.path("api.lock");
    let name = lock.to_str().expect("text");
    let api = |members: &str| {
        let text = format!("include \"APIDefs.td\"\ndef ol_e_t : Enum {{\n  let desc = \"d\";\n  let etors = [{members}];\n}}\n");
        folder.file("api.td", &text)
    };
    generate(&["--gen-abi-lock", "-o", name], &api("Etor<\"A\", \"a\">, Etor<\"B\", \"b\">"));
    assert!(generate(&["--check-abi-lock", name], &api("Etor<\"A\", \"a\">, Etor<\"B\", \"b\">")).is_empty());
    assert!(run(&["--check-abi-lock", name], &api("Etor<\"A\", \"a\">, Etor<\"B\", \"b\">, Etor<\"C\", \"c\">")).status.success());
    let said = complaint(&["--check-abi-lock", name], &api("Etor<\"A\", \"a\">, Etor<\"C\", \"c\">, Etor<\"B\", \"b\">"));
    assert!(said.contains("OL_E_B") && said.contains("api.lock"), "{said}");
    assert!(complaint(&["--check-abi-lock", "nowhere.lock"], &api("")).contains("nowhere.lock"));
}

#[test]
fn a_template_is_rendered_over_the_api() {
    let folder = Folder::new();
    let template = folder.file("names.j2", "{% for f in functions %}{{ f.name }} {% endfor %}");
    let text = generate(&["--template", template.to_str().expect("text")], &definitions());
    assert!(text.starts_with("olCalculateOptimalOccupancy ") && text.contains(" olInit "), "{text}");
    let broken = folder.file("broken.j2", "{{ nothing.at.all }}");
    assert!(complaint(&["--template", broken.to_str().expect("text")], &definitions()).contains("broken.j2"));
}

#[test]
fn of_two_actions_the_last_counts() {
    let text = generate(&["-gen-func-names", "-dump-json", "-gen-func-names"], &definitions());
    assert_eq!(text, generate(&["-gen-func-names"], &definitions()));
}

#[test]
fn a_template_is_among_what_the_output_depends_on() {
    let folder = Folder::new();
    let template = folder.file("names.j2", "{{ prefix }}");
    let (out, deps) = (folder.path("out"), folder.path("out.d"));
    let text = |path: &Path| path.to_str().expect("text").to_owned();
    generate(&["--template", &text(&template), "-o", &text(&out), "-d", &text(&deps)], &definitions());
    let deps = fs::read_to_string(deps).expect("written");
    assert!(deps.contains(&text(&template)) && deps.contains("APIDefs.td"), "{deps}");
}

#[test]
fn records_are_visited_as_llvm_visits_them() {
    let folder = Folder::new();
    let function = |name: &str| format!("def {name} : Function {{ let desc = \"d\"; let params = []; let returns = []; }}\n");
    let text: String = ["olFn10", "olFn2", "olFn1", "olFn2b", "olFn"].map(function).concat();
    let file = folder.file("order.td", &format!("include \"APIDefs.td\"\n{text}"));
    let names = |text: &str| {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.starts_with("olFn") && !word.ends_with("Loc"));
        let mut words: Vec<_> = words.map(str::to_owned).collect();
        words.dedup();
        words
    };
    let wanted = ["olFn", "olFn1", "olFn2", "olFn2b", "olFn10"];
    assert_eq!(names(&generate(&["-gen-func-names", "--lints", "off"], &file)), wanted);
    let template = folder.file("names.j2", "{% for f in functions %}{{ f.name }} {% endfor %}");
    assert_eq!(names(&generate(&["--template", template.to_str().expect("text"), "--lints", "off"], &file)), wanted);
}

#[test]
fn diagnostics_are_llvm_s_in_its_dialect_and_ours_in_ours() {
    let folder = Folder::new();
    let file = folder.file("bad.td", "def a : Nothing;\n");
    let line = format!("{}:1:9: error: there is no class 'Nothing'\ndef a : Nothing;\n        ^\n", file.display());
    assert_eq!(complaint(&["-gen-api"], &file), line, "the program has LLVM's name");
    assert_eq!(complaint(&["-gen-api", "--dialect", "llvm"], &file), line);
    assert!(complaint(&["-gen-api", "--dialect", "hostcall"], &file).starts_with("error: there is no class 'Nothing'\n"));
    assert!(complaint(&["-gen-api", "--diagnostics=rich"], &file).starts_with("error: there is no class 'Nothing'\n"));
    let said = "include \"APIDefs.td\"\ndef s : ApiSettings<\"hostcall\">;\ndef olX : Function { let desc = 1; }\n";
    let wrong = "include \"APIDefs.td\"\ndef s : ApiSettings<\"hostcall\">;\ndef ol_x : Handle { let desc = \"d\"; }\n";
    assert!(complaint(&["-gen-api"], &folder.file("said.td", said)).contains("said.td:3:"), "what cannot be read says no dialect");
    assert!(complaint(&["-gen-api"], &folder.file("wrong.td", wrong)).starts_with("error: [OT009]"));
}

#[test]
fn options_of_llvm_s_tools_do_what_they_say() {
    let folder = Folder::new();
    let file = folder.file("unused.td", "class A<int x>;\n");
    let said = |args: &[&str]| String::from_utf8(run(args, &file).stderr).expect("text");
    assert!(said(&[]).contains("warning: argument 'A:x' is not used"));
    assert_eq!(said(&["-no-warn-on-unused-template-args", "--long-string-literals"]), "");
    assert!(said(&["--time-phases"]).contains("back end"));
    assert!(said(&["--color"]).contains('\x1b') && !said(&["--color=0"]).contains('\x1b'));
}

#[test]
fn an_action_that_only_reports_writes_no_file() {
    let folder = Folder::new();
    let out = folder.file("out", "as it was");
    generate(&["--lint", "-o", out.to_str().expect("text")], &definitions());
    assert_eq!(fs::read_to_string(&out).expect("there"), "as it was");
}

#[test]
fn input_that_no_one_would_write_is_refused_with_its_place() {
    let folder = Folder::new();
    let out = folder.file("out.h", "as it was");
    let nested = format!("def d {{ list<int> l = {}{}; }}\n", "[".repeat(10_000), "]".repeat(10_000));
    let line = format!("def d {{ string s = \"{}; }}\n", "x".repeat(10_000_000));
    let inputs: [(&str, &[u8]); 7] = [
        ("cycle.td", b"include \"cycle.td\"\n"),
        ("class.td", b"class A : B;\nclass B : A;\ndef a : A;\n"),
        ("twice.td", b"def d { int x = 1; string x = \"text\"; }\n"),
        ("type.td", b"def d { int x = \"text\"; }\n"),
        ("utf8.td", b"def d { string s = \"\xff\"; }\n"),
        ("nested.td", nested.as_bytes()),
        ("line.td", line.as_bytes()),
    ];
    for (name, text) in inputs {
        fs::write(folder.path(name), text).expect("written");
        let output = program()
            .current_dir(folder.0.path())
            .args(["-gen-api", "-o", out.to_str().expect("text"), name])
            .output()
            .expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{name}: {said}");
        assert!(said.contains("error: ") && said.contains(name), "{name}: {said}");
        assert!(said.len() < 20_000, "{name}: {} bytes of complaint", said.len());
        assert_eq!(fs::read_to_string(&out).expect("there"), "as it was");
    }
}
