//! Definitions for hosts in C99, with a struct for the arguments of each function, and functions that read them and
//! write its result.

use super::c_units::{decode, encode};
use super::names::{Names, Reserved, renamed};
use super::writer::{Writer, quoted};
use super::{Language, made_by};
use crate::model::{Argument, Function, Interface, Kind, Number, Structure, Type};

pub(super) fn generate(interface: &Interface) -> String {
    let mut out = Writer::default();
    out.line(made_by("//", Language::C));
    out.line("#pragma once");
    for header in ["stdbool.h", "stddef.h", "stdint.h", "string.h", "hostcall.h"] {
        out.line(format!("#include <{header}>"));
    }
    if mentions_128_bits(interface) {
        out.gap();
        out.line(INT_128);
    }
    let mut top = Names::new(Reserved::C);
    let c = C { structures: interface.structures.iter().map(|of| (of.name.clone(), top.give(&of.name))).collect() };
    for structure in &interface.structures {
        c.structure(&mut out, structure);
    }
    for service in &interface.services {
        out.gap();
        out.line(format!("// ---- {} ----", service.name));
        out.doc("//", &service.doc);
        for function in &service.functions {
            c.function(&mut out, function);
        }
    }
    out.finish()
}

/// Types of 128 bits, which C99 has no names for.
pub(super) const INT_128: &str = "\
#ifndef HC_INT128
#define HC_INT128
__extension__ typedef unsigned __int128 hc_u128;
__extension__ typedef __int128 hc_i128;
#endif";

/// Whether any type of it has 128 bits.
pub(super) fn mentions_128_bits(interface: &Interface) -> bool {
    fn mentions(ty: &Type) -> bool {
        match ty {
            Type::Number(number) => matches!(number, Number::U128 | Number::I128),
            Type::Array(element, _) => mentions(element),
            Type::Tuple(types) => types.iter().any(mentions),
            Type::Option(value) => mentions(value),
            Type::Result(value, error) => mentions(value) || mentions(error),
            Type::Structure(structure) => structure.fields.iter().any(|field| mentions(&field.ty)),
            Type::Unit | Type::Bool | Type::Char => false,
        }
    }
    let of_argument = |argument: &Argument| match &argument.kind {
        Kind::Fixed(ty) | Kind::Slice(ty) | Kind::SliceMut(ty) => mentions(ty),
        Kind::Str => false,
    };
    let mut functions = interface.services.iter().flat_map(|service| &service.functions);
    functions.any(|function| function.arguments.iter().any(of_argument) || function.result.as_ref().is_some_and(mentions))
}

/// Names of structs, which types contain.
struct C {
    /// Rust's name of each, and ours.
    structures: Vec<(String, String)>,
}

impl C {
    fn structure(&self, out: &mut Writer, structure: &Structure) {
        let name = self.name_of(structure);
        let mut names = Names::new(Reserved::C);
        let fields: Vec<_> = structure.fields.iter().map(|field| (field, names.give(&field.name))).collect();
        let natural = structure.fields.iter().filter_map(|field| field.ty.align()).max().unwrap_or(1);
        let attributes = match structure.packed {
            true => format!(" __attribute__((packed, aligned({})))", structure.align),
            false if structure.align > natural => format!(" __attribute__((aligned({})))", structure.align),
            false => String::new(),
        };
        out.gap();
        out.doc("//", &structure.doc);
        out.doc("//", renamed([(structure.name.as_str(), name)]));
        out.block(format!("typedef struct{attributes} {name} {{"), format!("}} {name};"), |out| {
            for (field, name) in &fields {
                out.doc("//", &field.doc);
                out.doc("//", renamed([(field.name.as_str(), name.as_str())]));
                self.member(out, &field.ty, name);
            }
        });
        // C99 has no other assertions at compile time.
        out.line(format!("typedef char hc_size_of_{name}[sizeof({name}) == {} ? 1 : -1];", structure.bytes));
        for (field, field_name) in &fields {
            out.line(format!(
                "typedef char hc_offset_of_{name}_{field_name}[offsetof({name}, {field_name}) == {} ? 1 : -1];",
                field.offset
            ));
        }
    }

    fn function(&self, out: &mut Writer, function: &Function) {
        out.gap();
        out.doc("//", &function.doc);
        definition(out, function);
        let mut names = Names::new(Reserved::C);
        let arguments: Vec<_> = function
            .arguments
            .iter()
            .zip(function.placed())
            .filter(|(argument, _)| argument.kind.units() > 0)
            .map(|(argument, (at, _))| Named { argument, at, name: names.give(&argument.name) })
            .collect();
        // Behind all names, so that a count gives way to an argument that is called so.
        let counts: Vec<_> = arguments.iter().map(|Named { name, .. }| names.give(&format!("{name}_count"))).collect();
        if !arguments.is_empty() {
            self.arguments(out, function, &arguments, &counts);
            get(out, function, &arguments, &counts, self);
        }
        for (variable, argument) in variables(function) {
            if matches!(argument.kind, Kind::SliceMut(_)) {
                self.returned(out, function, variable, argument);
            }
        }
        if let Some(result) = &function.result {
            self.put(out, function, result);
        }
    }

    /// The struct of a lane's arguments.
    fn arguments(&self, out: &mut Writer, function: &Function, arguments: &[Named<'_>], counts: &[String]) {
        let name = format!("{}_arguments", function.wire_name);
        out.block(format!("typedef struct {name} {{"), format!("}} {name};"), |out| {
            for (Named { argument, name, .. }, count) in arguments.iter().zip(counts) {
                out.doc("//", renamed([(argument.name.as_str(), name.as_str())]));
                match &argument.kind {
                    Kind::Fixed(ty) => self.member(out, ty, name),
                    Kind::Str => {
                        out.line(format!("const char *{name};"));
                        out.line(format!("size_t {count}; // bytes of it; there is no 0 behind them"));
                    }
                    Kind::Slice(element) => {
                        out.line(format!("const {};", self.pointer(element, name)));
                        out.line(format!("size_t {count}; // elements of it"));
                    }
                    Kind::SliceMut(element) => {
                        out.line(format!("{};", self.pointer(element, name)));
                        out.line(format!("size_t {count}; // elements of it, which are zero and come back"));
                    }
                }
            }
        });
    }

    fn returned(&self, out: &mut Writer, function: &Function, variable: usize, argument: &Argument) {
        let Kind::SliceMut(element) = &argument.kind else { return };
        out.line(format!("// Only the first `hc_count` elements of `{}` come back to the lane.", argument.name));
        let declared = format!(
            "static inline hc_status {}_{}_returned(hc_call *hc_of, uint32_t hc_lane, size_t hc_count) {{",
            function.wire_name, argument.name
        );
        out.block(declared, "}", |out| {
            out.line(format!("return hc_bytes_returned(hc_of, hc_lane, {variable}, hc_count * {});", element.bytes().unwrap_or(0)));
        });
    }

    /// The function that writes a lane's result, and the struct of results that C has no type for.
    fn put(&self, out: &mut Writer, function: &Function, result: &Type) {
        let units = result.units();
        if units == 0 {
            return;
        }
        let wire_name = &function.wire_name;
        let (parameter, from) = match result {
            Type::Number(_) | Type::Bool | Type::Char => (format!("{} hc_result", self.scalar(result)), "hc_result"),
            Type::Structure(structure) => (format!("const {} *hc_result", self.name_of(structure)), "(*hc_result)"),
            _ => {
                let name = format!("{wire_name}_result");
                let (members, from) = match result {
                    Type::Array(..) => (vec![("value".to_owned(), result)], "hc_result->value"),
                    result => (members(result), "(*hc_result)"),
                };
                out.block(format!("typedef struct {name} {{"), format!("}} {name};"), |out| {
                    self.tag(out, result);
                    for (name, ty) in members {
                        self.member(out, ty, &name);
                    }
                });
                (format!("const {name} *hc_result"), from)
            }
        };
        out.line("// Writes a lane's result.");
        let declared = format!("static inline void {wire_name}_put(const hc_lanes *hc_message, uint32_t hc_lane, {parameter}) {{");
        out.block(declared, "}", |out| {
            out.line("uint32_t *hc_row = hc_message->results + hc_lane * hc_message->result_stride;");
            out.line(format!("memset(hc_row, 0, {units} * sizeof(uint32_t));"));
            encode(out, result, 0, from);
        });
    }

    /// A member of a struct; none for a type without units.
    fn member(&self, out: &mut Writer, ty: &Type, name: &str) {
        match ty {
            _ if ty.units() == 0 => {}
            Type::Tuple(_) | Type::Option(_) | Type::Result(..) => out.block("struct {", format!("}} {name};"), |out| {
                self.tag(out, ty);
                for (name, ty) in members(ty) {
                    self.member(out, ty, &name);
                }
            }),
            Type::Array(element, count) => self.member(out, element, &format!("{name}[{count}]")),
            scalar => out.line(format!("{} {name};", self.scalar(scalar))),
        }
    }

    /// The member that says which others there are.
    fn tag(&self, out: &mut Writer, ty: &Type) {
        match ty {
            Type::Option(_) => out.line("bool has; // there is a value"),
            Type::Result(..) => out.line("bool ok; // it is the value, not the error"),
            _ => {}
        }
    }

    /// A pointer to elements: `float (*name)[4]` to arrays.
    fn pointer(&self, element: &Type, name: &str) -> String {
        let (mut inner, mut lengths) = (element, String::new());
        while let Type::Array(of, count) = inner {
            lengths += &format!("[{count}]");
            inner = of;
        }
        let scalar = self.scalar(inner);
        if lengths.is_empty() { format!("{scalar} *{name}") } else { format!("{scalar} (*{name}){lengths}") }
    }

    /// A type with a name.
    fn scalar(&self, ty: &Type) -> String {
        match ty {
            Type::Bool => "bool".to_owned(),
            // `char32_t` is C11's.
            Type::Char => "uint32_t".to_owned(),
            Type::Number(number) => number_name(*number).to_owned(),
            Type::Structure(structure) => self.name_of(structure).to_owned(),
            Type::Unit | Type::Array(..) | Type::Tuple(_) | Type::Option(_) | Type::Result(..) => String::new(),
        }
    }

    fn name_of(&self, structure: &Structure) -> &str {
        self.structures.iter().find(|(name, _)| *name == structure.name).map_or("", |(_, ours)| ours)
    }
}

/// The constant that is the definition, and the table of its strings and slices.
fn definition(out: &mut Writer, function: &Function) {
    let name = &function.wire_name;
    let variables = variable_rows(function);
    let table = if variables.is_empty() {
        "NULL".to_owned()
    } else {
        out.line(format!("static const hc_variable {name}_variables[] = {{{}}};", variables.join(", ")));
        format!("{name}_variables")
    };
    let fields = definition_fields(function, variables.len(), &table);
    out.line(format!("static const hc_definition {name}_definition = {{{fields}}};"));
}

/// A `hc_variable` for each string and slice.
pub(super) fn variable_rows(function: &Function) -> Vec<String> {
    let placed = function.arguments.iter().zip(function.placed());
    let rows = placed.filter_map(|(argument, (at, _))| {
        let (kind, bytes) = match &argument.kind {
            Kind::Fixed(_) => return None,
            Kind::Str => ("HC_TEXT", 1),
            Kind::Slice(element) => ("HC_IN", element.bytes().unwrap_or(0)),
            Kind::SliceMut(element) => ("HC_OUT", element.bytes().unwrap_or(0)),
        };
        Some(format!("{{{kind}, {at}, {bytes}}}"))
    });
    rows.collect()
}

/// The fields of a `hc_definition`, whose `variables` are in `table`.
pub(super) fn definition_fields(function: &Function, variables: usize, table: &str) -> String {
    format!(
        "sizeof(hc_definition), {}, UINT64_C({:#018x}), {}, {}, {}, {}, {variables}, {table}",
        quoted(&function.wire_name),
        function.signature,
        quoted(&function.text),
        u32::from(function.takes_var()),
        function.units(),
        function.reply_units().map_or_else(|| "HC_POSTED".to_owned(), |units| units.to_string()),
    )
}

/// An argument in the struct of arguments.
struct Named<'a> {
    argument: &'a Argument,
    /// Its first unit.
    at: usize,
    name: String,
}

/// The strings and slices, by number.
fn variables(function: &Function) -> impl Iterator<Item = (usize, &Argument)> {
    function.arguments.iter().filter(|argument| !matches!(argument.kind, Kind::Fixed(_))).enumerate()
}

/// The function that reads a lane's arguments.
fn get(out: &mut Writer, function: &Function, arguments: &[Named<'_>], counts: &[String], c: &C) {
    let name = &function.wire_name;
    out.line("// Reads a lane's arguments. Not HC_OK: they are none, and the lane has been failed.");
    let declared = format!(
        "static inline hc_status {name}_get(const hc_lanes *hc_message, hc_call *hc_of, uint32_t hc_lane, {name}_arguments *hc_out) {{"
    );
    out.block(declared, "}", |out| {
        let is_fixed = |named: &&Named<'_>| matches!(named.argument.kind, Kind::Fixed(_));
        let (has_fixed, has_var) = (arguments.iter().any(|named| is_fixed(&named)), function.takes_var());
        if has_fixed {
            out.line("const uint32_t *hc_row = hc_message->arguments + hc_lane * hc_message->argument_stride;");
        } else {
            out.line("(void)hc_message;");
        }
        let checks = arguments.iter().any(|named| matches!(&named.argument.kind, Kind::Fixed(ty) if is_checked(ty)));
        if !checks && !has_var {
            out.line("(void)hc_of;");
        }
        out.line("memset(hc_out, 0, sizeof(*hc_out));");
        let mut variable = 0;
        for (Named { argument, at, name }, count) in arguments.iter().zip(counts) {
            let (function, qualified, element) = match &argument.kind {
                Kind::Fixed(ty) => {
                    decode(out, ty, *at, &format!("hc_out->{name}"));
                    continue;
                }
                Kind::Str => ("hc_bytes_in", "const ", None),
                Kind::Slice(element) => ("hc_bytes_in", "const ", Some(element)),
                Kind::SliceMut(element) => ("hc_bytes_out", "", Some(element)),
            };
            let pointer = element.map_or_else(|| "char *".to_owned(), |element| c.pointer(element, ""));
            let bytes = element.and_then(Type::bytes).unwrap_or(1);
            out.block("{", "}", |out| {
                out.line(format!("{qualified}void *hc_bytes = NULL;"));
                out.line("size_t hc_count = 0;");
                out.line(format!("hc_status hc_got = {function}(hc_of, hc_lane, {variable}, &hc_bytes, &hc_count);"));
                out.line("if (hc_got != HC_OK) return hc_got;");
                out.line(format!("hc_out->{name} = ({qualified}{pointer})hc_bytes;"));
                out.line(format!("hc_out->{count} = hc_count / {bytes};"));
            });
            variable += 1;
        }
        out.line("return HC_OK;");
    });
}

/// Whether some units are no value of the type.
fn is_checked(ty: &Type) -> bool {
    match ty {
        Type::Bool | Type::Char | Type::Option(_) | Type::Result(..) => true,
        Type::Tuple(types) => types.iter().any(is_checked),
        Type::Unit | Type::Number(_) | Type::Array(..) | Type::Structure(_) => false,
    }
}

/// The members of a type that is a struct in C, but for the tag.
pub(super) fn members(ty: &Type) -> Vec<(String, &Type)> {
    match ty {
        Type::Tuple(types) => types.iter().enumerate().map(|(i, ty)| (format!("_{i}"), ty)).collect(),
        Type::Option(value) => vec![("value".to_owned(), &**value)],
        Type::Result(value, error) => vec![("value".to_owned(), &**value), ("error".to_owned(), &**error)],
        _ => Vec::new(),
    }
}

/// The name of a type of numbers.
pub(super) fn number_name(number: Number) -> &'static str {
    match number {
        Number::U8 => "uint8_t",
        Number::U16 => "uint16_t",
        Number::U32 => "uint32_t",
        Number::U64 | Number::Usize => "uint64_t",
        Number::U128 => "hc_u128",
        Number::I8 => "int8_t",
        Number::I16 => "int16_t",
        Number::I32 => "int32_t",
        Number::I64 | Number::Isize => "int64_t",
        Number::I128 => "hc_i128",
        Number::F32 => "float",
        Number::F64 => "double",
    }
}
