//! What programs that were compiled with a header in C have of it in them: where the fields of its structures lie, and
//! the values of its names. Clang says both.
//!
//! (`hostcall_abi.h` is not among the headers: it is printed from the wire's own types, and asserts its layouts
//! itself.)

use std::path::Path;

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

/// Structures of a header with sizes, alignments and offsets, then its names with their values; one a line.
pub(super) fn of_header(sh: &Shell, header: &Path) -> Result<String> {
    let include = header.parent().context("it is in a directory")?;
    let asked = |what: &str| {
        cmd!(sh, "clang-22 -x c -std=c11 -fsyntax-only -I {include} -Xclang {what} {header}")
            .quiet()
            .read()
            .context("needs clang 22: `cargo xtask setup` installs it")
    };
    let layouts = structures(&asked("-fdump-record-layouts-complete")?);
    let tree: serde_json::Value = serde_json::from_str(&asked("-ast-dump=json")?)?;
    let lines: Vec<String> = layouts.into_iter().chain(enumerators(&tree)?).chain(numbers(&sh.read_file(header)?)).collect();
    Ok(lines.iter().map(|line| format!("{line}\n")).collect())
}

/// Of clang's text, structures that no header of the system defines.
fn structures(said: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for block in said.split("*** Dumping AST Record Layout\n").skip(1) {
        let mut parts = block.lines().filter_map(|line| line.split_once(" | ")).map(|(at, what)| (at.trim(), what));
        let Some(name) = parts.next().map(|(_, what)| what).filter(|name| !name.contains(" __") && !name.contains(" at /usr/")) else {
            continue;
        };
        // (Clang says of one without a name where it stands.)
        let plain = |text: &str| match text.split_once("(unnamed at ") {
            Some((before, after)) => format!("{before}(unnamed){}", after.split_once(')').map_or("", |(_, after)| after)),
            None => text.to_owned(),
        };
        lines.push(plain(name));
        lines.extend(parts.map(|(at, what)| format!("  {at:>3} {}", plain(what.trim_start_matches("  ")))));
    }
    lines
}

/// The names of all enumerations, which begin at 0 and count on from the one before where no value is given.
fn enumerators(tree: &serde_json::Value) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    let inner = |node: &serde_json::Value| node["inner"].as_array().cloned().unwrap_or_default();
    for of in inner(tree).iter().filter(|node| node["kind"] == "EnumDecl") {
        let mut next = 0;
        for name in inner(of).iter().filter(|node| node["kind"] == "EnumConstantDecl") {
            if let Some(given) = inner(name).iter().find_map(|expression| expression["value"].as_str()) {
                next = given.parse().with_context(|| format!("{given} is no number"))?;
            }
            let word = name["name"].as_str().context("an enumerator has a name")?;
            ensure!(!word.starts_with('_'), "{word} is of the system");
            lines.push(format!("{word} = {next}"));
            next += 1_i64;
        }
    }
    Ok(lines)
}

/// The numbers that a header defines for the preprocessor.
fn numbers(header: &str) -> Vec<String> {
    let words = header.lines().filter_map(|line| line.strip_prefix("#define ")?.split_once(' '));
    let number = |(name, value): (&str, &str)| {
        let value = value.split_whitespace().next().unwrap_or_default();
        value.starts_with(|c: char| c.is_ascii_digit()).then(|| format!("{name} = {value}"))
    };
    words.filter_map(number).collect()
}

#[test]
fn a_field_that_moves_and_a_name_with_another_value_change_what_is_said() {
    let sh = Shell::new().unwrap();
    let of = |text: &str| {
        let dir = tempfile::tempdir().unwrap();
        let header = dir.path().join("x.h");
        std::fs::write(&header, format!("#include <stddef.h>\n#include <stdint.h>\n{text}")).unwrap();
        of_header(&sh, &header).unwrap()
    };
    let text = "#define X_MOST 7u /* seven */\n#define X_H\n#define X_CAST (uint32_t)9\nenum { X_A, X_B = 1 << 4, X_C };\n\
        typedef struct x_thing { uint32_t size; struct { char c; uint64_t far; } in[2]; } x_thing;\nstruct x_handle;\n";
    let said = of(text);
    for line in [
        "struct x_thing\n",
        "    0 uint32_t size\n    8 struct (unnamed)[2] in\n",
        "X_A = 0\nX_B = 16\nX_C = 17\nX_MOST = 7u\n",
        "[sizeof=40, align=8]\n",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert!(
        !said.contains("X_CAST") && !said.contains("X_H") && !said.contains("x_handle") && !said.contains("__") && !said.contains("x.h"),
        "{said}"
    );
    assert_ne!(said, of(&text.replace("char c; uint64_t far", "uint64_t far; char c")));
    assert_ne!(said, of(&text.replace("X_A,", "X_A, X_NEW,")));
}
