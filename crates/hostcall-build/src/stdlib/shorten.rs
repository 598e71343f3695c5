//! PTX in few letters.
//!
//! What LLVM writes is for people: a mangled name is a hundred letters and is repeated in each of its function's parameters, labels say which function they are in, constants are written byte by byte. Of a program with std that is two thirds of the text, which the driver or `ptxas` reads at every start. Here functions keep the
//! last part of their path and get a number, parameters and labels, which no other function sees, a number alone, and constants of bytes become words. What
//! the host looks up keeps its name.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// Names shorter than this are left alone.
const LONG: usize = 16;
/// Letters that are kept of a path's last part.
const KEPT: usize = 16;

/// The same program without comments and needless blanks, and with short names.
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
        let line = in_words(line);
        let mut blank = false;
        for word in words(&line) {
            if word.trim().is_empty() {
                blank = true;
                continue;
            }
            // Between two words a blank is what keeps them apart; beside punctuation it is for people.
            let touches = short.ends_with(is_word) && word.starts_with(is_word);
            if std::mem::take(&mut blank) && touches {
                short.push(' ');
            }
            names.write(word, &mut short);
        }
        short.push('\n');
    }
    short.into_bytes()
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_$%.".contains(c)
}

/// A line as names, registers and directives, the blanks between them, and other signs.
fn words(line: &str) -> impl Iterator<Item = &str> {
    #[derive(PartialEq)]
    enum Kind {
        Word,
        Blank,
        Other,
    }
    let kind = |c: char| {
        if is_word(c) {
            Kind::Word
        } else if c.is_whitespace() {
            Kind::Blank
        } else {
            Kind::Other
        }
    };
    let mut rest = line;
    std::iter::from_fn(move || {
        let first = kind(rest.chars().next()?);
        let len = rest.find(|c: char| kind(c) != first).unwrap_or(rest.len());
        let (word, after) = rest.split_at(len);
        rest = after;
        Some(word)
    })
}

fn is_name(word: &str) -> bool {
    word.len() >= LONG && word.starts_with(|c: char| c.is_ascii_alphabetic() || "_$".contains(c)) && !word.contains(['.', '%'])
}

/// A constant of bytes that are all numbers, as one of 64-bit words, which takes half the letters; other lines as they are. Only what no other module sees:
/// the last word may reach beyond the last byte.
fn in_words(line: &str) -> Cow<'_, str> {
    let parse = || {
        let (space, rest) = [".global", ".const"].into_iter().find_map(|space| Some((space, line.strip_prefix(space)?)))?;
        let (align, rest) = rest.trim_start().strip_prefix(".align ")?.split_once(" .b8 ")?;
        let (name, rest) = rest.split_once('[')?;
        let (size, values) = rest.split_once("] = {")?;
        let (align, size) = (align.parse::<usize>().ok()?, size.parse::<usize>().ok()?);
        let bytes = values.strip_suffix("};")?.split(',').map(|byte| byte.trim().parse::<u8>());
        let bytes = bytes.collect::<Result<Vec<u8>, _>>().ok().filter(|bytes| bytes.len() <= size)?;
        let mut text = format!("{space} .align {} .b64 {name}[{}]={{", align.max(8), size.div_ceil(8));
        for word in bytes.chunks(8) {
            let mut whole = [0; 8];
            whole[..word.len()].copy_from_slice(word);
            let word = u64::from_le_bytes(whole);
            // Whichever is shorter; both are unsigned.
            let _ = if word < 1 << 40 { write!(text, "{word},") } else { write!(text, "{word:#x}U,") };
        }
        text.pop();
        Some(text + "};")
    };
    parse().map_or(Cow::Borrowed(line), Cow::Owned)
}

#[derive(Default)]
struct Names<'a> {
    kept: HashSet<&'a str>,
    short: HashMap<String, String>,
}

impl Names<'_> {
    fn write(&mut self, word: &str, out: &mut String) {
        if let Some((_, number)) = word.strip_prefix("$L__BB").and_then(|label| label.split_once('_')) {
            out.extend(["$", number]);
            return;
        }
        // LLVM's names for what a call passes and gets back, each in a block of its own.
        if let Some(number) = word.strip_prefix("param").filter(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())) {
            out.extend(["$a", number]);
            return;
        }
        // Registers for addresses are most of all registers; nothing else is called like this.
        if let Some(number) = word.strip_prefix("%rd").filter(|rest| rest.bytes().all(|byte| byte.is_ascii_digit())) {
            out.extend(["%d", number]);
            return;
        }
        match word {
            "retval0" => return out.push_str("$r"),
            "func_retval0" => return out.push_str("$f"),
            _ if !is_name(word) => return out.push_str(word),
            _ => {}
        }
        // A parameter is called as its function, with a suffix.
        let (name, parameter) = match word.rsplit_once("_param_").filter(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit())) {
            Some((name, number)) => (name, Some(number)),
            None => (word, None),
        };
        if self.kept.contains(word) || self.kept.contains(name) {
            return out.push_str(word);
        }
        if let Some(number) = parameter {
            out.extend(["$p", number]);
            return;
        }
        if !self.short.contains_key(name) {
            self.short.insert(name.to_owned(), format!("{}_{}", last_part(name), self.short.len()));
        }
        out.push_str(&self.short[name]);
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
            .func  (.param .b32 func_retval0) _RNvNtCs1234_3std9panicking15panic_with_hook(\n\t.param .b64 _RNvNtCs1234_3std9panicking15panic_with_hook_param_0\n) // -- Begin\n\
            {\n\tld.param.b64 \t%rd1, [_RNvNtCs1234_3std9panicking15panic_with_hook_param_0];\n\tst.global.b32 [__HOSTCALL__Host__add42], 1;\n$L__BB12_3:\n\
            \tst.param.b64 \t[param0], %rd1;\n\tcall.uni (retval0), printer, (param0);\n\t@%p1 bra \t$L__BB12_3;\n}\n";
        let short = String::from_utf8(shorten(ptx.as_bytes())).expect("text");
        assert_eq!(
            short,
            ".visible .global .align 4 .b8 __HOSTCALL__Host__add42[4];\n.func(.param .b32 $f)panic_with_hook_0(\n.param .b64 $p0\n)\n{\n\
             ld.param.b64 %d1,[$p0];\nst.global.b32[__HOSTCALL__Host__add42],1;\n$3:\nst.param.b64[$a0],%d1;\ncall.uni($r),printer,($a0);\n@%p1 bra $3;\n}\n"
        );
    }

    #[test]
    fn a_kernels_parameters_keep_their_names() {
        let ptx = ".visible .entry the_kernel_of_a_program(\n.param .u64 the_kernel_of_a_program_param_0\n)\n";
        let short = String::from_utf8(shorten(ptx.as_bytes())).expect("text");
        assert_eq!(short, ".visible .entry the_kernel_of_a_program(\n.param .u64 the_kernel_of_a_program_param_0\n)\n");
    }

    #[test]
    fn constants_of_bytes_become_words_and_others_stay() {
        assert_eq!(in_words(".global .align 1 .b8 a[3] = {1, 2, 3};"), ".global .align 8 .b64 a[1]={197121};");
        assert_eq!(
            in_words(".global .align 16 .b8 a[10] = {255, 255, 255, 255, 255, 255, 255, 255, 7};"),
            ".global .align 16 .b64 a[2]={0xffffffffffffffffU,7};"
        );
        for other in [
            ".visible .global .align 1 .b8 a[3] = {1, 2, 3};",
            ".global .align 8 .u64 a[2] = {f, 3};",
            ".global .align 8 .b8 a[8] = {0xFF(f), 1};",
            ".global .align 1 .b8 a[1] = {256};",
            ".global .align 1 .b8 a[1] = {1, 2};",
            ".global .align 4 .b8 a[1024];",
        ] {
            assert_eq!(in_words(other), other);
        }
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
