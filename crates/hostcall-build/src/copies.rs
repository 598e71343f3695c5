//! Copies and fills of a program with std, handed to its runtime.
//!
//! What `memcpy`, `memmove` and `memset` are to LLVM becomes, on NVIDIA GPUs, a loop over single bytes in each place.
//! One lane runs a thread, and each byte takes it a way to memory and back. So those of more than a few bytes become
//! calls of the runtime (`hostcall-std`, `copies`), which moves 16 bytes at a time and, where there is much to do, has
//! the other lanes of the wave help. A runtime that has no such functions leaves the module as it is.

use crate::module::definition;

/// What LLVM calls it, and the function of the runtime.
const SERVED: [(&str, &str); 3] = [("@llvm.memcpy.p0.p0.i64(", COPY), ("@llvm.memmove.p0.p0.i64(", COPY), ("@llvm.memset.p0.i64(", FILL)];
const COPY: &str = "__hostcall_copy";
const FILL: &str = "__hostcall_fill";

/// Up to so many bytes, if it is known how many, LLVM makes a few loads and stores of them.
const FEW: u64 = 128;

/// Functions whose copies stay: those that serve, and what runs before a lane has a stack or on lanes that are no
/// threads.
fn stays(function: &str) -> bool {
    function.starts_with("__hostcall_") || function.contains("15hostcall_device")
}

/// Whether the module has a runtime that serves.
pub(crate) fn serves(module: &str) -> bool {
    let defines = |wanted: &str| module.lines().any(|line| definition(line).is_some_and(|(_, name)| name == wanted));
    defines(COPY) && defines(FILL)
}

/// The module (as text), with the calls.
pub(crate) fn served(module: &str) -> String {
    if serves(module) { with_calls(module) } else { module.to_owned() }
}

/// As [`served`], of a part of a program whose runtime serves.
pub(crate) fn served_elsewhere(module: &str) -> String {
    let mut text = with_calls(module);
    for (name, parameters) in [(COPY, "ptr, ptr, i64"), (FILL, "ptr, i32, i64")] {
        if !module.contains(&format!("@{name}(")) {
            text += &format!("declare void @{name}({parameters}) convergent\n");
        }
    }
    text
}

fn with_calls(module: &str) -> String {
    let mut out = String::with_capacity(module.len());
    let mut inside = false;
    let mut number = 0;
    for line in module.split_inclusive('\n') {
        if let Some((_, name)) = definition(line) {
            inside = !stays(name);
        }
        match inside.then(|| call(line, number)).flatten() {
            Some(call) => {
                out.push_str(&call);
                number += 1;
            }
            None => out.push_str(line),
        }
    }
    out
}

/// The call instead of the line, if there is to be one.
fn call(line: &str, number: usize) -> Option<String> {
    let instruction = line.trim_start();
    let instruction = instruction.strip_prefix("tail ").unwrap_or(instruction);
    let callee = instruction.strip_prefix("call void ")?;
    let (by, arguments) = SERVED.iter().find_map(|(name, by)| Some((*by, callee.strip_prefix(name)?)))?;
    let arguments = arguments_of(arguments)?;
    let [to, second, bytes, volatile] = arguments[..] else { return None };
    // The value is the last word: `i64 noundef %n`.
    let value = |argument: &str| argument.rsplit(' ').next().map(str::to_owned);
    if volatile != "i1 false" || value(bytes)?.parse().is_ok_and(|bytes: u64| bytes <= FEW) {
        return None;
    }
    if by == COPY {
        return Some(format!("  call void @{by}({to}, {second}, {bytes})\n"));
    }
    // As a whole word: how a byte is passed is not the same everywhere.
    let byte = value(second)?;
    let word = format!("%hostcall.fill.{number}");
    Some(format!("  {word} = zext i8 {byte} to i32\n  call void @{by}({to}, i32 {word}, {bytes})\n"))
}

/// The arguments of a call, of which `text` is what follows the opening parenthesis.
fn arguments_of(text: &str) -> Option<Vec<&str>> {
    let (mut depth, mut start, mut all) = (0, 0, Vec::new());
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' if depth == 0 => {
                all.push(text[start..at].trim());
                return Some(all);
            }
            b')' | b']' | b'}' | b'>' => depth -= 1,
            b',' if depth == 0 => {
                all.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNTIME: &str = "define void @__hostcall_copy(ptr %to, ptr %from, i64 %n) {\n  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)\n  ret void\n}\n\
        define void @__hostcall_fill(ptr %to, i32 %byte, i64 %n) {\n  ret void\n}\n";

    fn body(line: &str) -> String {
        let module = format!("{RUNTIME}define void @_RNv4user1f(ptr %a, ptr %b, i64 %n, i8 %v) {{\n  {line}\n  ret void\n}}\n");
        let changed = served(&module);
        let body = changed.strip_prefix(RUNTIME).expect("who serves is not changed").split_once("{\n").expect("a body").1;
        body.strip_suffix("  ret void\n}\n").expect("what follows stays").to_owned()
    }

    #[test]
    fn copies_and_fills_of_many_bytes_are_the_runtimes() {
        assert_eq!(
            body(
                "tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %a, ptr align 1 %b, i64 %n, i1 false), !noalias !3"
            ),
            "  call void @__hostcall_copy(ptr noundef nonnull align 8 dereferenceable(16) %a, ptr align 1 %b, i64 %n)\n"
        );
        assert_eq!(
            body("call void @llvm.memmove.p0.p0.i64(ptr %a, ptr getelementptr inbounds (i8, ptr @x, i64 8), i64 4096, i1 false) #7"),
            "  call void @__hostcall_copy(ptr %a, ptr getelementptr inbounds (i8, ptr @x, i64 8), i64 4096)\n"
        );
        assert_eq!(
            body("call void @llvm.memset.p0.i64(ptr align 1 %a, i8 noundef %v, i64 %n, i1 false)"),
            "  %hostcall.fill.0 = zext i8 %v to i32\n  call void @__hostcall_fill(ptr align 1 %a, i32 %hostcall.fill.0, i64 %n)\n"
        );
    }

    #[test]
    fn copies_of_few_bytes_volatile_ones_and_those_of_other_memory_stay() {
        for line in [
            "call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %b, i64 128, i1 false)",
            "call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %b, i64 %n, i1 true)",
            "call void @llvm.memcpy.p3.p0.i64(ptr addrspace(3) %a, ptr %b, i64 %n, i1 false)",
            "call void @memcpy(ptr %a, ptr %b, i64 %n)",
        ] {
            assert_eq!(body(line), format!("  {line}\n"));
        }
    }

    #[test]
    fn without_a_runtime_that_serves_nothing_is_changed() {
        let module = "define void @f(ptr %a, ptr %b, i64 %n) {\n  call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %b, i64 %n, i1 false)\n  ret void\n}\n";
        assert_eq!(served(module), module);
    }

    #[test]
    fn the_device_library_copies_for_itself() {
        let module = format!(
            "{RUNTIME}define void @_RNvNtCs1_15hostcall_device4copy4tail(ptr %a, ptr %b, i64 %n) {{\n  call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %b, i64 %n, i1 false)\n  ret void\n}}\n"
        );
        assert_eq!(served(&module), module);
    }
}
