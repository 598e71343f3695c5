//! The panics that any indexing has, without the text that `core` would write about them.
//!
//! `core::panicking::panic_bounds_check` and its like format a message, and so put `core::fmt` into every kernel that
//! indexes a slice: NVIDIA's assembler gives each kernel a copy of all that it may reach, and as many registers as the
//! greediest of it wants. `hostcall-device` has functions of the same parameters (`failure.rs` there) that post the
//! numbers to the host, which writes the same text. Here calls of the former become calls of the latter. Where one of
//! the two is not found, or their parameters differ (another `core`), nothing is changed: the kernel is larger then,
//! not wrong.

use std::collections::HashMap;

use crate::module::{definition, parameters};

/// The end of the mangled path of a function of `core` or `alloc`, and the function of `hostcall-device` that stands
/// for it.
const REPLACED: [(&str, &str); 10] = [
    ("4core9panicking18panic_bounds_check", "hostcall_panic_index"),
    ("4core5slice5index16slice_index_fail", "hostcall_panic_range"),
    ("4core5slice20copy_from_slice_impl17len_mismatch_fail", "hostcall_panic_lengths"),
    ("4core9panicking11panic_const23panic_const_div_by_zero", "hostcall_panic_division"),
    ("4core9panicking11panic_const23panic_const_rem_by_zero", "hostcall_panic_remainder"),
    ("4core6option13unwrap_failed", "hostcall_panic_none"),
    ("4core6option13expect_failed", "hostcall_panic_text"),
    ("4core9panicking5panic", "hostcall_panic_text"),
    ("5alloc5alloc18handle_alloc_error", "hostcall_panic_memory"),
    ("5alloc7raw_vec17capacity_overflow", "hostcall_panic_capacity"),
];

/// Ends the mangled path of what `panic!("a constant text")` calls, with the text as `fmt::Arguments`.
const PANIC_FMT: &str = "4core9panicking9panic_fmt";
/// Takes a text, and is called instead.
const PANIC_TEXT: &str = "hostcall_panic_text";

/// The module (as text) with the calls changed.
pub(crate) fn replace(module: &str) -> String {
    let defined: Vec<(&str, &str)> = module.lines().filter_map(|line| Some((definition(line)?.1, line))).collect();
    let replaced: HashMap<&str, &str> = REPLACED
        .iter()
        .filter_map(|(path, by)| {
            let wanted = parameters(defined.iter().find(|(name, _)| name == by)?.1);
            let (name, _) = defined.iter().find(|(name, line)| name.ends_with(path) && parameters(line) == wanted)?;
            Some((*name, *by))
        })
        .collect();
    let texts: HashMap<&str, usize> = if defined.iter().any(|(name, _)| *name == PANIC_TEXT) {
        module.lines().filter_map(constant_bytes).collect()
    } else {
        HashMap::new()
    };
    let mut changed = String::with_capacity(module.len());
    for line in module.split_inclusive('\n') {
        // Only calls: the definitions stay, and are dropped when nobody calls them.
        let callee = line.split_once("call void @").map(|(before, rest)| (before, rest.split('(').next().unwrap_or_default(), rest));
        match callee {
            Some((before, name, rest)) if replaced.contains_key(name) => {
                changed.extend([before, "call void @", replaced[name], &rest[name.len()..]]);
            }
            Some((before, name, rest)) if name.ends_with(PANIC_FMT) => match constant_text(&rest[name.len()..], &texts) {
                Some(arguments) => changed.extend([before, "call void @", PANIC_TEXT, &arguments]),
                None => changed.push_str(line),
            },
            _ => changed.push_str(line),
        }
    }
    changed
}

/// Name and size of a constant of bytes.
fn constant_bytes(line: &str) -> Option<(&str, usize)> {
    let (name, value) = line.strip_prefix('@')?.split_once(" = ")?;
    let (_, size) = value.split_once(" constant [")?;
    Some((name, size.split_once(" x i8]")?.0.parse().ok()?))
}

/// From the arguments of a `panic_fmt` whose text is constant, those of [`PANIC_TEXT`]. Such a text is passed as its
/// address and an odd number made of its length; to be sure of that, the number is compared with the length of the
/// constant at the address.
fn constant_text(arguments: &str, texts: &HashMap<&str, usize>) -> Option<String> {
    let (text, rest) = arguments.strip_prefix("(ptr ")?.split_once(", ptr ")?;
    let text = text.rsplit(' ').next()?;
    let (before, rest) = rest.split_once("inttoptr (i64 ")?;
    let (number, rest) = rest.split_once(" to ptr)")?;
    let length = *texts.get(text.strip_prefix('@')?)?;
    (!before.contains(',') && number.parse() == Ok(2 * length + 1)).then(|| format!("(ptr {text}, i64 {length}{rest}"))
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
    fn a_constant_text_is_passed_as_such_if_its_length_proves_that_it_is_one() {
        let ours = "define void @hostcall_panic_text(ptr %text, i64 %len, ptr %place) {\n}\n";
        let text = "@anon.1 = private unnamed_addr constant [5 x i8] c\"never\", align 1\n";
        let call = |number: u32| {
            format!(
                "  call void @_RN4core9panicking9panic_fmt(ptr noundef @anon.1, ptr noundef inttoptr (i64 {number} to ptr), ptr noundef @at) #3\n"
            )
        };
        let changed = replace(&format!("{text}{ours}{}", call(11)));
        assert!(changed.ends_with("  call void @hostcall_panic_text(ptr @anon.1, i64 5, ptr noundef @at) #3\n"), "{changed}");
        for module in [format!("{text}{ours}{}", call(10)), format!("{text}{ours}{}", call(13)), format!("{text}{}", call(11)), call(11)] {
            assert_eq!(replace(&module), module);
        }
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
