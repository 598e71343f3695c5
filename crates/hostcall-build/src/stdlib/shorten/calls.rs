//! Calls: LLVM stores each parameter in a variable of its own, and loads the result from another. A call may name
//! registers and numbers itself, where what it passes is one word as wide as they are (PTX ISA, "Parameter State
//! Space", device function parameters). Variables that stay are declared together. All of that is the same to
//! assemblers.

use std::borrow::Cow;
use std::collections::HashMap;

use super::words;

/// A function's body, braces included, with calls in fewer letters.
pub(super) fn shorter<'a>(body: Vec<Cow<'a, str>>) -> Vec<Cow<'a, str>> {
    let mut out: Vec<Cow<'a, str>> = Vec::with_capacity(body.len());
    // Where the innermost block within the body begins.
    let mut block = None;
    for line in body {
        match (&*line, block) {
            ("{", _) if !out.is_empty() => block = Some(out.len()),
            ("}", Some(begin)) => {
                // What is around it is no call.
                block = None;
                if let Some(call) = direct(&out[begin + 1..]) {
                    out.truncate(begin);
                    out.extend(call.into_iter().map(Cow::Owned));
                    continue;
                }
            }
            _ => {}
        }
        out.push(without_uni(line));
    }
    declared_together(out)
}

/// A call as LLVM writes it, in a block of its own, with as many registers and numbers in it as can be; `None` if there
/// is something else in the block.
fn direct(block: &[Cow<'_, str>]) -> Option<Vec<String>> {
    let at = block.iter().position(|line| line.starts_with("call"))?;
    let (before, after) = (&block[..at], &block[at + 1..]);
    if !after.iter().all(|line| line.starts_with("ld.param.")) {
        return None;
    }
    let mut passed = Vec::new();
    for line in before {
        if let Some((_, _, value)) = stored(line) {
            passed.push(value);
        } else if !(is_about_call(line) || is_plain(line) && words(line).all(|word| !passed.contains(&word))) {
            return None;
        }
    }
    let mut mentions: HashMap<&str, usize> = HashMap::new();
    for word in block.iter().flat_map(|line| words(line)) {
        *mentions.entry(word).or_default() += 1;
    }
    // Declared, stored or loaded as a whole, and passed: no more.
    let declared: HashMap<&str, &str> = before.iter().filter_map(|line| declaration(line)).map(|(kind, name)| (name, kind)).collect();
    let whole = |kind: &str, name: &str| declared.get(name) == Some(&kind) && mentions.get(name) == Some(&3);
    let mut values: HashMap<&str, &str> = HashMap::new();
    for line in block {
        if let Some((kind, name, value)) = stored(line).or_else(|| loaded(line))
            && whole(kind, name)
        {
            values.insert(name, value);
        }
    }
    let goes = |line: &str| match declaration(line).map(|(_, name)| name).or_else(|| Some(stored(line).or_else(|| loaded(line))?.1)) {
        Some(name) => values.contains_key(name),
        None => false,
    };
    let mut lines: Vec<String> = Vec::with_capacity(block.len() + 2);
    for line in block.iter().filter(|line| !goes(line)) {
        lines.push(if line.starts_with("call") {
            words(&without_uni(Cow::Borrowed(line))).map(|word| values.get(word).copied().unwrap_or(word)).collect()
        } else {
            (**line).to_owned()
        });
    }
    if lines.iter().any(|line| is_about_call(line)) {
        lines.insert(0, "{".into());
        lines.push("}".into());
    }
    Some(lines)
}

/// What declares what a function is that is called through a pointer.
const PROTOTYPE: &str = " .callprototype ";

fn is_about_call(line: &str) -> bool {
    line.starts_with(".param ") || line.starts_with("st.param.") || line.contains(PROTOTYPE)
}

/// Whether a line is an instruction that the next one follows in any case: LLVM puts some between the stores.
fn is_plain(line: &str) -> bool {
    let jumps = ["bra", "brx", "ret", "exit", "trap", "@", ".", "{", "}"];
    line.ends_with(';') && jumps.iter().all(|word| !line.starts_with(word))
}

/// Of `st.param.b64 [param0], %rd1;` the type, the parameter and the value, if that is a register or a number as wide
/// as the type.
fn stored(line: &str) -> Option<(&str, &str, &str)> {
    let (kind, rest) = line.strip_prefix("st.param")?.strip_suffix(';')?.split_once(char::is_whitespace)?;
    let (name, value) = rest.trim_start().strip_prefix('[')?.split_once("],")?;
    let value = value.trim();
    let is_number = value.strip_prefix('-').unwrap_or(value).bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !value.is_empty() && wide(kind).is_some() || wide(kind) == register(value)).then_some((kind, name, value))
}

/// Of `ld.param.b32 %r1, [retval0];` the type, the variable and the register, if that is as wide as the type.
fn loaded(line: &str) -> Option<(&str, &str, &str)> {
    let (kind, rest) = line.strip_prefix("ld.param")?.strip_suffix("];")?.split_once(char::is_whitespace)?;
    let (to, name) = rest.split_once(',')?;
    let (to, name) = (to.trim(), name.trim_start().strip_prefix('[')?);
    (wide(kind).is_some() && wide(kind) == register(to)).then_some((kind, name, to))
}

/// Bytes of a parameter that one register holds.
fn wide(kind: &str) -> Option<u32> {
    match kind {
        ".b32" => Some(4),
        ".b64" => Some(8),
        _ => None,
    }
}

/// Bytes of a register, of those that LLVM calls `%r1` and `%rd1`.
fn register(name: &str) -> Option<u32> {
    let (name, bytes) = name.strip_prefix("%rd").map(|rest| (rest, 8)).or_else(|| Some((name.strip_prefix("%r")?, 4)))?;
    name.bytes().all(|byte| byte.is_ascii_digit()).then_some(bytes)
}

/// Where all lanes go, they go together: only behind a condition does `.uni` say more.
fn without_uni(line: Cow<'_, str>) -> Cow<'_, str> {
    let plain = ["bra", "call"].iter().find_map(|opcode| Some((opcode, line.strip_prefix(opcode)?.strip_prefix(".uni")?)));
    plain.map(|(opcode, rest)| format!("{opcode}{rest}")).map_or(line, Cow::Owned)
}

/// `.param .b64 param0; .param .b64 param1;` becomes `.param .b64 param0,param1;`.
fn declared_together(body: Vec<Cow<'_, str>>) -> Vec<Cow<'_, str>> {
    let mut out: Vec<Cow<'_, str>> = Vec::with_capacity(body.len());
    for line in body {
        let joined = out.last().and_then(|last| {
            let ((kind, names), (also, more)) = (declaration(last)?, declaration(&line)?);
            (kind == also).then(|| format!(".param {kind} {names},{more};"))
        });
        match (joined, out.last_mut()) {
            (Some(joined), Some(last)) => *last = joined.into(),
            _ => out.push(line),
        }
    }
    out
}

/// The type and the names of a line that declares parameters, without alignment.
fn declaration(line: &str) -> Option<(&str, &str)> {
    let (kind, names) = line.strip_prefix(".param ")?.strip_suffix(';')?.split_once(char::is_whitespace)?;
    (kind.starts_with(".b") || kind.starts_with(".f")).then_some((kind, names.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn becomes(from: &str, to: &str) {
        let body = format!("{{\n{from}\n}}");
        assert_eq!(shorter(body.split('\n').map(Cow::Borrowed).collect()).join("\n"), format!("{{\n{to}\n}}"));
    }

    #[test]
    fn words_are_passed_and_come_back_in_registers() {
        becomes(
            "mov.b64 %rd1, 7;\n{\n.param .b64 \tparam0;\n.param .b32 \tparam1;\n.param .b32 \tretval0;\nst.param.b32 \t[param1], -3;\nst.param.b64 \t[param0], %rd1;\n\
             call.uni (retval0), f, (param0, param1);\nld.param.b32 \t%r2, [retval0];\n}\nret;",
            "mov.b64 %rd1, 7;\ncall (%r2), f, (%rd1, -3);\nret;",
        );
        becomes("{\ncall.uni f, ();\n}", "call f, ();");
    }

    #[test]
    fn a_pointers_prototype_stays_in_its_block() {
        becomes(
            "{\n.param .b64 param0;\nprototype_1 : .callprototype ()_ (.param .b64 _);\nst.param.b64 [param0], %rd1;\ncall %rd2, (param0), prototype_1;\n}",
            "{\nprototype_1 : .callprototype ()_ (.param .b64 _);\ncall %rd2, (%rd1), prototype_1;\n}",
        );
    }

    #[test]
    fn what_is_no_word_of_that_width_stays_a_variable() {
        // Half of a register, bytes of several, an address, part of a variable, a byte of the result, and half of it.
        becomes(
            "{\n.param .b32 param0;\n.param .align 8 .b8 param1[16];\n.param .b64 param2;\n.param .b64 param3;\n.param .b64 param4;\nst.param.b32 [param0], %rd1;\n\
             st.param.b64 [param1], 0;\nst.param.b64 [param2], table;\nst.param.b32 [param3], %r1;\nst.param.b64 [param4], 4;\n\
             call.uni f, (param0, param1, param2, param3, param4);\n}",
            "{\n.param .b32 param0;\n.param .align 8 .b8 param1[16];\n.param .b64 param2,param3;\nst.param.b32 [param0], %rd1;\n\
             st.param.b64 [param1], 0;\nst.param.b64 [param2], table;\nst.param.b32 [param3], %r1;\ncall f, (param0, param1, param2, param3, 4);\n}",
        );
        for load in ["ld.param.b8 %rs1, [retval0];", "ld.param.b32 %rd1, [retval0];", "ld.param.b32 %r1, [retval0+4];"] {
            let rest = format!("f, ();\n{load}\n}}");
            becomes(
                &format!("{{\n.param .b32 retval0;\ncall.uni (retval0), {rest}"),
                &format!("{{\n.param .b32 retval0;\ncall (retval0), {rest}"),
            );
        }
        let twice = "{\n.param .b64 param0;\nst.param.b64 [param0], 1;\nst.param.b64 [param0], 2;\ncall f, (param0);\n}";
        becomes(twice, twice);
    }

    #[test]
    fn what_is_done_between_stores_stays_before_the_call_but_may_not_change_what_was_stored() {
        becomes(
            "{\n.param .b64 param0;\n.param .b64 param1;\nst.param.b64 [param1], %rd1;\ncvta.global.u64 %rd2,table;\nst.param.b64 [param0], %rd2;\nld.param.b64 %rd3, [f_param_0];\ncall.uni f, (param0, param1);\n}",
            "cvta.global.u64 %rd2,table;\nld.param.b64 %rd3, [f_param_0];\ncall f, (%rd2, %rd1);",
        );
        let again = "{\n.param .b64 param0;\nst.param.b64 [param0], %rd1;\nmov.b64 %rd1, table;\ncall f, (param0);\n}";
        becomes(again, again);
    }

    #[test]
    fn a_block_with_something_else_in_it_stays() {
        for block in [
            "{\n.param .b64 param0;\nst.param.b64 [param0], %rd1;\nadd.s64 %rd1, %rd1, 1;\ncall f, (param0);\n}",
            "{\n.param .b64 param0;\nst.param.b64 [param0], %rd1;\n@%p1 call f, (param0);\n}",
            "{\n.param .b64 param0;\nst.param.b64 [param0], %rd1;\n$L1:\ncall f, (param0);\n}",
            "{\n.param .b64 param0;\nst.param.b64 [param0], %rd1;\nbra $L1;\ncall f, (param0);\n}",
            "{\n.reg .b64 temp;\nmov.b64 temp, %rd1;\n}",
            "{\n{\n.reg .b32 temp;\n}\nret;\n}",
        ] {
            becomes(block, block);
        }
    }

    #[test]
    fn only_behind_a_condition_lanes_may_part() {
        becomes("bra.uni $L1;\n@%p1 bra.uni $L1;\nbrx.idx.uni %r1, t;", "bra $L1;\n@%p1 bra.uni $L1;\nbrx.idx.uni %r1, t;");
    }

    #[test]
    fn neighbours_of_one_type_share_a_line() {
        let lines = ".param .b64 param0;\n.param .b64 param1;\n.param .b32 param2;\n.param .align 16 .b8 retval0[16];\n.param .b32 param3;";
        becomes(lines, ".param .b64 param0,param1;\n.param .b32 param2;\n.param .align 16 .b8 retval0[16];\n.param .b32 param3;");
    }
}
