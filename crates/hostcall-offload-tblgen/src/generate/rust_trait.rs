//! The trait that an implementation fills.

use super::rust::{FFI, doc, finish, handle_stem, method_name, parameters};
use super::text::Text;
use super::{Backend, GenError, made_from};
use crate::ir::{Api, Function, pascal_case};

pub(super) fn generate(api: &Api) -> Result<String, GenError> {
    let mut text = Text::default();
    text.line("//! The trait that an implementation of the API fills. A function that is missing is a compile error.");
    text.line("//!");
    text.line(format_args!("//! {}", made_from(api, Backend::RustTrait)));
    text.blank();
    text.line("#![allow(clippy::too_many_arguments, reason = \"a function has as many as its definition says\")]");
    text.blank();
    text.line(FFI);
    text.blank();
    text.line("use super::sys::*;");
    text.line("use crate::runtime::record::Recorder;");
    text.line("use crate::runtime::{Error, HandleState};");
    text.blank();
    text.line("/// The kinds of handles.");
    text.line("#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]");
    text.block("pub enum HandleKind {", "}", |text| {
        for object in &api.handles {
            text.line(format_args!("/// {}", doc(&object.desc)));
            text.line(format_args!("{},", kind(api, &object.name)));
        }
        Ok::<(), GenError>(())
    })?;
    text.blank();
    text.line("/// An implementation of the API.");
    text.line("///");
    text.line("/// Entry points call it after they have checked the arguments: required handles and pointers are not null, handles are live and of their");
    text.line("/// kind, enumerations and flags have known values, and no condition that a function refuses holds. (With `OFFLOAD_DISABLE_VALIDATION`,");
    text.line("/// callers promise all that.) Calls come from any thread. A panic becomes an error.");
    text.block("pub trait Api: Sync + 'static {", "}", |text| {
        text.line("/// The one instance that entry points call.");
        text.line("fn instance() -> &'static Self where Self: Sized;");
        text.blank();
        text.line("/// Whether the library has been started and not ended.");
        text.line("fn is_initialized(&self) -> bool;");
        text.blank();
        text.line("/// What is known of a handle, which may be any address. [`HandleTable`](crate::runtime::HandleTable) knows.");
        text.line("fn handle_state(&self, kind: HandleKind, handle: *const c_void) -> HandleState<HandleKind>;");
        text.blank();
        text.line("/// What keeps the calls, if they are recorded.");
        text.line("#[inline]");
        text.line("fn recorder(&self) -> Option<&'static dyn Recorder> { None }");
        for function in &api.functions {
            text.blank();
            describe(text, function);
            text.line("///");
            text.line("/// # Safety");
            text.line("///");
            text.line("/// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.");
            text.line(format_args!("unsafe fn {}(&self, {}) -> Result<(), Error>;", method_name(api, function), parameters(function)?));
        }
        Ok::<(), GenError>(())
    })?;
    finish(Backend::RustTrait, &text.finish())
}

/// A function's documentation, as comments.
pub(super) fn describe(text: &mut Text, function: &Function) {
    text.wrapped("/// ", 140, &format!("{} (`{}`).", doc(function.desc.trim_end_matches('.')), function.name));
    if !function.details.is_empty() {
        text.line("///");
    }
    for detail in &function.details {
        bullet(text, &doc(detail));
    }
    if !function.params.is_empty() {
        text.line("///");
    }
    for param in &function.params {
        let way = match (param.is_in, param.is_out) {
            (true, true) => "in and out",
            (_, true) => "out",
            _ => "in",
        };
        let optional = if param.is_optional { ", may be null" } else { "" };
        bullet(text, &format!("`{}` ({way}{optional}): {}", super::rust::rust_name(&param.name), doc(&param.desc)));
    }
    text.line("///");
    text.line("/// # Errors");
    text.line("///");
    for ret in function.returns.iter().filter(|ret| !ret.value.ends_with("_SUCCESS")) {
        let conditions: Vec<_> = ret.conditions.iter().map(|condition| doc(&condition.text)).collect();
        let colon = if conditions.is_empty() { "" } else { ": " };
        bullet(text, &format!("`{}`{colon}{}", ret.value, conditions.join("; ")));
    }
}

fn bullet(text: &mut Text, item: &str) {
    let lines = super::text::wrap(item, 128);
    for (index, line) in lines.iter().enumerate() {
        text.line(format_args!("/// {} {line}", if index == 0 { "*" } else { " " }));
    }
}

/// A handle's name among the kinds.
pub(super) fn kind(api: &Api, handle: &str) -> String {
    pascal_case(handle_stem(api, handle))
}
