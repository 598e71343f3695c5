//! `examples/existing`: a CUDA program before it has hostcalls, and with them; and `examples/asserts`.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{bindings, folder, nvcc};
use hostcall_idl::generate::{Language, Namespace};
use hostcall_test_support::succeed;

/// As docs/guide/c.md says.
const NEW_LINES: usize = 10;

fn example(name: &str) -> PathBuf {
    folder().join("../../examples/existing").join(name)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Lines of code: neither empty nor comments.
fn code(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with("//")).collect()
}

/// The lines of `after` that are not in the longest list of lines that both have in this order.
fn new_lines<'a>(before: &[&str], after: &[&'a str]) -> Vec<&'a str> {
    // How long that list is from line `i` of the one and line `j` of the other on.
    let mut longest = vec![vec![0; after.len() + 1]; before.len() + 1];
    for i in (0..before.len()).rev() {
        for j in (0..after.len()).rev() {
            let skipped = longest[i + 1][j].max(longest[i][j + 1]);
            longest[i][j] = if before[i] == after[j] { longest[i + 1][j + 1] + 1 } else { skipped };
        }
    }
    let (mut i, mut new) = (0, Vec::new());
    for (j, line) in after.iter().enumerate() {
        while i < before.len() && before[i] != *line && longest[i + 1][j] == longest[i][j] {
            i += 1;
        }
        if i < before.len() && before[i] == *line { i += 1 } else { new.push(*line) }
    }
    new
}

#[test]
fn ten_lines_of_the_program_are_new_or_changed() {
    assert_eq!(new_lines(&["a", "b", "c", "d"], &["b", "x", "d", "a"]), ["x", "a"]);
    let (before, after) = (read(&example("before.cu")), read(&example("existing.cu")));
    let (before, after) = (code(&before), code(&after));
    let new = new_lines(&before, &after);
    assert_eq!(new.len(), NEW_LINES, "{new:#?}");
    assert_eq!(before.len() + new.len() - after.len(), 2, "lines that are gone");
    // No line does the work of several.
    assert!(new.iter().all(|line| line.len() <= 120 && line.matches(';').count() <= 2), "{new:#?}");
    let page = read(&folder().join("../../docs/guide/c.md"));
    assert!(page.contains("ten lines of it are new or changed"), "docs/guide/c.md says how many");
    let shown = page.split("```cpp\n").nth(1).and_then(|rest| rest.split("```").next()).expect("docs/guide/c.md shows them");
    assert_eq!(code(shown), new, "docs/guide/c.md shows them");
}

#[test]
fn its_generated_files_are_what_the_services_say() {
    let services = folder().join("../../examples/add42/services/src/lib.rs");
    let (cuda, cpp) = (Language::Cuda, Language::CppHost);
    for (name, language, namespace) in
        [("host_services.cuh", cuda, Namespace::default()), ("host_services.hpp", cpp, "services".parse().unwrap())]
    {
        assert_eq!(read(&example(name)), bindings(&services, language, &namespace), "{name}");
    }
}

#[test]
fn nvcc_compiles_both_and_links_those_with_hostcalls() {
    let Some(nvcc) = nvcc() else { return };
    let to = tempfile::tempdir().unwrap();
    // Whichever of the headers for kernels and for hosts is included first.
    let existing = read(&example("existing.cu"));
    let swapped = to.path().join("swapped.cu");
    let includes = "#include \"host_services.cuh\"\n#include \"host_services.hpp\"\n";
    assert!(existing.contains(includes), "{existing}");
    std::fs::write(&swapped, existing.replace(includes, "#include \"host_services.hpp\"\n#include \"host_services.cuh\"\n")).unwrap();
    let mut objects = Vec::new();
    let asserts = ["../asserts/before.cu", "../asserts/after.cu"].map(example);
    let sources = [example("before.cu"), example("existing.cu"), swapped].into_iter().chain(asserts);
    for (i, source) in sources.enumerate() {
        let object = to.path().join(format!("{i}.o"));
        let mut compile = Command::new(&nvcc);
        compile.args(["-std=c++17", "-arch=sm_90", "-c", "-Werror=all-warnings", "-Xcompiler", "-Wall,-Wextra,-Werror"]);
        compile.arg("-I").arg(folder().join("../../include")).arg("-I").arg(folder().join("include"));
        compile.arg("-I").arg(example("")).arg(&source).arg("-o").arg(&object);
        succeed(&mut compile);
        objects.push(object);
    }
    let library = common::shared().parent().expect("a file is in a folder");
    for (object, ours) in objects.iter().zip([None, Some("-lhostcall_c"), Some("-lhostcall_c"), None, Some("-lhostcall_c")]) {
        let mut link = Command::new(&nvcc);
        link.arg("-arch=sm_90").arg(object).arg("-L").arg(library).args(ours).arg("-o").arg(object.with_extension("program"));
        succeed(&mut link);
    }
}
