//! Functions of floating-point numbers, for which GPUs have no instruction and LLVM's back ends for them no code.
//!
//! `f64::powf` and the like are LLVM's own functions (`llvm.pow.f64`), which elsewhere become calls of C's library. Here they become calls of those that
//! std's `compiler_builtins` has under C's names; they give what the same functions give on other machines without such a library.

use std::borrow::Cow;

/// LLVM's names, which are C's.
const FUNCTIONS: [&str; 18] = [
    "acos", "asin", "atan", "atan2", "cos", "cosh", "exp", "exp10", "exp2", "log", "log10", "log2", "pow", "powi", "sin", "sinh", "tan",
    "tanh",
];

/// The function of `compiler_builtins` for a function of LLVM's: `pow` for `llvm.pow.f64`.
pub(crate) fn function(name: &str) -> Option<String> {
    let (function, kind) = name.strip_prefix("llvm.")?.split_once('.')?;
    let ours = FUNCTIONS.contains(&function);
    match (function, kind) {
        ("powi", "f32.i32") => Some("__powisf2".into()),
        ("powi", "f64.i32") => Some("__powidf2".into()),
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

/// The module (as text) with calls of those.
pub(crate) fn replace(module: &str) -> String {
    let declared = |function: &str| {
        let name = format!(" @{function}(");
        module.lines().any(|line| (line.starts_with("declare ") || line.starts_with("define ")) && line.contains(&name))
    };
    let mut out = String::with_capacity(module.len());
    for line in module.split_inclusive('\n') {
        match replaced(line) {
            // It is declared already.
            Some((_, function)) if line.starts_with("declare ") && declared(&function) => {}
            Some((line, _)) => out.push_str(&line),
            None => out.push_str(line),
        }
    }
    out
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
    fn what_is_declared_already_is_declared_once() {
        let module = "define double @pow(double %0, double %1) {\n}\ndeclare double @llvm.pow.f64(double, double)\n  call double @llvm.pow.f64(double 1.0, double 2.0)\n";
        assert_eq!(replace(module), "define double @pow(double %0, double %1) {\n}\n  call double @pow(double 1.0, double 2.0)\n");
    }

    #[test]
    fn other_functions_of_llvms_stay() {
        for name in ["llvm.fptoui.sat.i64.f64", "llvm.floor.f64", "llvm.sin.v2f32", "llvm.sin.f16", "llvm.memcpy.p0.p0.i64", "sin", "llvm."]
        {
            assert_eq!(function(name), None, "{name}");
        }
    }
}
