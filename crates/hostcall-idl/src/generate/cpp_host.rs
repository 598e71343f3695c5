//! Typed definitions for hosts in C++17: `hostcall_typed.hpp` has the templates that decode arguments and encode
//! results.

use super::c::{INT_128, mentions_128_bits, number_name};
use super::cuda::attributes;
use super::names::{Names, Reserved, renamed};
use super::namespace::Namespace;
use super::writer::Writer;
use super::{Language, made_by};
use crate::model::{Function, Interface, Kind, Number, Service, Structure, Type};

pub(super) fn generate(interface: &Interface, namespace: &Namespace) -> String {
    let mut out = Writer::default();
    out.line(made_by("//", Language::CppHost));
    out.line("#pragma once");
    for header in ["array", "cstddef", "cstdint", "optional", "string_view", "tuple"] {
        out.line(format!("#include <{header}>"));
    }
    out.line("#include <hostcall_typed.hpp>");
    if mentions_128_bits(interface) {
        out.gap();
        out.line(INT_128);
    }
    let mut top = Names::new(Reserved::Cpp);
    let host = CppHost { namespace, structures: interface.structures.iter().map(|of| (of.name.clone(), top.give(&of.name))).collect() };
    if !interface.structures.is_empty() {
        out.gap();
        namespace.write(&mut out, |out| {
            for structure in &interface.structures {
                host.structure(out, structure);
            }
        });
        out.gap();
        for structure in &interface.structures {
            out.line("template <>");
            out.line(format!("struct hostcall::host::is_plain<{}> : std::true_type {{}};", host.of_structure(structure)));
        }
    }
    out.gap();
    namespace.write(&mut out, |out| {
        for service in &interface.services {
            let name = top.give(&service.name);
            host.service(out, service, &name);
        }
    });
    out.finish()
}

/// Names of structs, which types contain.
struct CppHost<'a> {
    namespace: &'a Namespace,
    /// Rust's name of each, and ours.
    structures: Vec<(String, String)>,
}

impl CppHost<'_> {
    fn structure(&self, out: &mut Writer, structure: &Structure) {
        let name = self.name_of(structure);
        let mut names = Names::new(Reserved::Cpp).taken([name.to_owned()]);
        let fields: Vec<_> = structure.fields.iter().map(|field| (field, names.give(&field.name))).collect();
        out.gap();
        out.doc("///", &structure.doc);
        out.doc("///", renamed([(structure.name.as_str(), name)]));
        out.block(format!("struct{} {name} {{", attributes(structure)), "};", |out| {
            for (field, name) in &fields {
                out.doc("///", &field.doc);
                out.doc("///", renamed([(field.name.as_str(), name.as_str())]));
                out.line(format!("{} {name};", self.ty(&field.ty)));
            }
        });
        out.line(format!("static_assert(sizeof({name}) == {}, \"{name}: as large as in Rust\");", structure.bytes));
        for (field, field_name) in &fields {
            out.line(format!(
                "static_assert(offsetof({name}, {field_name}) == {}, \"{name}::{field_name}: where it is in Rust\");",
                field.offset
            ));
        }
    }

    fn service(&self, out: &mut Writer, service: &Service, name: &str) {
        out.gap();
        out.doc("///", &service.doc);
        out.doc("///", renamed([(service.name.as_str(), name)]));
        let mut names = Names::new(Reserved::Cpp).taken([name.to_owned()]);
        out.block(format!("struct {name} {{"), "};", |out| {
            for (i, function) in service.functions.iter().enumerate() {
                if i > 0 {
                    out.gap();
                }
                self.function(out, function, &names.give(&function.name));
            }
        });
    }

    /// A type for the function, and a value of it to name the function by.
    fn function(&self, out: &mut Writer, function: &Function, name: &str) {
        let result = match &function.result {
            None | Some(Type::Unit) => "void".to_owned(),
            Some(ty) => self.ty(ty),
        };
        let types: Vec<String> = function.arguments.iter().map(|argument| self.argument(&argument.kind)).collect();
        let base = format!("::hostcall::host::function<{}>", [std::slice::from_ref(&result), types.as_slice()].concat().join(", "));
        out.block(format!("struct hc_function_{} : {base} {{", function.name), "};", |out| {
            out.block("static const hc_definition &definition() {", "}", |out| definition(out, function));
        });
        out.doc("///", &function.doc);
        if !function.doc.is_empty() {
            out.line("///");
        }
        let taken: Vec<String> = function.arguments.iter().zip(&types).map(|(argument, ty)| format!("{ty} {}", argument.name)).collect();
        out.doc("///", [format!("Handlers are `{result} (*)({})`.", taken.join(", "))]);
        out.doc("///", renamed([(function.name.as_str(), name)]));
        out.line(format!("static constexpr hc_function_{} {name}{{}};", function.name));
    }

    fn name_of(&self, structure: &Structure) -> &str {
        self.structures.iter().find(|(name, _)| *name == structure.name).map_or("", |(_, ours)| ours)
    }

    fn of_structure(&self, structure: &Structure) -> String {
        self.namespace.full(self.name_of(structure))
    }

    fn argument(&self, kind: &Kind) -> String {
        match kind {
            Kind::Fixed(ty) => self.ty(ty),
            Kind::Str => "std::string_view".to_owned(),
            Kind::Slice(element) => format!("::hostcall::host::view<const {}>", self.ty(element)),
            Kind::SliceMut(element) => format!("::hostcall::host::out<{}>", self.ty(element)),
        }
    }

    fn ty(&self, ty: &Type) -> String {
        match ty {
            Type::Unit => "::hostcall::host::unit".to_owned(),
            Type::Number(number @ (Number::F32 | Number::F64 | Number::U128 | Number::I128)) => number_name(*number).to_owned(),
            Type::Number(number) => format!("std::{}", number_name(*number)),
            Type::Bool => "bool".to_owned(),
            Type::Char => "char32_t".to_owned(),
            Type::Array(element, count) => format!("std::array<{}, {count}>", self.ty(element)),
            Type::Tuple(types) => format!("std::tuple<{}>", types.iter().map(|ty| self.ty(ty)).collect::<Vec<_>>().join(", ")),
            Type::Option(value) => format!("std::optional<{}>", self.ty(value)),
            Type::Result(value, error) => format!("::hostcall::host::result<{}, {}>", self.ty(value), self.ty(error)),
            Type::Structure(structure) => self.of_structure(structure),
        }
    }
}

/// The definition, and the table of its strings and slices.
fn definition(out: &mut Writer, function: &Function) {
    let variables = super::c::variable_rows(function);
    let table = if variables.is_empty() {
        "nullptr".to_owned()
    } else {
        out.line(format!("static const hc_variable hc_variables[] = {{{}}};", variables.join(", ")));
        "hc_variables".to_owned()
    };
    let fields = super::c::definition_fields(function, variables.len(), &table);
    out.line(format!("static const hc_definition hc_made = {{{fields}}};"));
    out.line("return hc_made;");
}
