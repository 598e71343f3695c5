//! Definitions for Python, with the types of NumPy for structs.

use super::names::{Names, Reserved, renamed};
use super::writer::{Writer, quoted};
use super::{Language, made_by};
use crate::model::{Function, Interface, Kind, Number, Service, Structure, Type};

pub(super) fn generate(interface: &Interface) -> String {
    let mut out = Writer::default();
    out.line(made_by("#", Language::Python));
    if !interface.structures.is_empty() {
        out.line("import numpy as np");
        out.gap();
    }
    out.line("import hostcall as hc");
    let mut top = Names::new(Reserved::Python);
    let python = Python { structures: interface.structures.iter().map(|of| (of.name.clone(), top.give(&of.name))).collect() };
    for structure in &interface.structures {
        python.structure(&mut out, structure);
    }
    for service in &interface.services {
        let name = top.give(&service.name);
        python.service(&mut out, service, &name);
    }
    out.finish()
}

/// Names of structs, which types contain.
struct Python {
    /// Rust's name of each, and ours.
    structures: Vec<(String, String)>,
}

impl Python {
    fn structure(&self, out: &mut Writer, structure: &Structure) {
        let name = self.name_of(structure);
        let list = |items: Vec<String>| items.join(", ");
        let fields = &structure.fields;
        out.gap_of_two();
        out.doc("#", &structure.doc);
        out.doc("#", renamed([(structure.name.as_str(), name)]));
        out.block(format!("{name} = hc.struct("), ")", |out| {
            out.line(format!("{},", quoted(&structure.name)));
            out.block("np.dtype(", "),", |out| {
                out.block("{", "}", |out| {
                    out.line(format!("\"names\": [{}],", list(fields.iter().map(|field| quoted(&field.name)).collect())));
                    out.line(format!("\"formats\": [{}],", list(fields.iter().map(|field| self.dtype(&field.ty)).collect())));
                    out.line(format!("\"offsets\": [{}],", list(fields.iter().map(|field| field.offset.to_string()).collect())));
                    out.line(format!("\"itemsize\": {},", structure.bytes));
                });
            });
            out.line(format!("align={},", structure.align));
        });
    }

    fn service(&self, out: &mut Writer, service: &Service, name: &str) {
        out.gap_of_two();
        out.doc("#", &service.doc);
        out.doc("#", renamed([(service.name.as_str(), name)]));
        // A name in a class hides the module's.
        let mut names = Names::new(Reserved::Python).taken(self.structures.iter().map(|(_, ours)| ours.clone()));
        out.block(format!("class {name}:"), "", |out| {
            out.line("__slots__ = ()");
            for function in &service.functions {
                out.line("");
                self.function(out, function, &names.give(&function.name));
            }
        });
        out.trim_gap();
    }

    fn function(&self, out: &mut Writer, function: &Function, name: &str) {
        let mut parameters = Names::new(Reserved::Python);
        let arguments: Vec<_> = function.arguments.iter().map(|argument| (argument, parameters.give(&argument.name))).collect();
        out.doc("#", &function.doc);
        let pairs = arguments.iter().map(|(argument, name)| (argument.name.as_str(), name.as_str()));
        out.doc("#", renamed([(function.name.as_str(), name)].into_iter().chain(pairs)));
        out.block(format!("{name} = hc.Definition("), ")", |out| {
            out.line(format!("name={},", quoted(&function.wire_name)));
            out.line(format!("signature={:#018x},", function.signature));
            out.line(format!("text={},", quoted(&function.text)));
            if arguments.is_empty() {
                out.line("arguments=(),");
            } else {
                out.block("arguments=(", "),", |out| {
                    for (argument, name) in &arguments {
                        out.line(format!("hc.Argument({}, {}),", quoted(name), self.argument(&argument.kind)));
                    }
                });
            }
            out.line(format!("result={},", function.result.as_ref().map_or_else(|| "None".to_owned(), |ty| self.ty(ty))));
            out.line(format!("takes_var={},", if function.takes_var() { "True" } else { "False" }));
            out.line(format!("units={},", function.units()));
            out.line(format!("reply_units={},", function.reply_units().map_or_else(|| "None".to_owned(), |units| units.to_string())));
        });
    }

    fn name_of(&self, structure: &Structure) -> &str {
        self.structures.iter().find(|(name, _)| *name == structure.name).map_or("", |(_, ours)| ours)
    }

    fn argument(&self, kind: &Kind) -> String {
        match kind {
            Kind::Fixed(ty) => self.ty(ty),
            Kind::Str => "hc.str".to_owned(),
            Kind::Slice(element) => format!("hc.types.slice({})", self.ty(element)),
            Kind::SliceMut(element) => format!("hc.types.slice_mut({})", self.ty(element)),
        }
    }

    fn ty(&self, ty: &Type) -> String {
        let list = |types: &[Type]| types.iter().map(|ty| self.ty(ty)).collect::<Vec<_>>().join(", ");
        match ty {
            Type::Unit => "hc.unit".to_owned(),
            Type::Number(number) => format!("hc.{}", number.name()),
            Type::Bool => "hc.bool".to_owned(),
            Type::Char => "hc.char".to_owned(),
            Type::Array(element, count) => format!("hc.types.array({}, {count})", self.ty(element)),
            Type::Tuple(types) => format!("hc.types.tuple({})", list(types)),
            Type::Option(value) => format!("hc.types.option({})", self.ty(value)),
            Type::Result(value, error) => format!("hc.types.result({}, {})", self.ty(value), self.ty(error)),
            Type::Structure(structure) => self.name_of(structure).to_owned(),
        }
    }

    /// What NumPy calls a plain type, as an expression.
    fn dtype(&self, ty: &Type) -> String {
        let (mut inner, mut shape) = (ty, Vec::new());
        while let Type::Array(element, count) = inner {
            shape.push(count.to_string());
            inner = element;
        }
        let base = match inner {
            Type::Number(number) => quoted(dtype(*number)),
            Type::Structure(structure) => format!("{}.dtype", self.name_of(structure)),
            _ => String::new(),
        };
        if shape.is_empty() { base } else { format!("({base}, ({},))", shape.join(", ")) }
    }
}

/// NumPy's code for a type of numbers, little-endian. It has none of 128 bits: those are their bytes.
fn dtype(number: Number) -> &'static str {
    match number {
        Number::U8 => "u1",
        Number::U16 => "<u2",
        Number::U32 => "<u4",
        Number::U64 | Number::Usize => "<u8",
        Number::I8 => "i1",
        Number::I16 => "<i2",
        Number::I32 => "<i4",
        Number::I64 | Number::Isize => "<i8",
        Number::F32 => "<f4",
        Number::F64 => "<f8",
        Number::U128 | Number::I128 => "V16",
    }
}
