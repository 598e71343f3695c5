//! Functions that run before `main`, and behind it: C's `constructor` and `destructor`, and what makes and ends C++'s
//! variables outside of functions; and what any language puts into the sections by which machine code has them.
//!
//! They call the host as any function of the program does. So a thread of the program has to run them, and not the
//! system's loader, which knows them by two lists. In the simulator the lists stay, hidden from the loader
//! ([`hide`]), and the program's entry reads them (`hostcall-std`, `constructors`). A GPU's compiler has no such lists:
//! there `main` gets the calls ([`lower`]).
//!
//! An image of kernels has no `main`. Many launches share it, and none of them is the first one's to begin: there is
//! nobody who could run such functions. So a kernel crate that brings some is refused, for each device alike
//! ([`of_library`], [`of_module`]).

use std::fmt::Write as _;

use object::elf::{DT_FINI_ARRAY, DT_FINI_ARRAYSZ, DT_INIT_ARRAY, DT_INIT_ARRAYSZ, DT_LOOS, Dyn64, DynamicTag, FileHeader64, PT_DYNAMIC};
use object::read::elf::{FileHeader as _, ProgramHeader as _};
use object::{Endianness, I64, Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationTarget, pod};

use crate::{BuildError, module};

/// A module (as text) whose `main` calls what LLVM's lists and the sections name: constructors before, destructors
/// behind it. A program that ends otherwise (`exit`) does without the latter.
pub(crate) fn lower(text: &str) -> String {
    let [constructors, destructors] = [CONSTRUCTORS, DESTRUCTORS].map(|which| functions(text, &which));
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
        if [CONSTRUCTORS, DESTRUCTORS].iter().any(|which| line.starts_with(which.list)) {
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

/// Where functions of one kind are named.
#[derive(Clone, Copy)]
struct Named {
    /// How the line of LLVM's list begins.
    list: &'static str,
    /// How the names of sections begin in which they are, each a pointer; a number may follow, their priority.
    sections: [&'static str; 2],
}

const CONSTRUCTORS: Named = Named { list: "@llvm.global_ctors = ", sections: [".init_array", ".ctors"] };
const DESTRUCTORS: Named = Named { list: "@llvm.global_dtors = ", sections: [".fini_array", ".dtors"] };
/// The priority of those that say none: the last one.
const NO_PRIORITY: u32 = 65535;

/// The functions of one kind, in the order of their priorities and, of one priority, in the module's.
fn functions<'a>(text: &'a str, which: &Named) -> Vec<&'a str> {
    let mut all: Vec<(u32, &str)> = Vec::new();
    for line in text.lines().filter(|line| line.starts_with('@')) {
        if line.starts_with(which.list) {
            // `{ i32 65535, ptr @f, ptr null }`, after its type.
            all.extend(line.split("{ i32 ").filter_map(|element| {
                let (priority, rest) = element.split_once(", ptr @")?;
                Some((priority.parse().ok()?, quoted(rest)))
            }));
        } else if let Some((value, section)) = line.split_once(", section \"")
            && let Some(rest) = which.sections.iter().find_map(|own| section.strip_prefix(own))
        {
            let number = rest.trim_start_matches('.').split('"').next().and_then(|number| number.parse().ok());
            let priority = number.unwrap_or(NO_PRIORITY);
            all.extend(value.split("ptr @").skip(1).map(|function| (priority, quoted(function))));
        }
    }
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

/// Nothing, if no function would run when an image of a kernel crate is loaded.
pub(crate) fn refuse(package: &str, mut functions: Vec<String>) -> Result<(), BuildError> {
    functions.sort();
    functions.dedup();
    if functions.is_empty() { Ok(()) } else { Err(BuildError::Constructors { package: package.to_owned(), functions }) }
}

/// The functions that would run when a shared library is loaded or let go, but for those that every library of this
/// machine has. `None`: it is no library.
pub(crate) fn of_library(library: &[u8]) -> Option<Vec<String>> {
    let file = object::File::parse(library).ok()?;
    let mut functions = Vec::new();
    let known = [CONSTRUCTORS, DESTRUCTORS].map(|which| which.sections).concat();
    for section in file.sections().filter(|section| section.name().is_ok_and(|name| known.iter().any(|known| name.starts_with(known)))) {
        let range = section.address()..section.address().saturating_add(section.size());
        // What the loader puts there, or what is there already, less the loader's own base.
        let moved = file.dynamic_relocations().into_iter().flatten().filter(|(at, _)| range.contains(at));
        let moved = moved.filter_map(|(_, relocation)| match relocation.target() {
            RelocationTarget::Symbol(symbol) => Some(file.dynamic_symbol_table()?.symbol_by_index(symbol).ok()?.address()),
            _ => Some(relocation.addend().cast_unsigned()),
        });
        let there = section.data().unwrap_or_default().as_chunks::<8>().0.iter().map(|entry| u64::from_ne_bytes(*entry));
        let addresses: Vec<u64> = moved.chain(there).filter(|address| *address != 0).collect();
        // A name that is not there is one of the C library's, whose objects are stripped on some systems: the
        // compiler's are never.
        let named = file.symbols().filter(|symbol| addresses.contains(&symbol.address())).filter_map(|symbol| symbol.name().ok());
        functions.extend(named.filter(|name| !name.is_empty() && !is_everywhere(name)).map(readable));
    }
    Some(functions)
}

/// Functions of the C compiler's own, and on AArch64 that by which `compiler_builtins` asks which atomic instructions
/// there are.
fn is_everywhere(name: &str) -> bool {
    ["frame_dummy", "__do_global_dtors_aux", "init_have_lse_atomics"].contains(&name)
        || ["compiler_builtins", "RUST_LSE_INIT"].iter().any(|part| name.contains(part))
}

/// The functions that a module, as text, would have run when it is loaded or let go.
pub(crate) fn of_module(text: &str) -> Vec<String> {
    [CONSTRUCTORS, DESTRUCTORS].iter().flat_map(|which| functions(text, which)).map(|name| readable(name.trim_matches('"'))).collect()
}

fn readable(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
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
    fn what_is_in_the_sections_runs_among_the_others_by_its_priority() {
        let module = format!(
            "@BEGIN = internal constant ptr @begin, section \".init_array.00200\", align 8\n\
             @PLAIN = internal constant [2 x ptr] [ptr @one, ptr @\"an other\"], section \".init_array\", align 8\n\
             @NONE = internal constant ptr null, section \".init_array\"\n\
             @END = internal constant <{{ ptr }}> <{{ ptr @end }}>, section \".fini_array\"\n{MODULE}"
        );
        let lowered = lower(&module);
        let order =
            ["@\"first one\"()", "@begin()", "@one()", "@\"an other\"()", "@late(", "@later()", "@hostcall.main(", "@last()", "@end()"];
        let main = &lowered[lowered.rfind("define internal i32 @main").expect("it is the last one")..];
        let places: Vec<usize> = order.iter().map(|call| main.find(call).unwrap_or_else(|| panic!("{call}: {main}"))).collect();
        assert!(places.is_sorted(), "{main}");
    }

    #[test]
    fn what_a_module_would_run_when_it_is_loaded_is_found_by_name() {
        let mut found = of_module(MODULE);
        found.sort();
        assert_eq!(found, ["first one", "last", "late", "later"]);
        let rusts = "@_RNvCs1234_1c5BEGIN = internal constant ptr @_RNvCs1234_1c5begin, section \".init_array.00099\", align 8\n\
            @struct = constant <{ ptr }> <{ ptr @end }>, section \".fini_array\"\n@x = global ptr @y, section \".data\"\n";
        assert_eq!(of_module(rusts), ["c::begin", "end"]);
        assert!(of_module("define void @f() {\n  ret void\n}\n@llvm.used = appending global [1 x ptr] [ptr @f]\n").is_empty());
        assert!(refuse("p", Vec::new()).is_ok());
    }

    #[test]
    fn what_is_no_library_has_no_lists() {
        assert_eq!(of_library(&[]), None);
        assert_eq!(hide(&mut []), None);
        assert_eq!(hide(&mut vec![0; 4096]), None);
    }
}
