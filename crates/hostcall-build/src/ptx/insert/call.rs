//! Calls as text, and where calls of the module's own are.

use std::fmt::Write as _;
use std::ops::Range;

use crate::ptx::module::{Function, Instruction, Module, What};

/// A call by itself: parameters are a register or number with its type, or `site` with a variable.
pub(super) fn call(function: &str, parameters: &[(&str, &str)]) -> String {
    const SITE: &str = "%__hostcall_site";
    let mut text = format!("{{\n.reg .b64 {SITE};\n");
    let mut names = Vec::new();
    let mut stores = String::new();
    for (number, (kind, value)) in parameters.iter().enumerate() {
        let (bits, value) = match *kind {
            "site" => {
                let _ = writeln!(text, "mov.u64 {SITE}, {value};\ncvta.global.u64 {SITE}, {SITE};");
                ("b64", SITE)
            }
            bits => (bits, *value),
        };
        let name = format!("__hostcall_in_{number}");
        let _ = writeln!(stores, ".param .{bits} {name};\nst.param.{bits} [{name}], {value};");
        names.push(name);
    }
    let _ = write!(text, "{stores}call.uni {function}, ({});\n}}\n", names.join(", "));
    text
}

/// The time, into a register.
pub(super) fn begin(to: &str) -> String {
    format!(
        "{{\n.param .b64 __hostcall_out;\ncall.uni (__hostcall_out), __hostcall_probe_begin, ();\nld.param.b64 {to}, [__hostcall_out];\n}}\n"
    )
}

/// For each statement the call whose parameters or results are stored or loaded around it, if one's are: the number of
/// its first statement.
pub(super) fn of_calls(module: &Module<'_>, function: &Function<'_>) -> Vec<Option<usize>> {
    let Some(body) = &function.body else { return Vec::new() };
    let is_own = |name: &str| function.parameters.iter().flat_map(|parameter| &parameter.names).any(|(own, _)| *own == name);
    // A parameter of a call, and not of the function itself.
    let of_call = |instruction: &Instruction<'_>, which: &str, operand: usize| {
        instruction.is(which) && instruction.operands.get(operand).is_some_and(|operand| !is_own(module.word(operand.start + 1)))
    };
    let stores = |instruction: &Instruction<'_>| of_call(instruction, "st.param", 0) || of_call(instruction, "st.param::func", 0);
    let loads = |instruction: &Instruction<'_>| of_call(instruction, "ld.param", 1) || of_call(instruction, "ld.param::func", 1);
    let mut all = vec![None; body.statements.len()];
    let (mut open, mut at) = (None, 0);
    while let Some(statement) = body.statements.get(at) {
        let mut last = at;
        match &statement.what {
            What::Instruction(instruction) if instruction.is("call") => {
                let first = open.take().unwrap_or(at);
                for (next, statement) in body.statements.iter().enumerate().skip(at + 1) {
                    match &statement.what {
                        What::Instruction(next) if stores(next) || next.is("call") || next.ends() => break,
                        What::Instruction(loaded) if loads(loaded) => last = next,
                        What::Label(_) => break,
                        _ => {}
                    }
                }
                all[first..=last].fill(Some(first));
            }
            What::Instruction(instruction) if stores(instruction) => open = open.or(Some(at)),
            _ => {}
        }
        at = last + 1;
    }
    all
}

/// Where an instruction has the name of the function that it calls, and the name.
pub(super) fn callee<'a>(module: &Module<'a>, instruction: &Instruction<'_>) -> Option<(Range<usize>, &'a str)> {
    if !instruction.is("call") {
        return None;
    }
    // `call (r), f, (p)`, or without either.
    let operand = instruction.operands.iter().find(|operand| module.word(operand.start) != "(")?;
    let (at, name) = (module.place(operand.start), module.between(operand));
    Some((at..at + name.len(), name))
}
