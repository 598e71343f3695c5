//! `Display` for the types of the API.

use std::collections::BTreeSet;

use super::rust::{FFI, finish, rust_type};
use super::rust_sys::member_name;
use super::text::Text;
use super::{Backend, GenError, made_from};
use crate::ir::{Api, CType, Enum, Primitive, Struct};

pub(super) fn generate(api: &Api) -> Result<String, GenError> {
    let mut text = Text::default();
    text.line("//! The values of the API as text: enumerators by name, structures by member, pointers as addresses.");
    text.line("//!");
    text.line(format_args!("//! {}", made_from(api, Backend::RustPrint)));
    text.blank();
    text.line(FFI);
    text.line("use std::fmt;");
    text.blank();
    text.line("use super::sys::*;");
    text.line("use crate::runtime::{Print, Shown};");
    for object in &api.enums {
        enumeration(&mut text, object)?;
    }
    for object in &api.structs {
        structure(&mut text, api, object)?;
    }
    let tags = api.functions.iter().flat_map(|function| {
        let tags = function.params.iter().filter_map(|param| param.type_tag.as_ref());
        tags.filter_map(|tag| function.params.iter().find(|param| param.name == tag.tag)?.ty.form.named())
    });
    let tags: BTreeSet<_> = tags.map(|(name, _)| name).collect();
    for object in api.enums.iter().filter(|object| object.is_typed && tags.contains(object.name.as_str())) {
        property(&mut text, object)?;
    }
    finish(Backend::RustPrint, &text.finish())
}

fn enumeration(text: &mut Text, object: &Enum) -> Result<(), GenError> {
    // Enumerators may share a number; the first name is the one that is shown.
    let mut named: Vec<(u32, &str)> = Vec::new();
    for etor in &object.etors {
        if !named.iter().any(|(value, _)| *value == etor.value) {
            named.push((etor.value, &etor.c_name));
        }
    }
    let has_names = !object.is_bit_field;
    impls(text, &object.name, has_names, |text| {
        if object.is_bit_field {
            text.line("let mut rest = self.0;");
            text.line("let mut separator = \"\";");
            let bits: Vec<_> =
                named.iter().filter(|(value, _)| *value != 0).map(|(_, name)| format!("(Self::{name}, \"{name}\")")).collect();
            text.block(format_args!("for (bit, name) in [{}] {{", bits.join(", ")), "}", |text| {
                text.block("if rest & bit.0 != 0 {", "}", |text| {
                    text.line("write!(f, \"{separator}{name}\")?;");
                    text.line("rest &= !bit.0;");
                    text.line("separator = \" | \";");
                    Ok::<(), GenError>(())
                })
            })?;
            text.line("if rest != 0 || separator.is_empty() { write!(f, \"{separator}{rest:#x}\") } else { Ok(()) }");
            Ok(())
        } else {
            text.block("match self.name() {", "}", |text| {
                text.line("Some(name) => f.write_str(name),");
                text.line(format_args!("None => write!(f, \"{{}} (not in {})\", self.0),", object.name));
                Ok::<(), GenError>(())
            })
        }
    })?;
    if !object.is_bit_field {
        text.blank();
        text.block(format_args!("impl {} {{", object.name), "}", |text| {
            text.block("fn name(self) -> Option<&'static str> {", "}", |text| {
                text.block("Some(match self {", "})", |text| {
                    for (_, name) in &named {
                        text.line(format_args!("Self::{name} => \"{name}\","));
                    }
                    text.line("_ => return None,");
                    Ok::<(), GenError>(())
                })
            })
        })?;
    }
    Ok(())
}

fn structure(text: &mut Text, api: &Api, object: &Struct) -> Result<(), GenError> {
    impls(text, &object.name, false, |text| {
        if object.members.is_empty() {
            text.line("f.write_str(\"{}\")");
            return Ok(());
        }
        let mut pieces = Vec::new();
        let mut values = Vec::new();
        for member in &object.members {
            pieces.push(format!(".{} = {{}}", member.name));
            let place = format!("self.{}", member_name(&member.name));
            values.push(match api.flags_of(&member.ty.form).filter(|flags| flags.name != member_type_name(&member.ty.form)) {
                Some(flags) => format!("{}({place})", flags.name),
                None if api.underlying(&member.ty.form).is_callback() => {
                    format!("Shown(&{place}.map_or(std::ptr::null(), |callback| callback as *const c_void))")
                }
                None => format!("Shown(&{place})"),
            });
        }
        text.line(format_args!("write!(f, \"{{{{{}}}}}\", {})", pieces.join(", "), values.join(", ")));
        Ok(())
    })
}

fn member_type_name(ty: &CType) -> &str {
    ty.named().map_or("", |(name, _)| name)
}

/// `Display` and `Print`. Enumerators that have names are shown without the machinery of formats.
fn impls(text: &mut Text, name: &str, has_names: bool, body: impl FnOnce(&mut Text) -> Result<(), GenError>) -> Result<(), GenError> {
    text.blank();
    text.block(format_args!("impl fmt::Display for {name} {{"), "}", |text| {
        text.block("fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {", "}", body)
    })?;
    text.blank();
    text.block(format_args!("impl Print for {name} {{"), "}", |text| {
        text.block("fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {", "}", |text| {
            text.line("fmt::Display::fmt(self, f)");
            Ok::<(), GenError>(())
        })?;
        if has_names {
            text.blank();
            text.block("fn push(&self, to: &mut String) {", "}", |text| {
                text.block("match self.name() {", "}", |text| {
                    text.line("Some(name) => to.push_str(name),");
                    text.line("None => crate::runtime::push_formatted(self, to),");
                    Ok::<(), GenError>(())
                })
            })?;
        }
        Ok(())
    })
}

/// Name of the function that shows a property.
pub(super) fn property_function(object: &Enum) -> String {
    format!("show_{}", object.name)
}

/// A type as it can be read from any bytes: a `bool` cannot.
pub(super) fn readable_type(ty: &CType, place: &str) -> Result<String, GenError> {
    match ty {
        CType::Primitive { name: Primitive::Bool } => Ok("crate::runtime::Bool".into()),
        other => rust_type(other, place),
    }
}

fn property(text: &mut Text, object: &Enum) -> Result<(), GenError> {
    text.blank();
    text.line(format_args!("/// Adds the property of that name as text; whether `bytes` are enough for it."));
    let open = format!("pub(super) fn {}(property: {}, bytes: &[u8], to: &mut String) -> bool {{", property_function(object), object.name);
    text.block(open, "}", |text| {
        text.block("match property {", "}", |text| {
            for etor in &object.etors {
                let Some(ty) = &etor.tagged_type else { continue };
                let place = format!("{}.{}", object.name, etor.name);
                let pattern = format!("{}::{}", object.name, etor.c_name);
                match &ty.form {
                    CType::Array { of, .. } if matches!(**of, CType::Primitive { name: Primitive::Char }) => {
                        text.line(format_args!("{pattern} => crate::runtime::trace::text(bytes, to),"));
                    }
                    CType::Array { of, .. } => {
                        let ty = readable_type(of, &place)?;
                        text.line("// SAFETY: any bytes are a value of this type.");
                        text.line(format_args!("{pattern} => unsafe {{ crate::runtime::trace::elements::<{ty}>(bytes, to) }},"));
                    }
                    other => {
                        let ty = readable_type(other, &place)?;
                        text.line("// SAFETY: any bytes are a value of this type.");
                        text.line(format_args!("{pattern} => unsafe {{ crate::runtime::trace::element::<{ty}>(bytes, to) }},"));
                    }
                }
            }
            text.line("_ => false,");
            Ok::<(), GenError>(())
        })
    })
}
