//! Calls: LLVM declares each parameter of a call on a line of its own, with its type. Neighbours of one type share a line here, which is the same to assemblers.

use std::borrow::Cow;

/// `.param .b64 param0; .param .b64 param1;` becomes `.param .b64 param0,param1;`.
pub(super) fn declared_together(body: Vec<Cow<'_, str>>) -> Vec<Cow<'_, str>> {
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
    let (kind, names) = line.strip_prefix(".param ")?.strip_suffix(';')?.split_once(' ')?;
    (kind.starts_with(".b") || kind.starts_with(".f")).then_some((kind, names.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_one_type_share_a_line() {
        let lines = [
            "{",
            ".param .b64 param0;",
            ".param .b64 param1;",
            ".param .b32 param2;",
            ".param .align 16 .b8 retval0[16];",
            ".param .b32 param3;",
            "st.param.b64 [param0], %rd1;",
            ".param .b32 param4;",
        ];
        let shorter = declared_together(lines.map(Cow::Borrowed).to_vec());
        let expected = [
            "{",
            ".param .b64 param0,param1;",
            ".param .b32 param2;",
            ".param .align 16 .b8 retval0[16];",
            ".param .b32 param3;",
            "st.param.b64 [param0], %rd1;",
            ".param .b32 param4;",
        ];
        assert_eq!(shorter, expected);
    }
}
