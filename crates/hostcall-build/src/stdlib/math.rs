//! Functions of floating-point numbers, for which GPUs have no instruction and LLVM's back ends for them no code.
//!
//! `f64::powf` and the like are LLVM's own functions (`llvm.pow.f64`), which elsewhere become calls of C's library.
//! Here they become calls of those that std's `compiler_builtins` has under C's names; they give what the same
//! functions give on other machines without such a library. So does the remainder (`x % y`, `frem`), which the back end
//! for NVIDIA makes of a quotient: it would lose the sign of zero, and be wrong where the quotient is large. What
//! `f16`s need is computed as `f32`, as elsewhere.

use std::borrow::Cow;
use std::collections::BTreeSet;

/// LLVM's names, which are C's.
const FUNCTIONS: [&str; 18] = [
    "acos", "asin", "atan", "atan2", "cos", "cosh", "exp", "exp10", "exp2", "log", "log10", "log2", "pow", "powi", "sin", "sinh", "tan",
    "tanh",
];

/// The function of `compiler_builtins` for a function of LLVM's: `pow` for `llvm.pow.f64`. Of `f16`s it is one of
/// [`half`]'s.
pub(crate) fn function(name: &str) -> Option<String> {
    let (function, kind) = name.strip_prefix("llvm.")?.split_once('.')?;
    let ours = FUNCTIONS.contains(&function);
    match (function, kind) {
        ("powi", "f16.i32") => Some(format!("{HALF}powi")),
        ("powi", "f32.i32") => Some("__powisf2".into()),
        ("powi", "f64.i32") => Some("__powidf2".into()),
        (_, "f16") if ours => Some(format!("{HALF}{function}")),
        // `x as u128`: what does not fit becomes what is nearest, here and there.
        ("fptoui", "sat.i128.f32") => Some("__fixunssfti".into()),
        ("fptoui", "sat.i128.f64") => Some("__fixunsdfti".into()),
        ("fptosi", "sat.i128.f32") => Some("__fixsfti".into()),
        ("fptosi", "sat.i128.f64") => Some("__fixdfti".into()),
        (_, "f32") if ours => Some(format!("{function}f")),
        (_, "f64") if ours => Some(function.to_owned()),
        _ => None,
    }
}

/// What functions of `f16`s begin with.
const HALF: &str = "hostcall_half_";

/// The definition of a function of `f16`s that computes with `f32`s, and what it calls.
fn half(function: &str) -> (String, String) {
    let (called, second) = match function {
        "powi" => ("__powisf2".to_owned(), Some("i32")),
        "pow" | "atan2" | "fmod" => (format!("{function}f"), Some("half")),
        _ => (format!("{function}f"), None),
    };
    let (parameters, more, call) = match second {
        None => ("half %x".to_owned(), "", "float %a".to_owned()),
        Some("half") => ("half %x, half %y".to_owned(), "  %b = fpext half %y to float\n", "float %a, float %b".to_owned()),
        Some(kind) => (format!("half %x, {kind} %y"), "", format!("float %a, {kind} %y")),
    };
    let kinds = second.map(|kind| if kind == "half" { ", float" } else { ", i32" }).unwrap_or_default();
    let definition = format!(
        "define internal half @{HALF}{function}({parameters}) {{\n  %a = fpext half %x to float\n{more}  %r = call float @{called}({call})\n  \
         %h = fptrunc float %r to half\n  ret half %h\n}}\n"
    );
    (definition, format!("declare float @{called}(float{kinds})\n"))
}

/// The module (as text) with calls of those.
pub(crate) fn replace(module: &str) -> String {
    let declared = |module: &str, function: &str| {
        let name = format!(" @{function}(");
        module.lines().any(|line| (line.starts_with("declare ") || line.starts_with("define ")) && line.contains(&name))
    };
    let mut out = String::with_capacity(module.len());
    // Functions of halves, and remainders.
    let (mut halves, mut remainders) = (BTreeSet::new(), BTreeSet::new());
    for line in module.split_inclusive('\n') {
        if let Some((line, kind)) = remainder(line) {
            out.push_str(&line);
            if let Some(half) = kind.function.strip_prefix(HALF) {
                halves.insert(half.to_owned())
            } else {
                remainders.insert(kind)
            };
            continue;
        }
        match replaced(line) {
            Some((_, function)) if line.starts_with("declare ") && function.starts_with(HALF) => {
                halves.insert(function[HALF.len()..].to_owned());
            }
            // It is declared already.
            Some((_, function)) if line.starts_with("declare ") && declared(module, &function) => {}
            Some((line, _)) => out.push_str(&line),
            None => out.push_str(line),
        }
    }
    for Remainder { function, kind } in remainders.into_iter().filter(|remainder| !declared(module, remainder.function)) {
        out += &format!("declare {kind} @{function}({kind}, {kind})\n");
    }
    for (definition, declaration) in halves.iter().map(|function| half(function)) {
        let called = declaration.split(['@', '(']).nth(1).unwrap_or_default();
        if !declared(&out, called) {
            out.push_str(&declaration);
        }
        out.push_str(&definition);
    }
    out
}

/// A function that gives a remainder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Remainder {
    function: &'static str,
    kind: &'static str,
}

const REMAINDERS: [Remainder; 3] = [
    Remainder { function: "fmodf", kind: "float" },
    Remainder { function: "fmod", kind: "double" },
    Remainder { function: "hostcall_half_fmod", kind: "half" },
];

/// `%1 = frem fast double %x, %y` as a call, and what it calls.
fn remainder(line: &str) -> Option<(String, Remainder)> {
    let (value, rest) = line.strip_prefix("  %")?.split_once(" = frem ")?;
    REMAINDERS.into_iter().find_map(|remainder| {
        let Remainder { function, kind } = remainder;
        let at = rest.find(&format!("{kind} "))?;
        let (flags, operands) = (&rest[..at], rest[at + kind.len() + 1..].trim_end());
        // Notes for debuggers, which programs have none of, would be lost.
        let (x, y) = operands.split(", !").next()?.split_once(", ")?;
        Some((format!("  %{value} = call {flags}{kind} @{function}({kind} {x}, {kind} {y})\n"), remainder))
    })
}

/// The line with its call or declaration of one of LLVM's functions changed, and the other function.
fn replaced(line: &str) -> Option<(Cow<'_, str>, String)> {
    let at = line.find(" @llvm.")? + 2;
    let end = at + line[at..].find('(')?;
    let function = function(&line[at..end])?;
    Some((Cow::Owned([&line[..at], &function, &line[end..]].concat()), function))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_declarations_name_the_other_function() {
        let module = "define double @f(double %x) {\n  %1 = tail call nnan double @llvm.pow.f64(double %x, double 2.0)\n  %2 = call float @llvm.sin.f32(float 1.0)\n  \
                      %3 = call double @llvm.powi.f64.i32(double %x, i32 3)\n  %4 = call double @llvm.sqrt.f64(double %x)\n}\n\
                      declare double @llvm.pow.f64(double, double) #5\ndeclare float @llvm.sin.f32(float) #5\n";
        let wanted = "define double @f(double %x) {\n  %1 = tail call nnan double @pow(double %x, double 2.0)\n  %2 = call float @sinf(float 1.0)\n  \
                      %3 = call double @__powidf2(double %x, i32 3)\n  %4 = call double @llvm.sqrt.f64(double %x)\n}\n\
                      declare double @pow(double, double) #5\ndeclare float @sinf(float) #5\n";
        assert_eq!(replace(module), wanted);
        assert_eq!(replace(wanted), wanted);
        assert_eq!(function("llvm.fptoui.sat.i128.f64").as_deref(), Some("__fixunsdfti"));
    }

    #[test]
    fn remainders_are_calls() {
        let module = "define double @f(double %x) {\n  %1 = frem double %x, 3.5\n  %2 = frem nnan ninf float 1.0, %y, !dbg !3\n  %3 = frem <2 x float> %a, %b\n}\n";
        let wanted = "define double @f(double %x) {\n  %1 = call double @fmod(double %x, double 3.5)\n  %2 = call nnan ninf float @fmodf(float 1.0, float %y)\n  \
                      %3 = frem <2 x float> %a, %b\n}\ndeclare double @fmod(double, double)\ndeclare float @fmodf(float, float)\n";
        assert_eq!(replace(module).lines().collect::<std::collections::BTreeSet<_>>(), wanted.lines().collect());
        assert_eq!(replace("define double @fmod(double %x, double %y) {\n}\n  %1 = frem double %x, %y\n").matches("@fmod(").count(), 2);
    }

    #[test]
    fn what_is_declared_already_is_declared_once() {
        let module = "define double @pow(double %0, double %1) {\n}\ndeclare double @llvm.pow.f64(double, double)\n  call double @llvm.pow.f64(double 1.0, double 2.0)\n";
        assert_eq!(replace(module), "define double @pow(double %0, double %1) {\n}\n  call double @pow(double 1.0, double 2.0)\n");
    }

    #[test]
    fn those_of_halves_are_computed_with_floats() {
        let module = "define half @f(half %x) {\n  %1 = call half @llvm.pow.f16(half %x, half %x)\n  %2 = call half @llvm.powi.f16.i32(half %1, i32 3)\n  ret half %2\n}\n\
                      declare half @llvm.pow.f16(half, half)\ndeclare half @llvm.powi.f16.i32(half, i32)\ndeclare float @powf(float, float)\n";
        let changed = replace(module);
        assert!(!changed.contains("@llvm.") && changed.contains("  %1 = call half @hostcall_half_pow(half %x, half %x)\n"), "{changed}");
        assert_eq!(changed.matches("declare float @powf(").count(), 1);
        assert!(
            changed.contains("  %r = call float @powf(float %a, float %b)\n")
                && changed.contains("call float @__powisf2(float %a, i32 %y)\n"),
            "{changed}"
        );
        assert!(changed.contains("declare float @__powisf2(float, i32)\n"));
        let changed = replace("define half @f(half %x) {\n  %1 = frem half %x, 0xH4000\n  ret half %1\n}\n");
        assert!(changed.contains("  %1 = call half @hostcall_half_fmod(half %x, half 0xH4000)\n"), "{changed}");
        assert!(
            changed.contains("define internal half @hostcall_half_fmod(half %x, half %y)")
                && changed.contains("declare float @fmodf(float, float)")
        );
    }

    #[test]
    fn other_functions_of_llvms_stay() {
        for name in
            ["llvm.fptoui.sat.i64.f64", "llvm.floor.f64", "llvm.sin.v2f32", "llvm.sin.f128", "llvm.memcpy.p0.p0.i64", "sin", "llvm."]
        {
            assert_eq!(function(name), None, "{name}");
        }
    }
}
