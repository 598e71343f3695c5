//! Pointers to a lane's own memory as pointers to any memory.
//!
//! On AMD GPUs LLVM gives variables pointers of their own (`ptr addrspace(5)`, 32 bits), and uses them wherever it sees
//! that nothing else is meant. When variables move to memory that all lanes share, all of these become the usual
//! pointers: by their type, in the names of LLVM's functions (`.p5`), and where one kind was made of the other. What
//! would take such a pointer for a number of 32 bits is refused.

use std::collections::HashSet;

use super::StackError;
use crate::module::definition;

const OWN: &str = " addrspace(5)";

/// The module without pointers to the lanes' own memory.
pub(super) fn pointers(module: &str) -> Result<String, StackError> {
    let mut out = String::with_capacity(module.len());
    let mut declared = HashSet::new();
    let mut function = "";
    for line in module.lines() {
        if let Some((_, name)) = definition(line) {
            function = name;
        }
        let of_own = line.contains(OWN);
        if of_own && is_number(line) {
            return Err(StackError::Own { function: function.to_owned(), line: line.trim().to_owned() });
        }
        let line = if of_own { pointer(line) } else { line.to_owned() };
        // Two of LLVM's functions may have become one.
        let name = line.strip_prefix("declare ").and_then(|rest| rest.split_once('@')).and_then(|(_, rest)| rest.split('(').next());
        if name.is_some_and(|name| !declared.insert(name.to_owned())) {
            continue;
        }
        out.extend([&line, "\n"]);
    }
    Ok(out)
}

/// Whether a line makes such a pointer of a number, whose upper half would be lost.
fn is_number(line: &str) -> bool {
    (line.contains(" = inttoptr ") && line.ends_with(" to ptr addrspace(5)")) || line.contains("@llvm.ptrmask.p5.")
}

fn pointer(line: &str) -> String {
    let text = line.replace(", addrspace(5)", "").replace(OWN, "");
    let text = constants(&unmangled(&text));
    // What was a conversion is the same pointer.
    match text.split_once(" = addrspacecast ptr ").and_then(|(name, rest)| Some((name, rest.strip_suffix(" to ptr")?))) {
        Some((name, value)) => format!("{name} = getelementptr i8, ptr {value}, i64 0"),
        None => text,
    }
}

/// Conversions of constants, `addrspacecast (ptr X to ptr)` by now, are the constant.
fn constants(line: &str) -> String {
    const BEGIN: &str = "addrspacecast (ptr ";
    let mut text = line.to_owned();
    let mut from = 0;
    while let Some(at) = text[from..].find(BEGIN).map(|at| from + at) {
        let inside = at + BEGIN.len();
        from = inside;
        let Some(end) = super::closing(&text[inside..]).map(|len| inside + len) else { continue };
        // Of any other kind of memory it stays.
        if let Some(value) = text[inside..end].strip_suffix(" to ptr").filter(|value| !value.starts_with("addrspace(")) {
            let value = value.to_owned();
            text.replace_range(at..=end, &value);
            from = at;
        }
    }
    text
}

/// The names of LLVM's functions for these pointers are those for usual ones: `@llvm.memcpy.p5.p0.i64` becomes
/// `@llvm.memcpy.p0.p0.i64`.
fn unmangled(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("@llvm.") {
        let (before, name) = rest.split_at(at);
        let (name, after) = name.split_at(name.find('(').unwrap_or(name.len()));
        let parts = name.split('.').map(|part| match part.strip_suffix("p5") {
            Some(vector) if vector.chars().all(|c| c == 'v' || c.is_ascii_digit()) => format!("{vector}p0"),
            _ => part.to_owned(),
        });
        text.extend([before, &parts.collect::<Vec<_>>().join(".")]);
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_to_own_memory_become_usual_ones_and_conversions_the_pointer_itself() {
        let module = "define void @f(ptr addrspace(5) %0) {\n\
            \x20 %e = select i1 %x, ptr addrspace(5) addrspacecast (ptr inttoptr (i64 1 to ptr) to ptr addrspace(5)), ptr addrspace(5) %0\n\
            \x20 %a = alloca [16 x i8], align 8, addrspace(5)\n  %b = addrspacecast ptr addrspace(5) %a to ptr\n\
            \x20 %c = getelementptr inbounds i8, ptr addrspace(5) %a, i32 8\n  call void @llvm.memcpy.p5.p5.i64(ptr addrspace(5) %c, ptr addrspace(5) %0, i64 8, i1 false)\n\
            \x20 call void @llvm.memcpy.p0.p0.i64(ptr %b, ptr %b, i64 8, i1 false)\n  %d = load i64, ptr addrspace(1) @x\n  ret void\n}\n\
            declare void @llvm.memcpy.p5.p5.i64(ptr addrspace(5) writeonly, ptr addrspace(5), i64, i1)\ndeclare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n\
            declare void @llvm.masked.scatter.v4i32.v4p5(<4 x i32>, <4 x ptr addrspace(5)>, <4 x i1>)\n";
        let expected = "define void @f(ptr %0) {\n  %e = select i1 %x, ptr inttoptr (i64 1 to ptr), ptr %0\n  %a = alloca [16 x i8], align 8\n  %b = getelementptr i8, ptr %a, i64 0\n\
            \x20 %c = getelementptr inbounds i8, ptr %a, i32 8\n  call void @llvm.memcpy.p0.p0.i64(ptr %c, ptr %0, i64 8, i1 false)\n\
            \x20 call void @llvm.memcpy.p0.p0.i64(ptr %b, ptr %b, i64 8, i1 false)\n  %d = load i64, ptr addrspace(1) @x\n  ret void\n}\n\
            declare void @llvm.memcpy.p0.p0.i64(ptr writeonly, ptr, i64, i1)\n\
            declare void @llvm.masked.scatter.v4i32.v4p0(<4 x i32>, <4 x ptr>, <4 x i1>)\n";
        assert_eq!(pointers(module).expect("no numbers"), expected);
    }

    #[test]
    fn a_pointer_to_own_memory_that_is_made_of_a_number_is_refused() {
        let line = "%p = inttoptr i32 %n to ptr addrspace(5)";
        let error = pointers(&format!("define void @f() {{\n  {line}\n  ret void\n}}\n")).expect_err("half of it would be lost");
        assert_eq!(error, StackError::Own { function: "f".into(), line: line.into() });
    }
}
