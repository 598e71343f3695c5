//! What a recording keeps of a call: each argument as a number, a handle, an address, or memory whose size is known.

use super::GenError;
use super::rust::rust_name;
use super::rust_entry::range;
use super::text::Text;
use crate::ir::{Api, CType, Function, NamedKind, Param, Primitive};

/// Adds an argument to the list of what is recorded: one line for each, in the order of the parameters.
pub(super) fn argument(text: &mut Text, api: &Api, function: &Function, param: &Param) -> Result<(), GenError> {
    text.line(format_args!("list.{};", call(api, function, param)?));
    Ok(())
}

fn call(api: &Api, function: &Function, param: &Param) -> Result<String, GenError> {
    let value = rust_name(&param.name);
    let ty = api.underlying(&param.ty.form);
    if matches!(ty.named(), Some((_, NamedKind::Handle))) {
        return Ok(format!("handle({value}.cast())"));
    }
    if ty.is_callback() {
        return Ok(format!("callback({value}.is_some())"));
    }
    let Some((pointee, is_const)) = ty.pointee() else {
        return Ok(format!("number({})", number(ty, &value, &format!("{}.{}", function.name, param.name))?));
    };
    let pointee = api.underlying(pointee);
    let only_out = param.is_out && !param.is_in;
    if let Some(tag) = &param.type_tag {
        let access = if only_out { "Access::Out" } else { "Access::Read" };
        return Ok(format!("memory({access}, {value}.cast(), {})", rust_name(&tag.size)));
    }
    if param.range.is_some() {
        let count = format!("{}.end", range(function, param)?);
        return Ok(match element(pointee) {
            _ if *pointee == CType::Void => {
                let access = if is_const { "Access::Read" } else { "Access::Write" };
                format!("memory({access}, {value}.cast(), {count})")
            }
            Some(element) if !only_out => format!("array(Element::{element}, {value}.cast(), {count})"),
            _ => {
                let access = if only_out { "Access::Out" } else { "Access::Value" };
                format!("elements({access}, {value}, {count})")
            }
        });
    }
    Ok(match pointee {
        CType::Void => format!("pointer({value}.cast())"),
        CType::Primitive { name: Primitive::Char } if !only_out => format!("text({value})"),
        _ if pointee.is_callback() => format!("pointer({value}.cast())"),
        _ => match element(pointee) {
            Some("Handle") if only_out => format!("memory(Access::OutHandle, {value}.cast(), size_of::<usize>())"),
            Some("Pointer") if only_out => format!("memory(Access::OutPointer, {value}.cast(), size_of::<usize>())"),
            _ if only_out => format!("elements(Access::Out, {value}, 1)"),
            _ => format!("elements(Access::Value, {value}, 1)"),
        },
    })
}

/// What the elements of an array are, if their bytes alone do not say what they mean in another process.
fn element(ty: &CType) -> Option<&'static str> {
    match ty {
        _ if matches!(ty.named(), Some((_, NamedKind::Handle))) => Some("Handle"),
        _ if ty.pointee().is_some() => Some("Pointer"),
        _ => None,
    }
}

/// A value that is passed in a register, as 64 bits.
fn number(ty: &CType, value: &str, place: &str) -> Result<String, GenError> {
    Ok(match ty {
        CType::Primitive { name: Primitive::Float | Primitive::Double } => format!("u64::from({value}.to_bits())"),
        CType::Primitive { .. } => format!("{value} as u64"),
        CType::Named { of: NamedKind::Enum, .. } => format!("u64::from({value}.0)"),
        _ => {
            return Err(GenError::Unsupported {
                place: place.to_owned(),
                reason: format!("`{ty}` cannot be recorded: it is no single value"),
            });
        }
    })
}
