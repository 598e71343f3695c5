//! `hc_definition`: what both sides must agree on of a service, and where its strings and slices are.

use std::ffi::{CStr, c_char};

use hostcall::{Definition, Variable, VariableKind};
use hostcall_abi::codec::VarHead;

use crate::boundary::{self, bytes_of, text_of};
use crate::status::Error;

/// `hc_variable`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct CVariable {
    kind: u32,
    unit: u32,
    element_bytes: u32,
}

/// `hc_definition`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CDefinition {
    size: usize,
    name: *const c_char,
    signature: u64,
    text: *const c_char,
    takes_var: u32,
    units: u32,
    reply_units: u32,
    variable_count: u32,
    variables: *const CVariable,
}

// SAFETY: numbers and pointers, the first of them its size.
unsafe impl boundary::Versioned for CDefinition {}

const _: () = assert!(size_of::<CDefinition>() == 56 && size_of::<CVariable>() == 12);

impl CDefinition {
    /// `HC_DEFINITION`.
    pub const fn new(name: &'static CStr, text: &'static CStr) -> Self {
        Self {
            size: size_of::<Self>(),
            name: name.as_ptr(),
            signature: 0,
            text: text.as_ptr(),
            takes_var: 0,
            units: 0,
            reply_units: 0,
            variable_count: 0,
            variables: std::ptr::null(),
        }
    }
}

/// `HC_POSTED`.
const POSTED: u32 = u32::MAX;
/// `HC_TEXT`, `HC_IN`, `HC_OUT`.
const KINDS: [(u32, VariableKind); 3] = [(1, VariableKind::Str), (2, VariableKind::Slice), (3, VariableKind::SliceMut)];

/// A service as the application defines it.
#[derive(Clone, Debug)]
pub(crate) struct Defined {
    pub(crate) definition: Definition,
    pub(crate) variables: Vec<Variable>,
}

impl Defined {
    /// Whether there is a `&mut [T]`.
    pub(crate) fn has_out(&self) -> bool {
        self.variables.iter().any(|variable| variable.kind == VariableKind::SliceMut)
    }

    /// Units of the result; none of a post.
    pub(crate) fn reply_units(&self) -> usize {
        self.definition.reply_dwords.unwrap_or(0)
    }

    /// Reads and checks a definition.
    ///
    /// # Safety
    /// `from` is null or a definition as the header says, with its texts and variables.
    pub(crate) unsafe fn read(from: *const CDefinition) -> Result<Self, Error> {
        // SAFETY: the caller's.
        let it = unsafe { boundary::read(from, "definition") }?;
        // SAFETY: the caller's.
        let name = unsafe { text_of(it.name, "definition->name") }?;
        if it.signature == 0 {
            // SAFETY: the caller's.
            let text = unsafe { text_of(it.text, "definition->text") }?;
            return Self::from_text(name, text);
        }
        // SAFETY: the caller's.
        let text = unsafe { bytes_of(it.text) }.unwrap_or_default();
        let mut variables = Vec::new();
        if it.variable_count > 0 {
            if it.variables.is_null() {
                return Err(boundary::null("definition->variables"));
            }
            if it.variable_count > it.units {
                return Err(wrong(name, format!("{} strings and slices in {} units", it.variable_count, it.units)));
            }
            // SAFETY: the caller's: as many as it says.
            let given = unsafe { std::slice::from_raw_parts(it.variables, it.variable_count as usize) };
            variables = given.iter().map(|given| variable(name, given)).collect::<Result<_, _>>()?;
        }
        let definition = Definition {
            name: name.to_owned().into(),
            signature: it.signature,
            text: String::from_utf8_lossy(text).into_owned().into(),
            takes_var: it.takes_var != 0,
            units: it.units as usize,
            reply_dwords: (it.reply_units != POSTED).then_some(it.reply_units as usize),
        };
        let defined = Self { definition, variables };
        defined.check()?;
        Ok(defined)
    }

    /// A definition from the function's type, as Rust has it.
    pub(crate) fn from_text(name: &str, text: &str) -> Result<Self, Error> {
        let builder = Definition::builder(name).function(text)?;
        let variables = builder.variables()?;
        Ok(Self { definition: builder.build()?, variables })
    }

    /// What would not agree with itself: `cargo hostcall bindgen` writes no such thing.
    fn check(&self) -> Result<(), Error> {
        let Self { definition, variables } = self;
        let wrong = |what: String| Err(wrong(&definition.name, what));
        let head = if definition.takes_var { VarHead::DWORDS } else { 0 };
        if definition.name.is_empty() {
            return wrong("it needs a name, such as Host__add42".into());
        }
        if definition.takes_var == variables.is_empty() {
            return wrong(format!("takes_var is {}, and there are {} variables", definition.takes_var, variables.len()));
        }
        if definition.units < head || definition.units > Definition::MOST_UNITS {
            return wrong(format!("{} units of arguments: at least {head}, at most {}", definition.units, Definition::MOST_UNITS));
        }
        if self.reply_units() > Definition::MOST_UNITS {
            return wrong(format!("{} units of a result: at most {}", self.reply_units(), Definition::MOST_UNITS));
        }
        if definition.reply_dwords.is_none() && self.has_out() {
            return wrong("a posted service has no HC_OUT: bytes can only come back to a call that is waited for".into());
        }
        let mut free = head;
        for variable in variables {
            if variable.unit < free || variable.unit >= definition.units {
                return wrong(format!(
                    "a length at unit {} of {}, where {free} is the first that is free",
                    variable.unit, definition.units
                ));
            }
            free = variable.unit + 1;
        }
        Ok(())
    }
}

fn wrong(name: &str, what: String) -> Error {
    Error::invalid(format!("definition of `{name}`: {what}; write definitions by `cargo hostcall bindgen --lang c`, or by HC_DEFINITION"))
}

fn variable(name: &str, given: &CVariable) -> Result<Variable, Error> {
    let &CVariable { kind, unit, element_bytes } = given;
    match KINDS.iter().find(|(number, _)| *number == kind) {
        Some(_) if element_bytes == 0 => Err(wrong(name, "element_bytes is 0".into())),
        Some(&(_, kind)) => Ok(Variable { kind, unit: unit as usize, element_bytes: element_bytes as usize }),
        None => Err(wrong(name, format!("{kind} is no kind of variable"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Status;

    /// A definition of `fn(&str, u32, &mut [u16]) -> u64`.
    fn explicit(variables: &[CVariable]) -> CDefinition {
        CDefinition {
            size: size_of::<CDefinition>(),
            name: c"Host__f".as_ptr(),
            signature: 7,
            text: std::ptr::null(),
            takes_var: 1,
            units: 5,
            reply_units: 2,
            variable_count: variables.len() as u32,
            variables: variables.as_ptr(),
        }
    }

    const VARIABLES: [CVariable; 2] = [CVariable { kind: 1, unit: 2, element_bytes: 1 }, CVariable { kind: 3, unit: 4, element_bytes: 2 }];

    #[test]
    fn what_bindgen_writes_and_what_the_text_says_are_the_same() {
        let by_text = Defined::from_text("Host__f", "fn(&str, u32, &mut [u16]) -> u64").unwrap();
        // SAFETY: a definition and its variables.
        let by_hand = unsafe { Defined::read(&explicit(&VARIABLES)) }.unwrap();
        assert_eq!(by_hand.variables, by_text.variables);
        assert_eq!((by_hand.definition.units, by_hand.reply_units()), (by_text.definition.units, by_text.reply_units()));
        assert!(by_hand.has_out());
    }

    #[test]
    fn definitions_that_cannot_be_are_refused() {
        let refused = |it: CDefinition| {
            // SAFETY: as above.
            let error = unsafe { Defined::read(&it) }.unwrap_err();
            assert_eq!(error.status, Status::Invalid, "{}", error.text);
        };
        let it = explicit(&VARIABLES);
        refused(CDefinition { name: std::ptr::null(), ..it });
        refused(CDefinition { name: c"".as_ptr(), ..it });
        refused(CDefinition { takes_var: 0, ..it });
        refused(CDefinition { variable_count: 0, ..it });
        refused(CDefinition { variables: std::ptr::null(), ..it });
        refused(CDefinition { units: 4, ..it });
        refused(CDefinition { units: 1 << 20, ..it });
        refused(CDefinition { reply_units: 1 << 20, ..it });
        refused(CDefinition { reply_units: POSTED, ..it });
        refused(CDefinition { variable_count: 6, ..it });
        refused(CDefinition { signature: 0, ..it });
        refused(CDefinition { size: 8, ..it });
        let [text, out] = VARIABLES;
        refused(explicit(&[CVariable { kind: 4, ..text }, out]));
        refused(explicit(&[CVariable { element_bytes: 0, ..text }, out]));
        refused(explicit(&[CVariable { unit: 1, ..text }, out]));
        refused(explicit(&[out, text]));
    }
}
