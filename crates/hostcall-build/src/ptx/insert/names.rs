//! What is declared where an instruction stands.

use std::collections::HashMap;

use crate::ptx::module::Declaration;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named<'a> {
    /// A register of so many bits.
    Register(u32),
    /// A variable in this space.
    Variable(&'a str),
}

/// What is declared where an instruction stands: scopes, the innermost last.
#[derive(Default)]
pub(super) struct Names<'a>(pub(super) Vec<Scope<'a>>);

#[derive(Default)]
pub(super) struct Scope<'a> {
    pub(super) named: HashMap<&'a str, Named<'a>>,
    /// Numbered registers, by what they begin with.
    numbered: HashMap<&'a str, (u32, u32)>,
}

impl<'a> Names<'a> {
    pub(super) fn declare(&mut self, declaration: &Declaration<'a>) {
        let Some(scope) = self.0.last_mut() else { return };
        for (name, count) in &declaration.names {
            match count {
                Some(count) => _ = scope.numbered.insert(name, (*count, declaration.bits)),
                None if declaration.space == ".reg" => _ = scope.named.insert(name, Named::Register(declaration.bits)),
                None => _ = scope.named.insert(name, Named::Variable(declaration.space)),
            }
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<Named<'a>> {
        self.0.iter().rev().find_map(|scope| {
            let least = name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            // (`a1<3>` has `a10`.)
            let numbered = |end: usize| {
                let number: u32 = name[end..].parse().ok()?;
                scope.numbered.get(&name[..end]).filter(|(count, _)| number < *count).map(|(_, bits)| Named::Register(*bits))
            };
            scope.named.get(name).copied().or_else(|| (least..name.len()).find_map(numbered))
        })
    }
}
