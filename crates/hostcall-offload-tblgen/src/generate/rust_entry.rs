//! The entry points: checks, then the implementation, and a line for the trace. What a recording keeps of the arguments
//! is in [`rust_record`].
//!
//! The order of the checks: the library is started; what must not be null is not; enumerations and flags; handles; the
//! function's own conditions, each after those that it relies on ([`crate::condition::plan`]); last the elements of
//! arrays and the members of structures.

use super::rust::{FFI, arguments, doc, errc, finish, method_name, parameters, rust_name};
use super::rust_print::{property_function, readable_type};
use super::rust_sys::member_name;
use super::rust_trait::kind;
use super::text::Text;
use super::{Backend, GenError, made_from, rust_expr, rust_record};
use crate::condition::{HazardKind, Scope, plan};
use crate::ir::{Api, CType, Enum, Function, Named, NamedKind, Param, Primitive, Struct};

pub(super) fn generate(api: &Api) -> Result<String, GenError> {
    let prefix = api.prefix.to_lowercase();
    let mut text = Text::default();
    text.line("//! The entry points. Each checks its arguments, calls the implementation, and writes a line to the trace.");
    text.line("//!");
    text.line("//! [`export_entry_points!`](crate::export_entry_points) makes C functions of them.");
    text.line("//!");
    text.line(format_args!("//! {}", made_from(api, Backend::RustEntry)));
    text.blank();
    text.line("#![allow(clippy::too_many_arguments, reason = \"a function has as many as its definition says\")]");
    text.line("#![allow(unused_imports, reason = \"not every API needs each of them\")]");
    text.blank();
    text.line(FFI);
    text.blank();
    text.line("use super::api::{Api, HandleKind};");
    text.line("use super::print;");
    text.line("use super::sys::*;");
    text.line("use crate::runtime::check::{self, Number};");
    text.line("use crate::runtime::record::{Access, Element};");
    text.line("use crate::runtime::{Bool, Error, call, is_watched, watched};");
    for function in &api.functions {
        entry(&mut text, api, function, &prefix)?;
    }
    export(&mut text, api, &prefix)?;
    finish(Backend::RustEntry, &text.finish())
}

/// How many parameters C passes in registers: on x86-64, and no fewer on other processors.
const IN_REGISTERS: usize = 6;

fn entry(text: &mut Text, api: &Api, function: &Function, prefix: &str) -> Result<(), GenError> {
    let name = method_name(api, function);
    text.blank();
    text.line(format_args!("/// `{}`: {}.", function.name, doc(function.desc.trim_end_matches('.'))));
    text.line("///");
    text.line("/// # Safety");
    text.line("///");
    text.line(format_args!("/// As [`Api::{name}`]. `location` is null or points to a location whose texts are null or end in a zero."));
    let parameters = parameters(function)?;
    let comma = if parameters.is_empty() { "" } else { ", " };
    if function.params.len() > IN_REGISTERS {
        text.line("// A call would copy the parameters that are on the stack, from where the caller wrote them just now.");
        text.line("#[inline(always)]");
    }
    let open =
        format!("pub unsafe fn {name}<A: Api>({parameters}{comma}location: *const {prefix}_code_location_t) -> {prefix}_result_t {{");
    text.block(open, "}", |text| {
        text.block("let body = move || {", "};", |text| body(text, api, function, &name))?;
        let list = if function.params.is_empty() { "_" } else { "list" };
        text.block("if is_watched::<A>() {", "}", |text| {
            text.block(format_args!("let arguments = |{list}: &mut crate::runtime::trace::Arguments| {{"), "};", |text| {
                function.params.iter().try_for_each(|param| argument(text, api, function, param))
            })?;
            text.block(format_args!("let recorded = |{list}: &mut crate::runtime::record::Arguments| {{"), "};", |text| {
                function.params.iter().try_for_each(|param| rust_record::argument(text, api, function, param))
            })?;
            text.line("// SAFETY: the caller says so.");
            text.line(format_args!("return unsafe {{ watched::<A>(\"{}\", location, body, arguments, recorded) }};", function.name));
            Ok::<(), GenError>(())
        })?;
        text.line("// SAFETY: the caller says so.");
        text.line(format_args!("unsafe {{ call(\"{}\", location, body) }}", function.name));
        Ok(())
    })
}

fn body(text: &mut Text, api: &Api, function: &Function, name: &str) -> Result<(), GenError> {
    text.line("let api = A::instance();");
    if function.name != format!("{}Init", api.prefix.to_lowercase()) {
        text.line(format_args!("check::initialized(api.is_initialized(), \"{}\")?;", function.name));
    }
    let mut checks = Text::default();
    validation(&mut checks, api, function)?;
    let checks = checks.finish();
    if !checks.is_empty() {
        text.block("if check::enabled() {", "}", |text| {
            text.line(checks.trim_end());
            Ok::<(), GenError>(())
        })?;
    }
    text.line("// SAFETY: the caller says so.");
    text.line(format_args!("unsafe {{ api.{name}({}) }}", arguments(function)));
    Ok(())
}

fn validation(text: &mut Text, api: &Api, function: &Function) -> Result<(), GenError> {
    let scope = Scope { api, function };
    let plan = plan(scope);
    if let Some(problem) = plan.problems.iter().find(|problem| problem.is_fatal) {
        let reason = format!("{} in the condition {} of {}", problem.message, problem.condition.text, problem.ret.value);
        return Err(GenError::Unsupported { place: function.name.clone(), reason });
    }
    for check in &plan.nulls {
        let param = function.params.iter().find(|param| null_checked(check, param));
        let details = param.map_or_else(|| check.condition.text.clone(), |param| format!("{} must not be NULL", param.name));
        refusal(text, scope, check, &details)?;
    }
    for param in &function.params {
        value_check(text, api, &param.ty.form, &rust_name(&param.name), &param.name)?;
    }
    for param in function.params.iter().filter(|param| param.ty.form.is_handle()) {
        let is_required = plan.nulls.iter().any(|check| null_checked(check, param));
        handle_check(text, api, &param.ty.form, &rust_name(&param.name), &param.name, is_required)?;
    }
    for check in &plan.checks {
        if let Some(hazard) = check.hazards.iter().find(|hazard| hazard.kind == HazardKind::NullPointer) {
            let reason = format!("`{0}` may be null in the condition {1}; write `{0} != NULL && …`", hazard.what, check.condition.text);
            return Err(GenError::Unsupported { place: function.name.clone(), reason });
        }
        refusal(text, scope, check, &check.condition.text)?;
    }
    function.params.iter().try_for_each(|param| pointee_check(text, api, function, param))
}

/// Whether this is the check that a parameter is not null.
fn null_checked(check: &crate::condition::Check<'_>, param: &Param) -> bool {
    check.expr.to_string().split(' ').any(|word| word == param.name)
}

fn refusal(text: &mut Text, scope: Scope<'_>, check: &crate::condition::Check<'_>, details: &str) -> Result<(), GenError> {
    let code = scope.api.enumerator(&check.ret.value).filter(|(object, _)| object.name.ends_with("_errc_t"));
    let Some((object, etor)) = code else {
        return Err(GenError::Unsupported {
            place: scope.function.name.clone(),
            reason: format!("`{}` is not an error code, and has the condition {}", check.ret.value, check.condition.text),
        });
    };
    let condition = rust_expr::truth(scope, check.expr)?;
    let condition = if rust_expr::dereferences(check.expr) {
        text.line("// SAFETY: the caller says so, and what is null has been refused or is asked for first.");
        text.line(format_args!("let holds = unsafe {{ {condition} }};"));
        "holds".to_owned()
    } else {
        condition
    };
    text.line(format_args!("check::refuse_if({condition}, {}::{}, {details:?})?;", object.name, etor.c_name));
    Ok(())
}

/// Checks an enumerator or flags.
fn value_check(text: &mut Text, api: &Api, ty: &CType, value: &str, shown: &str) -> Result<(), GenError> {
    let enumeration = |object: &Enum| errc(api, "INVALID_ENUMERATION", "checks of enumerations return").map(|_| object.name.clone());
    if let Some(flags) = api.flags_of(ty) {
        let name = enumeration(flags)?;
        let bits = if matches!(ty, CType::Named { of: NamedKind::Enum, .. }) { ".0" } else { "" };
        text.line(format_args!("check::flags({value}{bits}, {name}::MASK, {shown:?}, {name:?})?;"));
    } else if let CType::Named { name, .. } = api.underlying(ty)
        && let Some(Named::Enum(object)) = api.named(name)
    {
        let name = enumeration(object)?;
        text.line(format_args!("check::enumerator(&{value}, {value}.0, {name}::ALL, {shown:?}, {name:?})?;"));
    }
    Ok(())
}

fn handle_check(text: &mut Text, api: &Api, ty: &CType, value: &str, shown: &str, is_required: bool) -> Result<(), GenError> {
    let Some((name, NamedKind::Handle)) = ty.named() else { return Ok(()) };
    let code = invalid_handle(api, name)?;
    let kind = kind(api, name);
    let state = format!("api.handle_state(HandleKind::{kind}, {value}.cast())");
    let check = format!("check::handle({state}, HandleKind::{kind}, {code}, {shown:?})?;");
    if is_required {
        text.line(check);
        return Ok(());
    }
    text.block(format_args!("if !{value}.is_null() {{"), "}", |text| {
        text.line(check);
        Ok(())
    })
}

/// The code for a handle of that kind that does not exist: its own if there is one.
fn invalid_handle(api: &Api, name: &str) -> Result<String, GenError> {
    let own = format!("INVALID_{}", super::rust::handle_stem(api, name).to_uppercase());
    errc(api, &own, "checks of handles return").or_else(|_| errc(api, "INVALID_ARGUMENT", "checks of handles return"))
}

/// Checks what a pointer that the function reads points to: each element of an array, each member of a structure.
fn pointee_check(text: &mut Text, api: &Api, function: &Function, param: &Param) -> Result<(), GenError> {
    if (param.is_out && !param.is_in) || param.type_tag.is_some() {
        return Ok(());
    }
    let Some((pointee, _)) = param.ty.form.pointee() else { return Ok(()) };
    let pointer = rust_name(&param.name);
    let mut inner = Text::default();
    match &param.range {
        Some(_) => {
            value_check(&mut inner, api, pointee, "element", &param.name)?;
            member_checks(&mut inner, api, pointee, "element", &param.name, 0)?;
            if let Some((_, NamedKind::Handle)) = pointee.named() {
                let null = errc(api, "INVALID_NULL_HANDLE", "checks of arrays of handles return")?;
                inner.line(format_args!("check::refuse_if(element.is_null(), {null}, \"a handle must not be NULL\")?;"));
                handle_check(&mut inner, api, pointee, "element", &param.name, true)?;
            }
        }
        None => {
            value_check(&mut inner, api, pointee, "value", &format!("*{}", param.name))?;
            member_checks(&mut inner, api, pointee, "value", &format!("{}->", param.name), 0)?;
        }
    }
    let inner = inner.finish();
    if inner.is_empty() {
        return Ok(());
    }
    text.block(format_args!("if !{pointer}.is_null() {{"), "}", |text| match &param.range {
        None => {
            text.line("// SAFETY: the caller says so.");
            text.line(format_args!("let value = unsafe {{ {pointer}.read_unaligned() }};"));
            text.line(inner.trim_end());
            Ok(())
        }
        Some(_) => text.block(format_args!("for index in {} {{", range(function, param)?), "}", |text| {
            text.line("// SAFETY: the caller says that the array has this element.");
            text.line(format_args!("let element = unsafe {{ {pointer}.add(index).read_unaligned() }};"));
            text.block("let check_element = || {", "};", |text| {
                text.line(inner.trim_end());
                text.line("Ok::<(), Error>(())");
                Ok::<(), GenError>(())
            })?;
            text.line(format_args!("check::element(check_element(), {:?}, index)?;", param.name));
            Ok(())
        }),
    })
}

/// Structures within structures that are looked into.
const MAX_DEPTH: u32 = 8;

fn member_checks(text: &mut Text, api: &Api, ty: &CType, value: &str, shown: &str, depth: u32) -> Result<(), GenError> {
    let CType::Named { name, .. } = api.underlying(ty) else { return Ok(()) };
    let Some(Named::Struct(Struct { members, .. })) = api.named(name) else { return Ok(()) };
    if depth > MAX_DEPTH {
        return Ok(());
    }
    for member in members {
        let shown = if shown.ends_with("->") { format!("{shown}{}", member.name) } else { format!("{shown}.{}", member.name) };
        let place = format!("{value}.{}", member_name(&member.name));
        let CType::Array { of, len: Some(_) } = &member.ty.form else {
            every_check(text, api, &member.ty.form, &place, &shown, depth)?;
            continue;
        };
        let mut inner = Text::default();
        every_check(&mut inner, api, of, "element", &shown, depth)?;
        let inner = inner.finish();
        if !inner.is_empty() {
            text.block(format_args!("for element in {place} {{"), "}", |text| {
                text.line(inner.trim_end());
                Ok::<(), GenError>(())
            })?;
        }
    }
    Ok(())
}

/// All checks of a value in a structure, where handles may be null.
fn every_check(text: &mut Text, api: &Api, ty: &CType, value: &str, shown: &str, depth: u32) -> Result<(), GenError> {
    value_check(text, api, ty, value, shown)?;
    handle_check(text, api, ty, value, shown, false)?;
    member_checks(text, api, ty, value, shown, depth + 1)
}

/// The indices of an array's elements, in Rust.
pub(super) fn range(function: &Function, param: &Param) -> Result<String, GenError> {
    let Some(range) = &param.range else { return Ok("0..0".into()) };
    let bound = |text: &str| match text.trim().parse::<u64>() {
        Ok(number) => Ok(format!("{number}")),
        Err(_) => match function.params.iter().find(|other| other.name == text) {
            Some(other) if matches!(other.ty.form, CType::Primitive { name } if name.is_integer()) => {
                Ok(format!("{}.number()", rust_name(text)))
            }
            _ => Err(GenError::Unsupported {
                place: format!("{}.{}", function.name, param.name),
                reason: format!("the range's bound `{text}` is neither a number nor a parameter that is one"),
            }),
        },
    };
    Ok(format!("check::range({}, {})", bound(&range.begin)?, bound(&range.end)?))
}

/// Adds an argument to the trace.
fn argument(text: &mut Text, api: &Api, function: &Function, param: &Param) -> Result<(), GenError> {
    let (name, value) = (&param.name, rust_name(&param.name));
    let ty = &param.ty.form;
    if let Some(flags) = api.flags_of(ty).filter(|_| !matches!(ty, CType::Named { of: NamedKind::Enum, .. })) {
        text.line(format_args!("list.value({name:?}, &{}({value}));", flags.name));
        return Ok(());
    }
    if api.underlying(ty).is_callback() {
        text.line(format_args!("list.value({name:?}, &{value}.map_or(std::ptr::null(), |callback| callback as *const c_void));"));
        return Ok(());
    }
    let Some((pointee, _)) = api.underlying(ty).pointee() else {
        text.line(format_args!("list.value({name:?}, &{value});"));
        return Ok(());
    };
    if let Some(tag) = &param.type_tag {
        let tagged = function.params.iter().find(|other| other.name == tag.tag).and_then(|other| other.ty.form.named());
        let object = tagged.and_then(|(name, _)| api.enums.iter().find(|object| object.name == name && object.is_typed));
        let Some(object) = object else {
            return Err(GenError::Unsupported {
                place: format!("{}.{}", function.name, param.name),
                reason: format!("its type depends on `{}`, which is not a parameter of a typed enumeration", tag.tag),
            });
        };
        text.line("// SAFETY: the caller says so.");
        text.line(format_args!(
            "unsafe {{ list.property({name:?}, {value}, {}, |bytes, to| print::{}({}, bytes, to)) }};",
            rust_name(&tag.size),
            property_function(object),
            rust_name(&tag.tag)
        ));
        return Ok(());
    }
    let cast = if matches!(pointee, CType::Primitive { name: Primitive::Bool }) { ".cast::<Bool>()" } else { "" };
    let is_text = matches!(pointee, CType::Primitive { name: Primitive::Char }) && param.range.is_none() && !param.is_out;
    let call = match (pointee, &param.range) {
        (CType::Void, _) => {
            text.line(format_args!("list.value({name:?}, &{value});"));
            return Ok(());
        }
        _ if is_text => format!("list.text({name:?}, {value})"),
        (CType::Named { .. }, _) if api.underlying(pointee).is_callback() => {
            text.line(format_args!("list.value({name:?}, &{value});"));
            return Ok(());
        }
        (_, Some(_)) => {
            let method = if param.is_out && !param.is_in { "outputs" } else { "inputs" };
            format!("list.{method}({name:?}, {value}{cast}, {})", range(function, param)?)
        }
        (_, None) => {
            readable_type(pointee, &format!("{}.{name}", function.name))?;
            let method = if param.is_out && !param.is_in { "output" } else { "input" };
            format!("list.{method}({name:?}, {value}{cast})")
        }
    };
    text.line("// SAFETY: the caller says so.");
    text.line(format_args!("unsafe {{ {call} }};"));
    Ok(())
}

fn export(text: &mut Text, api: &Api, prefix: &str) -> Result<(), GenError> {
    text.blank();
    text.line("/// Defines the C functions of the API over an implementation: a type that implements [`Api`](crate::Api).");
    text.line("///");
    text.line("/// Once per library or program: the functions have their C names.");
    text.line("#[macro_export]");
    text.block("macro_rules! export_entry_points {", "}", |text| {
        text.block("($implementation:ty) => {", "};", |text| {
            text.block("const _: () = {", "};", |text| {
                text.line("use $crate::sys::*;");
                text.line("#[allow(unused_imports, reason = \"not every API uses both\")]");
                text.line("use ::std::ffi::{c_char, c_void};");
                for function in &api.functions {
                    let (parameters, arguments, method) = (parameters(function)?, arguments(function), method_name(api, function));
                    let comma = if parameters.is_empty() { "" } else { ", " };
                    let name = &function.name;
                    text.line("#[unsafe(no_mangle)]");
                    text.block(format_args!("unsafe extern \"C\" fn {name}({parameters}) -> {prefix}_result_t {{"), "}", |text| {
                        text.line("// SAFETY: the caller of the C function says so.");
                        text.line(format_args!("unsafe {{ $crate::entry::{method}::<$implementation>({arguments}{comma}::std::ptr::null()) }}"));
                        Ok::<(), GenError>(())
                    })?;
                    text.line("#[unsafe(no_mangle)]");
                    let open = format!(
                        "unsafe extern \"C\" fn {name}WithCodeLoc({parameters}{comma}location: *mut {prefix}_code_location_t) -> {prefix}_result_t {{"
                    );
                    text.block(open, "}", |text| {
                        text.line("// SAFETY: the caller of the C function says so.");
                        text.line(format_args!("unsafe {{ $crate::entry::{method}::<$implementation>({arguments}{comma}location) }}"));
                        Ok::<(), GenError>(())
                    })?;
                }
                Ok::<(), GenError>(())
            })
        })
    })
}
