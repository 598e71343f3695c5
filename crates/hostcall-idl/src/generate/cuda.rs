//! Stubs for kernels in CUDA C++ and HIP: `hostcall.cuh` has the templates that pack arguments and make calls.

use super::names::{Names, Reserved, renamed};
use super::namespace::Namespace;
use super::writer::{Writer, quoted};
use super::{Language, made_by};
use crate::model::{ByteStream, Function, Interface, Kind, Number, Service, Stream, Structure, Type};

pub(super) fn generate(interface: &Interface, namespace: &Namespace) -> String {
    let mut out = Writer::default();
    out.line(made_by("//", Language::Cuda));
    out.line("#pragma once");
    out.line("#include <hostcall.cuh>");
    let mut top = Names::new(Reserved::Cpp);
    let names = Cuda { namespace, structures: interface.structures.iter().map(|of| (of.name.clone(), top.give(&of.name))).collect() };
    if !interface.structures.is_empty() {
        out.gap();
        namespace.write(&mut out, |out| {
            for structure in &interface.structures {
                names.structure(out, structure);
            }
        });
        for structure in &interface.structures {
            out.line(format!("HOSTCALL_PLAIN({})", names.of_structure(structure)));
        }
    }
    for stream in &interface.streams {
        out.gap();
        names.stream(&mut out, stream);
    }
    for stream in &interface.byte_streams {
        out.gap();
        byte_stream(&mut out, namespace, stream, &top.give(&stream.name));
    }
    for (name, what) in &interface.other_streams {
        out.gap();
        out.line(format!("// Not here: the stream `{name}`, because kernels in C++ do not send {what}."));
    }
    for service in &interface.services {
        out.gap();
        for function in &service.functions {
            names.globals(&mut out, function);
        }
    }
    out.gap();
    namespace.write(&mut out, |out| {
        for service in &interface.services {
            let name = top.give(&service.name);
            names.service(out, service, &name);
        }
    });
    out.finish()
}

/// Names of structs, which types contain.
struct Cuda<'a> {
    namespace: &'a Namespace,
    /// Rust's name of each, and ours.
    structures: Vec<(String, String)>,
}

impl Cuda<'_> {
    fn structure(&self, out: &mut Writer, structure: &Structure) {
        let name = self.name_of(structure);
        let mut names = Names::new(Reserved::Cpp).taken([name.to_owned()]);
        let fields: Vec<_> = structure.fields.iter().map(|field| (field, names.give(&field.name))).collect();
        out.gap();
        out.doc("///", &structure.doc);
        out.doc("///", renamed([(structure.name.as_str(), name)]));
        let attributes = attributes(structure);
        out.block(format!("struct{attributes} {name} {{"), "};", |out| {
            for (field, name) in &fields {
                out.doc("///", &field.doc);
                out.doc("///", renamed([(field.name.as_str(), name.as_str())]));
                out.line(format!("{} {name};", self.ty(&field.ty)));
            }
        });
        out.line(format!("static_assert(sizeof({name}) == {}, \"{name}: as large as in Rust\");", structure.bytes));
        for (field, field_name) in &fields {
            out.line(format!(
                "static_assert(__builtin_offsetof({name}, {field_name}) == {}, \"{name}::{field_name}: where it is in Rust\");",
                field.offset
            ));
        }
    }

    /// A stream's words, which the host reads and patches when it attaches the program to rings.
    fn stream(&self, out: &mut Writer, stream: &Stream) {
        let structure = &stream.structure;
        let lengths =
            structure.fields.iter().zip(&stream.fields).map(|(field, [name, ty])| {
                format!("{{{}, {}, {}, {}}}", name.len(), ty.len(), field.offset, field.ty.bytes().unwrap_or(0))
            });
        let lengths = lengths.collect::<Vec<_>>().join(", ");
        let text = stream.fields.concat().concat();
        let (ty, name, count) = (self.of_structure(structure), &structure.name, stream.fields.len());
        let (policy, signature, room) = (stream.policy as u32, stream.signature, text.len().next_multiple_of(8));
        out.line(format!("/// `hostcall::send({name}{{…}})` sends one of each lane."));
        out.line(format!("HOSTCALL_STREAM({ty}, {name}, {policy}, {signature:#018x}ull, {count},"));
        out.line(format!("                HOSTCALL_FIELDS({lengths}), {room}, {})", quoted(&text)));
    }

    /// The words that the host reads and patches when it attaches the program.
    fn globals(&self, out: &mut Writer, function: &Function) {
        let result = function.result.as_ref().map_or_else(|| "void".to_owned(), |ty| self.result(ty));
        let types: String = function.arguments.iter().map(|argument| format!(", {}", self.argument(&argument.kind))).collect();
        let (text, normalised) = (quoted(&function.text), quoted(&function.normalised));
        out.line(format!("HOSTCALL_SERVICE({}, {text}, {normalised}, {result}{types})", function.wire_name));
        let said = quoted(&format!("{}: as in Rust", function.wire_name.replacen("__", "::", 1)));
        let signature = format!("::hostcall::codec::signature<{result}{types}>({normalised})");
        out.line(format!("static_assert({signature} == {:#018x}ull, {said});", function.signature));
    }

    fn service(&self, out: &mut Writer, service: &Service, name: &str) {
        out.gap();
        out.doc("///", &service.doc);
        out.doc("///", renamed([(service.name.as_str(), name)]));
        // A member that is called as its class would be a constructor.
        let mut names = Names::new(Reserved::Cpp).taken([name.to_owned()]);
        out.block(format!("struct {name} {{"), "};", |out| {
            for (i, function) in service.functions.iter().enumerate() {
                if i > 0 {
                    out.gap();
                }
                self.stubs(out, service, function, &names.give(&function.name));
            }
        });
    }

    /// The call itself, that by a value, and the wave's; for arguments of fixed size also those over a held port, and
    /// for those with a result the one that is started.
    fn stubs(&self, out: &mut Writer, service: &Service, function: &Function, name: &str) {
        let mut parameters = Names::new(Reserved::Cpp);
        let arguments: Vec<_> = function.arguments.iter().map(|argument| (argument, parameters.give(&argument.name))).collect();
        let declared: Vec<String> = arguments.iter().map(|(argument, name)| format!("{} {name}", self.argument(&argument.kind))).collect();
        let given: String = arguments.iter().map(|(_, name)| format!(", {name}")).collect();
        let result = function.result.as_ref().map_or_else(|| "void".to_owned(), |ty| self.result(ty));
        let (returned, finish) = if service.panics {
            (result.clone(), "HOSTCALL_OR_ABORT")
        } else {
            (format!("::hostcall::returned<{result}>"), "HOSTCALL_FINISH")
        };
        let (verb, of) = if function.result.is_some() { ("call", format!("<{result}>")) } else { ("post", String::new()) };
        let (word, spoken) = (format!("&__HOSTCALL__{}", function.wire_name), quoted(&format!("{}::{}", service.name, function.name)));

        out.doc("///", &function.doc);
        let pairs = arguments.iter().map(|(argument, name)| (argument.name.as_str(), name.as_str()));
        out.doc("///", renamed([(function.name.as_str(), name)].into_iter().chain(pairs)));
        out.block(format!("static HOSTCALL_STUB {returned} {name}({}) {{", declared.join(", ")), "}", |out| {
            out.line(format!("return {finish}({spoken}, ::hostcall::{verb}{of}({word}{given}));"));
        });
        let by = [&["::hostcall::callee hc_callee".to_owned()], declared.as_slice()].concat().join(", ");
        let value = format!("::hostcall::given({word}, {:#018x}ull, hc_callee)", function.signature);
        out.line(format!("/// As `{name}`, by the service that the host passed to the kernel as a value."));
        out.block(format!("static HOSTCALL_STUB {returned} {}_by({by}) {{", function.name), "}", |out| {
            out.line(format!("return {finish}({spoken}, ::hostcall::{verb}{of}({value}{given}));"));
        });
        let here = "::hostcall::place hc_here = ::hostcall::place::current()".to_owned();
        let together = [declared.as_slice(), &[here]].concat().join(", ");
        out.line(format!("/// One `{name}` for all lanes that run converged here, with the first lane's arguments."));
        out.block(format!("static HOSTCALL_STUB {returned} {}_together({together}) {{", function.name), "}", |out| {
            out.line(format!("return {finish}({spoken}, ::hostcall::{verb}_together{of}(hc_here, {word}{given}));"));
        });
        if function.takes_var() {
            return;
        }
        let on = [&["::hostcall::port& hc_port".to_owned()], declared.as_slice()].concat().join(", ");
        out.line(format!("/// As `{name}`, over a port that the wave holds."));
        out.block(format!("static HOSTCALL_STUB {returned} {}_on({on}) {{", function.name), "}", |out| {
            out.line(format!("return {finish}({spoken}, ::hostcall::{verb}_on{of}(hc_port, {word}{given}));"));
        });
        out.line(format!("/// As `{name}_together`, over a port that the wave holds."));
        out.block(format!("static HOSTCALL_STUB {returned} {}_together_on({on}) {{", function.name), "}", |out| {
            out.line(format!("return {finish}({spoken}, ::hostcall::{verb}_together_on{of}(hc_port, {word}{given}));"));
        });
        if function.result.is_none() {
            return;
        }
        out.line(format!("/// Starts `{name}`, to wait for its result later."));
        let started = format!("static HOSTCALL_STUB ::hostcall::pending<{result}> start_{}({}) {{", function.name, declared.join(", "));
        out.block(started, "}", |out| out.line(format!("return ::hostcall::start{of}({word}{given});")));
    }

    /// The struct's own name.
    fn name_of(&self, structure: &Structure) -> &str {
        self.structures.iter().find(|(name, _)| *name == structure.name).map_or("", |(_, ours)| ours)
    }

    /// Its name from everywhere.
    fn of_structure(&self, structure: &Structure) -> String {
        self.namespace.full(self.name_of(structure))
    }

    fn argument(&self, kind: &Kind) -> String {
        match kind {
            Kind::Fixed(ty) => self.ty(ty),
            Kind::Str => "::hostcall::str".to_owned(),
            Kind::Slice(element) => format!("::hostcall::slice<{}>", self.ty(element)),
            Kind::SliceMut(element) => format!("::hostcall::slice_mut<{}>", self.ty(element)),
        }
    }

    fn result(&self, ty: &Type) -> String {
        if *ty == Type::Unit { "void".to_owned() } else { self.ty(ty) }
    }

    fn ty(&self, ty: &Type) -> String {
        match ty {
            Type::Unit => "::hostcall::unit".to_owned(),
            Type::Number(number) => format!("::hostcall::{}", number_name(*number)),
            Type::Bool => "bool".to_owned(),
            Type::Char => "char32_t".to_owned(),
            Type::Array(element, count) => format!("::hostcall::array<{}, {count}>", self.ty(element)),
            Type::Tuple(types) => format!("::hostcall::tuple<{}>", types.iter().map(|ty| self.ty(ty)).collect::<Vec<_>>().join(", ")),
            Type::Option(value) => format!("::hostcall::optional<{}>", self.ty(value)),
            Type::Result(value, error) => format!("::hostcall::result<{}, {}>", self.ty(value), self.ty(error)),
            Type::Structure(structure) => self.of_structure(structure),
        }
    }
}

/// A stream of bytes or of text: a type that names it, and its words.
fn byte_stream(out: &mut Writer, namespace: &Namespace, stream: &ByteStream, ours: &str) {
    let (name, policy, signature) = (&stream.name, stream.policy as u32, stream.signature);
    let (slice, text) = if stream.is_text { ("::hostcall::str", "str") } else { ("::hostcall::slice<::hostcall::u8>", "[u8]") };
    namespace.write(out, |out| {
        out.doc("///", &stream.doc);
        out.doc("///", renamed([(name.as_str(), ours)]));
        out.line(format!("/// `hostcall::send<{ours}>(…)` sends a message of each lane."));
        out.line(format!("struct {ours} {{}};"));
    });
    let ty = namespace.full(ours);
    out.line(format!("HOSTCALL_BYTE_STREAM({ty}, {name}, {policy}, {signature:#018x}ull, {slice}, {})", quoted(text)));
}

/// What stands between `struct` and its name: an alignment or a packing that its fields do not give it.
pub(super) fn attributes(structure: &Structure) -> String {
    let natural = structure.fields.iter().filter_map(|field| field.ty.align()).max().unwrap_or(1);
    match (structure.packed, structure.align) {
        (true, 1) => " __attribute__((packed))".to_owned(),
        (true, align) => format!(" __attribute__((packed, aligned({align})))"),
        (false, align) if align > natural => format!(" alignas({align})"),
        (false, _) => String::new(),
    }
}

/// The name of a type of numbers in `hostcall.cuh`.
fn number_name(number: Number) -> &'static str {
    match number {
        Number::Usize => "u64",
        Number::Isize => "i64",
        number => number.name(),
    }
}
