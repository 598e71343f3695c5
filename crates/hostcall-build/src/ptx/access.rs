//! Which memory an instruction accesses, where, and how much of it.

use std::ops::Range;

use hostcall_abi::stream::{AccessKind, Space};

use super::module::{Instruction, bits_of};

/// An access of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) kind: AccessKind,
    pub(crate) window: Window,
    /// Tokens of the address, with its brackets.
    pub(crate) address: Range<usize>,
    pub(crate) bytes: Bytes,
    /// What says that fewer bytes are accessed: a number of them, or a predicate, where it is none.
    pub(crate) fewer: Option<Range<usize>>,
    /// Only so many first lanes of a wave have an address.
    pub(crate) lanes: Option<u32>,
}

/// What an address is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    Generic,
    Global,
    /// The workgroup's own memory.
    Shared,
    /// That of the workgroups of a cluster.
    Cluster,
}

impl Window {
    pub(crate) fn space(self) -> Space {
        match self {
            Window::Generic => Space::Flat,
            Window::Global => Space::Global,
            Window::Shared | Window::Cluster => Space::Shared,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bytes {
    /// As many.
    Are(u32),
    /// As these tokens say.
    Say(Range<usize>),
}

/// What is known of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Touches {
    /// These accesses; none, as most.
    All(Vec<Access>),
    /// Memory, in a way of which nothing is told.
    Untold,
}

/// The space that a part of a dotted name names; `None` within: one that is not told of.
fn window_of(part: &str) -> Option<Option<Window>> {
    Some(match part {
        "global" => Some(Window::Global),
        "shared" | "shared::cta" => Some(Window::Shared),
        "shared::cluster" => Some(Window::Cluster),
        "const" | "local" | "param" | "param::entry" | "param::func" => None,
        _ => return None,
    })
}

/// What an instruction does to memory. Operands are those of the instruction; they may be fewer than there should be.
pub(crate) fn touches(instruction: &Instruction<'_>) -> Touches {
    let parts: Vec<&str> = instruction.opcode.split('.').collect();
    let operand = |number: usize| instruction.operands.get(number).cloned();
    let none = || Touches::All(Vec::new());
    let has = |part: &str| parts.contains(&part);
    // The space of the whole instruction.
    let window = || parts.iter().find_map(|part| window_of(part)).unwrap_or(Some(Window::Generic));
    let one = |kind: AccessKind, window: Option<Window>, address: Option<Range<usize>>, bytes: u32| match (window, address) {
        (Some(window), Some(address)) => {
            Touches::All(vec![Access { kind, window, address, bytes: Bytes::Are(bytes), fewer: None, lanes: None }])
        }
        _ => none(),
    };
    match parts[0] {
        "ld" | "ldu" => one(AccessKind::Read, window(), operand(1), width(&parts)),
        "st" if has("bulk") => match (operand(0), operand(1), window()) {
            (Some(address), Some(bytes), Some(window)) => {
                Touches::All(vec![Access { kind: AccessKind::Write, window, address, bytes: Bytes::Say(bytes), fewer: None, lanes: None }])
            }
            _ => none(),
        },
        "st" => one(AccessKind::Write, window(), operand(0), width(&parts)),
        "atom" => one(AccessKind::Atomic, window(), operand(1), width(&parts)),
        "red" => one(AccessKind::Atomic, window(), operand(0), width(&parts)),
        "multimem" if has("ld_reduce") => one(AccessKind::Read, window(), operand(1), width(&parts)),
        "multimem" if has("st") => one(AccessKind::Write, window(), operand(0), width(&parts)),
        "multimem" if has("red") => one(AccessKind::Atomic, window(), operand(0), width(&parts)),
        "multimem" => Touches::Untold,
        "ldmatrix" | "stmatrix" => {
            let (kind, address) = if parts[0] == "ldmatrix" { (AccessKind::Read, operand(1)) } else { (AccessKind::Write, operand(0)) };
            // A row of 16 bytes for each lane, of as many matrices as are loaded.
            let rows = if has("m16n16") { 16 } else { 8 };
            let matrices = if has("x4") { 4 } else { 1 + u32::from(has("x2")) };
            match one(kind, window(), address, 16) {
                Touches::All(mut all) => {
                    all.iter_mut().for_each(|access| access.lanes = Some(rows * matrices).filter(|lanes| *lanes < 32));
                    Touches::All(all)
                }
                Touches::Untold => Touches::Untold,
            }
        }
        "cp" => copies(instruction, &parts),
        "wmma" if has("load") || has("store") => Touches::Untold,
        "wgmma" if has("mma_async") => Touches::Untold,
        "tcgen05" if has("cp") || has("mma") => Touches::Untold,
        "tex" | "tld4" | "suld" | "sust" | "sured" => Touches::Untold,
        _ => none(),
    }
}

/// Bytes of what an instruction loads or stores: its last type, as often as its vector is long.
fn width(parts: &[&str]) -> u32 {
    let bits = parts.iter().rev().find_map(|part| bits_of(part)).unwrap_or(32);
    let times = parts.iter().find_map(|part| part.strip_prefix('v')?.parse::<u32>().ok()).unwrap_or(1);
    (bits / 8).max(1) * times
}

/// Copies that do not wait.
fn copies(instruction: &Instruction<'_>, parts: &[&str]) -> Touches {
    let none = Touches::All(Vec::new());
    let has = |part: &str| parts.contains(&part);
    let is_copy = parts.get(1) == Some(&"async") || (parts.get(1) == Some(&"reduce") && parts.get(2) == Some(&"async"));
    let manages = ["commit_group", "wait_group", "wait_all", "mbarrier", "prefetch"];
    if !is_copy || manages.iter().any(|part| has(part)) {
        return none;
    }
    if has("tensor") {
        return Touches::Untold;
    }
    let windows: Vec<Window> = parts.iter().filter_map(|part| window_of(part).flatten()).collect();
    let operands = &instruction.operands;
    let ([to_window, from_window, ..], [to, from, bytes, rest @ ..]) = (&windows[..], &operands[..]) else { return none };
    let access = |kind, window: Window, address: &Range<usize>, bytes: Bytes| Access {
        kind,
        window,
        address: address.clone(),
        bytes,
        fewer: None,
        lanes: None,
    };
    let write = if has("reduce") { AccessKind::Atomic } else { AccessKind::Write };
    if has("bulk") {
        let bytes = Bytes::Say(bytes.clone());
        return Touches::All(vec![access(AccessKind::Read, *from_window, from, bytes.clone()), access(write, *to_window, to, bytes)]);
    }
    // `cp.async.ca.shared.global [to], [from], 16 {, bytes of them that are read, or a predicate: none} {, policy}`:
    // what is not read is written as zeros.
    let mut read = access(AccessKind::Read, *from_window, from, Bytes::Say(bytes.clone()));
    let has_policy = parts.contains(&"L2::cache_hint");
    if let Some(third) = rest.first().filter(|_| rest.len() > usize::from(has_policy)) {
        read.fewer = Some(third.clone());
    }
    Touches::All(vec![read, access(write, *to_window, to, Bytes::Say(bytes.clone()))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::module::{Module, What};

    /// What a statement touches: kind, space, bytes, text of the address.
    fn told(statement: &str) -> Vec<(String, Window, String, String)> {
        let text = format!(".version 8.7\n.target sm_90a\n.entry k()\n{{\n{statement}\n}}\n");
        let module = Module::read(&text).expect("PTX");
        let body = module.functions[0].body.as_ref().expect("a body");
        let [.., What::Instruction(instruction)] = &body.statements.iter().map(|s| &s.what).collect::<Vec<_>>()[..] else {
            panic!("{statement}")
        };
        match touches(instruction) {
            Touches::Untold => vec![("untold".into(), Window::Generic, String::new(), String::new())],
            Touches::All(all) => all
                .iter()
                .map(|access| {
                    let bytes = match &access.bytes {
                        Bytes::Are(bytes) => bytes.to_string(),
                        Bytes::Say(range) => module.between(range).to_owned(),
                    };
                    let fewer = access.fewer.as_ref().map(|range| format!(" or {}", module.between(range))).unwrap_or_default();
                    let lanes = access.lanes.map(|lanes| format!("/{lanes}")).unwrap_or_default();
                    (
                        access.kind.name().to_owned(),
                        access.window,
                        format!("{bytes}{fewer}{lanes}"),
                        module.between(&access.address).to_owned(),
                    )
                })
                .collect(),
        }
    }

    #[track_caller]
    fn one(statement: &str, kind: &str, window: Window, bytes: &str, address: &str) {
        assert_eq!(told(statement), [(kind.to_owned(), window, bytes.to_owned(), address.to_owned())], "{statement}");
    }

    #[test]
    fn loads_and_stores_of_all_widths_and_spaces_are_known() {
        use Window::*;
        one("ld.global.u32 %r1, [%rd1+16];", "read", Global, "4", "[%rd1+16]");
        one("@!%p1 ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];", "read", Global, "16", "[%rd1]");
        one("ld.volatile.v2.b64 {%rd2,%rd3},[%rd1];", "read", Generic, "16", "[%rd1]");
        one("ld.global.v8.b32 {a,b,c,d,e,f,g,h}, [ %rd1 + 0 ];", "read", Global, "32", "[ %rd1 + 0 ]");
        one("ld.shared::cluster.b8 %rs1, [%r1];", "read", Cluster, "1", "[%r1]");
        one("ld.shared.b128 %q, [smem];", "read", Shared, "16", "[smem]");
        one("ld.relaxed.sys.global.L1::evict_last.L2::cache_hint.b64 %rd2, [%rd1].unified, %rd9;", "read", Global, "8", "[%rd1].unified");
        one("ld.global.u32 %r1, gv[4];", "read", Global, "4", "gv[4]");
        one("ldu.global.v2.u16 {a, b}, [%rd1];", "read", Global, "4", "[%rd1]");
        one("st.global.v2.f64 [%rd1+-8], {%fd1, %fd2};", "write", Global, "16", "[%rd1+-8]");
        one("st.shared::cta.b16 [%r1], %rs1;", "write", Shared, "2", "[%r1]");
        one("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r1], {a,b,c,d}, [%r2];", "write", Cluster, "16", "[%r1]");
        one("st.bulk.weak.shared::cta [%rd1], %rd2, 0;", "write", Shared, "%rd2", "[%rd1]");
        for nothing in [
            "ld.param.u64 %rd1, [p];",
            "ld.param::entry.b32 %r1, [p+4];",
            "st.local.u32 [%rd1], %r1;",
            "ld.const.f32 %f1, [c];",
            "st.param.b32 [param0], %r1;",
            "prefetch.global.L2 [%rd1];",
            "cvta.shared.u64 %rd1, %rd2;",
            "mbarrier.init.shared::cta.b64 [%r1], 1;",
            "fence.proxy.async.shared::cta;",
        ] {
            assert_eq!(told(nothing), [], "{nothing}");
        }
    }

    #[test]
    fn atomic_operations_are_known() {
        use Window::*;
        one("atom.global.add.u32 %r1, [%rd1], %r2;", "atomic", Global, "4", "[%rd1]");
        one("atom.acq_rel.gpu.shared::cta.cas.b64 _, [%r1], %rd1, %rd2;", "atomic", Shared, "8", "[%r1]");
        one("atom.cas.b128 q, [%rd1], a, b;", "atomic", Generic, "16", "[%rd1]");
        one("atom.global.v4.f32.add {a,b,c,d}, [%rd1], {e,f,g,h};", "atomic", Global, "16", "[%rd1]");
        one("atom.add.noftz.f16x2 %r1, [%rd1], %r2;", "atomic", Generic, "4", "[%rd1]");
        one("red.relaxed.gpu.global.add.f64 [%rd1+8], %fd1;", "atomic", Global, "8", "[%rd1+8]");
        one(
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%r1], %r2, [%r3];",
            "atomic",
            Cluster,
            "4",
            "[%r1]",
        );
        one("multimem.ld_reduce.relaxed.sys.global.add.v4.bf16x2 {a,b,c,d}, [%rd1];", "read", Global, "16", "[%rd1]");
        one("multimem.red.release.sys.global.add.u32 [%rd1], %r1;", "atomic", Global, "4", "[%rd1]");
    }

    #[test]
    fn copies_read_one_memory_and_write_the_other() {
        let of = |statement: &str| {
            told(statement).into_iter().map(|(kind, window, bytes, at)| format!("{kind} {window:?} {bytes} {at}")).collect::<Vec<_>>()
        };
        assert_eq!(of("cp.async.cg.shared.global [%r1], [%rd1], 16;"), ["read Global 16 [%rd1]", "write Shared 16 [%r1]"]);
        assert_eq!(
            of("cp.async.ca.shared::cta.global.L2::128B [ %r1 + 0 ], [ %rd1 + 0 ], 0x8, %r2;"),
            ["read Global 0x8 or %r2 [ %rd1 + 0 ]", "write Shared 0x8 [ %r1 + 0 ]"]
        );
        assert_eq!(
            of("cp.async.ca.shared.global.L2::cache_hint [%r1], [%rd1], 4, %rd2;"),
            ["read Global 4 [%rd1]", "write Shared 4 [%r1]"]
        );
        assert_eq!(
            of("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r3];"),
            ["read Global %r2 [%rd1]", "write Cluster %r2 [%r1]"]
        );
        assert_eq!(
            of("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], 128;"),
            ["read Shared 128 [%r1]", "atomic Global 128 [%rd1]"]
        );
        for nothing in [
            "cp.async.commit_group;",
            "cp.async.wait_group 0;",
            "cp.async.bulk.prefetch.L2.global [%rd1], 16;",
            "cp.async.mbarrier.arrive.shared.b64 [%r1];",
        ] {
            assert_eq!(told(nothing), [], "{nothing}");
        }
    }

    #[test]
    fn rows_of_matrices_have_as_many_lanes_as_there_are_rows() {
        one("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {a,b,c,d}, [%r1];", "read", Window::Shared, "16", "[%r1]");
        one("ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {a,b}, [%r1];", "read", Window::Shared, "16/16", "[%r1]");
        one("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {a};", "write", Window::Shared, "16/8", "[%r1]");
        for untold in [
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {a, b}], [%r2];",
            "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {a}, [%rd1];",
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {a}, d, e, p, 1, 1, 0, 0;",
            "tex.2d.v4.f32.f32 {a,b,c,d}, [t, {x, y}];",
        ] {
            one(untold, "untold", Window::Generic, "", "");
        }
    }

    #[test]
    fn instructions_without_their_operands_are_no_access_and_no_panic() {
        for statement in ["ld.global.u32;", "cp.async.cg.shared.global [%r1];", "atom.add.u32 %r1;", "cp;", "st;", "x;"] {
            assert_eq!(told(statement), [], "{statement}");
        }
    }
}
