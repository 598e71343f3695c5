//! Statics that refer to one another, for a machine whose statics cannot.
//!
//! PTX wants every name that a static's value mentions to be defined before, so two statics cannot name each other
//! (`tracing` has such: a call site names its description, and that the call site), and none itself (`bumpalo`'s empty
//! chunk does). Some pointers are left empty here, so that no circle stays, and every kernel begins with seeing to it
//! that they are put there: the first lane of all launches does it, and others wait until it has. So a program may
//! write what it likes to such a static.

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
    for (number, one) in statics.iter().enumerate() {
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
    (!lines.is_empty()).then(|| rewritten(module, &lines) + &once(&stores))
}

/// What each kernel does first.
const FIRST: &str = "  call void @hostcall_circles()\n";

/// The function that does it, of which `stores` are what is done once.
fn once(stores: &str) -> String {
    format!(
        "@hostcall_circles_state = internal global i32 0, align 4\n\
         define internal void @hostcall_circles() {{\n\
         start:\n  \
           %0 = cmpxchg ptr @hostcall_circles_state, i32 0, i32 1 acq_rel acquire, align 4\n  \
           %1 = extractvalue {{ i32, i1 }} %0, 1\n  \
           br i1 %1, label %first, label %other\n\
         first:\n\
         {stores}  \
           store atomic i32 2, ptr @hostcall_circles_state release, align 4\n  \
           ret void\n\
         other:\n  \
           %2 = load atomic i32, ptr @hostcall_circles_state acquire, align 4\n  \
           %3 = icmp eq i32 %2, 2\n  \
           br i1 %3, label %done, label %other\n\
         done:\n  \
           ret void\n\
         }}\n"
    )
}

/// The module with other lines for these, and with what each kernel does first.
fn rewritten(module: &str, changed: &HashMap<&str, String>) -> String {
    let mut out = String::with_capacity(module.len() + module.len() / 64);
    let mut begins = false;
    for line in module.lines() {
        if begins && !is_label(line) {
            out.push_str(FIRST);
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
    kind: &'a str,
    /// And what follows it.
    value: &'a str,
}

impl<'a> Static<'a> {
    fn read(line: &'a str, types: &Types<'_>) -> Option<Static<'a>> {
        let (symbol, about) = line.strip_prefix('@').and_then(|_| line.split_once(" = "))?;
        let word = |word: &str| about.split_once(word).filter(|(before, _)| !before.contains(['"', '{', '[', '@']));
        let (_, about) = word("constant ").or_else(|| word("global "))?;
        let (kind, value) = types.split(about)?;
        Some(Static { line, symbol, name: symbol[1..].trim_matches('"'), kind, value })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::gpu::Gpu;
    use crate::{DeviceToolchain, NVPTX_ARCH, Ptxas, nvptx};

    #[test]
    fn a_static_of_a_circle_gets_its_pointer_when_the_first_kernel_begins() {
        let site = "@site = internal global <{ ptr, [8 x i8], ptr }> <{ ptr @vtable, [8 x i8] zeroinitializer, ptr @meta }>, align 8\n";
        let module = site.to_owned()
            + "@vtable = private unnamed_addr constant [2 x ptr] [ptr @f, ptr @g], align 8\n\
               @meta = private unnamed_addr constant <{ [4 x i8], [4 x i8], { ptr, i64 }, ptr }> <{ [4 x i8] c\"@}],\", [4 x i8] undef, { ptr, i64 } { ptr @vtable, i64 1 }, \
               ptr getelementptr inbounds (i8, ptr @site, i64 8) }>, align 8\n\
               define ptx_kernel void @k() #0 {\nstart:\n  ret void\n}\ndefine void @f() {\n  ret void\n}\ndefine ptx_kernel void @l() {\n  ret void\n}\n";
        let opened = opened(&module).expect("there is a circle");
        assert!(opened.starts_with(&site.replace("ptr @meta", "ptr null")), "{opened}");
        assert!(
            opened.contains("@meta = private unnamed_addr constant <{")
                && opened.contains("ptr getelementptr inbounds (i8, ptr @site, i64 8) }>"),
            "{opened}"
        );
        assert!(
            opened.contains(&format!("@k() #0 {{\nstart:\n{FIRST}  ret")) && opened.contains(&format!("@l() {{\n{FIRST}  ret")),
            "{opened}"
        );
        let store = "first:\n  store ptr @meta, ptr getelementptr inbounds (<{ ptr, [8 x i8], ptr }>, ptr @site, i32 0, i32 2)\n  store atomic i32 2";
        assert!(opened.contains(store), "{opened}");
        assert_eq!(super::opened(&opened), None);
    }

    #[test]
    fn one_pointer_of_each_circle_is_enough_and_a_static_may_name_itself() {
        let module = "@a = constant { ptr, ptr } { ptr @b, ptr @a }\n@b = constant [1 x ptr] [ptr @c]\n@c = constant ptr @a, align 8\ndefine ptx_kernel void @k() {\n  ret void\n}\n";
        let opened = opened(module).expect("there are circles");
        assert!(opened.starts_with("@a = global { ptr, ptr } { ptr null, ptr null }\n@b = constant [1 x ptr] [ptr @c]\n"), "{opened}");
        let opened = super::opened("@a = internal global ptr @b, align 8\n@b = global { i8, ptr } { i8 1, ptr @a }\n")
            .expect("a circle of what may be written");
        assert!(opened.starts_with("@a = internal global ptr null, align 8\n@b = global { i8, ptr } { i8 1, ptr @a }\n"), "{opened}");
    }

    #[test]
    fn what_is_no_circle_stays() {
        for module in [
            "@a = constant ptr @b\n@b = constant [2 x i8] c\"@a\"\n",
            "@a = constant ptr @b\n@b = constant { [2 x i8], i8 } { [2 x i8] c\"@a\", i8 0 }\n",
            "@a = external global i32\n",
        ] {
            assert_eq!(opened(module), None, "{module}");
        }
    }

    #[test]
    fn what_is_done_first_is_compiled_and_assembled() {
        let toolchain = match DeviceToolchain::find() {
            Ok(toolchain) => toolchain,
            Err(error) => return println!("not run: {error}"),
        };
        let dir = tempfile::tempdir().expect("a directory");
        let module = "target triple = \"nvptx64-nvidia-cuda\"\n@own.1 = private global { ptr, i64 } { ptr @own.1, i64 5 }, align 8\n\
                      define ptx_kernel void @k(ptr %0) {\n  %2 = load volatile ptr, ptr @own.1\n  store ptr %2, ptr %0\n  ret void\n}\n";
        let file = dir.path().join("own.ll");
        fs::write(&file, opened(module).expect("a circle")).expect("written");
        let ptx = nvptx::code(&Gpu::nvidia(&toolchain, NVPTX_ARCH), &file, dir.path()).expect("LLVM takes it");
        match Ptxas::find() {
            Ok(ptxas) => drop(ptxas.assemble(ptx.as_bytes(), "sm_90").expect("the assembler takes it")),
            Err(error) => println!("not assembled: {error}"),
        }
    }
}
