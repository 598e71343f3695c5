//! A whole function as text, and where its strings and slices are: for faces that are not compiled with the trait.

use hostcall_abi::codec::VarHead;

use super::{DefinitionBuilder, DefinitionError, Kind, Type, text};

/// What kind of argument a [`Variable`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableKind {
    /// `&str`.
    Str,
    /// `&[T]`.
    Slice,
    /// `&mut [T]`.
    SliceMut,
}

/// A string or slice among the arguments of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// What it is.
    pub kind: VariableKind,
    /// The unit of the payload in which its length stands, in bytes.
    pub unit: usize,
    /// Bytes of an element; 1 for a string.
    pub element_bytes: usize,
}

impl DefinitionBuilder {
    /// Arguments and result of a whole function type, as the trait has it without names: `fn(f32, &mut [u8]) ->
    /// Option<u64>`. Without `->` the service is posted.
    ///
    /// ```
    /// use hostcall::Definition;
    ///
    /// # fn main() -> Result<(), hostcall::DefinitionError> {
    /// let definition = Definition::builder("Host__fill").function("fn(u32, &mut [u8]) -> Option<u64>")?.build()?;
    /// assert_eq!(definition, Definition::builder("Host__fill").argument("u32").argument("&mut [u8]").result("Option<u64>").build()?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`DefinitionError::Syntax`] when it is no function type. The types themselves are looked at by
    /// [`build`](DefinitionBuilder::build).
    pub fn function(mut self, function: &str) -> Result<Self, DefinitionError> {
        let wrong = |expected| DefinitionError::Syntax { text: function.into(), expected };
        let rest = function.trim().strip_prefix("fn").ok_or_else(|| wrong("`fn`"))?;
        let rest = rest.trim_start().strip_prefix('(').ok_or_else(|| wrong("`(`"))?;
        let mut start = 0;
        let mut depth = 0usize;
        let mut end = None;
        for (at, sign) in rest.char_indices() {
            match sign {
                ')' if depth == 0 => {
                    end = Some(at);
                    break;
                }
                '(' | '[' | '<' => depth += 1,
                ')' | ']' | '>' => depth = depth.checked_sub(1).ok_or_else(|| wrong("an opening bracket before a closing one"))?,
                ',' if depth == 0 => {
                    self.arguments.push(rest.as_bytes()[start..at].to_vec());
                    start = at + 1;
                }
                _ => {}
            }
        }
        let end = end.ok_or_else(|| wrong("`)`"))?;
        // None, or a comma behind the last one.
        let last = &rest[start..end];
        if !last.trim().is_empty() {
            self.arguments.push(last.as_bytes().to_vec());
        }
        match rest[end + 1..].trim() {
            "" => Ok(self),
            result => Ok(self.result(result.strip_prefix("->").ok_or_else(|| wrong("`->` and a result"))?)),
        }
    }

    /// The strings and slices among the arguments, in order.
    ///
    /// # Errors
    /// As of [`build`](DefinitionBuilder::build), for the arguments.
    pub fn variables(&self) -> Result<Vec<Variable>, DefinitionError> {
        let structures = self.known_structures()?;
        let arguments = self.arguments.iter().map(|argument| Ok(Type::parse(text(argument)?, &structures, true)?.kind));
        let arguments: Vec<Kind> = arguments.collect::<Result<_, DefinitionError>>()?;
        // There is a head where there is one of them.
        let mut at = VarHead::DWORDS;
        let mut variables = Vec::new();
        for argument in arguments {
            let (kind, element_bytes) = match argument {
                Kind::Fixed { units, .. } => {
                    at = at.saturating_add(units);
                    continue;
                }
                Kind::Str => (VariableKind::Str, 1),
                Kind::Slice { element } => (VariableKind::Slice, element),
                Kind::SliceMut { element } => (VariableKind::SliceMut, element),
            };
            variables.push(Variable { kind, unit: at, element_bytes });
            at = at.saturating_add(1);
        }
        Ok(variables)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Definition;

    #[test]
    fn a_function_is_split_at_its_own_commas() {
        let made = |text: &str| Definition::builder("f").function(text).and_then(DefinitionBuilder::build);
        let by_hand = Definition::builder("f").argument("(u32, [u8; 4])").argument("Result<u64, u32>").result("(f32, bool)").build();
        assert_eq!(made("fn((u32, [u8; 4]), Result<u64, u32>) -> (f32, bool)"), by_hand);
        assert_eq!(made(" fn ( (u32,[u8;4]) , Result < u64 , u32 > , ) -> (f32,bool) "), by_hand);
        assert_eq!(made("fn()"), Definition::builder("f").build());
        assert_eq!(made("fn() -> ()"), Definition::builder("f").result("()").build());
        assert_eq!(made("fn(&str)").map(|definition| definition.text.into_owned()), Ok("fn(&str)".to_owned()));
    }

    #[test]
    fn what_is_no_function_is_named() {
        for text in
            ["", "f32", "fn", "fn(", "fn(u32", "fn)(", "fn(u32)) -> u32", "fn(u32) u32", "fn(>)", "fn(u32)->", "fn(,)", "fn(u32,,u32)"]
        {
            assert!(Definition::builder("f").function(text).and_then(DefinitionBuilder::build).is_err(), "{text:?}");
        }
    }

    #[test]
    fn strings_and_slices_are_where_the_stub_puts_their_lengths() {
        let builder = Definition::builder("f").function("fn(u64, &str, [u32; 3], &[u16], &mut [f64]) -> u32").unwrap();
        let [text, slice, out] = builder.variables().unwrap()[..] else { panic!("three of them") };
        assert_eq!(text, Variable { kind: VariableKind::Str, unit: 4, element_bytes: 1 });
        assert_eq!(slice, Variable { kind: VariableKind::Slice, unit: 8, element_bytes: 2 });
        assert_eq!(out, Variable { kind: VariableKind::SliceMut, unit: 9, element_bytes: 8 });
        assert_eq!(builder.build().unwrap().units, 10);
        assert_eq!(Definition::builder("f").function("fn(u64) -> u32").unwrap().variables(), Ok(Vec::new()));
    }
}
