//! The C header: valid C11 and C++17, and needing nothing but a few standard headers.
//!
//! Types stand in an order in which each is defined before it is needed, functions by name.

use super::order::{Definition, definitions};
use super::rust_sys::params_struct;
use super::text::Text;
use super::{Backend, GenError, made_from};
use crate::ir::{Api, CType, Enum, Function, Macro, Param, Primitive, Type};

/// Lines of comments are no longer than this.
const WIDTH: usize = 100;

pub(super) fn generate(api: &Api) -> Result<String, GenError> {
    let prefix = api.prefix.to_lowercase();
    let mut text = Text::default();
    text.line(format_args!("/* {} */", made_from(api, Backend::Header)));
    text.blank();
    let guard = format!("{}_{}_H", api.prefix, api.source.split('.').next().unwrap_or("API").to_uppercase());
    text.line(format_args!("#ifndef {guard}"));
    text.line(format_args!("#define {guard}"));
    text.blank();
    // `bool` is a keyword only in C++ and from C23 on.
    for header in ["stdbool.h", "stddef.h", "stdint.h"] {
        text.line(format_args!("#include <{header}>"));
    }
    text.blank();
    text.line("#ifdef __cplusplus");
    text.line("extern \"C\" {");
    text.line("#endif");
    for object in &api.macros {
        define(&mut text, object);
    }
    for object in &api.handles {
        text.blank();
        comment(&mut text, &object.desc);
        let target = object.name.strip_suffix("_handle_t").unwrap_or(&object.name);
        text.line(format_args!("typedef struct {target}_impl_t *{};", object.name));
    }
    for object in &api.enums {
        enumeration(&mut text, object);
    }
    text.blank();
    for object in &api.structs {
        text.line(format_args!("typedef struct {0} {0};", object.name));
    }
    for definition in definitions(api)? {
        text.blank();
        match definition {
            Definition::Typedef(object) => {
                comment(&mut text, &object.desc);
                text.line(format_args!("typedef {};", declare(&object.ty, &object.name)));
            }
            Definition::Callback(object) => {
                comment(&mut text, &object.desc);
                params_comment(&mut text, &object.params);
                text.line(format_args!("typedef {}(*{})({});", spaced(&object.ret.form.to_string()), object.name, params(&object.params)));
            }
            Definition::Struct(object) => {
                comment(&mut text, &object.desc);
                text.block(format_args!("struct {} {{", object.name), "};", |text| {
                    for member in &object.members {
                        comment(text, &member.desc);
                        text.line(format_args!("{};", declare(&member.ty, &member.name)));
                    }
                    Ok::<(), GenError>(())
                })?;
            }
        }
    }
    prelude(&mut text, api, &prefix)?;
    if let Some(version) = api.llvm {
        note(&mut text, version);
    }
    for object in &api.functions {
        function(&mut text, api, object, &prefix)?;
    }
    text.blank();
    text.line("#ifdef __cplusplus");
    text.line("}");
    text.line("#endif");
    text.blank();
    text.line(format_args!("#endif /* {guard} */"));
    Ok(text.finish())
}

/// What says in a program which version it was compiled for, so that a library of another one can tell: an ELF note.
/// Names in two versions of an API are the same where signatures and numbers are not, so that no linker notices.
fn note(text: &mut Text, version: u32) {
    text.blank();
    text.line("/// The version of LLVM whose API this header has.");
    text.line(format_args!("#define OFFLOAD_API_LLVM {version}"));
    text.blank();
    comment(text, "Says in the program's file which version it was compiled for; olInit compares. It is data, and no part of the API.");
    text.line("#if defined(__ELF__) && defined(__GNUC__)");
    text.line("static const struct ol_api_note {");
    text.line("    uint32_t NameSize, DataSize, Type;");
    text.line("    char Name[12];");
    text.line("    uint32_t Version;");
    text.line("} ol_api_note");
    text.line("#if defined(__clang__)");
    text.line("    /* What a sanitizer puts behind variables is no note. */");
    text.line("    __attribute__((no_sanitize(\"address\")))");
    text.line("#endif");
    text.line("    __attribute__((used, aligned(4), section(\".note.offload.api\"))) = {11, 4, 1, \"OffloadAPI\", OFFLOAD_API_LLVM};");
    text.line("#endif");
}

/// A comment in front of something, without what would end it.
fn comment(text: &mut Text, desc: &str) {
    text.wrapped("/// ", WIDTH, &plain(desc));
}

/// Text that can stand in a C comment: a backslash at the end of a line would continue it.
fn plain(text: &str) -> String {
    text.replace("*/", "* /").replace('\\', "\\\\")
}

fn define(text: &mut Text, object: &Macro) {
    text.blank();
    let name = object.name.split('(').next().unwrap_or(&object.name);
    comment(text, &object.desc);
    text.line(format_args!("#ifndef {name}"));
    let define = |value: &str| format!("#define {} {value}", object.name);
    match &object.condition {
        None => text.line(define(&object.value)),
        Some(condition) => {
            text.line(format_args!("#if {condition}"));
            text.line(define(&object.value));
            if let Some(value) = &object.alt_value {
                text.line("#else");
                text.line(define(value));
            }
            text.line("#endif");
        }
    }
    text.line("#endif");
}

fn enumeration(text: &mut Text, object: &Enum) {
    text.blank();
    comment(text, &object.desc);
    let body = text.block(format_args!("typedef enum {} {{", object.name), &format!("}} {};", object.name), |text| {
        for etor in &object.etors {
            let tag = etor.tagged_type.as_ref().map(|ty| format!("[{}] ", ty.form)).unwrap_or_default();
            comment(text, &format!("{tag}{}", etor.desc));
            text.line(format_args!("{} = {},", etor.c_name, etor.value));
        }
        text.line("/// Not a value: the one after the last.");
        text.line(format_args!("{}_LAST = {},", object.prefix, last(object)));
        text.line("/// Not a value: makes the type 32 bits wide.");
        text.line(format_args!("{}_FORCE_UINT32 = 0x7fffffff", object.prefix));
        Ok::<(), std::convert::Infallible>(())
    });
    let Ok(()) = body;
}

/// The value after the last.
pub(super) fn last(object: &Enum) -> u64 {
    object.etors.last().map_or(u64::from(object.is_bit_field), |etor| {
        let value = u64::from(etor.value);
        if object.is_bit_field { value << 1 } else { value + 1 }
    })
}

/// What every prototype names has to be there.
fn prelude(text: &mut Text, api: &Api, prefix: &str) -> Result<(), GenError> {
    let missing = |name: String| Err(GenError::Missing { name, needed_by: "every function's prototype names" });
    let is_macro = |name: &str| api.macros.iter().any(|object| object.name == name);
    for name in [format!("{prefix}_result_t"), format!("{prefix}_code_location_t")] {
        if api.named(&name).is_none() {
            return missing(name);
        }
    }
    for name in [format!("{}_APIEXPORT", api.prefix), format!("{}_APICALL", api.prefix)] {
        if !is_macro(&name) {
            return missing(name);
        }
    }
    let nodiscard = format!("{}_NODISCARD", api.prefix);
    if api.functions.iter().any(|object| object.nodiscard) && !is_macro(&nodiscard) {
        text.blank();
        text.line("/// Makes compilers that can warn when a function's result is dropped.");
        text.line(format_args!("#ifndef {nodiscard}"));
        text.line("#if (defined(__cplusplus) && __cplusplus >= 201703L) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)");
        text.line(format_args!("#define {nodiscard} [[nodiscard]]"));
        text.line("#elif defined(__GNUC__)");
        text.line(format_args!("#define {nodiscard} __attribute__((warn_unused_result))"));
        text.line("#else");
        text.line(format_args!("#define {nodiscard}"));
        text.line("#endif");
        text.line("#endif");
    }
    Ok(())
}

fn function(text: &mut Text, api: &Api, object: &Function, prefix: &str) -> Result<(), GenError> {
    let name = &object.name;
    if !object.params.is_empty() {
        text.blank();
        text.line(format_args!("/// Pointers to the arguments of a call of ::{name}."));
        let params = params_struct(object);
        text.block(format_args!("typedef struct {params} {{"), &format!("}} {params};"), |text| {
            for param in &object.params {
                let pointer = CType::Pointer { is_const: false, to: Box::new(param.ty.form.clone()) };
                text.line(format_args!("{}p{};", spaced(&pointer.to_string()), param.name));
            }
            Ok::<(), GenError>(())
        })?;
    }
    text.blank();
    comment(text, &object.desc);
    for detail in &object.details {
        text.line("///");
        item(text, "- ", &plain(detail));
    }
    if !object.analogues.is_empty() {
        text.line("///");
        comment(text, &format!("As in other APIs: {}.", object.analogues.join(", ")));
    }
    params_comment(text, &object.params);
    text.line("///");
    text.line("/// @returns");
    for ret in &object.returns {
        item(text, "- ", &format!("::{}", ret.value));
        for condition in &ret.conditions {
            item(text, "  - ", &plain(&condition.text));
        }
    }
    let export = format!("{0}_APIEXPORT {prefix}_result_t {0}_APICALL", api.prefix);
    let nodiscard = if object.nodiscard { format!("{}_NODISCARD ", api.prefix) } else { String::new() };
    let list: Vec<_> = object.params.iter().map(|param| declare(&param.ty, &param.name)).collect();
    prototype(text, &format!("{nodiscard}{export} {name}"), &list);
    text.blank();
    text.line(format_args!("/// ::{name}, with the place in the caller's source for error messages and traces."));
    let list: Vec<_> = list.into_iter().chain([format!("{prefix}_code_location_t *CodeLocation")]).collect();
    prototype(text, &format!("{nodiscard}{export} {name}WithCodeLoc"), &list);
    Ok(())
}

fn prototype(text: &mut Text, head: &str, params: &[String]) {
    // In C before C23, an empty list would mean that nothing is known of the parameters.
    let line = format!("{head}({});", if params.is_empty() { "void".to_owned() } else { params.join(", ") });
    if line.len() <= WIDTH {
        return text.line(line);
    }
    text.line(format_args!("{head}("));
    for (index, param) in params.iter().enumerate() {
        text.line(format_args!("    {param}{}", if index + 1 == params.len() { ");" } else { "," }));
    }
}

fn item(text: &mut Text, bullet: &str, item: &str) {
    for (index, line) in super::text::wrap(item, WIDTH - 4 - bullet.len()).iter().enumerate() {
        let indent = if index == 0 { bullet.to_owned() } else { " ".repeat(bullet.len()) };
        text.line(format_args!("/// {indent}{line}"));
    }
}

fn params_comment(text: &mut Text, params: &[Param]) {
    if !params.is_empty() {
        text.line("///");
    }
    for param in params {
        let way = match (param.is_in, param.is_out) {
            (true, true) => "[in,out]",
            (_, true) => "[out]",
            _ => "[in]",
        };
        let optional = if param.is_optional { " (may be NULL)" } else { "" };
        item(text, "", &format!("@param{way} {} {}{optional}", param.name, plain(&param.desc)));
    }
}

fn params(params: &[Param]) -> String {
    if params.is_empty() {
        return "void".into();
    }
    params.iter().map(|param| declare(&param.ty, &param.name)).collect::<Vec<_>>().join(", ")
}

/// A declaration of something of that type. Text that this program does not know is kept as it is.
fn declare(ty: &Type, name: &str) -> String {
    match &ty.form {
        CType::Array { of, len } => format!("{}{name}[{}]", spaced(&of.to_string()), len.map_or(String::new(), |len| len.to_string())),
        CType::Primitive { name: Primitive::Unsigned } => format!("unsigned {name}"),
        form => format!("{}{name}", spaced(&form.to_string())),
    }
}

fn spaced(ty: &str) -> String {
    if ty.ends_with('*') { ty.to_owned() } else { format!("{ty} ") }
}
