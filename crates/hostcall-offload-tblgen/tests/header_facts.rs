//! Our definitions say what LLVM 23's header says: every enumerator, layout and prototype.
//!
//! `facts/llvm23.c` holds the facts; a C compiler compares. Where Debian's `liboffload-22-dev` is installed, its header
//! is compared as well, as far as the two versions agree.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use support::{api_dir, generate, missing, run};

/// The header of our definitions, in a folder of its own.
fn header(dialect: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let text = generate(&["--gen-api", "--dialect", dialect], &api_dir().join("OffloadAPI.td"));
    std::fs::write(dir.path().join("OffloadAPI.h"), text).expect("written");
    dir
}

fn compile(compiler: &str, flags: &[&str], include: &Path, file: &Path) {
    if missing(compiler) {
        println!("skipped: {compiler} is not installed");
        return;
    }
    let mut command = Command::new(compiler);
    command.args(flags).arg("-fsyntax-only").arg("-I").arg(include).arg(file);
    let output = command.output().expect("the compiler runs");
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_header_in_llvm_s_text_says_what_llvm_23_s_says() {
    let facts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/facts/llvm23.c");
    let header = header("llvm");
    for compiler in ["gcc", "clang"] {
        compile(compiler, &["-std=c11", "-Wall", "-Wextra", "-Werror"], header.path(), &facts);
    }
}

#[test]
fn the_header_in_our_own_text_says_the_same_and_is_c11_and_cpp17() {
    let facts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/facts/llvm23.c");
    let header = header("hostcall");
    for compiler in ["gcc", "clang"] {
        compile(compiler, &["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic"], header.path(), &facts);
    }
    for (name, standard, compilers) in [("alone.c", "-std=c11", ["gcc", "clang"]), ("alone.cpp", "-std=c++17", ["g++", "clang++"])] {
        let file = header.path().join(name);
        std::fs::write(&file, "#include \"OffloadAPI.h\"\nol_result_t start(void) { return olInit(NULL); }\n").expect("written");
        for compiler in compilers {
            compile(compiler, &[standard, "-Wall", "-Wextra", "-Werror", "-pedantic"], header.path(), &file);
        }
    }
}

/// The header of LLVM 24's definitions.
fn header_24(dialect: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let text = generate(&["--gen-api", "--dialect", dialect], &api_dir().join("24/OffloadAPI.td"));
    std::fs::write(dir.path().join("OffloadAPI.h"), text).expect("written");
    dir
}

#[test]
fn the_header_of_the_definitions_for_llvm_24_says_what_llvm_24_changed() {
    let facts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/facts/llvm24.c");
    for (dialect, strict) in
        [("llvm", &["-std=c11", "-Wall", "-Wextra", "-Werror"][..]), ("hostcall", &["-std=c11", "-Werror", "-pedantic"])]
    {
        let header = header_24(dialect);
        for compiler in ["gcc", "clang"] {
            compile(compiler, strict, header.path(), &facts);
        }
        assert_eq!(prototypes(&std::fs::read_to_string(header.path().join("OffloadAPI.h")).expect("there")).len(), 102, "{dialect}");
    }
}

/// What a program was compiled for cannot be told by its names. The record of the ABI can.
#[test]
fn the_record_of_one_version_s_abi_is_not_the_other_s() {
    let (lock_23, lock_24) = (api_dir().join("OffloadAPI.abi.json"), api_dir().join("24/OffloadAPI.abi.json"));
    for (definition, own, other) in [("OffloadAPI.td", &lock_23, &lock_24), ("24/OffloadAPI.td", &lock_24, &lock_23)] {
        let compare = |lock: &Path| run(&[&format!("--check-abi-lock={}", lock.display())], &api_dir().join(definition));
        assert!(compare(own).status.success(), "{definition}");
        let output = compare(other);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{definition}");
        assert!(text.contains("the API: was LLVM ") && text.contains("OL_ERRC_SYMBOL_KIND") && text.contains("olCreateQueue"), "{text}");
    }
}

/// The facts cannot tell a definition that has too much.
#[test]
fn the_header_says_no_more_than_llvm_23_s() {
    let facts = include_str!("facts/llvm23.c");
    let header = header("llvm");
    let text = std::fs::read_to_string(header.path().join("OffloadAPI.h")).expect("there");
    for name in enumerators(&text).keys().chain(prototypes(&text).keys()) {
        assert!(facts.contains(&format!("({name}, ")) || facts.contains(&format!(" {name}(")), "{name} is not in LLVM 23");
    }
    assert_eq!(prototypes(&text).len(), 82);
}

/// What LLVM 23 changed since 22.
const CHANGED_SINCE_22: [&str; 4] = ["olCreateEvent", "olInit", "olLaunchKernel", "olMemUnregister"];

#[test]
fn the_header_agrees_with_debian_s_of_llvm_22() {
    // Installed, or where `cargo xtask test` unpacks it.
    let unpacked = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/debian");
    let file = "usr/lib/llvm-22/include/offload/OffloadAPI.h";
    let found = [Path::new("/"), &unpacked].into_iter().find_map(|root| std::fs::read_to_string(root.join(file)).ok());
    let Some(theirs) = found else {
        println!("skipped: /{file} is not there; install liboffload-22-dev");
        return;
    };
    let header = header("llvm");
    let ours = std::fs::read_to_string(header.path().join("OffloadAPI.h")).expect("there");
    let (ours_of, theirs_of) = (prototypes(&ours), prototypes(&theirs));
    assert!(theirs_of.len() > 60, "the header was not understood: {} prototypes", theirs_of.len());
    for (name, prototype) in &theirs_of {
        let bare = name.trim_end_matches("WithCodeLoc");
        if CHANGED_SINCE_22.contains(&bare) {
            continue;
        }
        assert_eq!(ours_of.get(name), Some(prototype), "{name}");
    }
    let (ours_of, theirs_of) = (enumerators(&ours), enumerators(&theirs));
    assert!(theirs_of.len() > 90, "the header was not understood: {} enumerators", theirs_of.len());
    let changed: BTreeSet<&str> =
        theirs_of.iter().filter(|(name, value)| ours_of.get(*name) != Some(value)).map(|(name, _)| name.as_str()).collect();
    // New enumerators push `_LAST` on.
    let unexplained: Vec<_> = changed.into_iter().filter(|name| !name.ends_with("_LAST")).collect();
    assert!(unexplained.is_empty(), "{unexplained:?}");
}

/// A header without its comments, every run of blanks as one.
fn code(header: &str) -> String {
    let lines = header.lines().map(|line| line.split("//").next().unwrap_or_default()).filter(|line| !line.trim_start().starts_with('#'));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// Parameters of each exported function, by its name.
fn prototypes(header: &str) -> BTreeMap<String, String> {
    let code = code(header);
    let declarations = code.split(';').filter_map(|part| part.split("OL_APIEXPORT ol_result_t OL_APICALL ").nth(1));
    declarations
        .filter_map(|declaration| declaration.trim().strip_suffix(')')?.split_once('('))
        .map(|(name, params)| (name.trim().to_owned(), params.split_whitespace().collect::<Vec<_>>().join(" ").replace(" *", "*")))
        .map(|(name, params)| (name, params.split('*').map(str::trim).collect::<Vec<_>>().join("* ").trim().to_owned()))
        .collect()
}

/// Value of each enumerator, by its name.
fn enumerators(header: &str) -> BTreeMap<String, String> {
    let code = code(header);
    let bodies = code.split("typedef enum ").skip(1).filter_map(|part| part.split_once('{')?.1.split_once('}'));
    bodies
        .flat_map(|(body, _)| body.split(','))
        .filter_map(|etor| etor.split_once('='))
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .collect()
}

#[test]
fn the_definitions_have_no_fault() {
    for definition in ["OffloadAPI.td", "24/OffloadAPI.td"] {
        let output = run(&["--lint", "--lints", "error"], &api_dir().join(definition));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
