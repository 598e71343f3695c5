//! Whether what was added says what the instructions do. The instructions are found and read by other means than those
//! that added the calls: by `Ptx`, and by the rules here, which know less.

use std::collections::BTreeMap;

use hostcall_build::ptx::{Function, Instruction, Ptx};

/// Kind, space and bytes of an access, as messages have them, and the text of its address; nothing for `cp.async`'s
/// bytes, which a register may say.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) kind: u32,
    pub(crate) space: u32,
    pub(crate) bytes: Option<u32>,
    pub(crate) address: String,
}

fn bits(opcode: &str) -> u32 {
    let last = opcode.rsplit('.').find_map(|part| {
        // Packed pairs and fours: `f16x2`.
        let (name, times) = part.split_once('x').map_or((part, 1), |(name, times)| (name, times.parse().unwrap_or(1)));
        let bits: u32 = name.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()?;
        let is_type = ["b", "u", "s", "f", "bf"].contains(&name.trim_end_matches(|c: char| c.is_ascii_digit()));
        is_type.then_some(bits * times)
    });
    let vector = opcode.split('.').find_map(|part| part.strip_prefix('v')?.parse::<u32>().ok()).unwrap_or(1);
    last.unwrap_or(0) * vector
}

/// The addresses in brackets, without blanks.
fn addresses(operands: &str) -> Vec<String> {
    let plain: String = operands.chars().filter(|c| !c.is_whitespace()).collect();
    plain.split('[').skip(1).filter_map(|rest| Some(rest.split_once(']')?.0.replace("+-", "-"))).collect()
}

/// What an instruction accesses.
pub(crate) fn accesses(instruction: &Instruction) -> Vec<Seen> {
    let opcode = instruction.opcode.as_str();
    let name = opcode.split('.').next().unwrap_or_default();
    let others = [".param", ".local", ".const"].iter().any(|space| opcode.contains(space));
    let space = |text: &str| {
        if text.contains(".global") {
            1
        } else if text.contains(".shared") {
            3
        } else {
            0
        }
    };
    // `[…]`, or an element of a variable.
    let element =
        instruction.operands.split(',').nth(1).map(str::trim).filter(|operand| !operand.starts_with('[') && operand.ends_with(']'));
    let at = match element {
        Some(element) if name == "ld" => vec![element.to_owned()],
        _ => addresses(&instruction.operands),
    };
    let address = |number: usize| at.get(number).cloned().unwrap_or_default();
    let bulk = opcode.contains(".bulk");
    match name {
        "ld" | "ldu" | "st" | "atom" | "red" if !others && !bulk => {
            let kind = match name {
                "ld" | "ldu" => 1,
                "st" => 2,
                _ => 0,
            };
            vec![Seen { kind, space: space(opcode), bytes: Some((bits(opcode) / 8).max(1)), address: address(0) }]
        }
        "st" if bulk => vec![Seen { kind: 2, space: 3, bytes: None, address: address(0) }],
        "ldmatrix" => vec![Seen { kind: 1, space: space(opcode), bytes: Some(16), address: address(0) }],
        "stmatrix" => vec![Seen { kind: 2, space: space(opcode), bytes: Some(16), address: address(0) }],
        "cp" if opcode.contains("async") && at.len() > 1 && !opcode.contains("tensor") && !opcode.contains("prefetch") => {
            let first = opcode.find(".shared").zip(opcode.find(".global"));
            let (to, from) = match first {
                Some((shared, global)) if shared < global => (3, 1),
                Some(_) => (1, 3),
                None => (3, 3),
            };
            let write = if opcode.contains("reduce") { 0 } else { 2 };
            vec![
                Seen { kind: 1, space: from, bytes: None, address: address(1) },
                Seen { kind: write, space: to, bytes: None, address: address(0) },
            ]
        }
        _ => Vec::new(),
    }
}

/// A call that was added, as the instructions before it say it.
#[derive(Debug)]
struct Told {
    what: u32,
    address: String,
    /// Told of behind another call.
    late: bool,
}

fn told(function: &Function) -> (Vec<(Told, usize)>, Vec<&Instruction>) {
    let all: Vec<&Instruction> = function.instructions().collect();
    let mut calls = Vec::new();
    let (mut address, mut what) = (String::new(), 0);
    for (at, instruction) in all.iter().enumerate() {
        let operands: String = instruction.operands.chars().filter(|c| !c.is_whitespace()).collect();
        let parts: Vec<&str> = operands.split(',').collect();
        match (instruction.opcode.as_str(), &parts[..]) {
            ("mov.b64" | "mov.u64", ["%__hostcall_address", value]) => address = (*value).to_owned(),
            ("add.s64", ["%__hostcall_address", base, offset]) | ("add.s32", ["%__hostcall_narrow", base, offset]) => {
                address = if *offset == "0" { (*base).to_owned() } else { format!("{base}+{offset}").replace("+-", "-") };
            }
            ("st.param.b64", ["[__hostcall_in_0]", value]) if value.starts_with("%__hostcall_kept") => address = String::from("kept"),
            // Of a range the third, which is the last that is one.
            ("st.param.b32", ["[__hostcall_in_1]" | "[__hostcall_in_2]", value]) => what = value.parse().expect("a number"),
            ("call.uni", [called, ..]) if ["__hostcall_probe_access", "__hostcall_probe_range"].contains(called) => {
                let late = address == "kept";
                calls.push((Told { what, address: std::mem::take(&mut address), late }, at));
            }
            _ => {}
        }
    }
    (calls, all)
}

/// Whether an instruction was added.
fn is_added(instruction: &Instruction) -> bool {
    instruction.operands.contains("__hostcall_")
}

/// Compares a module with what it became.
pub(crate) fn check(before: &str, after: &str) -> Result<(), String> {
    let (before, after) = (Ptx::parse(before), Ptx::parse(after));
    for function in &before.functions {
        let Some(made) = after.functions.iter().find(|made| made.name == function.name && made.is_entry == function.is_entry) else {
            return Err(format!("{} is gone", function.name));
        };
        let expected: usize = function.instructions().map(|instruction| accesses(instruction).len()).sum();
        let (calls, all) = told(made);
        if calls.len() != expected {
            return Err(format!("{}: {} calls for {expected} accesses", function.name, calls.len()));
        }
        // Nothing but calls has come in, in this order.
        let kept: Vec<&&Instruction> = all.iter().filter(|one| !is_added(one)).collect();
        let were: Vec<&Instruction> = function.instructions().collect();
        if kept.len() != were.len() || kept.iter().zip(&were).any(|(one, other)| **one != *other) {
            return Err(format!("{}: its instructions are {} and were {}", function.name, kept.len(), were.len()));
        }
        // By the instruction behind them.
        let mut by_instruction: BTreeMap<usize, Vec<&Told>> = BTreeMap::new();
        for (one, at) in calls.iter().filter(|(one, _)| !one.late) {
            let behind = (*at + 1..all.len()).find(|at| !is_added(all[*at]));
            by_instruction.entry(behind.unwrap_or(all.len())).or_default().push(one);
        }
        for (at, told) in by_instruction {
            let instruction = all.get(at).ok_or_else(|| format!("{}: a call behind the last instruction", function.name))?;
            let seen = accesses(instruction);
            let fits = seen.len() == told.len()
                && seen.iter().zip(&told).all(|(seen, told)| {
                    let bytes = told.what >> 5 & 0x7ff;
                    let address = seen.address.strip_suffix("+0").unwrap_or(&seen.address);
                    seen.kind == told.what & 3
                        && seen.space == told.what >> 2 & 7
                        && seen.bytes.is_none_or(|seen| seen == bytes)
                        && (address == told.address.strip_suffix("+0").unwrap_or(&told.address) || address.is_empty())
                });
            if !fits {
                return Err(format!(
                    "{}: {} {} has calls that say {told:?}, and is {seen:?}",
                    function.name, instruction.opcode, instruction.operands
                ));
            }
        }
    }
    Ok(())
}
