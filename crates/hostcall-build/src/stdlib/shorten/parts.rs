//! PTX of a program that was compiled in parts: one module, which says what of it was which part, so that it can be
//! assembled in parts.
//!
//! A driver takes it as any module: what functions of several parts need is in it once. To an assembler each part goes
//! as a module of its own (`-c`), in which everything is visible outside, and what other parts have is declared; the
//! linker of NVIDIA's makes one of their machine code.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use offload_image::Sha256;

use super::items::{self, Item};
use super::names::is_looked_up;
use super::words;

/// Before the name of the part that the following lines are of.
const MARK: &str = "//part ";
const VISIBLE: &str = ".visible ";

/// One module of the PTX of parts, which comes with their names; `None` if it is not understood, or if two parts have
/// something of one name.
pub(crate) fn merged(parts: &[(String, String)]) -> Option<String> {
    let (mut head, mut items, mut owners) = (Vec::new(), Vec::new(), Vec::new());
    for (name, text) in parts {
        let lines: Vec<&str> = text.lines().collect();
        let mut directives = Vec::new();
        for item in items::read(&lines)? {
            match item {
                Item::Line(line) if !line.ends_with(';') => directives.push(line),
                Item::Extern(_) => continue,
                Item::Line(line) if line.starts_with(".extern ") => continue,
                Item::Line(line) => items.push(Item::Line(inside(line)?)),
                Item::Function { head, body } => items.push(Item::Function { head: vec![inside(head.first()?)?], body }),
            }
            owners.resize(items.len(), &**name);
        }
        head = directives;
    }
    let mut seen = HashSet::new();
    if !items.iter().filter_map(Item::name).all(|name| seen.insert(name)) {
        return None;
    }
    // A variable stands behind those that its value names.
    let order = variables_first(&items);
    let owners: Vec<&str> = order.iter().map(|item| owners[*item]).collect();
    let mut by_order: Vec<Option<Item<'_>>> = items.into_iter().map(Some).collect();
    let items: Vec<Item<'_>> = order.into_iter().filter_map(|item| by_order[item].take()).collect();
    let mut out: String = head.iter().flat_map(|line| [line, "\n"]).collect();
    let mut part = "";
    for (declared, item) in items::order(&items) {
        for function in declared {
            out.extend([items[function].head()?, ";\n"]);
        }
        if part != owners[item] {
            part = owners[item];
            out.extend([MARK, part, "\n"]);
        }
        push(&items[item], &mut out);
    }
    Some(out)
}

/// The line of something that is defined, as one module has it.
fn inside(line: &str) -> Option<&str> {
    let Some(rest) = line.strip_prefix(VISIBLE) else { return Some(line) };
    let name = Item::Function { head: vec![line], body: Vec::new() }.name().or(Item::Line(line).name())?;
    Some(if line.contains(".entry ") || is_looked_up(name) { line } else { rest })
}

fn push(item: &Item<'_>, out: &mut String) {
    out.extend(item.all_lines().flat_map(|line| [line, "\n"]));
}

/// The items, functions where they are, and variables before them so that each stands behind those that its value
/// names.
fn variables_first(items: &[Item<'_>]) -> Vec<usize> {
    let names: HashMap<&str, usize> = items.iter().enumerate().filter_map(|(at, item)| Some((item.name()?, at))).collect();
    let is_variable = |item: usize| matches!(items[item], Item::Line(_));
    let uses =
        |item: usize| items[item].lines().flat_map(words).filter_map(|word| names.get(word).copied()).filter(|used| is_variable(*used));
    let (mut order, mut seen) = (Vec::with_capacity(items.len()), vec![false; items.len()]);
    for root in (0..items.len()).filter(|item| is_variable(*item)) {
        let mut path = if std::mem::replace(&mut seen[root], true) { continue } else { vec![(root, uses(root).collect::<Vec<_>>())] };
        while let Some((item, open)) = path.last_mut() {
            match open.pop() {
                Some(used) if !std::mem::replace(&mut seen[used], true) => path.push((used, uses(used).collect())),
                Some(_) => {}
                None => {
                    order.push(*item);
                    path.pop();
                }
            }
        }
    }
    order.extend((0..items.len()).filter(|item| !is_variable(*item)));
    order
}

/// How large a part may be to be assembled as one, in bytes: what the assembler needs of time and memory grows faster
/// than what it is given.
const LARGE: usize = 1 << 19;

/// The parts of a module that says which it has, by name, each as a module of its own; `None` if it says of none, or is
/// not understood. A part is the same text whatever the others are. Large parts come in pieces, and what belongs to
/// which depends on its name.
pub(crate) fn parts(ptx: &str) -> Option<Vec<(String, String)>> {
    let mut chunks: Vec<(&str, Vec<&str>)> = vec![("", Vec::new())];
    for line in ptx.lines() {
        match line.strip_prefix(MARK) {
            Some(part) => chunks.push((part, Vec::new())),
            None => chunks.last_mut()?.1.push(line),
        }
    }
    let mut parts: BTreeMap<&str, Vec<Item<'_>>> = BTreeMap::new();
    let mut head = Vec::new();
    for (part, lines) in &chunks {
        for item in items::read(lines)? {
            match item {
                Item::Extern(_) => {}
                item if !part.is_empty() => parts.entry(part).or_default().push(item),
                Item::Line(line) if !line.ends_with(';') => head.push(line),
                _ => return None,
            }
        }
    }
    if parts.is_empty() {
        return None;
    }
    let parts = parts.into_iter().flat_map(|(name, items)| pieces(name, items));
    let parts: BTreeMap<String, Vec<Item<'_>>> = parts.collect();
    let mut defined = HashMap::new();
    for item in parts.values().flatten() {
        defined.insert(item.name()?, item.head()?);
    }
    parts.iter().map(|(name, items)| Some((name.clone(), alone(&head, items, &defined)?))).collect()
}

/// A part in as many pieces as it takes for none to be large; so many that a changed line does not move everything: a
/// power of two.
fn pieces<'a>(name: &str, items: Vec<Item<'a>>) -> Vec<(String, Vec<Item<'a>>)> {
    let size: usize = items.iter().flat_map(Item::all_lines).map(str::len).sum();
    let count = size.div_ceil(LARGE).next_power_of_two();
    let mut pieces: Vec<_> = (0..count).map(|piece| (format!("{name} {piece}"), Vec::new())).collect();
    for item in items {
        let hash = Sha256::of(item.name().unwrap_or_default().as_bytes()).0;
        pieces[usize::from(u16::from_le_bytes([hash[0], hash[1]])) % count].1.push(item);
    }
    pieces.retain(|(_, items)| !items.is_empty());
    pieces
}

/// A part as a module: what it needs of others declared, all of its own visible, everything in the order of names as
/// far as that can be.
fn alone(head: &[&str], items: &[Item<'_>], defined: &HashMap<&str, &str>) -> Option<String> {
    let mut own: Vec<&Item<'_>> = items.iter().collect();
    own.sort_unstable_by_key(|item| item.name());
    let names: HashSet<&str> = own.iter().filter_map(|item| item.name()).collect();
    let used: BTreeSet<&str> = own.iter().flat_map(|item| item.lines()).flat_map(words).filter(|word| defined.contains_key(word)).collect();
    let mut out: String = head.iter().flat_map(|line| [line, "\n"]).collect();
    for name in used.iter().filter(|name| !names.contains(**name)) {
        let line = defined[name].trim_start_matches(VISIBLE);
        let line = line.split('=').next()?.trim_end_matches(';');
        out.extend([".extern ", line, ";\n"]);
    }
    let visible = |line: &str| format!("{VISIBLE}{}", line.trim_start_matches(VISIBLE));
    for item in &own {
        if let Item::Function { head, .. } = item
            && used.contains(item.name()?)
        {
            out.extend([&*visible(head.first()?), ";\n"]);
        }
    }
    let own: Vec<Item<'_>> = own
        .into_iter()
        .map(|item| match item {
            Item::Line(line) => Item::Line(line),
            Item::Function { head, body } => Item::Function { head: head.clone(), body: body.clone() },
            Item::Extern(lines) => Item::Extern(lines.clone()),
        })
        .collect();
    for item in variables_first(&own) {
        match &own[item] {
            Item::Function { head, body } => {
                out.extend([&*visible(head.first()?), "\n"]);
                out.extend(body.iter().flat_map(|line| [line, "\n"]));
            }
            item => out.extend([&*visible(item.head()?), "\n"]),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stdlib::shorten::shorten_part;

    const HEAD: &str = ".version 8.4\n.target sm_70\n.address_size 64\n";

    /// A program that calls std, each with a constant that LLVM calls alike.
    fn both(main: &str) -> String {
        let std = format!(
            "{HEAD}.visible .shared .align 16 .b8 hostcall_stack[16];\n.visible .global .align 4 .b8 __HOSTCALL__Files__write[4];\n\
             .global .align 1 .b8 anon_$_1[3] = {{1, 2, 3}};\n.visible .func _RNvCs1_3std5print(\n.param .b64 _RNvCs1_3std5print_param_0\n)\n{{\nmov.b64 %rd1, anon_$_1;\n\
             st.shared.b64 [hostcall_stack], %rd1;\nret;\n}}\n"
        );
        let program = format!(
            "{HEAD}.extern .func _RNvCs1_3std5print\n(\n.param .b64 _RNvCs1_3std5print_param_0\n)\n;\n.extern .shared .align 16 .b8 hostcall_stack[16];\n\
             .global .align 1 .b8 anon_$_1[3] = {{4, 5, 6}};\n.visible .entry hostcall_std()\n{{\n{main}mov.b64 %rd1, anon_$_1;\nst.shared.b64 [hostcall_stack], %rd1;\n\
             call.uni _RNvCs1_3std5print, (param0);\nexit;\n}}\n"
        );
        let short = |name: &str, text: &str| (name.to_owned(), shorten_part(text, name).expect("it is understood"));
        merged(&[short("program", &program), short("std", &std)]).expect("one module")
    }

    #[test]
    fn parts_become_one_module_and_parts_again_of_which_only_the_changed_one_changes() {
        let ptx = both("");
        assert_eq!(ptx.matches(".version").count(), 1);
        assert!(!ptx.contains(".extern") && ptx.matches("hostcall_stack").count() == 0, "{ptx}");
        let visible: Vec<&str> = ptx.lines().filter(|line| line.starts_with(".visible")).collect();
        assert_eq!(visible, [".visible .global .align 4 .b8 __HOSTCALL__Files__write[4];", ".visible .entry hostcall_std()"]);
        let before = parts(&ptx).expect("it has parts");
        let [program, std] = &*before else { panic!("two") };
        assert_eq!((&*program.0, &*std.0), ("program 0", "std 0"));
        for line in [".extern .func print_", ".extern .shared .align 16 .b8 ", ".visible .entry hostcall_std()\n", "exit;\n"] {
            assert!(program.1.contains(line), "{line}: {}", program.1);
        }
        assert!(std.1.contains(".visible .shared .align 16 .b8 ") && std.1.contains(".visible .func print_"), "{}", std.1);
        let after = parts(&both("mov.b64 %rd2, 5;\n")).expect("it has parts");
        assert!(before[0] != after[0] && before[1] == after[1]);
    }

    #[test]
    fn a_large_part_comes_in_pieces_of_which_only_the_changed_one_changes() {
        let module = |value: usize| {
            let functions = (0..40).map(|number| {
                let line = format!("add.u64 %rd1, %rd1, {};\n", if number == 7 { value } else { 1 });
                format!(".func f{number}()\n{{\n{}call.uni f{}, ();\nret;\n}}\n", line.repeat(2000), (number + 1) % 40)
            });
            let declared = ".func f0();\n.func f7();\n";
            format!("{HEAD}{declared}{MARK}a\n{}", functions.collect::<String>())
        };
        let (before, after) = (parts(&module(1)).expect("parts"), parts(&module(2)).expect("parts"));
        assert_eq!(before.len(), 4, "{:?}", before.iter().map(|(name, text)| (name, text.len())).collect::<Vec<_>>());
        assert_eq!(before.iter().zip(&after).filter(|(before, after)| before != after).count(), 1);
        assert_eq!(before.iter().map(|(_, text)| text.matches("\n{\n").count()).sum::<usize>(), 40);
    }

    #[test]
    fn a_module_that_names_no_parts_has_none() {
        assert_eq!(parts(&format!("{HEAD}.visible .entry k()\n{{\nret;\n}}\n")), None);
        assert_eq!(parts(""), None);
        assert_eq!(parts("//part x\n.func f(\n"), None);
    }

    #[test]
    fn a_variable_stands_behind_those_that_its_value_names() {
        let part = |name: &str, lines: &str| (name.to_owned(), format!("{HEAD}{lines}"));
        let first = part("a", ".extern .global .align 1 .b8 inner[1];\n.global .align 8 .u64 outer[1]={generic(inner)};\n");
        let ptx = merged(&[first, part("b", ".visible .global .align 1 .b8 inner[1];\n")]).expect("one module");
        assert!(ptx.find(" inner[1];") < ptx.find("outer[1]="), "{ptx}");
        assert_eq!(merged(&[part("a", ".global .align 1 .b8 x[1];\n"), part("b", ".global .align 1 .b8 x[1];\n")]), None);
    }
}
