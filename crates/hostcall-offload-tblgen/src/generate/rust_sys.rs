//! Rust types and declarations, laid out as in C.
//!
//! The shapes are those that bindgen makes (with its *newtype* style of enumerations, because a value that no
//! enumerator has is not undefined behaviour then), so that code written against bindgen's output of the header
//! compiles against this.

use super::rust::{ALLOW_C_NAMES, FFI, doc, errc, finish, rust_type};
use super::text::Text;
use super::{Backend, GenError, layout, made_from};
use crate::ir::{Api, Enum, Function, Param, Struct, snake_case};

pub(super) fn generate(api: &Api) -> Result<String, GenError> {
    let mut text = Text::default();
    let prefix = api.prefix.to_lowercase();
    text.line(format_args!("//! The C API as Rust sees it: types laid out as in C, and the functions of a library that is linked."));
    text.line("//!");
    text.line(format_args!("//! {}", made_from(api, Backend::RustSys)));
    text.blank();
    text.line(ALLOW_C_NAMES);
    text.blank();
    text.line(FFI);
    if let Some(version) = api.llvm {
        text.blank();
        text.line("/// The version of LLVM whose API this is.");
        text.line(format_args!("pub const API_VERSION: u32 = {version};"));
    }
    for object in &api.macros {
        if object.condition.is_none()
            && let Ok(crate::ir::Expr::Int { value }) = crate::condition::parse(&object.value)
        {
            text.blank();
            text.line(format_args!("/// {}", doc(&object.desc)));
            let ty = if u32::try_from(value).is_ok() { "u32" } else { "u64" };
            text.line(format_args!("pub const {}: {ty} = {value};", object.name));
        }
    }
    for object in &api.handles {
        let target = object.name.strip_suffix("_handle_t").unwrap_or(&object.name);
        text.blank();
        text.line(format_args!("/// What [`{}`] points to. Only the library knows what is in it.", object.name));
        text.line("#[repr(C)]");
        text.line("#[derive(Debug)]");
        text.line(format_args!("pub struct {target}_impl_t {{ _unused: [u8; 0] }}"));
        text.line(format_args!("/// {}", doc(&object.desc)));
        text.line(format_args!("pub type {} = *mut {target}_impl_t;", object.name));
    }
    for object in &api.enums {
        enumeration(&mut text, object)?;
    }
    for object in &api.typedefs {
        text.blank();
        text.line(format_args!("/// {}", doc(&object.desc)));
        text.line(format_args!("pub type {} = {};", object.name, rust_type(&object.ty.form, &object.name)?));
    }
    for object in &api.callbacks {
        text.blank();
        text.line(format_args!("/// {}", doc(&object.desc)));
        let ret = match &object.ret.form {
            crate::ir::CType::Void => String::new(),
            ty => format!(" -> {}", rust_type(ty, &object.name)?),
        };
        text.line(format_args!(
            "pub type {} = Option<unsafe extern \"C\" fn({}){ret}>;",
            object.name,
            params(&object.name, &object.params)?
        ));
    }
    for object in &api.structs {
        structure(&mut text, api, object)?;
    }
    for function in &api.functions {
        params_structure(&mut text, function)?;
    }
    functions(&mut text, api, &prefix)?;
    finish(Backend::RustSys, &text.finish())
}

fn enumeration(text: &mut Text, object: &Enum) -> Result<(), GenError> {
    text.blank();
    text.line(format_args!("/// {}", doc(&object.desc)));
    text.line("#[repr(transparent)]");
    text.line("#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]");
    text.line(format_args!("pub struct {}(pub c_uint);", object.name));
    text.block(format_args!("impl {} {{", object.name), "}", |text| {
        for etor in &object.etors {
            text.line(format_args!("/// {}", doc(&etor.desc)));
            text.line(format_args!("pub const {}: Self = Self({});", etor.c_name, etor.value));
        }
        text.blank();
        text.line("/// All values that have a name.");
        let all: Vec<_> = object.etors.iter().map(|etor| format!("Self::{}", etor.c_name)).collect();
        text.line(format_args!("pub const ALL: &'static [Self] = &[{}];", all.join(", ")));
        if object.is_bit_field {
            text.blank();
            text.line("/// All bits that have a name.");
            let bits = object.etors.iter().fold(0, |bits, etor| bits | etor.value);
            text.line(format_args!("pub const MASK: c_uint = {bits:#x};"));
        }
        Ok::<(), GenError>(())
    })?;
    text.line(format_args!("const _: () = assert!(size_of::<{}>() == 4);", object.name));
    Ok(())
}

fn structure(text: &mut Text, api: &Api, object: &Struct) -> Result<(), GenError> {
    text.blank();
    text.line(format_args!("/// {}", doc(&object.desc)));
    text.line("#[repr(C)]");
    text.line("#[derive(Clone, Copy, Debug)]");
    text.block(format_args!("pub struct {} {{", object.name), "}", |text| {
        for member in &object.members {
            text.line(format_args!("/// {}", doc(&member.desc)));
            let ty = rust_type(&member.ty.form, &format!("{}.{}", object.name, member.name))?;
            text.line(format_args!("pub {}: {ty},", member_name(&member.name)));
        }
        Ok::<(), GenError>(())
    })?;
    let places = layout::of_struct(api, object)?;
    text.line("#[cfg(target_pointer_width = \"64\")]");
    text.block("const _: () = {", "};", |text| {
        text.line(format_args!("assert!(size_of::<{}>() == {});", object.name, places.layout.size));
        text.line(format_args!("assert!(align_of::<{}>() == {});", object.name, places.layout.align));
        for (member, offset) in object.members.iter().zip(places.offsets) {
            text.line(format_args!("assert!(std::mem::offset_of!({}, {}) == {offset});", object.name, member_name(&member.name)));
        }
        Ok(())
    })
}

/// C names are kept; only what Rust could not read is changed, as bindgen does it.
pub(super) fn member_name(name: &str) -> String {
    if super::rust::is_keyword(name) { format!("{name}_") } else { name.to_owned() }
}

/// Name of the structure that holds pointers to a function's arguments.
pub(super) fn params_struct(function: &Function) -> String {
    format!("{}_params_t", snake_case(&function.name))
}

fn params_structure(text: &mut Text, function: &Function) -> Result<(), GenError> {
    if function.params.is_empty() {
        return Ok(());
    }
    text.blank();
    text.line(format_args!("/// Pointers to the arguments of a call of [`{}`].", function.name));
    text.line("#[repr(C)]");
    text.line("#[derive(Clone, Copy, Debug)]");
    text.block(format_args!("pub struct {} {{", params_struct(function)), "}", |text| {
        for param in &function.params {
            let ty = rust_type(&param.ty.form, &format!("{}.{}", function.name, param.name))?;
            text.line(format_args!("/// {}", doc(&param.desc)));
            text.line(format_args!("pub p{}: *mut {ty},", param.name));
        }
        Ok(())
    })
}

fn params(place: &str, params: &[Param]) -> Result<String, GenError> {
    let params = params
        .iter()
        .map(|param| Ok(format!("{}: {}", member_name(&param.name), rust_type(&param.ty.form, &format!("{place}.{}", param.name))?)));
    Ok(params.collect::<Result<Vec<_>, GenError>>()?.join(", "))
}

fn functions(text: &mut Text, api: &Api, prefix: &str) -> Result<(), GenError> {
    // Every function returns this type, and its variant with a location takes the other.
    for name in [format!("{prefix}_result_t"), format!("{prefix}_code_location_t")] {
        if api.named(&name).is_none() {
            return Err(GenError::Missing { name, needed_by: "every function's prototype names" });
        }
    }
    errc(api, "SUCCESS", "every function returns")?;
    text.blank();
    text.block("unsafe extern \"C\" {", "}", |text| {
        for function in &api.functions {
            let params = params(&function.name, &function.params)?;
            text.line(format_args!("/// {}", doc(&function.desc)));
            text.line(format_args!("pub fn {}({params}) -> {prefix}_result_t;", function.name));
            text.line(format_args!("/// [`{}`], with the place in the caller's source for error messages.", function.name));
            let comma = if function.params.is_empty() { "" } else { ", " };
            text.line(format_args!(
                "pub fn {}WithCodeLoc({params}{comma}CodeLocation: *mut {prefix}_code_location_t) -> {prefix}_result_t;",
                function.name
            ));
        }
        Ok(())
    })
}
