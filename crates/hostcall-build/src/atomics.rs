//! Orderings of atomic read-modify-write instructions, which LLVM's NVIDIA back end drops.
//!
//! LLVM 22 writes `fetch_*` and `swap` of whole words as a bare `atom.*`, whatever ordering they have: relaxed. A
//! `Mutex` whose unlocking is a `swap(Release)` then protects nothing. (`compare_exchange`, loads, stores and fences
//! come out right.) Here such an instruction becomes what it means: a relaxed one between fences. Their scope is the
//! device, as that of a bare `atom` is: no such instruction crosses the bus.
//!
//! PTX has instructions with an ordering of their own, `atom.release`, which cost less than a fence and an instruction:
//! a fence both waits for what was stored before and throws the first-level cache away, a release only does the former
//! and an acquire only the latter. LLVM has no way to ask for them. So the fences are marked, and where one still
//! stands beside its instruction in the PTX, the two become one ([`joined`]).

use std::borrow::Cow;

/// The fences before and after an instruction of this ordering.
const FENCES: [(&str, Option<&str>, Option<&str>); 4] = [
    ("acquire", None, Some(AFTER)),
    ("release", Some(BEFORE), None),
    ("acq_rel", Some(BEFORE), Some(AFTER)),
    ("seq_cst", Some("fence syncscope(\"device\") seq_cst"), Some(AFTER)),
];

/// The fence before an instruction that releases, and after one that acquires: for LLVM text that touches all memory,
/// for [`joined`] marked.
const BEFORE: &str = r#"call void asm sideeffect "fence.acq_rel.gpu; // release", "~{memory}"()"#;
const AFTER: &str = r#"call void asm sideeffect "fence.acq_rel.gpu; // acquire", "~{memory}"()"#;

/// How LLVM writes them.
const RELEASES: &str = "fence.acq_rel.gpu; // release";
const ACQUIRES: &str = "fence.acq_rel.gpu; // acquire";

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

fn push_fence(out: &mut String, fence: Option<&str>) {
    if let Some(fence) = fence {
        out.extend(["  ", fence, "\n"]);
    }
}

/// A line with a read-modify-write instruction, around its ordering.
struct Ordered<'a> {
    before: &'a str,
    fences: (Option<&'static str>, Option<&'static str>),
    after: &'a str,
}

/// `%5 = atomicrmw add ptr %4, i64 1 acq_rel, align 8`: the ordering is the last word before the first comma behind the
/// operands.
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

/// The PTX with a fence that was marked and its instruction as one, where nothing between them touches memory. (Where
/// something does, or the instruction is a loop, as for single bytes, the fence stays.)
pub(crate) fn joined(ptx: &str) -> String {
    let mut lines: Vec<Cow<'_, str>> = ptx.lines().map(Cow::Borrowed).collect();
    for at in 0..lines.len() {
        let (instruction, ordering) = match lines[at].trim() {
            RELEASES => ((at + 1..lines.len()).find(|line| !passes(&lines[*line])), "release"),
            ACQUIRES => ((0..at).rev().find(|line| !passes(&lines[*line])), "acquire"),
            _ => continue,
        };
        let Some(instruction) = instruction else { continue };
        if let Some(ordered) = with_ordering(&lines[instruction], ordering) {
            lines[instruction] = ordered.into();
            lines[at] = "".into();
        }
    }
    lines.iter().filter(|line| !line.is_empty()).flat_map(|line| [&**line, "\n"]).collect()
}

/// Whether a fence may move across the line: what only computes, and what is no instruction.
fn passes(line: &str) -> bool {
    const COMPUTES: [&str; 21] = [
        "mov.",
        "cvt.",
        "cvta.",
        "add.",
        "sub.",
        "mul.",
        "mad.",
        "and.",
        "or.",
        "xor.",
        "not.",
        "neg.",
        "shl.",
        "shr.",
        "setp.",
        "selp.",
        "min.",
        "max.",
        "prmt.",
        "bfe.",
        "ld.param.",
    ];
    let line = line.trim();
    line.is_empty() || line.starts_with("//") || COMPUTES.iter().any(|name| line.starts_with(name))
}

/// A read-modify-write instruction with an ordering, besides the one that this gave it before; `None` if it is another
/// instruction, or has an ordering or scope of its own.
fn with_ordering(line: &str, ordering: &str) -> Option<String> {
    let start = line.len() - line.trim_start().len();
    let (blanks, instruction) = line.split_at(start);
    let (name, rest) = ["atom.", "red."].iter().find_map(|name| Some((*name, instruction.strip_prefix(name)?)))?;
    if name == "atom."
        && ordering == "acquire"
        && let Some(rest) = rest.strip_prefix("release.gpu.")
    {
        return Some(format!("{blanks}atom.acq_rel.gpu.{rest}"));
    }
    let first = rest.split('.').next()?;
    let has_own = ["relaxed", "acquire", "release", "acq_rel", "sc", "cta", "cluster", "gpu", "sys"].contains(&first);
    // What gives no value cannot acquire.
    (!has_own && (name == "atom." || ordering == "release")).then(|| format!("{blanks}{name}{ordering}.gpu.{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordered_instruction_comes_between_fences() {
        let module = "define i64 @f(ptr %p) {\n  %1 = atomicrmw add ptr %p, i64 1 acq_rel, align 8\n  ret i64 %1\n}\n";
        let expected = format!(
            "define i64 @f(ptr %p) {{\n  {BEFORE}\n  %1 = atomicrmw add ptr %p, i64 1 monotonic, align 8\n  {AFTER}\n  ret i64 %1\n}}\n"
        );
        assert_eq!(fence(module), expected);
    }

    #[test]
    fn each_ordering_has_its_fences_and_a_scope_stays() {
        let fenced =
            |ordering: &str| fence(&format!("  %1 = atomicrmw volatile xchg ptr %p, i32 %v {ordering}, align 4, !dbg !7\n")).into_owned();
        let kept = |scope: &str| format!("  %1 = atomicrmw volatile xchg ptr %p, i32 %v {scope}monotonic, align 4, !dbg !7\n");
        let [before, after, all] = [BEFORE, AFTER, "fence syncscope(\"device\") seq_cst"].map(|fence| format!("  {fence}\n"));
        assert_eq!(fenced("acquire"), kept("") + &after);
        assert_eq!(fenced("release"), before + &kept(""));
        assert_eq!(fenced("syncscope(\"block\") seq_cst"), all + &kept("syncscope(\"block\") ") + &after);
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
    /// As LLVM writes inline assembly.
    fn marked(fence: &str) -> String {
        format!("\t// begin inline asm\n\t{fence}\n\t// end inline asm\n")
    }

    fn instructions(ptx: &str) -> String {
        ptx.lines().filter(|line| !line.trim().starts_with("//")).map(|line| format!("{}\n", line.trim())).collect()
    }

    #[test]
    fn unlocking_is_one_instruction_and_so_is_a_swap_that_acquires() {
        let [release, acquire] = [RELEASES, ACQUIRES].map(marked);
        let unlock = format!("\tst.b64 [%rd1+8], %rd2;\n{release}\tmov.b32 %r2, 0;\n\tatom.exch.b32 \t%r3, [%rd1], %r2;\n");
        assert_eq!(
            instructions(&joined(&unlock)),
            "st.b64 [%rd1+8], %rd2;\nmov.b32 %r2, 0;\natom.release.gpu.exch.b32 \t%r3, [%rd1], %r2;\n"
        );
        let swap = format!("\tatom.global.exch.b32 \t%r3, [%rd1], 2;\n{acquire}\tld.b32 %r4, [%rd2];\n");
        assert_eq!(instructions(&joined(&swap)), "atom.acquire.gpu.global.exch.b32 \t%r3, [%rd1], 2;\nld.b32 %r4, [%rd2];\n");
        let both = format!("{release}\tatom.add.u64 \t%rd3, [%rd1], 1;\n{acquire}");
        assert_eq!(instructions(&joined(&both)), "atom.acq_rel.gpu.add.u64 \t%rd3, [%rd1], 1;\n");
    }

    #[test]
    fn a_fence_stays_where_its_instruction_is_not_beside_it() {
        let [release, acquire] = [RELEASES, ACQUIRES].map(marked);
        for ptx in [
            format!("{release}\tld.b32 %r1, [%rd1];\n\tatom.exch.b32 %r3, [%rd1], 0;\n"),
            format!("{release}$L__BB1_1:\n\tatom.relaxed.sys.cas.b32 %r4, [%rd1], %r1, %r2;\n"),
            format!("\tatom.exch.b32 %r3, [%rd1], 0;\n\tst.b32 [%rd2], 1;\n{acquire}"),
            format!("\tred.add.u32 [%rd1], 1;\n{acquire}"),
            format!("{release}\tatom.cta.exch.b32 %r3, [%rd1], 0;\n"),
            "\tfence.acq_rel.gpu;\n\tatom.exch.b32 %r3, [%rd1], 0;\n".to_owned(),
        ] {
            assert_eq!(joined(&ptx), ptx);
        }
    }

    #[test]
    fn the_fence_between_two_instructions_goes_to_the_one_whose_it_is() {
        let [release, acquire] = [RELEASES, ACQUIRES].map(marked);
        let [first, second] = ["\tatom.add.u32 %r1, [%rd1], 1;\n", "\tatom.add.u32 %r2, [%rd2], 1;\n"];
        let ordered = |line: &str, ordering: &str| instructions(&line.replace("atom.", &format!("atom.{ordering}.gpu.")));
        assert_eq!(instructions(&joined(&format!("{first}{release}{second}"))), instructions(first) + &ordered(second, "release"));
        assert_eq!(instructions(&joined(&format!("{first}{acquire}{second}"))), ordered(first, "acquire") + &instructions(second));
    }
}
