//! An implementation of the trait for tests: it does little by itself, and what it is told.

use super::rust::{FFI, doc, finish, method_name, parameters, rust_name, rust_type};
use super::rust_trait::kind;
use super::text::Text;
use super::{Backend, GenError, made_from};
use crate::ir::{Api, CType, Function, NamedKind, Param, Primitive, pascal_case};

pub(super) fn generate(api: &Api) -> Result<String, GenError> {
    let mut text = Text::default();
    text.line("//! An implementation of the API for tests.");
    text.line("//!");
    text.line("//! By itself it makes and destroys handles and writes zeros where a function writes; [hooks](Hook) before, instead of and after each");
    text.line("//! function do the rest, and [`Faults`] make calls fail. Through `export_entry_points!(Mock)` it is a C library.");
    text.line("//!");
    text.line(format_args!("//! {}", made_from(api, Backend::Mock)));
    text.blank();
    text.line("#![allow(clippy::too_many_arguments, reason = \"a function has as many as its definition says\")]");
    text.blank();
    text.line(FFI);
    text.line("use std::sync::LazyLock;");
    text.line("use std::sync::atomic::{AtomicUsize, Ordering};");
    text.blank();
    text.line("use super::api::{Api, HandleKind};");
    text.line("use super::sys::*;");
    text.line("use crate::runtime::mock::{self, Faults, Hook};");
    text.line("use crate::runtime::{Error, HandleState, HandleTable};");
    for function in &api.functions {
        call(&mut text, api, function)?;
    }
    text.blank();
    text.line("/// The hooks of all functions.");
    text.line("#[derive(Debug, Default)]");
    text.block("pub struct Hooks {", "}", |text| {
        for function in &api.functions {
            text.line(format_args!("/// Of `{}`.", function.name));
            text.line(format_args!("pub {}: Hook<{}>,", method_name(api, function), call_name(api, function)));
        }
        Ok::<(), GenError>(())
    })?;
    text.blank();
    text.line("/// The mock.");
    text.line("#[derive(Debug, Default)]");
    text.block("pub struct Mock {", "}", |text| {
        text.line("/// What happens at each call.");
        text.line("pub hooks: Hooks,");
        text.line("/// Which calls fail.");
        text.line("pub faults: Faults,");
        text.line("/// The handles that exist.");
        text.line("pub handles: HandleTable<HandleKind>,");
        text.line("started: AtomicUsize,");
        Ok::<(), GenError>(())
    })?;
    text.blank();
    text.block("impl Mock {", "}", |text| {
        text.line("/// A handle that no other is equal to, and that the entry points take for live.");
        text.block("pub fn new_handle(&self, kind: HandleKind, parent: Option<*const c_void>) -> *mut c_void {", "}", |text| {
            text.line("let handle = mock::new_address();");
            text.line("self.handles.insert(kind, handle, parent);");
            text.line("handle");
            Ok::<(), GenError>(())
        })
    })?;
    text.blank();
    text.block("impl Api for Mock {", "}", |text| {
        text.block("fn instance() -> &'static Mock {", "}", |text| {
            text.line("static MOCK: LazyLock<Mock> = LazyLock::new(|| Mock { faults: Faults::from_environment(), ..Mock::default() });");
            text.line("&MOCK");
            Ok::<(), GenError>(())
        })?;
        text.blank();
        text.block("fn is_initialized(&self) -> bool {", "}", |text| {
            text.line("// Pairs with the changes that starting and ending make.");
            text.line("self.started.load(Ordering::Acquire) > 0");
            Ok::<(), GenError>(())
        })?;
        text.blank();
        text.block("fn handle_state(&self, kind: HandleKind, handle: *const c_void) -> HandleState<HandleKind> {", "}", |text| {
            text.line("self.handles.state(kind, handle)");
            Ok::<(), GenError>(())
        })?;
        api.functions.iter().try_for_each(|function| method(text, api, function))
    })?;
    finish(Backend::Mock, &text.finish())
}

/// Name of the structure that holds a call's arguments.
fn call_name(api: &Api, function: &Function) -> String {
    let lower = api.prefix.to_lowercase();
    pascal_case(function.name.strip_prefix(&lower).unwrap_or(&function.name))
}

fn call(text: &mut Text, api: &Api, function: &Function) -> Result<(), GenError> {
    text.blank();
    text.line(format_args!("/// The arguments of a call of `{}`.", function.name));
    text.line("#[derive(Clone, Copy, Debug)]");
    text.block(format_args!("pub struct {} {{", call_name(api, function)), "}", |text| {
        for param in &function.params {
            text.line(format_args!("/// {}", doc(&param.desc)));
            text.line(format_args!("pub {}: {},", rust_name(&param.name), rust_type(&param.ty.form, &function.name)?));
        }
        Ok(())
    })
}

fn method(text: &mut Text, api: &Api, function: &Function) -> Result<(), GenError> {
    let name = method_name(api, function);
    let call = call_name(api, function);
    text.blank();
    text.block(format_args!("unsafe fn {name}(&self, {}) -> Result<(), Error> {{", parameters(function)?), "}", |text| {
        let fields: Vec<_> = function.params.iter().map(|param| rust_name(&param.name)).collect();
        text.line(format_args!("let call = {call} {{ {} }};", fields.join(", ")));
        let mut default = Text::default();
        default_behaviour(&mut default, api, function)?;
        let default = default.finish();
        let parameter = if default.contains("call.") { "call" } else { "_" };
        text.block(format_args!("self.hooks.{name}.run(\"{}\", &self.faults, call, |{parameter}| {{", function.name), "})", |text| {
            if !default.is_empty() {
                text.line(default.trim_end());
            }
            if destroyed(api, function).is_none() {
                text.line("Ok(())");
            }
            Ok(())
        })
    })
}

fn default_behaviour(text: &mut Text, api: &Api, function: &Function) -> Result<(), GenError> {
    let prefix = api.prefix.to_lowercase();
    if function.name == format!("{prefix}Init") {
        text.line("// Pairs with `is_initialized`.");
        text.line("self.started.fetch_add(1, Ordering::AcqRel);");
    }
    if function.name == format!("{prefix}ShutDown") {
        text.line("// Pairs with `is_initialized`. Entry points refuse a call that would make it negative, unless two threads end what was started once.");
        text.line("let _ = self.started.fetch_update(Ordering::AcqRel, Ordering::Acquire, |started| started.checked_sub(1));");
    }
    if let Some(handle) = destroyed(api, function) {
        text.line(format_args!(
            "mock::destroyed(self.handles.remove(HandleKind::{}, call.{}.cast()))",
            kind(api, handle.1),
            rust_name(handle.0)
        ));
        return Ok(());
    }
    let parent = function.params.iter().find(|param| param.ty.form.is_handle());
    for param in function.params.iter().filter(|param| param.is_out) {
        output(text, api, function, param, parent)?;
    }
    Ok(())
}

/// The parameter and kind of handle that a function destroys, if that is what it does.
pub(super) fn destroyed<'a>(api: &Api, function: &'a Function) -> Option<(&'a str, &'a str)> {
    let [param] = function.params.as_slice() else { return None };
    let (handle, NamedKind::Handle) = param.ty.form.named()? else { return None };
    let name = format!("{}Destroy{}", api.prefix.to_lowercase(), kind(api, handle));
    (function.name == name).then_some((&param.name, handle))
}

fn output(text: &mut Text, api: &Api, function: &Function, param: &Param, parent: Option<&Param>) -> Result<(), GenError> {
    let Some((pointee, false)) = param.ty.form.pointee() else { return Ok(()) };
    let place = format!("call.{}", rust_name(&param.name));
    if let Some(tag) = &param.type_tag {
        text.line("// SAFETY: the caller says so.");
        text.line(format_args!("unsafe {{ mock::zero({place}.cast::<u8>(), call.{}) }};", rust_name(&tag.size)));
        return Ok(());
    }
    if *pointee == CType::Void || param.range.is_some() {
        return Ok(());
    }
    match pointee.named() {
        Some((handle, NamedKind::Handle)) => {
            let parent = match parent {
                Some(parent) => format!("(!call.{0}.is_null()).then_some(call.{0}.cast_const().cast())", rust_name(&parent.name)),
                None => "None".into(),
            };
            text.block(format_args!("if !{place}.is_null() {{"), "}", |text| {
                text.line(format_args!("let handle = self.new_handle(HandleKind::{}, {parent});", kind(api, handle)));
                text.line("// SAFETY: the caller says so.");
                text.line(format_args!("unsafe {{ {place}.write(handle.cast()) }};"));
                Ok(())
            })
        }
        _ => {
            let ty = match pointee {
                CType::Primitive { name: Primitive::Bool } => "u8".into(),
                other => rust_type(other, &function.name)?,
            };
            text.line("// SAFETY: the caller says so.");
            text.line(format_args!("unsafe {{ mock::zero({place}.cast::<{ty}>(), 1) }};"));
            Ok(())
        }
    }
}
