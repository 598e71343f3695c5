//! Short names.

use std::collections::{HashMap, HashSet};

use offload_image::Sha256;

use super::items::Item;
use super::words;
use crate::symbols::EXPORTED;

/// Names of functions and variables shorter than this are left alone.
const LONG: usize = 12;
/// Letters that are kept of a path's last part.
const KEPT: usize = 14;
/// What LLVM's labels of blocks begin with; behind it are the numbers of the function and of the block.
const LABEL: &str = "$L__BB";
/// What the host, or another module, looks up.
const LOOKED_UP: [&str; 5] = [".visible", ".extern", ".weak", ".common", ".entry"];

/// What things are called.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    /// All that is defined or declared.
    all: HashSet<&'a str>,
    /// Functions that are no kernels: their parameters have names that only they see.
    functions: HashSet<&'a str>,
    /// Symbols with their new names.
    symbols: HashMap<&'a str, String>,
}

impl<'a> Names<'a> {
    /// Names for a module's symbols.
    pub(super) fn of(items: &[Item<'a>]) -> Names<'a> {
        let mut names = Names::default();
        let mut internal = Vec::new();
        for item in items {
            let Some((name, head)) = names.note(item) else { continue };
            // Those of parameters begin with a sign.
            if !has(head, &LOOKED_UP) && (name.len() >= LONG || name.starts_with(['_', '$'])) {
                internal.push(name);
            }
        }
        let renamed: HashSet<&str> = internal.iter().copied().collect();
        let all = items.iter().flat_map(Item::lines).flat_map(words).chain(items.iter().filter_map(Item::name));
        let mut taken: HashSet<String> = all.filter(|word| !renamed.contains(word)).map(str::to_owned).collect();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        for name in internal {
            let part = last_part(name);
            let number = numbers.entry(part.clone()).or_default();
            let short = loop {
                let short = numbered(&part, *number);
                *number += 1;
                if taken.insert(short.clone()) {
                    break short;
                }
            };
            names.symbols.insert(name, short);
        }
        names
    }

    /// Names for the symbols of a program's part, the same whatever else is in the program. What other parts see has
    /// one name in all of them; what they do not has one that no other part's has.
    pub(super) fn stable(items: &[Item<'a>], part: &str) -> Names<'a> {
        let mut names = Names::default();
        for item in items {
            let Some((name, head)) = names.note(item) else { continue };
            let seen = has(head, &[".visible", ".extern", ".weak", ".common"]);
            // Short ones are nobody else's, and may be words of PTX's (`exit`).
            let short = name.len() < LONG && !name.starts_with(['_', '$']) && !name.contains("_$_");
            let kept = has(head, &[".entry"]) || short || (seen && is_looked_up(name));
            if !kept {
                let scope = if seen { "" } else { part };
                let hash = Sha256::of(&[scope.as_bytes(), b" ", name.as_bytes()].concat()).0;
                let number = hash.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
                names.symbols.insert(name, format!("{}_{}", last_part(name), in_base_36(number, HASHED)));
            }
        }
        names
    }

    /// Takes note of what is defined or declared; its name and what says what it is.
    fn note<'i>(&mut self, item: &'i Item<'a>) -> Option<(&'a str, &'i str)> {
        let (name, head) = (item.name()?, item.head()?);
        self.all.insert(name);
        if has(head, &[".func"]) {
            self.functions.insert(name);
        }
        Some((name, head))
    }

    /// Writes a word of a line.
    pub(super) fn write(&self, word: &str, out: &mut String) {
        let number = |text: &str| text.parse::<usize>().ok();
        if let Some(short) = self.symbols.get(word) {
            out.push_str(short);
        } else if let Some((_, number)) = word.strip_prefix(LABEL).and_then(|label| label.split_once('_')) {
            out.extend(["$", number]);
        } else if let Some(number) = word.strip_prefix("param").and_then(number) {
            // LLVM's names for what a call passes and gets back, each in a block of its own.
            out.extend(["_", &lettered(number)]);
        } else if word.strip_prefix("prototype_").and_then(number).is_some() {
            // In the same block. LLVM numbers those of a module, so that one more would rename all others.
            out.push_str("_t");
        } else if let Some(number) = word.strip_prefix("%rd").filter(|rest| rest.bytes().all(|byte| byte.is_ascii_digit())) {
            // Registers for addresses are most of all registers. Nothing else is called like these two.
            out.extend(["%d", number]);
        } else if let Some(number) = word.strip_prefix("%rs").filter(|rest| rest.bytes().all(|byte| byte.is_ascii_digit())) {
            out.extend(["%h", number]);
        } else if let Some((_, parameter)) =
            word.rsplit_once("_param_").filter(|(function, _)| self.functions.contains(function) && !self.all.contains(word))
            && let Some(number) = number(parameter)
        {
            out.extend(["$", &lettered(number)]);
        } else {
            out.push_str(match word {
                "retval0" => "_r",
                "func_retval0" => "$r",
                word => word,
            });
        }
    }
}

/// Whether what says what something is has one of these words.
fn has(head: &str, wanted: &[&str]) -> bool {
    head.split(|c: char| c.is_whitespace() || c == '(').any(|word| wanted.contains(&word))
}

/// Digits of a hash in a name.
const HASHED: usize = 9;

/// Whether the host, which knows it by name, looks for it.
pub(super) fn is_looked_up(name: &str) -> bool {
    EXPORTED.iter().any(|prefix| name.starts_with(prefix))
}

fn in_base_36(mut number: u64, digits: usize) -> String {
    let digit = |_| {
        let digit = b"0123456789abcdefghijklmnopqrstuvwxyz"[(number % 36) as usize];
        number /= 36;
        char::from(digit)
    };
    (0..digits).map(digit).collect()
}

/// A letter for each of the first numbers, none of which is `r`.
fn lettered(number: usize) -> String {
    match b"abcdefghijklmnopq".get(number) {
        Some(letter) => char::from(*letter).into(),
        None => format!("a{number}"),
    }
}

/// What has a `_` in it is no word of PTX's.
fn numbered(part: &str, number: u32) -> String {
    match number {
        _ if part == ANONYMOUS => format!("c{number}"),
        0 if part.contains('_') => part.to_owned(),
        0 => format!("{part}_"),
        number => format!("{part}_{number}"),
    }
}

/// What rustc calls constants that have no name.
const ANONYMOUS: &str = "anon";

/// `write_all` of `std::io::Write::write_all::<…>`; and `panic_index` of our `hostcall_panic_index`.
fn last_part(name: &str) -> String {
    let name = name.strip_prefix("hostcall_").unwrap_or(name);
    let path = format!("{:#}", rustc_demangle::demangle(name.split("_$_").next().unwrap_or(name)));
    let path = path.split("::<").next().unwrap_or(&path);
    let part = path.rsplit("::").next().unwrap_or(path);
    let part: String = part.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(KEPT).collect();
    if part.starts_with(|c: char| c.is_ascii_alphabetic()) { part } else { format!("f{part}") }
}
