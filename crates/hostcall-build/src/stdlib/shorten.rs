//! PTX with short names.
//!
//! A mangled name is a hundred letters, and PTX repeats a function's name in each of its parameters: in a program with std nearly half of the text is names, which
//! the driver reads at every start. Functions keep the last part of their path and get a number; what the host looks up keeps its name.

use std::collections::{HashMap, HashSet};

/// Names shorter than this are left alone.
const LONG: usize = 16;
/// Letters that are kept of a path's last part.
const KEPT: usize = 24;

/// The same program without comments and indentation, and with short names.
pub(crate) fn shorten(ptx: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(ptx);
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default().trim()).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.collect();
    let mut names = Names::default();
    for line in &lines {
        if [".visible", ".extern", ".weak", ".entry"].iter().any(|word| line.starts_with(word)) {
            names.kept.extend(words(line).filter(|word| is_name(word)));
        }
    }
    let mut short = String::with_capacity(text.len() / 2);
    for line in &lines {
        for word in words(line) {
            if is_name(word) { names.write(word, &mut short) } else { short.push_str(word) }
        }
        short.push('\n');
    }
    short.into_bytes()
}

/// A line as names, registers and directives, and what is between them.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let inside = |c: char| c.is_ascii_alphanumeric() || "_$%.".contains(c);
        let first = rest.chars().next()?;
        let len = rest.find(|c: char| inside(c) != inside(first)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(len);
        rest = after;
        Some(word)
    })
}

fn is_name(word: &str) -> bool {
    word.len() >= LONG && word.starts_with(|c: char| c.is_ascii_alphabetic() || "_$".contains(c)) && !word.contains(['.', '%'])
}

#[derive(Default)]
struct Names<'a> {
    kept: HashSet<&'a str>,
    short: HashMap<&'a str, String>,
}

impl<'a> Names<'a> {
    fn write(&mut self, word: &'a str, out: &mut String) {
        // A parameter is called as its function, with a suffix.
        let (name, suffix) = match word.rfind("_param_").filter(|&at| word[at + 7..].bytes().all(|byte| byte.is_ascii_digit())) {
            Some(at) => word.split_at(at),
            None => (word, ""),
        };
        if self.kept.contains(word) || self.kept.contains(name) {
            return out.push_str(word);
        }
        let number = self.short.len();
        let short = self.short.entry(name).or_insert_with(|| format!("{}_{number}", last_part(name)));
        out.push_str(short);
        out.push_str(suffix);
    }
}

/// `write_all` of `std::io::Write::write_all::<…>`.
fn last_part(name: &str) -> String {
    let path = format!("{:#}", rustc_demangle::demangle(name.split("_$_").next().unwrap_or(name)));
    let path = path.split("::<").next().unwrap_or(&path);
    let part = path.rsplit("::").next().unwrap_or(path);
    let part: String = part.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(KEPT).collect();
    if part.starts_with(|c: char| c.is_ascii_alphabetic()) { part } else { format!("f{part}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_names_become_short_and_visible_ones_stay() {
        let ptx = ".visible .global .align 4 .b8 __HOSTCALL__Host__add42[4];\n\
            .func _RNvNtCs1234_3std9panicking15panic_with_hook(\n\t.param .b64 _RNvNtCs1234_3std9panicking15panic_with_hook_param_0\n) // -- Begin\n\
            {\n\tld.param.b64 \t%rd1, [_RNvNtCs1234_3std9panicking15panic_with_hook_param_0];\n\tst.global.b32 [__HOSTCALL__Host__add42], 1;\n}\n";
        let short = String::from_utf8(shorten(ptx.as_bytes())).expect("text");
        assert_eq!(
            short,
            ".visible .global .align 4 .b8 __HOSTCALL__Host__add42[4];\n.func panic_with_hook_0(\n.param .b64 panic_with_hook_0_param_0\n)\n{\n\
             ld.param.b64 \t%rd1, [panic_with_hook_0_param_0];\nst.global.b32 [__HOSTCALL__Host__add42], 1;\n}\n"
        );
    }

    #[test]
    fn different_functions_of_one_name_stay_different() {
        let ptx = "call _RNvNtCs1_1aaaaaaaaaaa3new;\ncall _RNvNtCs1_1bbbbbbbbbbb3new;\ncall _RNvNtCs1_1aaaaaaaaaaa3new;\n";
        let short = String::from_utf8(shorten(ptx.as_bytes())).expect("text");
        let lines: Vec<&str> = short.lines().collect();
        assert_eq!(lines[0], lines[2]);
        assert_ne!(lines[0], lines[1]);
    }
}
