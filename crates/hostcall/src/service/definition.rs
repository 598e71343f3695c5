//! What both sides must agree on of a service.

use std::borrow::Cow;

/// What both sides must agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name on the wire, such as `Host__add42`.
    pub name: Cow<'static, str>,
    /// Hash of the definition, compared with the program's when it is attached.
    pub signature: u64,
    /// The definition for people, `fn(f32) -> f32`: shown when the program's is another one.
    pub text: Cow<'static, str>,
    /// Whether the service takes strings or slices (in or out), so that its payload starts with a
    /// [`VarHead`](hostcall_abi::codec::VarHead).
    pub takes_var: bool,
    /// 32-bit units of a request before its variable bytes: the `VarHead` if there is one, each fixed argument, and one
    /// unit (the length) for each string or slice. The stub's `UNITS`.
    pub units: usize,
    /// Units of the result; `None` for a posted function.
    pub reply_dwords: Option<usize>,
}

impl Definition {
    pub(crate) fn shape(&self) -> Shape {
        Shape { units: self.units, takes_var: self.takes_var }
    }
}

/// How the payload of a service's calls is laid out; see [`hostcall_abi::codec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) units: usize,
    pub(crate) takes_var: bool,
}
