//! The panics that any indexing has, without the text that `core` would write about them.
//!
//! `core::panicking::panic_bounds_check` and its like format a message, and so put `core::fmt` into every kernel that indexes a slice: NVIDIA's
//! assembler gives each kernel a copy of all that it may reach, and as many registers as the greediest of it wants. `hostcall-device` has
//! functions of the same parameters (`failure.rs` there) that post the numbers to the host, which writes the same text. Here calls of the
//! former become calls of the latter. Where one of the two is not found, or their parameters differ (another `core`), nothing is changed:
//! the kernel is larger then, not wrong.

use std::borrow::Cow;

use crate::bitcode::definition;

/// A part of the mangled path of a function of `core`, and the function of `hostcall-device` that stands for it.
const REPLACED: [(&str, &str); 8] = [
    ("4core9panicking18panic_bounds_check", "hostcall_panic_index"),
    ("4core5slice5index16slice_index_fail", "hostcall_panic_range"),
    ("4core5slice20copy_from_slice_impl17len_mismatch_fail", "hostcall_panic_lengths"),
    ("4core9panicking11panic_const23panic_const_div_by_zero", "hostcall_panic_division"),
    ("4core9panicking11panic_const23panic_const_rem_by_zero", "hostcall_panic_remainder"),
    ("4core6option13unwrap_failed", "hostcall_panic_none"),
    ("4core6option13expect_failed", "hostcall_panic_text"),
    ("4core9panicking5panic", "hostcall_panic_text"),
];

/// The module (as text) with the calls changed.
pub(crate) fn replace(module: &str) -> Cow<'_, str> {
    let mut defined: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in module.lines() {
        if let Some((_, name)) = definition(line) {
            defined.push((name, parameters(line)));
        }
    }
    let mut module = Cow::Borrowed(module);
    for (path, by) in REPLACED {
        let Some((_, wanted)) = defined.iter().find(|(name, _)| *name == by) else { continue };
        for (name, _) in defined.iter().filter(|(name, parameters)| name.ends_with(path) && parameters == wanted) {
            // Only calls: the definition itself stays, and is dropped when nobody calls it.
            module = Cow::Owned(
                module
                    .split_inclusive('\n')
                    .map(|line| match line.starts_with("define ") {
                        false => Cow::Owned(line.replace(&format!("call void @{name}("), &format!("call void @{by}("))),
                        true => Cow::Borrowed(line),
                    })
                    .collect(),
            );
        }
    }
    module
}

/// The types of a definition's parameters, without attributes.
fn parameters(line: &str) -> Vec<&str> {
    let Some((_, rest)) = line.split_once('@').and_then(|(_, rest)| rest.split_once('(')) else { return Vec::new() };
    let mut types = Vec::new();
    let mut depth = 0;
    let mut start = 0;
    for (at, c) in rest.char_indices() {
        match c {
            '(' => depth += 1,
            ',' | ')' if depth == 0 => {
                types.extend(rest[start..at].split_whitespace().next());
                start = at + 1;
                if c == ')' {
                    break;
                }
            }
            ')' => depth -= 1,
            _ => {}
        }
    }
    types
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORE: &str = "define internal void @_RNvNtCs8_4core9panicking18panic_bounds_check(i64 noundef %0, i64 noundef %1, ptr captures(address, \
        read_provenance) dereferenceable(24) %2) unnamed_addr #7 {\n  unreachable\n}\n";
    const CALL: &str = "define void @f() {\n  call void @_RNvNtCs8_4core9panicking18panic_bounds_check(i64 %1, i64 %2, ptr @at) #3\n}\n";

    #[test]
    fn calls_of_a_panic_become_calls_of_what_stands_for_it() {
        let ours = "define void @hostcall_panic_index(i64 noundef %index, i64 %len, ptr noundef %place) {\n}\n";
        let module = format!("{CORE}{CALL}{ours}");
        let changed = replace(&module);
        assert!(changed.contains("  call void @hostcall_panic_index(i64 %1, i64 %2, ptr @at) #3\n"), "{changed}");
        assert!(changed.contains(CORE) && changed.contains(ours));
    }

    #[test]
    fn nothing_is_changed_without_a_function_of_the_same_parameters() {
        for ours in ["", "define void @hostcall_panic_index(i64 %index, ptr %place) {\n}\n"] {
            let module = format!("{CORE}{CALL}{ours}");
            assert_eq!(replace(&module), module);
        }
        assert_eq!(parameters(CORE.lines().next().unwrap_or_default()), ["i64", "i64", "ptr"]);
        assert!(parameters("define void @f() {").is_empty() && parameters("").is_empty());
    }
}
