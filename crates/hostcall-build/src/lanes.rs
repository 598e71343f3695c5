//! A program with std that has no kernels of its own.
//!
//! Its threads print and panic as threads do. What a kernel's lanes need instead (a standard output for each, panics in
//! messages of their own) hangs in std and in the runtime on one question: is this a kernel's lane? Where there is no
//! kernel, the answer is known, and all of it is dropped. So is what the heap does for a wave whose lanes allocate
//! together.

use crate::module::definition;

/// Functions that ask, by the ends of their names, and what they say then.
const ANSWERS: [(&str, &str); 3] = [
    ("sys_is_lane", "  ret i32 0\n"),
    ("12hostcall_std4lane10is_kernels", "  ret i1 false\n"),
    ("15hostcall_device4heap12only_threads", "  ret i1 true\n"),
];

/// The module (as text) with the question answered. What is not found stays as it is: the program is larger then, not
/// wrong.
pub(crate) fn none(module: &str) -> String {
    let mut out = String::with_capacity(module.len());
    let mut skipping = false;
    for line in module.split_inclusive('\n') {
        if skipping {
            skipping = !line.starts_with('}');
            if skipping {
                continue;
            }
        }
        out.push_str(line);
        let answer = definition(line).and_then(|(before, name)| {
            let (_, answer) = ANSWERS.into_iter().find(|(end, _)| name.ends_with(end))?;
            // Another runtime may ask in another way.
            let kind = answer.split_whitespace().nth(1)?;
            before.split_whitespace().any(|word| word == kind).then_some(answer)
        });
        if let Some(answer) = answer {
            out.push_str(answer);
            skipping = true;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_is_answered_and_other_functions_stay() {
        let module = "define i32 @sys_is_lane() unnamed_addr #1 {\nstart:\n  %1 = call i1 @x()\n  ret i32 %1\n}\n\ndefine void @sys_is_lane_not() {\n  ret void\n}\n";
        assert_eq!(
            none(module),
            "define i32 @sys_is_lane() unnamed_addr #1 {\n  ret i32 0\n}\n\ndefine void @sys_is_lane_not() {\n  ret void\n}\n"
        );
        let asks = "define internal zeroext i1 @_RNvNtCs1_12hostcall_std4lane10is_kernels() {\n  ret i1 %1\n}\n";
        assert_eq!(none(asks), asks.replace("%1", "false"));
        let other = "define void @sys_is_lane() {\n  ret void\n}\n";
        assert_eq!(none(other), other);
    }
}
