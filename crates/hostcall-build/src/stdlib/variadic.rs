//! Calls of C's variadic functions, in a program for a GPU: lowered to calls of the runtime's definitions, which have
//! their fixed parameters and one more, the address of all that follows.
//!
//! What follows lies in slots of 8 bytes, integers as wide as that, as on the stack of x86-64
//! (`hostcall-std/variadic.rs` reads them). LLVM's own lowering, `expand-variadics`, takes the fixed parameters from
//! the one declaration that a module has of a function; crates declare `ioctl` with an `int` and with a `long`, and
//! without `...`, and all of them call the same function here.

use crate::module;
use crate::symbols::{C_PREFIX, OF_C, VARIADIC};

/// So many slots the runtime may read, passed or not: `syscall` has the most. What is not passed is zero.
const SLOTS: usize = 5;

/// A module (as text) that calls the runtime's definitions, and declares none of those functions. `beside_c`: but for
/// those that C's library has, which are C's own ([`OF_C`]).
pub(super) fn lower(text: &str, beside_c: bool) -> String {
    let is_ours = |name: &str| VARIADIC.contains(&name) && !(beside_c && OF_C.contains(&name));
    let definitions: Vec<Definition<'_>> = text.lines().filter_map(Definition::of).collect();
    let private = text.lines().any(|line| line.starts_with("target datalayout") && line.contains("-A5"));
    let mut out = String::with_capacity(text.len());
    // Where the function at hand has its variables, how many slots it needs, and how many values have been named.
    let (mut entry, mut slots, mut names) = (0, 0, 0);
    let mut begins = false;
    for line in text.split_inclusive('\n') {
        if line.starts_with("declare ") && module::function(line).is_some_and(is_ours) {
            continue;
        }
        if begins && !module::is_label(line.trim_end()) {
            entry = out.len();
            begins = false;
        }
        begins |= line.starts_with("define ");
        let call =
            named(line, is_ours).and_then(|(at, name)| Call::of(line, at, definitions.iter().find(|definition| definition.name == name)?));
        if let Some(call) = call {
            slots = slots.max(call.lower(&mut names, &mut out));
        } else {
            renamed(line, is_ours, &mut out);
        }
        if line.starts_with('}') && slots > 0 {
            out.insert_str(entry, &variables(slots, private));
            slots = 0;
        }
    }
    out
}

/// The variables that a function needs for its calls.
fn variables(slots: usize, private: bool) -> String {
    if private {
        format!(
            "  %hostcall.slots = alloca [{slots} x i64], align 8, addrspace(5)\n  \
             %hostcall.more = addrspacecast ptr addrspace(5) %hostcall.slots to ptr\n"
        )
    } else {
        format!("  %hostcall.more = alloca [{slots} x i64], align 8\n")
    }
}

/// The first of the variadic functions that a line names, and where.
fn named(line: &str, is_ours: impl Fn(&str) -> bool) -> Option<(usize, &str)> {
    line.match_indices('@').map(|(at, _)| (at, module::symbol(&line[at + 1..]))).find(|(_, name)| is_ours(name))
}

/// The line with the runtime's names.
fn renamed(line: &str, is_ours: impl Fn(&str) -> bool, out: &mut String) {
    let mut rest = line;
    while let Some((at, name)) = named(rest, &is_ours) {
        let end = at + 1 + name.len();
        out.extend([&rest[..=at], C_PREFIX, name]);
        rest = &rest[end..];
    }
    out.push_str(rest);
}

/// The types of a definition of the runtime's.
struct Definition<'a> {
    /// As C has it.
    name: &'a str,
    result: &'a str,
    fixed: Vec<&'a str>,
}

impl<'a> Definition<'a> {
    fn of(line: &'a str) -> Option<Definition<'a>> {
        let (before, symbol) = module::definition(line)?;
        let name = symbol.strip_prefix(C_PREFIX).filter(|name| VARIADIC.contains(name))?;
        let mut fixed = module::parameters(line);
        fixed.pop()?;
        Some(Definition { name, result: before.split_whitespace().next_back()?, fixed })
    }
}

/// A call of one of them: `[%RESULT =] … call … TYPE @NAME(ARGUMENTS) …`.
struct Call<'a> {
    callee: &'a Definition<'a>,
    result: Option<&'a str>,
    kind: &'a str,
    arguments: Vec<Value<'a>>,
    /// Attributes and metadata.
    behind: &'a str,
}

#[derive(Clone, Copy)]
struct Value<'a> {
    kind: &'a str,
    value: &'a str,
}

impl<'a> Call<'a> {
    fn of(line: &'a str, at: usize, callee: &'a Definition<'a>) -> Option<Call<'a>> {
        let (before, after) = (line[..at].trim_end(), &line[at + 1 + callee.name.len()..]);
        let (result, call) = match before.trim_start().split_once(" = ") {
            Some((result, call)) => (Some(result), call),
            None => (None, before.trim_start()),
        };
        let (_, kind) = call.split_once("call ")?;
        // Of variadic functions the whole type is there: the result's, and those of parameters in brackets.
        let kind = kind.strip_suffix(')').map_or(kind, |kind| kind.rsplit_once('(').map_or(kind, |(kind, _)| kind));
        let (arguments, behind) = in_brackets(after)?;
        let arguments = listed(arguments).into_iter().map(Value::of).collect::<Option<Vec<_>>>()?;
        (arguments.len() >= callee.fixed.len()).then_some(())?;
        Some(Call { callee, result, kind: kind.split_whitespace().next_back()?, arguments, behind })
    }

    /// Writes it; how many slots it needs.
    fn lower(&self, names: &mut usize, out: &mut String) -> usize {
        let Definition { name, result, fixed } = self.callee;
        let mut new = || {
            *names += 1;
            format!("%hostcall.{names}")
        };
        let (passed, more) = self.arguments.split_at(fixed.len());
        let mut arguments = String::new();
        for (passed, wanted) in passed.iter().zip(fixed) {
            let value = match passed.cast_to(wanted) {
                None => passed.value.to_owned(),
                Some(cast) => {
                    let value = new();
                    out.push_str(&format!("  {value} = {cast}\n"));
                    value
                }
            };
            arguments += &format!("{wanted} {value}, ");
        }
        out.push_str(&format!("  store [{SLOTS} x i64] zeroinitializer, ptr %hostcall.more, align 8\n"));
        let mut slots = 0;
        for passed in more {
            let place = new();
            out.push_str(&format!("  {place} = getelementptr i8, ptr %hostcall.more, i64 {}\n", slots * 8));
            let wide = passed.wide();
            match passed.cast_to(wide) {
                None => out.push_str(&format!("  store {wide} {}, ptr {place}, align 8\n", passed.value)),
                Some(cast) => {
                    let value = new();
                    out.push_str(&format!("  {value} = {cast}\n  store {wide} {value}, ptr {place}, align 8\n"));
                }
            }
            slots += if wide == "i128" { 2 } else { 1 };
        }
        let call = format!("call {result} @{C_PREFIX}{name}({arguments}ptr %hostcall.more){}", self.behind);
        match self.result {
            Some(to) if self.kind == *result => out.push_str(&format!("  {to} = {call}")),
            Some(to) => {
                let value = new();
                let cast = Value { kind: result, value: &value }.cast_to(self.kind).unwrap_or_default();
                out.push_str(&format!("  {value} = {call}  {to} = {cast}\n"));
            }
            // A result without a name would have a number, and shift those of others.
            None => out.push_str(&format!("  {} = {call}", new())),
        }
        slots.max(SLOTS)
    }
}

impl<'a> Value<'a> {
    /// `i32 noundef %1`.
    fn of(argument: &'a str) -> Option<Value<'a>> {
        let (kind, _) = argument.split_once(' ')?;
        // Before a value there may be brackets, of attributes; only a constant ends with one.
        let constant = || CONSTANTS.iter().filter_map(|operation| argument.find(operation)).min();
        let at = if argument.ends_with(')') { constant()? } else { argument.rfind(' ')? };
        let value = &argument[at + 1..];
        Some(Value { kind, value })
    }

    /// As wide as its slots.
    fn wide(self) -> &'a str {
        match self.kind {
            "i1" | "i8" | "i16" | "i32" => "i64",
            kind => kind,
        }
    }

    /// What makes another type of it, if it is of another.
    fn cast_to(self, wanted: &str) -> Option<String> {
        let Value { kind, value } = self;
        let width = |kind: &str| kind.strip_prefix('i').and_then(|width| width.parse::<u32>().ok());
        let how = match (width(kind), width(wanted)) {
            _ if kind == wanted => return None,
            (Some(has), Some(wants)) if has > wants => "trunc",
            (Some(_), Some(_)) => "sext",
            (None, Some(_)) => "ptrtoint",
            (Some(_), None) => "inttoptr",
            (None, None) => "bitcast",
        };
        Some(format!("{how} {kind} {value} to {wanted}"))
    }
}

/// What constants with operands begin with.
const CONSTANTS: [&str; 8] = [" getelementptr ", " inttoptr ", " ptrtoint ", " addrspacecast ", " trunc ", " add ", " sub ", " xor "];

/// What is in the brackets that a text begins with, and what is behind them.
fn in_brackets(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text[..at].strip_prefix('(').map(|inner| (inner, &text[at + 1..]));
        }
    }
    None
}

/// What commas part, but for those in brackets.
fn listed(text: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut all) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                all.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    all.push(text[begin..].trim());
    all.retain(|part| !part.is_empty());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFINED: &str = "define internal noundef i32 @libc_ioctl(i32 noundef %0, i32 noundef %1, ptr readonly captures(none) %2) {\n  ret i32 0\n}\n\
        define i64 @libc_syscall(i64 %0, ptr %1) {\n  ret i64 0\n}\n";

    #[track_caller]
    fn is_lowered(module: &str, wanted: &str) {
        assert_eq!(lower(&format!("{DEFINED}{module}"), false), format!("{DEFINED}{wanted}"));
    }

    #[test]
    fn what_follows_lies_in_slots() {
        is_lowered(
            "declare i32 @ioctl(i32, i32, ...) #1\ndeclare i32 @ioctls(i32)\ndefine void @f(i32 %0) {\nstart:\n  \
             %1 = tail call noundef i32 (i32, i32, ...) @ioctl(i32 noundef range(i32 0, 9) %0, i32 -1, ptr noundef nonnull align 4 %p, i32 %0) #7\n  \
             ret void\n}\n",
            "declare i32 @ioctls(i32)\ndefine void @f(i32 %0) {\nstart:\n  %hostcall.more = alloca [5 x i64], align 8\n  \
             store [5 x i64] zeroinitializer, ptr %hostcall.more, align 8\n  \
             %hostcall.1 = getelementptr i8, ptr %hostcall.more, i64 0\n  store ptr %p, ptr %hostcall.1, align 8\n  \
             %hostcall.2 = getelementptr i8, ptr %hostcall.more, i64 8\n  %hostcall.3 = sext i32 %0 to i64\n  \
             store i64 %hostcall.3, ptr %hostcall.2, align 8\n  \
             %1 = call i32 @libc_ioctl(i32 %0, i32 -1, ptr %hostcall.more) #7\n  ret void\n}\n",
        );
    }

    #[test]
    fn other_declarations_call_the_same_function() {
        // With a `long` where an `int` is wanted, without `...`, with another result, and without one.
        is_lowered(
            "define void @f() {\n  %1 = call i64 @ioctl(i32 1, i64 21523, ptr getelementptr inbounds (i8, ptr @a, i64 8))\n  \
             call void (i32, ...) @syscall(i32 %0)\n  ret void\n}\n",
            "define void @f() {\n  %hostcall.more = alloca [5 x i64], align 8\n  %hostcall.1 = trunc i64 21523 to i32\n  \
             store [5 x i64] zeroinitializer, ptr %hostcall.more, align 8\n  \
             %hostcall.2 = getelementptr i8, ptr %hostcall.more, i64 0\n  \
             store ptr getelementptr inbounds (i8, ptr @a, i64 8), ptr %hostcall.2, align 8\n  \
             %hostcall.3 = call i32 @libc_ioctl(i32 1, i32 %hostcall.1, ptr %hostcall.more)\n  %1 = sext i32 %hostcall.3 to i64\n  \
             %hostcall.4 = sext i32 %0 to i64\n  \
             store [5 x i64] zeroinitializer, ptr %hostcall.more, align 8\n  \
             %hostcall.5 = call i64 @libc_syscall(i64 %hostcall.4, ptr %hostcall.more)\n  ret void\n}\n",
        );
    }

    #[test]
    fn addresses_of_functions_are_the_runtimes() {
        is_lowered(
            "  store ptr @fcntl, ptr %p\n  call void @g(ptr @open, ptr @opened)\n",
            "  store ptr @libc_fcntl, ptr %p\n  call void @g(ptr @libc_open, ptr @opened)\n",
        );
    }

    #[test]
    fn variables_of_amds_lanes_are_in_their_own_memory() {
        let module = "target datalayout = \"e-p:64:64-A5-G1\"\n";
        let lowered =
            lower(&format!("{module}{DEFINED}define void @f() {{\n  %1 = call i32 (i32, i32, ...) @ioctl(i32 1, i32 2)\n}}\n"), false);
        assert!(lowered.contains("alloca [5 x i64], align 8, addrspace(5)\n  %hostcall.more = addrspacecast "), "{lowered}");
    }
}
