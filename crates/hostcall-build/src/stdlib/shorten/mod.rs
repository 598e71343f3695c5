//! PTX in few letters.
//!
//! What LLVM writes is for people: a mangled name is a hundred letters and is repeated in each of its function's
//! parameters, labels say which function they are in, constants are written byte by byte, and whatever is used before
//! it is defined is declared, which is nearly everything. Of a program with std that is two thirds of the text, which
//! the driver or `ptxas` reads at every start. Here
//!
//! * functions and variables keep the last part of their path, with a number if several have the same; so a report that
//!   names a function (`compute-sanitizer`'s) still says where it was. What the host looks up keeps its name;
//! * what no other function sees has a letter or a number: parameters are `$a`, `$b` and the result `$r`, of a call
//!   `_a`, `_b` and `_r` and its prototype `_t`, labels `$1`, registers for addresses `%d1` and for 16 bits `%h1`
//!   ([`names`]);
//! * functions stand in an order that needs few declarations ([`items`]), which changes nothing of their machine code;
//! * addresses of variables are taken in one step ([`addresses`]), calls name registers and numbers ([`calls`]), and
//!   constants of bytes become words.
//!
//! Branches stay as they are. LLVM's back end for NVIDIA never turns a condition round, and so jumps over jumps; but of
//! straight ones `ptxas` makes other code, and `Vec::push` in a loop took 351 ns instead of 254 on an H200.

mod addresses;
mod calls;
mod items;
mod names;
mod parts;

pub(crate) use self::parts::{merged, parts};

use std::borrow::Cow;
use std::fmt::Write as _;

use self::items::Item;
use self::names::Names;

/// The sources of this module.
pub(crate) fn recipe() -> &'static str {
    concat!(
        include_str!("mod.rs"),
        include_str!("addresses.rs"),
        include_str!("calls.rs"),
        include_str!("items.rs"),
        include_str!("names.rs"),
        include_str!("parts.rs")
    )
}

/// The same program without comments and needless blanks and declarations, and with short names.
pub(crate) fn shorten(ptx: &[u8]) -> Vec<u8> {
    // What is not understood stays as it is.
    renamed(&String::from_utf8_lossy(ptx), Names::of).map_or_else(|| ptx.to_vec(), String::into_bytes)
}

/// The same for a program's part; `None` if it is not understood.
pub(crate) fn shorten_part(ptx: &str, part: &str) -> Option<String> {
    renamed(ptx, |items| Names::stable(items, part))
}

fn renamed<'a>(text: &'a str, names: impl FnOnce(&[Item<'a>]) -> Names<'a>) -> Option<String> {
    let lines: Vec<&str> =
        text.lines().map(|line| line.split("//").next().unwrap_or_default().trim()).filter(|line| !line.is_empty()).collect();
    let items = items::read(&lines)?;
    let mut out = Writer { names: names(&items), text: String::with_capacity(text.len() / 2) };
    for (declared, item) in items::order(&items) {
        for function in declared {
            if let Item::Function { head, .. } = &items[function] {
                out.line(head.iter().copied().chain([";"]));
            }
        }
        match &items[item] {
            Item::Line(line) => out.line([&*in_words(line)]),
            Item::Extern(lines) => out.line(lines.iter().copied()),
            Item::Function { head, body } => {
                out.line(head.iter().copied());
                for line in calls::shorter(addresses::in_one_step(body)) {
                    out.line([&*line]);
                }
            }
        }
    }
    Some(out.text)
}

struct Writer<'a> {
    names: Names<'a>,
    text: String,
}

impl Writer<'_> {
    /// Writes lines as one.
    fn line<'l>(&mut self, lines: impl IntoIterator<Item = &'l str>) {
        for line in lines {
            let mut blank = !self.text.ends_with('\n');
            for word in words(line) {
                if word.trim().is_empty() {
                    blank = true;
                    continue;
                }
                // Between two words a blank is what keeps them apart; beside punctuation it is for people.
                let touches = self.text.ends_with(is_word) && word.starts_with(is_word);
                if std::mem::take(&mut blank) && touches {
                    self.text.push(' ');
                }
                self.names.write(word, &mut self.text);
            }
        }
        self.text.push('\n');
    }
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

/// Whether a word can be the name of a function, a variable, a parameter or a label.
fn is_symbol(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || "_$".contains(c)) && !word.contains(['.', '%'])
}

/// A constant of bytes that are all numbers, as one of 64-bit words, which takes half the letters; other lines as they
/// are. Only what no other module sees: the last word may reach beyond the last byte.
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
            // Whichever is shorter. A number that is too large for a signed one is unsigned.
            let _ = if word < 1 << 40 { write!(text, "{word},") } else { write!(text, "{word:#x},") };
        }
        text.pop();
        Some(text + "};")
    };
    parse().map_or(Cow::Borrowed(line), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortened(ptx: &str) -> String {
        String::from_utf8(shorten(ptx.as_bytes())).expect("text")
    }

    #[test]
    fn internal_names_become_short_and_visible_ones_stay() {
        let ptx = ".version 8.4\n.visible .global .align 4 .b8 __HOSTCALL__Host__add42[4];\n\
            .func  (.param .b32 func_retval0) _RNvNtCs1234_3std9panicking15panic_with_hook(\n\t.param .b64 _RNvNtCs1234_3std9panicking15panic_with_hook_param_0,\n\
            \t.param .b32 _RNvNtCs1234_3std9panicking15panic_with_hook_param_1\n) // -- Begin\n.noreturn\n\
            {\n\tld.param.b64 \t%rd1, [_RNvNtCs1234_3std9panicking15panic_with_hook_param_0];\n\tst.global.b32 [__HOSTCALL__Host__add42], 1;\n$L__BB12_3:\n\
            \tst.param.b64 \t[param0], %rd1;\n\tcall.uni (retval0), printer, (param0);\n\tmov.b16 %rs1, %rs2;\n\t@%p1 bra \t$L__BB12_3;\n}\n";
        assert_eq!(
            shortened(ptx),
            ".version 8.4\n.visible .global .align 4 .b8 __HOSTCALL__Host__add42[4];\n.func(.param .b32 $r)panic_with_hoo(.param .b64 $a,.param .b32 $b).noreturn\n{\n\
             ld.param.b64 %d1,[$a];\nst.global.b32[__HOSTCALL__Host__add42],1;\n$3:\nst.param.b64[_a],%d1;\ncall(_r),printer,(_a);\nmov.b16 %h1,%h2;\n@%p1 bra $3;\n}\n"
        );
    }

    #[test]
    fn a_kernels_parameters_keep_their_names() {
        let ptx = ".visible .entry the_kernel_of_a_program(\n.param .u64 the_kernel_of_a_program_param_0\n)\n{\nret;\n}\n";
        assert_eq!(shortened(ptx), ".visible .entry the_kernel_of_a_program(.param .u64 the_kernel_of_a_program_param_0)\n{\nret;\n}\n");
    }

    #[test]
    fn what_is_declared_for_a_call_that_comes_first_is_declared_as_it_is_defined() {
        let function = |name: &str, calls: &str| {
            format!(".func {name}(\n.param .b32 {name}_param_0\n)\n.noreturn\n{{\ncall.uni {calls}, (param0);\n}}\n")
        };
        let text = shortened(&(function("ping", "pong") + &function("pong", "ping")));
        assert_eq!(
            text,
            ".func ping(.param .b32 $a).noreturn;\n.func pong(.param .b32 $a).noreturn\n{\ncall ping,(_a);\n}\n.func ping(.param .b32 $a).noreturn\n{\ncall pong,(_a);\n}\n"
        );
    }

    #[test]
    fn what_is_no_module_of_llvms_stays() {
        for text in [".func f(\n", ".func f()\n{\n{\n}\n", ""] {
            assert_eq!(shortened(text), text);
        }
    }

    #[test]
    fn names_that_could_be_others_stay_different() {
        // Two of one name, one that has this name already, a word of PTX's, more parameters than letters, and what is
        // called like a parameter.
        let ptx = ".func _RNvCs1_11aaaaaaaaaaa8new_name()\n{\nret;\n}\n.func _RNvCs1_11bbbbbbbbbbb8new_name()\n{\nret;\n}\n.func new_name_1()\n{\nret;\n}\n\
            .func _RNvCs1_11aaaaaaaaaaa4call(\n.param .b32 _RNvCs1_11aaaaaaaaaaa4call_param_17\n)\n{\nret;\n}\n.global .align 8 .u64 _a = 1;\n.func ab()\n{\nret;\n}\n.global .align 8 .u64 ab_param_3 = 1;\n\
            .func _RNvCs1_11aaaaaaaaaaa3add()\n{\ncall.uni _RNvCs1_11aaaaaaaaaaa8new_name, ();\ncall.uni _RNvCs1_11bbbbbbbbbbb8new_name, ();\ncall.uni new_name_1, ();\n\
            mov.b64 %rd1, _a;\nmov.b64 %rd1, ab_param_3;\nst.param.b32 [param17], 1;\ncall.uni _RNvCs1_11aaaaaaaaaaa4call, (param17);\n}\n";
        let text = shortened(ptx);
        let last = &text[text.find(".func add").expect("it is there")..];
        assert_eq!(
            last,
            ".func add_()\n{\ncall new_name,();\ncall new_name_2,();\ncall new_name_1,();\nmov.b64 %d1,f_a;\nmov.b64 %d1,ab_param_3;\n\
             st.param.b32[_a17],1;\ncall call_,(_a17);\n}\n"
        );
        assert!(text.contains(".func call_(.param .b32 $a17)"), "{text}");
    }

    #[test]
    fn constants_of_bytes_become_words_and_others_stay() {
        assert_eq!(in_words(".global .align 1 .b8 a[3] = {1, 2, 3};"), ".global .align 8 .b64 a[1]={197121};");
        assert_eq!(
            in_words(".global .align 16 .b8 a[10] = {255, 255, 255, 255, 255, 255, 255, 255, 7};"),
            ".global .align 16 .b64 a[2]={0xffffffffffffffff,7};"
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
}
