//! Calls that go on in the memory of another lane.
//!
//! What calls save stays in the memory of the lane's own, of which a driver reserves as much for every lane that the
//! GPU could run: there is never enough of it for calls within calls within calls. But a thread of a program is one
//! lane of a wave, and the others have such memory, too, and need none. So a function that finds its lane's memory full
//! has the next lane call it once more: what it was given goes into a block on the thread's stack, and this lane waits
//! for the result (`hostcall_go_on` in `nvptx.ll`; `arch/nvptx/helpers.rs` in `hostcall-device`).
//!
//! A block lies below the stack's end: at -16 the function's address, further down the parameters, and then the result,
//! each at a multiple of 16. For each way to call a function there is a function `hostcall_there.N` that takes the
//! parameters out, calls, and puts the result in.

use super::layout::Types;
use super::{closing, split};

/// How functions are called that have the same parameters and the same result. What one register holds has one type
/// here, for who calls such a function does not know more of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signature {
    parameters: Vec<Value>,
    result: Option<Value>,
}

/// A value's type, and how far down in the block it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Value {
    kind: String,
    down: u64,
}

/// A function that can go on elsewhere.
pub(super) struct Further<'a> {
    pub(super) signature: Signature,
    /// Its parameters: type, what makes a word of one that is less, name.
    parameters: Vec<(&'a str, &'static str, &'a str)>,
    result: &'a str,
}

/// Bytes of a block (`BLOCK` in `nvptx.ll`).
pub(super) const BLOCK: u64 = 256;
/// What the places in it are multiples of.
const UNIT: u64 = 16;

impl<'a> Further<'a> {
    /// Of a function's first line; `None` where it has something that cannot be put into a block (a parameter that is a
    /// copy in memory, more parameters than are named, too many of them).
    pub(super) fn of(head: &'a str, types: &Types<'_>) -> Option<Further<'a>> {
        let (before, rest) = head.strip_prefix("define ")?.split_once('@')?;
        let result = *words(before).last()?;
        if result.starts_with("addrspace") {
            return None;
        }
        let (mut down, mut values, mut parameters) = (UNIT, Vec::new(), Vec::new());
        let mut place = |kind: &str| {
            down += types.size(kind)?.next_multiple_of(UNIT);
            Some(Value { kind: in_registers(kind).to_owned(), down })
        };
        for parameter in split(rest.split_once('(')?.1).into_iter().filter(|parameter| !parameter.is_empty()) {
            let (kind, rest) = types.split(parameter)?;
            let (attributes, name) = rest.rsplit_once(' ')?;
            if attributes.contains("byval(") || !name.starts_with('%') {
                return None;
            }
            values.push(place(kind)?);
            let extended = if attributes.contains("signext") { "sext" } else { "zext" };
            parameters.push((kind, if in_registers(kind) == "i32" && kind != "i32" { extended } else { "" }, name));
        }
        let result_value = if result == "void" { None } else { Some(place(result)?) };
        let aligned = |value: &Value| !value.kind.starts_with('<') || types.size(&value.kind).is_some_and(|bytes| bytes <= UNIT);
        let fits = down <= BLOCK && values.iter().chain(&result_value).all(aligned);
        fits.then_some(Further { signature: Signature { parameters: values, result: result_value }, parameters, result })
    }

    /// The parameters' names.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.parameters.iter().map(|(.., name)| *name)
    }

    /// What comes before the function's first block, which is labelled `first`.
    pub(super) fn beginning(first: &str) -> String {
        format!(
            "hostcall.begin:\n  %hostcall.full = call i1 @hostcall_own_is_full()\n\
             \x20 br i1 %hostcall.full, label %hostcall.further, label %{first}\n\n"
        )
    }

    /// What comes behind the last block of the function (`@NAME`). `number` is its signature's. (At the end, the jump
    /// to it is one.)
    pub(super) fn end(&self, function: &str, number: usize) -> String {
        let mut text = "\nhostcall.further:\n  %hostcall.block = call ptr @hostcall_stack_top()\n".to_owned();
        text += &place(0, "hostcall", UNIT);
        text += &format!("  store ptr {function}, ptr %hostcall.place.0, align 16\n");
        let places = self.signature.parameters.iter().zip(&self.parameters);
        for (index, (Value { down, .. }, (kind, extension, name))) in places.enumerate() {
            let index = index + 1;
            text += &place(index, "hostcall", *down);
            text += &match *extension {
                "" => format!("  store {kind} {name}, ptr %hostcall.place.{index}, align 16\n"),
                extension => format!(
                    "  %hostcall.word.{index} = {extension} {kind} {name} to i32\n  store i32 %hostcall.word.{index}, ptr %hostcall.place.{index}, align 16\n"
                ),
            };
        }
        text += &format!("  call void @hostcall_go_on(ptr @hostcall_there.{number})\n");
        let (result, last) = (self.result, self.parameters.len() + 1);
        text += &match &self.signature.result {
            None => "  ret void\n".to_owned(),
            Some(Value { down, .. }) => {
                let place = place(last, "hostcall", *down);
                format!(
                    "{place}  %hostcall.result = load {result}, ptr %hostcall.place.{last}, align 16\n  ret {result} %hostcall.result\n"
                )
            }
        };
        text
    }
}

impl Signature {
    /// `hostcall_there` of that number.
    pub(super) fn write(&self, number: usize, out: &mut String) {
        *out += &format!(
            "define internal void @hostcall_there.{number}(ptr %there.block) cold noinline convergent nounwind minsize optsize {{\n{}\
             \x20 %function = load ptr, ptr %there.place.0, align 16\n",
            place(0, "there", UNIT)
        );
        let mut arguments = Vec::with_capacity(self.parameters.len());
        for (index, Value { kind, down }) in self.parameters.iter().enumerate() {
            let index = index + 1;
            *out += &place(index, "there", *down);
            *out += &format!("  %value.{index} = load {kind}, ptr %there.place.{index}, align 16\n");
            arguments.push(format!("{kind} %value.{index}"));
        }
        let (arguments, last) = (arguments.join(", "), self.parameters.len() + 1);
        *out += &match &self.result {
            None => format!("  call void %function({arguments})\n"),
            Some(Value { kind, down }) => format!(
                "  %result = call {kind} %function({arguments})\n{}  store {kind} %result, ptr %there.place.{last}, align 16\n",
                place(last, "there", *down)
            ),
        };
        *out += "  ret void\n}\n\n";
    }
}

/// The type for all that one register holds as `kind`.
fn in_registers(kind: &str) -> &str {
    match kind {
        "ptr" => "i64",
        "i1" | "i8" | "i16" => "i32",
        kind => kind,
    }
}

/// Where in a block something is.
fn place(index: usize, owner: &str, down: u64) -> String {
    format!("  %{owner}.place.{index} = getelementptr inbounds i8, ptr %{owner}.block, i64 -{down}\n")
}

/// The words of a text; what is in brackets is part of one.
fn words(text: &str) -> Vec<&str> {
    let (mut rest, mut words) = (text.trim_start(), Vec::new());
    while !rest.is_empty() {
        let mut end = 0;
        while let Some(next) = rest[end..].chars().next().filter(|next| *next != ' ') {
            end += next.len_utf8();
            if matches!(next, '(' | '[' | '{' | '<') {
                end += closing(&rest[end..]).map_or(rest.len() - end, |close| close + 1);
            }
        }
        let (word, after) = rest.split_at(end);
        words.push(word);
        rest = after.trim_start();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn further(head: &str) -> Option<Further<'_>> {
        Further::of(head, &Types::of("%pair = type { i64, i32 }\n"))
    }

    #[test]
    fn what_a_function_takes_and_gives_goes_through_a_block() {
        let head = "define internal fastcc noundef zeroext range(i8 0, 3) i8 @f(ptr noalias noundef align 8 dereferenceable(16) %0, i16 signext %1, { i64, i1 } %x) unnamed_addr #3 {";
        let further = further(head).expect("it is understood");
        assert_eq!(further.names().collect::<Vec<_>>(), ["%0", "%1", "%x"]);
        assert_eq!(
            further.end("@f", 7),
            "\nhostcall.further:\n\
             \x20 %hostcall.block = call ptr @hostcall_stack_top()\n\
             \x20 %hostcall.place.0 = getelementptr inbounds i8, ptr %hostcall.block, i64 -16\n\
             \x20 store ptr @f, ptr %hostcall.place.0, align 16\n\
             \x20 %hostcall.place.1 = getelementptr inbounds i8, ptr %hostcall.block, i64 -32\n\
             \x20 store ptr %0, ptr %hostcall.place.1, align 16\n\
             \x20 %hostcall.place.2 = getelementptr inbounds i8, ptr %hostcall.block, i64 -48\n\
             \x20 %hostcall.word.2 = sext i16 %1 to i32\n\
             \x20 store i32 %hostcall.word.2, ptr %hostcall.place.2, align 16\n\
             \x20 %hostcall.place.3 = getelementptr inbounds i8, ptr %hostcall.block, i64 -64\n\
             \x20 store { i64, i1 } %x, ptr %hostcall.place.3, align 16\n\
             \x20 call void @hostcall_go_on(ptr @hostcall_there.7)\n\
             \x20 %hostcall.place.4 = getelementptr inbounds i8, ptr %hostcall.block, i64 -80\n\
             \x20 %hostcall.result = load i8, ptr %hostcall.place.4, align 16\n  ret i8 %hostcall.result\n"
        );
        let mut text = String::new();
        further.signature.write(7, &mut text);
        assert!(text.contains("  %result = call i32 %function(i64 %value.1, i32 %value.2, { i64, i1 } %value.3)\n"), "{text}");
        assert!(text.contains("  store i32 %result, ptr %there.place.4, align 16\n"), "{text}");
        let alike = "define internal i1 @g(i64 %0, i8 %1, { i64, i1 } %2) {";
        assert_eq!(self::further(alike).expect("it is understood").signature, further.signature, "one function calls both");
    }

    #[test]
    fn what_cannot_be_put_into_a_block_is_left_alone() {
        for head in [
            "define void @f(ptr byval(%pair) align 8 %0) {",
            "define void @f(i32 %0, ...) {",
            "define <8 x i64> @f() {",
            "define %unknown @f() {",
            "define ptr addrspace(3) @f() {",
            "define void @f([256 x i8] %0) {",
        ] {
            assert!(further(head).is_none(), "{head}");
        }
        let nothing = further("define void @f() #0 {").expect("it is understood");
        assert!(nothing.names().next().is_none() && nothing.end("@f", 0).ends_with(".0)\n  ret void\n"));
        assert!(further("define %pair @f(<2 x i64> %0) {").is_some());
    }
}
