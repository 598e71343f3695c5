//! `goto *place`, with which interpreters in C choose what comes next, where a GPU's code has no jump to an address.
//!
//! The addresses of blocks become numbers, and each jump a `switch` over those of its function. Nothing can tell: all
//! that C lets a program do with such an address is to jump to it. (Of a block that is named more than once one case is
//! left. Its values would have to know of that; but in code that nothing has optimised they are in memory.)

use std::collections::{BTreeMap, BTreeSet};

use crate::module;

/// How LLVM writes a block's address: this, the function's name, `, %`, the block's and a bracket.
const ADDRESS: &str = "blockaddress(@";

/// A module (as text) without addresses of blocks, and without jumps to them.
pub(crate) fn lower(text: &str) -> String {
    let mut numbers: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (_, function, block) in addresses(text) {
        let next = numbers.len() + 1;
        numbers.entry((function, block)).or_insert(next);
    }
    let mut out = String::with_capacity(text.len());
    let (mut function, mut jumps) = ("", 0);
    for line in text.split_inclusive('\n') {
        if let Some((_, name)) = module::definition(line) {
            function = name;
        }
        if let Some((place, blocks)) = jump(line) {
            jumps += 1;
            out += &format!(
                "  %hostcall.jump.{jumps} = ptrtoint ptr {place} to i64\n  switch i64 %hostcall.jump.{jumps}, label %hostcall.nowhere.{jumps} [\n"
            );
            for block in blocks.into_iter().collect::<BTreeSet<_>>() {
                // One whose address nobody takes is not jumped to.
                if let Some(number) = numbers.get(&(function, block)) {
                    out += &format!("    i64 {number}, label %{block}\n");
                }
            }
            out += &format!("  ]\n\nhostcall.nowhere.{jumps}:\n  unreachable\n");
            continue;
        }
        let mut rest = line;
        while let Some((at, name, block)) = addresses(rest).next() {
            out.push_str(&rest[..at]);
            let number = numbers.get(&(name, block)).copied().unwrap_or_default();
            out += &format!("inttoptr (i64 {number} to ptr)");
            rest = rest[at..].split_once(')').map_or("", |(_, rest)| rest);
        }
        out.push_str(rest);
    }
    out
}

/// Addresses of blocks in a text: where, of which function, which block.
fn addresses(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    text.match_indices(ADDRESS).filter_map(|(at, _)| {
        let (function, rest) = text[at + ADDRESS.len()..].split_once(", %")?;
        let (block, _) = rest.split_once(')')?;
        Some((at, function.trim_matches('"'), block))
    })
}

/// `indirectbr ptr PLACE, [label %BLOCK, …]`
fn jump(line: &str) -> Option<(&str, Vec<&str>)> {
    let (place, rest) = line.trim_start().strip_prefix("indirectbr ptr ")?.split_once(", [")?;
    let (blocks, _) = rest.split_once(']')?;
    Some((place, blocks.split(", ").filter_map(|block| block.trim().strip_prefix("label %")).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jumps_to_addresses_choose_among_numbers() {
        let module = "@table = internal constant [2 x ptr] [ptr blockaddress(@run, %4), ptr blockaddress(@run, %7)]\n\
            define i32 @run(ptr %0) {\n  indirectbr ptr %0, [label %4, label %7, label %9, label %4]\n\n4:\n  ret i32 0\n}\n";
        let wanted = "@table = internal constant [2 x ptr] [ptr inttoptr (i64 1 to ptr), ptr inttoptr (i64 2 to ptr)]\n\
            define i32 @run(ptr %0) {\n  %hostcall.jump.1 = ptrtoint ptr %0 to i64\n  switch i64 %hostcall.jump.1, label %hostcall.nowhere.1 [\n    \
            i64 1, label %4\n    i64 2, label %7\n  ]\n\nhostcall.nowhere.1:\n  unreachable\n\n4:\n  ret i32 0\n}\n";
        assert_eq!(lower(module), wanted);
        assert_eq!(lower("define void @f() {\n  ret void\n}\n"), "define void @f() {\n  ret void\n}\n");
    }
}
