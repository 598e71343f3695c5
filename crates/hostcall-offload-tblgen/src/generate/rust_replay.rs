//! Calls of the entry points by their names, with arguments as machine words: what a recording is replayed through.

use std::fmt::Write as _;

use super::rust::{ALLOW_C_NAMES, finish, method_name, rust_name, rust_type};
use super::text::Text;
use super::{Backend, GenError, made_from};
use crate::ir::{Api, CType, Function, NamedKind, Param, Primitive};

pub(super) fn generate(api: &Api) -> Result<String, GenError> {
    let prefix = api.prefix.to_lowercase();
    let mut text = Text::default();
    text.line("//! Calls of the entry points by name.");
    text.line("//!");
    text.line(format_args!("//! {}", made_from(api, Backend::RustReplay)));
    text.blank();
    text.line(ALLOW_C_NAMES);
    text.blank();
    text.line("use std::ptr;");
    text.blank();
    text.line("use super::api::Api;");
    text.line("use super::entry;");
    text.line("use super::sys::*;");
    text.blank();
    text.line("/// What is passed where the caller passed a function of its own.");
    text.line("#[derive(Clone, Copy, Debug)]");
    text.block("pub struct Callbacks {", "}", |text| {
        for callback in &api.callbacks {
            text.line(format_args!("/// For every function of this type.\npub {0}: {0},", callback.name));
        }
        Ok::<(), GenError>(())
    })?;
    text.blank();
    text.line("/// Calls the entry point of this name, each argument as a machine word (numbers as their bits, callbacks as whether there is one).");
    text.line("/// `None`: there is no such function, or it has another number of arguments.");
    text.line("///");
    text.line("/// # Safety");
    text.line("///");
    text.line("/// What the function's own documentation says of its arguments.");
    let open =
        format!("pub unsafe fn replay<A: Api>(name: &str, arguments: &[u64], callbacks: &Callbacks) -> Option<{prefix}_result_t> {{");
    text.block(open, "}", |text| {
        if api.callbacks.is_empty() {
            text.line("let _ = callbacks;");
        }
        text.line("// SAFETY: the caller says so, for each of them.");
        text.block("Some(unsafe { match (name, arguments) {", "} })", |text| {
            for function in &api.functions {
                let mut names = String::new();
                let mut values = String::new();
                for param in &function.params {
                    let name = rust_name(&param.name);
                    write!(names, "{}{name}", if names.is_empty() { "" } else { ", " }).ok();
                    write!(values, "{}, ", word(api, function, param, &name)?).ok();
                }
                let method = method_name(api, function);
                text.line(format_args!("({:?}, &[{names}]) => entry::{method}::<A>({values}ptr::null()),", function.name));
            }
            text.line("_ => return None,");
            Ok::<(), GenError>(())
        })
    })?;
    finish(Backend::RustReplay, &text.finish())
}

/// A word as an argument.
fn word(api: &Api, function: &Function, param: &Param, name: &str) -> Result<String, GenError> {
    let ty = api.underlying(&param.ty.form);
    let place = format!("{}.{}", function.name, param.name);
    if let Some((name_of, NamedKind::Callback)) = ty.named() {
        return Ok(format!("if {name} == 0 {{ None }} else {{ callbacks.{name_of} }}"));
    }
    let is_pointer = ty.pointee().is_some() || matches!(ty.named(), Some((_, NamedKind::Handle)));
    Ok(match ty {
        _ if is_pointer => format!("ptr::with_exposed_provenance_mut({name} as usize)"),
        CType::Primitive { name: Primitive::Float } => format!("f32::from_bits({name} as u32)"),
        CType::Primitive { name: Primitive::Double } => format!("f64::from_bits({name})"),
        CType::Primitive { name: Primitive::Bool } => format!("{name} != 0"),
        CType::Primitive { name: Primitive::Uint64 } => name.to_owned(),
        CType::Primitive { .. } => format!("{name} as {}", rust_type(ty, &place)?),
        CType::Named { of: NamedKind::Enum, name: ty, .. } => format!("{ty}({name} as _)"),
        _ => return Err(GenError::Unsupported { place, reason: format!("`{ty}` cannot be replayed: it is no single value") }),
    })
}
