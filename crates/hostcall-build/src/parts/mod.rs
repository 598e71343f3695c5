//! A program's module in parts that are compiled one by one.
//!
//! Most of a program is what it was before a line of it changed: std, the runtime, other crates. So the module is cut
//! by the crates that its functions come from, before it is optimised, and each part is optimised, compiled and
//! assembled by itself, and kept by what it was made of. What is the same again is found again. Nothing is inlined from
//! part to part, so this is for programs that are to be ready soon, not fast.
//!
//! * std and the runtime are one part: what hangs together there (lanes without a stack, the heap) stays together.
//! * A function that another part calls is visible outside, and declared there. Constants whose address means nothing
//!   are in every part that uses them.
//! * A large crate is several parts ([`cut`]).
//! * The places in the source that panics tell are a part of their own ([`module::Writer::places`]).
//! * A part is written in its own order and with its own numbers of attributes and metadata, so that it is the same
//!   text whatever the others are.
//!
//! What is decided with the whole program in view is decided before: what is reached, which services are called, which
//! functions are in a circle of calls and look at the end of the stack ([`Part::checked`]).

mod compile;
mod cut;
mod module;
mod origin;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;

pub(crate) use self::compile::ptx;
use self::module::{Module, Symbol};
use self::origin::{crate_of, name_of};

/// The sources of this module.
pub(crate) fn recipe() -> &'static str {
    concat!(
        include_str!("mod.rs"),
        include_str!("compile.rs"),
        include_str!("cut.rs"),
        include_str!("module.rs"),
        include_str!("origin.rs")
    )
}

/// The part that std and the runtime are.
pub(crate) const LIBRARY: &str = "std";

/// What is known of a program besides its module.
pub(crate) struct Facts<'a> {
    /// What the objects of the program's own crate define.
    pub(crate) own: &'a HashSet<&'a str>,
    /// Names of the crates that std is made of.
    pub(crate) libraries: &'a HashSet<&'a str>,
}

/// A part, as a module of its own.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) text: String,
    /// Functions of it that are in a circle of calls, by their names in it.
    pub(crate) checked: BTreeSet<String>,
}

/// Which part something is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place<'m> {
    /// The crate, or several crates that are one part.
    name: &'m str,
    /// Which of its parts.
    piece: usize,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.piece {
            0 => f.write_str(self.name),
            piece => write!(f, "{}.{piece}", self.name),
        }
    }
}

/// The parts of a module (as text, of which all is reached and whose circles of statics are opened), by name; `None` if
/// there is something in it that is not understood. `circles` are functions that may call themselves, over others or
/// not.
pub(crate) fn split(text: &str, facts: &Facts<'_>, circles: &HashSet<&str>) -> Option<Vec<Part>> {
    let module = Module::read(text)?;
    let owners = owners(&module, facts);
    let mut members: BTreeMap<Place<'_>, Vec<usize>> = BTreeMap::new();
    for (symbol, owner) in owners.iter().enumerate() {
        if let Some(owner) = owner {
            members.entry(*owner).or_default().push(symbol);
        }
    }
    // What some other part refers to: directly, or by a constant that it has a copy of.
    let needed: BTreeMap<Place<'_>, BTreeSet<usize>> =
        members.iter().map(|(part, members)| (*part, needed(&module, &owners, members))).collect();
    let mut shared = HashSet::new();
    for (part, needed) in &needed {
        shared.extend(needed.iter().copied().filter(|symbol| owners[*symbol].is_some_and(|owner| owner != *part)));
    }
    let mut places = BTreeMap::new();
    let mut parts = Vec::with_capacity(needed.len() + 1);
    for (part, needed) in &needed {
        let name = part.to_string();
        let mut text = module.head(&name, name == LIBRARY);
        let mut writer = module.writer();
        let mut checked = BTreeSet::new();
        // Constants that are the same have one name.
        let symbols: BTreeMap<_, usize> = needed.iter().map(|symbol| (module.name(module.symbols[*symbol].name()), *symbol)).collect();
        for symbol in symbols.into_values() {
            let found = &module.symbols[symbol];
            match owners[symbol] {
                Some(owner) if owner != *part => writer.declare(found, &mut text)?,
                owner => writer.define(found, owner.is_some() && shared.contains(&symbol), &mut text)?,
            }
            if circles.contains(found.name()) && owners[symbol].is_none_or(|owner| owner == *part) {
                checked.insert(module::plain(found.name()).into_owned());
            }
        }
        writer.finish(&mut text)?;
        places.append(&mut writer.places);
        parts.push(Part { name, text, checked });
    }
    if !places.is_empty() {
        parts.push(Part { name: PLACES.into(), text: places_in_the_source(&module, &places)?, checked: BTreeSet::new() });
    }
    Some(parts)
}

/// The part with the places in the source that functions mention, by their new names.
fn places_in_the_source<'t>(module: &Module<'t>, places: &BTreeMap<String, &'t str>) -> Option<String> {
    let mut text = module.head(PLACES, false);
    let mut writer = module.writer();
    let mentioned: HashSet<&str> = places.values().copied().collect();
    let symbols: Vec<usize> = (0..module.symbols.len()).filter(|symbol| mentioned.contains(module.symbols[*symbol].name())).collect();
    let files: BTreeMap<_, usize> =
        symbols.iter().flat_map(|symbol| &module.uses[*symbol]).map(|file| (module.name(module.symbols[*file].name()), *file)).collect();
    for file in files.into_values() {
        writer.define(&module.symbols[file], false, &mut text)?;
    }
    for (name, place) in places {
        writer.define_place(name, place, &mut text)?;
    }
    writer.finish(&mut text)?;
    Some(text)
}

/// What of a module (as text) is reached from what the host looks for and from kernels, as text; `None` if the module
/// is not understood, or if something is reached that is nowhere.
pub(crate) fn reached(text: &str) -> Option<String> {
    let module = Module::read(text)?;
    let roots = module.symbols.iter().enumerate().filter(|(_, symbol)| symbol.is_root()).map(|(number, _)| number);
    let mut open: Vec<usize> = roots.collect();
    let mut seen = vec![false; module.symbols.len()];
    while let Some(symbol) = open.pop() {
        if !std::mem::replace(&mut seen[symbol], true) {
            open.extend(&module.uses[symbol]);
        }
    }
    let is_missing = |symbol: &Symbol<'_>| matches!(symbol, Symbol::Declared { name, .. } if !name.starts_with("llvm."));
    let symbols = || module.symbols.iter().zip(&seen).filter(|(_, seen)| **seen).map(|(symbol, _)| symbol);
    if symbols().any(is_missing) {
        return None;
    }
    let mut out = String::with_capacity(text.len() / 2);
    for line in text.lines().filter(|line| module::is_about_all(line)) {
        out.extend([line, "\n"]);
    }
    for symbol in symbols() {
        for line in symbol.lines() {
            out.extend([line, "\n"]);
        }
        if matches!(symbol, Symbol::Function { .. }) {
            out.push_str("}\n");
        }
    }
    Some(out)
}

/// The part that each symbol is in; nothing for what is only declared, and for what every part has that refers to it.
fn owners<'m>(module: &'m Module<'_>, facts: &Facts<'m>) -> Vec<Option<Place<'m>>> {
    let by_name = |name: &'m str| match crate_of(name) {
        _ if facts.own.contains(name) => PROGRAM,
        Some(root) if facts.libraries.contains(name_of(root)) || RUNTIME.iter().any(|name| name_of(root).starts_with(name)) => LIBRARY,
        Some(root) => root,
        None => LIBRARY,
    };
    let whole = |name: &'m str| Place { name, piece: 0 };
    let mut owners: Vec<Option<Place<'_>>> = module
        .symbols
        .iter()
        .map(|symbol| match symbol {
            Symbol::Function { .. } => Some(whole(by_name(symbol.name()))),
            _ => None,
        })
        .collect();
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); module.symbols.len()];
    for function in (0..owners.len()).filter(|function| owners[*function].is_some()) {
        for used in needed(module, &owners, &[function]).into_iter().filter(|used| *used != function) {
            users[used].push(function);
        }
    }
    cut::large(module, &mut owners, &users);
    // A static without a mangled name, as services' words are, is where it is used, if that is one part.
    for (number, symbol) in module.symbols.iter().enumerate().filter(|(_, symbol)| symbol.is_owned_static()) {
        let named = crate_of(symbol.name()).map(|_| whole(by_name(symbol.name())));
        let places: BTreeSet<Place<'_>> = users[number].iter().filter_map(|user| owners[*user]).collect();
        let single = places.first().copied().filter(|_| places.len() == 1);
        owners[number] = match (named, single) {
            (Some(named), Some(single)) if named.name != single.name => Some(named),
            (named, single) => single.or(named).or(Some(whole(LIBRARY))),
        };
    }
    owners
}

/// What the crates of the runtime are called, and the one that rustc's own symbols are of.
const RUNTIME: [&str; 2] = ["hostcall_", "__rustc"];

/// The part that says for all others where in the source something is.
const PLACES: &str = "places";

/// What the program's own objects are.
const PROGRAM: &str = "program";

/// The members, what they refer to, and what is referred to by that of it which no part owns.
fn needed(module: &Module<'_>, owners: &[Option<Place<'_>>], members: &[usize]) -> BTreeSet<usize> {
    let mut needed: BTreeSet<usize> = members.iter().copied().collect();
    let mut open: Vec<usize> = members.to_vec();
    while let Some(symbol) = open.pop() {
        for &used in &module.uses[symbol] {
            if !module.is_place_of(symbol, used) && needed.insert(used) && owners[used].is_none() {
                open.push(used);
            }
        }
    }
    needed
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "; ModuleID = 'x'\nsource_filename = \"llvm-link\"\ntarget triple = \"nvptx64-nvidia-cuda\"\n\
        module asm \".visible .const .align 64 .b8 __hostcall_rings[64];\"\n";
    const TAIL: &str = "attributes #0 = { convergent nounwind }\nattributes #1 = { cold }\nattributes #9 = { memory(none) }\n\
        !llvm.ident = !{!0}\n!llvm.module.flags = !{!1}\n!0 = !{!\"rustc\"}\n!1 = !{i32 8, !\"PIC\", i32 2}\n!2 = !{!3}\n!3 = distinct !{!3, !\"x@y\"}\n";

    /// The program's `main`, which calls a dependency, which calls std; and a service's word, a static of std's, and a
    /// text that both use.
    fn module(main: &str) -> String {
        format!(
            "{HEAD}@text.5 = private unnamed_addr constant [3 x i8] c\"@f\\22\", align 1\n@word = global [4 x i8] zeroinitializer, align 4\n\
             @_RNvCs1_3std5STATE = internal global <{{ ptr, [8 x i8] }}> <{{ ptr @text.5, [8 x i8] zeroinitializer }}>, align 8\n\
             @llvm.used = appending global [1 x ptr] [ptr @word], section \"llvm.metadata\"\n\
             define internal void @_RNvCs1_3std5print(ptr align 8 dereferenceable(16) %p) unnamed_addr #1 {{\nstart:\n  %1 = load ptr, ptr @_RNvCs1_3std5STATE, align 8, !range !2\n  ret void\n}}\n\
             define internal fastcc noundef i32 @_RNvCs2_3dep4work.7(ptr noundef %x, i32 range(i32 0, 2) %y) unnamed_addr #0 {{\n  call void @_RNvCs1_3std5print(ptr @text.5) #9\n  call void @llvm.trap()\n  ret i32 1\n}}\n\
             define i32 @main() #0 {{\n{main}  %1 = load i32, ptr @word, align 4\n  %2 = load ptr, ptr @_RNvCs1_3std5STATE, align 8\n  %3 = call fastcc i32 @_RNvCs2_3dep4work.7(ptr @text.5, i32 1)\n  ret i32 %3\n}}\n\
             declare void @llvm.trap() #9\n{TAIL}"
        )
    }

    fn parts(module: &str) -> Vec<Part> {
        let (own, libraries) = (HashSet::from(["main", "word"]), HashSet::from(["std"]));
        split(module, &Facts { own: &own, libraries: &libraries }, &HashSet::from(["_RNvCs2_3dep4work.7"])).expect("it is understood")
    }

    #[test]
    fn each_crate_is_a_part_that_declares_what_it_needs_of_others() {
        let parts = parts(&module(""));
        let names: Vec<&str> = parts.iter().map(|part| &*part.name).collect();
        assert_eq!(names, ["Cs2_3dep", "program", "std"]);
        let [dep, program, std] = &*parts else { panic!("three") };
        let name = "@text_$_adb66c04f511e210e467b94d75b5078d";
        let text = format!("{name} = private unnamed_addr constant [3 x i8] c\"@f\\22\", align 1\n");
        assert_eq!(
            dep.text,
            format!(
                "source_filename = \"Cs2_3dep\"\ntarget triple = \"nvptx64-nvidia-cuda\"\nmodule asm \".extern .const .align 64 .b8 __hostcall_rings[64];\"\n\
                 declare void @_RNvCs1_3std5print(ptr align 8 dereferenceable(16) %p) #0\n\
                 define fastcc noundef i32 @_RNvCs2_3dep4work_$_7(ptr noundef %x, i32 range(i32 0, 2) %y) unnamed_addr #1 {{\n\
                 \x20 call void @_RNvCs1_3std5print(ptr {name}) #2\n  call void @llvm.trap()\n  ret i32 1\n}}\n\
                 declare void @llvm.trap() #2\n{text}!llvm.module.flags = !{{!0}}\n!0 = !{{i32 8, !\"PIC\", i32 2}}\n\
                 attributes #0 = {{ cold }}\nattributes #1 = {{ convergent nounwind }}\nattributes #2 = {{ memory(none) }}\n"
            )
        );
        assert!(dep.checked.contains("_RNvCs2_3dep4work_$_7") && program.checked.is_empty());
        assert!(program.text.contains("@word = global [4 x i8] zeroinitializer, align 4\n"), "where it is used: {}", program.text);
        assert!(program.text.contains("@_RNvCs1_3std5STATE = external global <{ ptr, [8 x i8] }>, align 8\n"), "{}", program.text);
        assert!(std.text.contains("module asm \".visible ") && std.text.contains("@_RNvCs1_3std5STATE = global <{"), "{}", std.text);
        assert!(std.text.contains("!range !0\n") && std.text.contains("!2 = distinct !{!2, !\"x@y\"}\n"), "{}", std.text);
    }

    #[test]
    fn a_changed_line_changes_its_part_and_no_other() {
        let before = parts(&module(""));
        // Numbers of attributes and metadata move, and so does the order.
        let changed =
            module("  call void @llvm.trap() #1\n").replace('#', "#4").replace("!range !2", "!range !5").replace("!2 = ", "!5 = ");
        let after = parts(&changed);
        let same: Vec<bool> = before.iter().zip(&after).map(|(before, after)| before == after).collect();
        assert_eq!(same, [true, false, true]);
        // So do the numbers of constants, if there is one more.
        let more = "@text.5 = private unnamed_addr constant [1 x i8] c\"!\", align 1\n";
        let changed = module("  call void @_RNvCs1_3std5print(ptr @new)\n").replace("@text.5", "@text.6").replace("@new", "@text.5");
        let changed = more.to_owned() + &changed;
        let after = parts(&changed);
        let same: Vec<bool> = before.iter().zip(&after).map(|(before, after)| before == after).collect();
        assert_eq!(same, [true, false, true]);
    }

    #[test]
    fn places_in_the_source_are_a_part_of_their_own() {
        let constants = |line: &str| {
            format!(
                "@file.1 = private unnamed_addr constant [2 x i8] c\"a!\", align 1\n\
                 @at.2 = private unnamed_addr constant <{{ ptr, [16 x i8] }}> <{{ ptr @file.1, [16 x i8] c\"{line}\" }}>, align 8\n\
                 @table.3 = private unnamed_addr constant <{{ ptr, [16 x i8] }}> <{{ ptr @main, [16 x i8] zeroinitializer }}>, align 8\n"
            )
        };
        let uses = "  call void @_RNvCs1_3std5print(ptr @at.2)\n  call void @_RNvCs1_3std5print(ptr @table.3)\n  call void @_RNvCs1_3std5print(ptr @at.2)\n";
        let [before, after] = ["one", "two"].map(|line| parts(&(constants(line) + &module(uses))));
        let [_, program, _, places] = &*before else { panic!("four: {before:?}") };
        let declared = program.text.lines().find_map(|line| line.strip_suffix(" = external constant <{ ptr, [16 x i8] }>, align 8"));
        let name = declared.expect("it is declared");
        assert_eq!(program.text.matches(&format!("(ptr {name})")).count(), 2, "{}", program.text);
        assert!(program.text.contains("@table_$_") && !program.text.contains("@file_$_"), "{}", program.text);
        assert!(
            places.text.contains(&format!("{name} = unnamed_addr constant <{{ ptr, [16 x i8] }}> <{{ ptr @file_$_")),
            "{}",
            places.text
        );
        let changed: Vec<&str> = before.iter().zip(&after).filter(|(before, after)| before != after).map(|(part, _)| &*part.name).collect();
        assert_eq!(changed, ["places"]);
    }

    #[test]
    fn what_parts_cannot_have_is_not_cut() {
        let (own, libraries) = (HashSet::new(), HashSet::new());
        for line in [
            "@a = alias void (), ptr @main\n",
            "@0 = private constant i8 0\n",
            "@\"odd name\" = constant i8 0\n",
            "@a = constant ptr @\"b c\"\n",
            "@llvm.global_ctors = appending global [0 x ptr] zeroinitializer\n",
        ] {
            let text = format!("{HEAD}{line}define void @main() {{\n  ret void\n}}\n");
            assert_eq!(split(&text, &Facts { own: &own, libraries: &libraries }, &HashSet::new()), None, "{line}");
        }
    }
}
