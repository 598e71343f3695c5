//! Services by their Rust text, so that names, signatures and stubs are those of the Rust macros by construction.

use hostcall::{Definition, Variable, VariableKind};
use hostcall_idl::files::{self, Errors, Source};
use hostcall_idl::generate::{self, Language, Namespace};
use hostcall_idl::model::{Function, Interface, Kind};
use pyo3::prelude::*;

use crate::check::Checks;
use crate::error::invalid;

fn parse(source: &str) -> PyResult<Interface> {
    parse_by(source, files::parse)
}

fn parse_by(source: &str, parse: fn(&[Source<'_>]) -> Result<Interface, Errors>) -> PyResult<Interface> {
    parse(&[Source { name: "python", text: source }]).map_err(|errors| {
        let said = errors.0.iter().map(|error| format!("line {}: {}", error.line, error.kind)).collect::<Vec<_>>().join("\n");
        invalid(format!("{said}\nin this definition in Rust:\n{source}"))
    })
}

/// A service as it is on the wire.
#[pyclass(frozen, module = "hostcall._hostcall")]
#[derive(Clone, Debug)]
pub(crate) struct Defined {
    pub(crate) definition: Definition,
    pub(crate) variables: Vec<Variable>,
    pub(crate) checks: Checks,
    /// Of each argument the units of a request.
    placed: Vec<(usize, usize)>,
}

impl Defined {
    fn of(function: &Function) -> Self {
        let placed: Vec<_> = function.placed().collect();
        let mut variables = Vec::new();
        let mut checks = Checks::default();
        for (argument, &(unit, _)) in function.arguments.iter().zip(&placed) {
            let (kind, element_bytes) = match &argument.kind {
                Kind::Fixed(ty) => {
                    checks.add(unit, ty);
                    continue;
                }
                Kind::Str => (VariableKind::Str, 1),
                Kind::Slice(element) => (VariableKind::Slice, element.bytes().unwrap_or(1)),
                Kind::SliceMut(element) => (VariableKind::SliceMut, element.bytes().unwrap_or(1)),
            };
            variables.push(Variable { kind, unit, element_bytes });
        }
        let definition = Definition {
            name: function.wire_name.clone().into(),
            signature: function.signature,
            text: function.text.clone().into(),
            takes_var: function.takes_var(),
            units: function.units(),
            reply_dwords: function.reply_units(),
        };
        Self { definition, variables, checks, placed }
    }

    /// Whether there is a `&mut [T]`.
    pub(crate) fn has_out(&self) -> bool {
        self.variables.iter().any(|variable| variable.kind == VariableKind::SliceMut)
    }

    /// Units of the result; none of a post.
    pub(crate) fn reply_units(&self) -> usize {
        self.definition.reply_dwords.unwrap_or(0)
    }
}

#[pymethods]
impl Defined {
    #[getter]
    fn name(&self) -> &str {
        &self.definition.name
    }

    #[getter]
    fn signature(&self) -> u64 {
        self.definition.signature
    }

    #[getter]
    fn text(&self) -> &str {
        &self.definition.text
    }

    #[getter]
    fn takes_var(&self) -> bool {
        self.definition.takes_var
    }

    #[getter]
    fn units(&self) -> usize {
        self.definition.units
    }

    #[getter(reply_units)]
    fn reply_units_or_none(&self) -> Option<usize> {
        self.definition.reply_dwords
    }

    /// Of each argument the first unit of a request that it takes, and the one behind.
    #[getter]
    fn placed(&self) -> Vec<(usize, usize)> {
        self.placed.clone()
    }

    /// The same layout under the name, signature and text that somebody else gave it.
    fn known_as(&self, name: String, signature: u64, text: String) -> Self {
        let definition = Definition { name: name.into(), signature, text: text.into(), ..self.definition.clone() };
        Self { definition, ..self.clone() }
    }

    fn __repr__(&self) -> String {
        format!("<{} {} {:#018x}>", self.definition.name, self.definition.text, self.definition.signature)
    }
}

/// The services that a Rust text defines.
#[pyfunction]
pub(crate) fn define(source: &str) -> PyResult<Vec<Defined>> {
    let interface = parse(source)?;
    Ok(interface.services.iter().flat_map(|service| &service.functions).map(Defined::of).collect())
}

/// Their stubs in C++, and those of streams.
#[pyfunction]
#[pyo3(signature = (source, namespace=None))]
pub(crate) fn cuda_source(source: &str, namespace: Option<&str>) -> PyResult<String> {
    let namespace = namespace.map_or_else(|| Ok(Namespace::default()), str::parse).map_err(invalid)?;
    Ok(generate::generate(&parse_by(source, files::parse_with_streams)?, Language::Cuda, &namespace))
}

/// What `cargo hostcall bindgen --lang python` writes of a Rust text.
#[pyfunction]
pub(crate) fn python_source(source: &str) -> PyResult<String> {
    Ok(generate::generate(&parse(source)?, Language::Python, &Namespace::default()))
}
