//! Functions that run before `main`, and behind it: C's `constructor` and `destructor`, and what makes and ends C++'s
//! variables outside of functions.
//!
//! They call the host as any function of the program does. So a thread of the program has to run them, and not the
//! system's loader, which knows them by two lists. In the simulator the lists stay, hidden from the loader
//! ([`hide`]), and the program's entry reads them (`hostcall-std`, `constructors`). A GPU's compiler has no such lists:
//! there `main` gets the calls ([`lower`]).

use std::fmt::Write as _;

use object::elf::{DT_FINI_ARRAY, DT_FINI_ARRAYSZ, DT_INIT_ARRAY, DT_INIT_ARRAYSZ, DT_LOOS, Dyn64, DynamicTag, FileHeader64, PT_DYNAMIC};
use object::read::elf::{FileHeader as _, ProgramHeader as _};
use object::{Endianness, I64, pod};

use crate::module;

/// A module (as text) whose `main` calls what LLVM's lists name: constructors before, destructors behind it. A program
/// that ends otherwise (`exit`) does without the latter.
pub(crate) fn lower(text: &str) -> String {
    let [constructors, destructors] = LISTS.map(|list| functions(text, list));
    if constructors.is_empty() && destructors.is_empty() {
        return text.to_owned();
    }
    let definition_of = |name: &str| text.lines().find(|line| module::definition(line).is_some_and(|(_, found)| found == name));
    let Some(definition) = definition_of("main") else { return text.to_owned() };
    let mut main = String::from("define internal i32 @main(i32 %count, ptr %arguments) {\n");
    let mut call = |result: &str, function: &str, definition: Option<&str>| {
        let _ = writeln!(main, "  {result} @{function}({})", handed_over(definition));
    };
    constructors.iter().for_each(|name| call("call void", name, definition_of(name.trim_matches('"'))));
    call("%code = call i32", MAIN, Some(definition));
    destructors.iter().rev().for_each(|name| call("call void", name, None));
    main += "  ret i32 %code\n}\n";
    let mut out = String::with_capacity(text.len() + main.len());
    for line in text.split_inclusive('\n') {
        if LISTS.iter().any(|list| line.starts_with(list)) {
            continue;
        }
        if line.trim_end() == definition {
            out += &line.replacen("@main(", &format!("@{MAIN}("), 1);
        } else {
            out += line;
        }
    }
    out + &main
}

/// What a function is given that takes as many parameters as `main` may have: their number, the arguments, and the
/// variables, which are not handed over here.
fn handed_over(definition: Option<&str>) -> String {
    let types = definition.map(module::parameters).unwrap_or_default();
    let all: Vec<String> = types.iter().zip(["%count", "%arguments", "null"]).map(|(kind, name)| format!("{kind} {name}")).collect();
    all.join(", ")
}

/// What the program's own `main` is called then.
const MAIN: &str = "hostcall.main";
/// How the lines of LLVM's lists begin.
const LISTS: [&str; 2] = ["@llvm.global_ctors = ", "@llvm.global_dtors = "];

/// The functions of a list, in the order of their priorities and, of one priority, in the list's.
fn functions<'a>(text: &'a str, list: &str) -> Vec<&'a str> {
    let Some(line) = text.lines().find(|line| line.starts_with(list)) else { return Vec::new() };
    // `{ i32 65535, ptr @f, ptr null }`, after its type.
    let mut all: Vec<(u32, &str)> = line
        .split("{ i32 ")
        .filter_map(|element| {
            let (priority, rest) = element.split_once(", ptr @")?;
            Some((priority.parse().ok()?, quoted(rest)))
        })
        .collect();
    all.sort_by_key(|(priority, _)| *priority);
    all.into_iter().map(|(_, function)| function).collect()
}

/// A symbol as it is written, with its quotes if it has any.
fn quoted(text: &str) -> &str {
    match text.strip_prefix('"').and_then(|rest| rest.find('"')) {
        Some(end) => &text[..end + 2],
        None => module::symbol(text),
    }
}

/// Hides the lists of a shared library from the loader: its dynamic section says nothing of them.
pub(crate) fn hide(library: &mut [u8]) -> Option<()> {
    let header = FileHeader64::<Endianness>::parse(&*library).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, &*library).ok()?;
    let dynamic = segments.iter().find(|segment| segment.p_type(endian) == PT_DYNAMIC)?;
    let (begin, size) = dynamic.file_range(endian);
    let range = usize::try_from(begin).ok()?..usize::try_from(begin.checked_add(size)?).ok()?;
    let entries = library.get_mut(range)?;
    let count = entries.len() / size_of::<Dyn64<Endianness>>();
    let (entries, _) = pod::slice_from_bytes_mut::<Dyn64<Endianness>>(entries, count).ok()?;
    for entry in entries {
        if [DT_INIT_ARRAY, DT_INIT_ARRAYSZ, DT_FINI_ARRAY, DT_FINI_ARRAYSZ].contains(&entry.d_tag.get(endian)) {
            // One that loaders pass over.
            entry.d_tag = I64::new(endian, DynamicTag(DT_LOOS));
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
@llvm.global_ctors = appending global [3 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @late, ptr null }, \
{ i32, ptr, ptr } { i32 101, ptr @\"first one\", ptr null }, { i32, ptr, ptr } { i32 65535, ptr @later, ptr null }]\n\
@llvm.global_dtors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @last, ptr null }]\n\
define internal void @late(i32 noundef %0, ptr %1) {\n  ret void\n}\n\
define internal i32 @main(i32 noundef %0, ptr noundef %1) #3 {\n  ret i32 0\n}\n\
define void @entry() {\n  %1 = call i32 @main(i32 1, ptr null)\n  ret void\n}\n";

    #[test]
    fn main_calls_constructors_by_their_priorities_and_then_destructors() {
        let lowered = lower(MODULE);
        assert!(!lowered.contains("@llvm.global_"), "{lowered}");
        assert!(lowered.contains("define internal i32 @hostcall.main(i32 noundef %0, ptr noundef %1) #3 {\n  ret i32 0\n}\n"), "{lowered}");
        assert!(lowered.contains("call i32 @main(i32 1, ptr null)"), "{lowered}");
        let main = "define internal i32 @main(i32 %count, ptr %arguments) {\n  call void @\"first one\"()\n  call void @late(i32 %count, ptr %arguments)\n  \
            call void @later()\n  %code = call i32 @hostcall.main(i32 %count, ptr %arguments)\n  call void @last()\n  ret i32 %code\n}\n";
        assert!(lowered.ends_with(main), "{lowered}");
    }

    #[test]
    fn a_main_without_parameters_is_called_without_and_a_module_without_lists_stays() {
        let plain = MODULE.replace("i32 noundef %0, ptr noundef %1", "");
        assert!(lower(&plain).contains("call i32 @hostcall.main()\n"));
        let none: String = MODULE.split_inclusive('\n').skip(2).collect();
        assert_eq!(lower(&none), none);
    }

    #[test]
    fn what_is_no_library_has_no_lists() {
        assert_eq!(hide(&mut []), None);
        assert_eq!(hide(&mut vec![0; 4096]), None);
    }
}
