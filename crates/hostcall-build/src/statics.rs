//! Statics that refer to one another, for a machine whose statics cannot.
//!
//! PTX wants every name that a static's value mentions to be defined before, so two statics cannot name each other (`tracing` has such: a call site names
//! its description, and that the call site). One of the pointers of each circle is left empty here, and every kernel begins with putting it there. All lanes
//! of all launches write it, and all the same value: so only pointers of constants are taken, which nothing else ever writes. A circle without a constant
//! stays, and LLVM says what it says of it.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::module::{definition, is_kernel, is_label};
use crate::shared_stacks::{Types, mentions};

/// The module, as text, without circles of statics as far as they can be opened; `None` if there are none.
pub(crate) fn opened(module: &str) -> Option<String> {
    let types = Types::of(module);
    let statics: Vec<Static<'_>> = module.lines().filter_map(|line| Static::read(line, &types)).collect();
    let numbers: HashMap<&str, usize> = statics.iter().enumerate().map(|(number, one)| (one.name, number)).collect();
    let named = |text: &str| {
        // What is in a text is no name.
        let parts = text
            .split(" c\"")
            .enumerate()
            .map(|(number, part)| if number == 0 { part } else { part.split_once('"').map_or("", |(_, rest)| rest) });
        let names = parts.flat_map(|part| mentions(part, '@')).map(|(name, _)| name.trim_matches('"'));
        names.filter_map(|name| numbers.get(name).copied()).collect::<Vec<_>>()
    };
    let mut edges: Vec<Vec<usize>> = statics.iter().map(|one| named(one.value)).collect();
    let (mut lines, mut stores) = (HashMap::new(), String::new());
    for (number, one) in statics.iter().enumerate().filter(|(_, one)| one.constant) {
        let mut pointers = Vec::new();
        // What is not understood stays as it is.
        let _ = types.pointers(one.kind, one.value, &mut Vec::new(), &mut pointers);
        pointers.retain(|(_, pointer)| named(pointer).into_iter().any(|other| reaches(&edges, other, number)));
        let (mut line, mut rest) = (String::new(), one.line);
        for (path, pointer) in &pointers {
            for other in named(pointer) {
                let edge = edges[number].iter().position(|edge| *edge == other);
                edge.map(|edge| edges[number].swap_remove(edge));
            }
            let at = pointer.as_ptr() as usize - rest.as_ptr() as usize;
            line.extend([&rest[..at], "null"]);
            rest = &rest[at + pointer.len()..];
            let path: String = path.iter().map(|index| format!(", i32 {index}")).collect();
            let place = format!("getelementptr inbounds ({}, ptr {}, i32 0{path})", one.kind, one.symbol);
            let _ = writeln!(stores, "  store ptr {pointer}, ptr {place}");
        }
        if !pointers.is_empty() {
            line.push_str(rest);
            lines.insert(one.line, line.replacen(" constant ", " global ", 1));
        }
    }
    (!lines.is_empty()).then(|| rewritten(module, &lines, &stores))
}

/// The module with other lines for these, and with what each kernel does first.
fn rewritten(module: &str, changed: &HashMap<&str, String>, first: &str) -> String {
    let mut out = String::with_capacity(module.len() + module.len() / 64);
    let mut begins = false;
    for line in module.lines() {
        if begins && !is_label(line) {
            out.push_str(first);
            begins = false;
        }
        out.extend([changed.get(line).map_or(line, String::as_str), "\n"]);
        if definition(line).is_some_and(|(before, _)| is_kernel(before, "ptx_kernel")) {
            begins = true;
        }
    }
    out
}

/// Whether there is a way from one static to the other.
fn reaches(edges: &[Vec<usize>], from: usize, to: usize) -> bool {
    let (mut open, mut seen) = (vec![from], std::collections::HashSet::from([from]));
    while let Some(one) = open.pop() {
        if one == to {
            return true;
        }
        open.extend(edges[one].iter().copied().filter(|next| seen.insert(*next)));
    }
    false
}

/// `@name = private unnamed_addr constant TYPE VALUE, align 8`
struct Static<'a> {
    line: &'a str,
    /// As it is written, with the sign before it and perhaps in quotes.
    symbol: &'a str,
    name: &'a str,
    constant: bool,
    kind: &'a str,
    /// And what follows it.
    value: &'a str,
}

impl<'a> Static<'a> {
    fn read(line: &'a str, types: &Types<'_>) -> Option<Static<'a>> {
        let (symbol, about) = line.strip_prefix('@').and_then(|_| line.split_once(" = "))?;
        let word = |word: &str| about.split_once(word).filter(|(before, _)| !before.contains(['"', '{', '[', '@']));
        let (constant, about) = match (word("constant "), word("global ")) {
            (Some((_, about)), _) => (true, about),
            (None, Some((_, about))) => (false, about),
            _ => return None,
        };
        let (kind, value) = types.split(about)?;
        Some(Static { line, symbol, name: symbol[1..].trim_matches('"'), constant, kind, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL_SITE: &str =
        "@site = internal global <{ ptr, [8 x i8], ptr }> <{ ptr @vtable, [8 x i8] zeroinitializer, ptr @meta }>, align 8\n";

    #[test]
    fn a_constant_of_a_circle_gets_its_pointer_when_a_kernel_begins() {
        let module = CALL_SITE.to_owned()
            + "@vtable = private unnamed_addr constant [2 x ptr] [ptr @f, ptr @g], align 8\n\
               @meta = private unnamed_addr constant <{ [4 x i8], [4 x i8], { ptr, i64 }, ptr }> <{ [4 x i8] c\"@}],\", [4 x i8] undef, { ptr, i64 } { ptr @vtable, i64 1 }, \
               ptr getelementptr inbounds (i8, ptr @site, i64 8) }>, align 8\n\
               define ptx_kernel void @k() #0 {\nstart:\n  ret void\n}\ndefine void @f() {\n  ret void\n}\ndefine ptx_kernel void @l() {\n  ret void\n}\n";
        let opened = opened(&module).expect("there is a circle");
        let store = "  store ptr getelementptr inbounds (i8, ptr @site, i64 8), ptr getelementptr inbounds (<{ [4 x i8], [4 x i8], { ptr, i64 }, ptr }>, ptr @meta, i32 0, i32 3)\n";
        let rest = opened.strip_prefix(CALL_SITE).expect("what may be written stays");
        assert!(
            rest.contains("@meta = private unnamed_addr global <{") && rest.contains("{ ptr @vtable, i64 1 }, ptr null }>, align 8\n"),
            "{rest}"
        );
        assert!(rest.contains(&format!("@k() #0 {{\nstart:\n{store}  ret")) && rest.contains(&format!("@l() {{\n{store}  ret")), "{rest}");
        assert_eq!(rest.matches("store").count(), 2);
        assert_eq!(super::opened(&opened), None);
    }

    #[test]
    fn one_pointer_of_each_circle_is_enough_and_a_static_may_name_itself() {
        let module = "@a = constant { ptr, ptr } { ptr @b, ptr @a }\n@b = constant [1 x ptr] [ptr @c]\n@c = constant ptr @a, align 8\ndefine ptx_kernel void @k() {\n  ret void\n}\n";
        let opened = opened(module).expect("there are circles");
        assert!(opened.starts_with("@a = global { ptr, ptr } { ptr null, ptr null }\n@b = constant [1 x ptr] [ptr @c]\n"), "{opened}");
    }

    #[test]
    fn what_is_no_circle_or_may_be_written_stays() {
        for module in [
            "@a = constant ptr @b\n@b = constant [2 x i8] c\"@a\"\n",
            "@a = constant ptr @b\n@b = constant { [2 x i8], i8 } { [2 x i8] c\"@a\", i8 0 }\n",
            "@a = global ptr @b\n@b = internal global ptr @a\n",
            "@a = external global i32\n",
        ] {
            assert_eq!(opened(module), None, "{module}");
        }
    }
}
