//! Orderings of atomic read-modify-write instructions, which LLVM's NVIDIA back end drops.
//!
//! LLVM 22 writes `fetch_*` and `swap` of whole words as a bare `atom.*`, whatever ordering they have: relaxed. A `Mutex` whose unlocking is a
//! `swap(Release)` then protects nothing. (`compare_exchange`, loads, stores and fences come out right.) Here such an instruction becomes what it
//! means: a relaxed one between fences. Their scope is the device, as that of a bare `atom` is: no such instruction crosses the bus.

use std::borrow::Cow;

/// The fences before and after an instruction of this ordering.
const FENCES: [(&str, Option<&str>, Option<&str>); 4] = [
    ("acquire", None, Some("acquire")),
    ("release", Some("release"), None),
    ("acq_rel", Some("release"), Some("acquire")),
    ("seq_cst", Some("seq_cst"), Some("acquire")),
];

/// The module (as text) with fences around its ordered read-modify-write instructions.
pub(crate) fn fence(module: &str) -> Cow<'_, str> {
    if !module.lines().any(|line| ordered(line).is_some()) {
        return Cow::Borrowed(module);
    }
    let mut out = String::with_capacity(module.len() + module.len() / 64);
    for line in module.lines() {
        let Some(Ordered { before, fences: (first, last), after }) = ordered(line) else {
            out.extend([line, "\n"]);
            continue;
        };
        push_fence(&mut out, first);
        out.extend([before, " monotonic", after, "\n"]);
        push_fence(&mut out, last);
    }
    Cow::Owned(out)
}

fn push_fence(out: &mut String, ordering: Option<&str>) {
    if let Some(ordering) = ordering {
        out.extend(["  fence syncscope(\"device\") ", ordering, "\n"]);
    }
}

/// A line with a read-modify-write instruction, around its ordering.
struct Ordered<'a> {
    before: &'a str,
    fences: (Option<&'static str>, Option<&'static str>),
    after: &'a str,
}

/// `%5 = atomicrmw add ptr %4, i64 1 acq_rel, align 8`: the ordering is the last word before the first comma behind the operands.
fn ordered(line: &str) -> Option<Ordered<'_>> {
    let start = line.find(" = atomicrmw ")?;
    if line[..start].contains('"') {
        // Not an instruction: text of a global.
        return None;
    }
    let end = line.find(", align ").unwrap_or(line.len());
    let (before, ordering) = line[..end].trim_end().rsplit_once(' ')?;
    let (_, first, last) = FENCES.into_iter().find(|(name, ..)| *name == ordering)?;
    Some(Ordered { before, fences: (first, last), after: &line[end..] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordered_instruction_comes_between_fences() {
        let module = "define i64 @f(ptr %p) {\n  %1 = atomicrmw add ptr %p, i64 1 acq_rel, align 8\n  ret i64 %1\n}\n";
        let expected = "define i64 @f(ptr %p) {\n  fence syncscope(\"device\") release\n  %1 = atomicrmw add ptr %p, i64 1 monotonic, align 8\n  \
            fence syncscope(\"device\") acquire\n  ret i64 %1\n}\n";
        assert_eq!(fence(module), expected);
    }

    #[test]
    fn each_ordering_has_its_fences_and_a_scope_stays() {
        let fenced =
            |ordering: &str| fence(&format!("  %1 = atomicrmw volatile xchg ptr %p, i32 %v {ordering}, align 4, !dbg !7\n")).into_owned();
        let kept = |scope: &str| format!("  %1 = atomicrmw volatile xchg ptr %p, i32 %v {scope}monotonic, align 4, !dbg !7\n");
        let fence_line = |ordering: &str| format!("  fence syncscope(\"device\") {ordering}\n");
        assert_eq!(fenced("acquire"), kept("") + &fence_line("acquire"));
        assert_eq!(fenced("release"), fence_line("release") + &kept(""));
        assert_eq!(fenced("syncscope(\"block\") seq_cst"), fence_line("seq_cst") + &kept("syncscope(\"block\") ") + &fence_line("acquire"));
    }

    #[test]
    fn what_is_relaxed_or_another_instruction_stays() {
        for line in [
            "  %1 = atomicrmw add ptr %p, i64 1 monotonic, align 8\n",
            "  %1 = cmpxchg ptr %p, i32 1, i32 2 acquire monotonic, align 4\n",
            "  %1 = load atomic i32, ptr %p acquire, align 4\n",
            "@text = constant [30 x i8] c\"%1 = atomicrmw add ptr %p acquire\"\n",
        ] {
            assert!(matches!(fence(line), Cow::Borrowed(same) if same == line), "{line}");
        }
    }
}
