//! How many bytes a value of a type takes, from the type's text.
//!
//! Alignments are those of 64-bit targets; where a target's own are smaller, the answer is larger than it need be, and
//! never too small.

use std::collections::HashMap;

/// Types that have names, with their definitions.
pub(crate) struct Types<'a>(HashMap<&'a str, &'a str>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    size: u64,
    align: u64,
}

impl<'a> Types<'a> {
    /// The named types of a module.
    pub(crate) fn of(module: &'a str) -> Types<'a> {
        let named = module.lines().filter(|line| line.starts_with('%')).filter_map(|line| line.split_once(" = type "));
        Types(named.map(|(name, body)| (name.trim(), body.trim())).collect())
    }

    /// Bytes from one value to the next in an array; `None` if the type is not understood.
    pub(super) fn size(&self, text: &str) -> Option<u64> {
        self.whole(text.trim(), 0).map(|layout| layout.size)
    }

    /// The type that `text` begins with, and what follows.
    pub(crate) fn split<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        let text = text.trim_start();
        let (_, rest) = self.first(text, 0)?;
        Some((&text[..text.len() - rest.len()], rest))
    }

    /// The pointers in a constant value of type `kind`, with the indices that lead to each, behind `path`; what follows
    /// the value.
    pub(crate) fn pointers<'t>(
        &self,
        kind: &str,
        value: &'t str,
        path: &mut Vec<usize>,
        found: &mut Vec<(Vec<usize>, &'t str)>,
    ) -> Option<&'t str> {
        let value = value.trim_start();
        let Some(mut rest) = ["<{", "{", "["].into_iter().find_map(|open| value.strip_prefix(open)) else {
            let end = scalar(value);
            let text = value[..end].trim_end();
            if kind == "ptr" && text.contains('@') {
                found.push((path.clone(), text));
            }
            return Some(&value[end..]);
        };
        for index in 0.. {
            rest = rest.trim_start();
            if let Some(after) = ["}>", "}", "]"].into_iter().find_map(|close| rest.strip_prefix(close)) {
                return Some(after);
            }
            let (kind, after) = self.split(rest.strip_prefix(',').unwrap_or(rest))?;
            path.push(index);
            rest = self.pointers(kind, after, path, found)?;
            path.pop();
        }
        None
    }

    fn whole(&self, text: &str, depth: u32) -> Option<Layout> {
        let (layout, rest) = self.first(text, depth)?;
        rest.trim().is_empty().then_some(layout)
    }

    /// The type that `text` begins with, and what follows it.
    fn first<'t>(&self, text: &'t str, depth: u32) -> Option<(Layout, &'t str)> {
        // Named types can contain each other's names, never themselves but behind a pointer.
        if depth > 64 {
            return None;
        }
        let text = text.trim_start();
        match text.as_bytes().first()? {
            b'[' => {
                let (count, rest) = counted(&text[1..])?;
                let (element, rest) = self.first(rest, depth + 1)?;
                let rest = rest.trim_start().strip_prefix(']')?;
                Some((Layout { size: element.size.checked_mul(count)?, align: element.align }, rest))
            }
            b'<' if text[1..].trim_start().starts_with('{') => {
                let (layout, rest) = self.structure(text[1..].trim_start(), true, depth)?;
                Some((layout, rest.trim_start().strip_prefix('>')?))
            }
            b'<' => {
                let (count, rest) = counted(&text[1..])?;
                let rest = rest.trim_start();
                let bits = bits(rest.split('>').next()?.trim());
                let (element, rest) = self.first(rest, depth + 1)?;
                let rest = rest.trim_start().strip_prefix('>')?;
                let size = bits.unwrap_or(element.size.checked_mul(8)?).checked_mul(count)?.div_ceil(8).checked_next_power_of_two()?;
                Some((Layout { size, align: size }, rest))
            }
            b'{' => self.structure(text, false, depth),
            b'%' => {
                let (name, rest) = text.split_at(name_len(text));
                Some((self.whole(self.0.get(name)?, depth + 1)?, rest))
            }
            _ => {
                let len = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
                let (word, rest) = text.split_at(len);
                let size = match word {
                    // In address spaces with short pointers this is more than is needed.
                    "ptr" => 8,
                    "half" | "bfloat" => 2,
                    "float" => 4,
                    "double" => 8,
                    "fp128" => 16,
                    _ => bits(word)?.div_ceil(8).checked_next_power_of_two()?,
                };
                let rest = match rest.strip_prefix(" addrspace(").filter(|_| word == "ptr") {
                    Some(space) => space.split_once(')')?.1,
                    None => rest,
                };
                Some((Layout { size, align: size.min(16) }, rest))
            }
        }
    }

    fn structure<'t>(&self, text: &'t str, packed: bool, depth: u32) -> Option<(Layout, &'t str)> {
        let mut rest = text.strip_prefix('{')?;
        let mut whole = Layout { size: 0, align: 1 };
        loop {
            rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix('}') {
                whole.size = whole.size.checked_next_multiple_of(whole.align)?;
                return Some((whole, after));
            }
            rest = rest.strip_prefix(',').unwrap_or(rest);
            let (field, after) = self.first(rest, depth + 1)?;
            let align = if packed { 1 } else { field.align };
            whole.size = whole.size.checked_next_multiple_of(align)?.checked_add(field.size)?;
            whole.align = whole.align.max(align);
            rest = after;
        }
    }
}

/// Where a value that is no aggregate ends: at a comma, or at a bracket that was opened before it.
fn scalar(text: &str) -> usize {
    let (mut depth, mut quoted) = (0, false);
    let end = text.bytes().position(|byte| {
        quoted ^= byte == b'"';
        depth += i32::from(!quoted && matches!(byte, b'(' | b'[' | b'{' | b'<'));
        depth -= i32::from(!quoted && matches!(byte, b')' | b']' | b'}' | b'>'));
        !quoted && (depth < 0 || (depth == 0 && byte == b','))
    });
    end.unwrap_or(text.len())
}

/// `24 x i8]` as 24 and the rest.
fn counted(text: &str) -> Option<(u64, &str)> {
    let (count, rest) = text.split_once(" x ")?;
    Some((count.trim().parse().ok()?, rest))
}

/// The bits of `i24`.
fn bits(word: &str) -> Option<u64> {
    word.strip_prefix('i')?.parse().ok().filter(|&bits| bits > 0)
}

/// The length of the name, perhaps in quotes, that `text` begins with, its first letter included.
pub(super) fn name_len(text: &str) -> usize {
    match text.get(1..).and_then(|rest| rest.strip_prefix('"')) {
        Some(quoted) => quoted.find('"').map_or(text.len(), |end| end + 3),
        None => text
            .get(1..)
            .and_then(|rest| rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-$._".contains(c))))
            .map_or(text.len(), |end| end + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_arrays_of_the_type() {
        let types =
            Types::of("%pair = type { i8, i64 }\n%\"a b\" = type <{ i8, %pair }>\n%endless = type { %endless }\n%opaque = type opaque\n");
        for (text, size) in [
            ("i1", 1),
            ("i24", 4),
            ("i64", 8),
            ("i128", 16),
            ("double", 8),
            ("ptr", 8),
            ("ptr addrspace(3)", 8),
            ("[24 x i8]", 24),
            ("[3 x [2 x i32]]", 24),
            ("<4 x i32>", 16),
            ("<3 x i8>", 4),
            ("<8 x i1>", 1),
            ("{}", 0),
            ("{ i8, i32 }", 8),
            ("<{ i8, i32 }>", 5),
            ("{ ptr addrspace(3), [3 x i8] }", 16),
            ("%pair", 16),
            ("[2 x %\"a b\"]", 34),
        ] {
            assert_eq!(types.size(text), Some(size), "{text}");
        }
        for text in ["", "i0", "%endless", "%opaque", "%unknown", "target(\"x\")", "[2 x i8", "void", "[9223372036854775807 x i64]"] {
            assert_eq!(types.size(text), None, "{text}");
        }
    }

    #[test]
    fn names_end_where_they_end() {
        assert_eq!(["%a = x", "@\"b c\", d", "%1", "@x("].map(name_len), [2, 6, 2, 2]);
    }
}
