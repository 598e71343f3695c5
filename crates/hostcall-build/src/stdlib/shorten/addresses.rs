//! Generic addresses of variables, which LLVM takes in two steps where one instruction can. The machine code is the
//! same.

use std::borrow::Cow;
use std::collections::HashMap;

use super::words;

/// `mov.b64 %a, variable; … cvta.global.u64 %b, %a;` becomes `cvta.global.u64 %b, variable;` where nothing else names
/// `%a`.
pub(super) fn in_one_step<'a>(body: &[&'a str]) -> Vec<Cow<'a, str>> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, line) in body.iter().enumerate() {
        for word in words(line).filter(|word| word.starts_with("%rd")) {
            places.entry(word).or_default().push(at);
        }
    }
    let mut lines: Vec<Option<Cow<'a, str>>> = body.iter().map(|line| Some(Cow::Borrowed(*line))).collect();
    for (at, line) in body.iter().enumerate() {
        let Some((register, variable)) = operands(line, "mov.b64") else { continue };
        let Some(&[from, to]) = places.get(register).map(Vec::as_slice) else { continue };
        if from != at || !variable.starts_with(|c: char| c.is_ascii_alphabetic() || "_$".contains(c)) {
            continue;
        }
        if let Some((generic, of)) = operands(body[to], "cvta.global.u64")
            && of == register
        {
            lines[to] = Some(format!("cvta.global.u64 {generic},{variable};").into());
            lines[at] = None;
        }
    }
    lines.into_iter().flatten().collect()
}

/// The two operands of an instruction of that name without a guard.
fn operands<'a>(line: &'a str, opcode: &str) -> Option<(&'a str, &'a str)> {
    let rest = line.strip_prefix(opcode)?.strip_suffix(';')?;
    let (to, from) = rest.strip_prefix(char::is_whitespace)?.split_once(',')?;
    let (to, from) = (to.trim(), from.trim());
    (words(to).count() == 1 && words(from).count() == 1).then_some((to, from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn becomes(from: &str, to: &str) {
        let lines: Vec<&str> = from.split('\n').collect();
        assert_eq!(in_one_step(&lines).join("\n"), to);
    }

    #[test]
    fn a_generic_address_is_taken_in_one_step() {
        becomes(
            "mov.b64 \t%rd1, anon;\nadd.s64 %rd3, %rd4, 1;\ncvta.global.u64 \t%rd2, %rd1;\nst.b64 [%rd2], %rd2;",
            "add.s64 %rd3, %rd4, 1;\ncvta.global.u64 %rd2,anon;\nst.b64 [%rd2], %rd2;",
        );
    }

    #[test]
    fn an_address_that_is_used_otherwise_stays() {
        for text in [
            "mov.b64 %rd1, anon;\ncvta.global.u64 %rd2, %rd1;\nld.global.b64 %rd3, [%rd1];",
            "mov.b64 %rd1, anon;\nmov.b64 %rd1, other;\ncvta.global.u64 %rd2, %rd1;",
            "mov.b64 %rd1, %rd5;\ncvta.global.u64 %rd2, %rd1;",
            "mov.b64 %rd1, 16;\ncvta.global.u64 %rd2, %rd1;",
            "mov.b64 %rd1, anon;\ncvta.local.u64 %rd2, %rd1;",
            "mov.b64 %rd1, anon;\ncvta.to.global.u64 %rd2, %rd1;",
            "mov.b64 %rd1, anon;\n@%p1 cvta.global.u64 %rd2, %rd1;",
            "@%p1 mov.b64 %rd1, anon;\ncvta.global.u64 %rd2, %rd1;",
            "cvta.global.u64 %rd2, %rd1;\nmov.b64 %rd1, anon;",
            "mov.b64 %rd1, anon;\ncvta.global.u64 %rd1, %rd1;",
        ] {
            becomes(text, text);
        }
    }
}
