//! Safe wrappers for Rust programs that are linked to a library with this API.
//!
//! A handle becomes a type: one that its *destroy* function takes back when it is dropped, or, where the API has no
//! such function, a copyable one. What a function writes becomes its result; an array and its length become a slice. A
//! function whose remaining arguments include pointers that cannot be checked stays `unsafe`. Each property of a typed
//! enumeration becomes a function with the property's type.

use super::mock::destroyed;
use super::rust::{FFI, doc, finish, handle_stem, method_name, rust_name, rust_type};
use super::rust_trait::{describe, kind};
use super::text::Text;
use super::{Backend, GenError, made_from};
use crate::ir::{Api, CType, Enum, Enumerator, Function, Named, NamedKind, Param, Primitive, snake_case};

pub(super) fn generate(api: &Api) -> Result<String, GenError> {
    let mut text = Text::default();
    text.line("//! The API for Rust programs that are linked to a library that has it.");
    text.line("//!");
    text.line("//! Handles are checked by the library, also whether they still exist: what these functions promise holds with a library that does so.");
    text.line("//!");
    text.line(format_args!("//! {}", made_from(api, Backend::RustSafe)));
    text.blank();
    text.line("#![allow(clippy::too_many_arguments, reason = \"a function has as many as its definition says\")]");
    text.blank();
    text.line(FFI);
    text.line("#[allow(unused_imports, reason = \"not every API has functions that take text\")]");
    text.line("use std::ffi::CStr;");
    text.line("use std::mem::MaybeUninit;");
    text.line("use std::ptr;");
    text.blank();
    text.line("use super::sys::*;");
    text.line("use crate::runtime::{Error, safe};");
    for object in &api.handles {
        handle(&mut text, api, &object.name, &object.desc)?;
    }
    text.blank();
    for function in api.functions.iter().filter(|function| receiver(function).is_none()) {
        self::function(&mut text, api, function, None)?;
    }
    finish(Backend::RustSafe, &text.finish())
}

/// The handle whose method a function becomes: its first parameter, if that is a handle that has to be there.
fn receiver(function: &Function) -> Option<&str> {
    let param = function.params.first().filter(|param| !param.is_optional)?;
    param.ty.form.is_handle().then(|| param.ty.form.named().map(|(name, _)| name)).flatten()
}

fn destroyer<'a>(api: &'a Api, handle: &str) -> Option<&'a Function> {
    api.functions.iter().find(|function| destroyed(api, function).is_some_and(|(_, destroyed)| destroyed == handle))
}

fn handle(text: &mut Text, api: &Api, name: &str, desc: &str) -> Result<(), GenError> {
    let ty = kind(api, name);
    let destroyer = destroyer(api, name);
    text.blank();
    text.line(format_args!("/// {}.", doc(desc.trim_end_matches('.'))));
    if let Some(function) = destroyer {
        text.line("///");
        text.line(format_args!(
            "/// Dropping it calls `{}`. If that fails, [`take_drop_errors`](crate::runtime::safe::take_drop_errors) tells; [`destroy`](Self::destroy) tells at once.",
            function.name
        ));
    }
    text.line(if destroyer.is_some() {
        "#[derive(Debug, PartialEq, Eq, Hash)]"
    } else {
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]"
    });
    text.line("#[repr(transparent)]");
    text.line(format_args!("pub struct {ty}({name});"));
    text.blank();
    text.line("// SAFETY: the API's functions can be called from any thread.");
    text.line(format_args!("unsafe impl Send for {ty} {{}}"));
    text.line("// SAFETY: as above.");
    text.line(format_args!("unsafe impl Sync for {ty} {{}}"));
    text.blank();
    text.block(format_args!("impl {ty} {{"), "}", |text| {
        text.line("/// Takes a handle that C code has.");
        text.line("///");
        text.line("/// # Safety");
        text.line("///");
        let owner = if destroyer.is_some() { ", and no one else destroys it" } else { "" };
        text.line(format_args!("/// The handle is one that a function of this API gave{owner}."));
        text.line(format_args!("pub unsafe fn from_raw(raw: {name}) -> {ty} {{ {ty}(raw) }}"));
        text.blank();
        text.line("/// The handle as C code knows it. It stays this value's.");
        text.line(format_args!("pub fn as_raw(&self) -> {name} {{ self.0 }}"));
        if let Some(function) = destroyer {
            text.blank();
            text.line("/// Gives the handle up: nothing destroys it any more.");
            text.line(format_args!("pub fn into_raw(self) -> {name} {{ std::mem::ManuallyDrop::new(self).0 }}"));
            text.blank();
            text.line("/// Destroys it.");
            text.line("///");
            text.line("/// # Errors");
            text.line("///");
            text.line(format_args!("/// Those of `{}`.", function.name));
            text.block("pub fn destroy(self) -> Result<(), Error> {", "}", |text| {
                text.line("// SAFETY: the handle is this value's, which is gone afterwards.");
                text.line(format_args!("unsafe {{ safe::result({}(self.into_raw())) }}", function.name));
                Ok::<(), GenError>(())
            })?;
        }
        for function in api.functions.iter().filter(|function| receiver(function) == Some(name)) {
            if destroyer.is_none_or(|destroyer| destroyer.name != function.name) {
                self::function(text, api, function, Some(name))?;
            }
        }
        Ok::<(), GenError>(())
    })?;
    if let Some(function) = destroyer {
        text.blank();
        text.block(format_args!("impl Drop for {ty} {{"), "}", |text| {
            text.block("fn drop(&mut self) {", "}", |text| {
                text.line("// SAFETY: the handle is this value's, which is gone afterwards.");
                text.line(format_args!("safe::dropped(unsafe {{ safe::result({}(self.0)) }});", function.name));
                Ok::<(), GenError>(())
            })
        })?;
    }
    Ok(())
}

fn function(text: &mut Text, api: &Api, function: &Function, receiver: Option<&str>) -> Result<(), GenError> {
    if let Some((param, object)) = tagged(api, function) {
        return object.etors.iter().try_for_each(|etor| property(text, api, function, param, object, etor, receiver));
    }
    if function
        .name
        .strip_suffix("Size")
        .and_then(|name| api.functions.iter().find(|other| other.name == name))
        .is_some_and(|get| tagged(api, get).is_some())
    {
        // Part of the functions above.
        return Ok(());
    }
    let mut wrapped = Wrapped::default();
    for (index, param) in function.params.iter().enumerate() {
        if index == 0 && receiver.is_some() {
            wrapped.declared.push("&self".into());
            wrapped.arguments.push("self.0".into());
        } else {
            wrapped.add(api, function, param)?;
        }
    }
    text.blank();
    describe(text, function);
    if wrapped.is_unsafe {
        text.line("///");
        text.line("/// # Safety");
        text.line("///");
        text.line("/// What the pointers among the arguments point to is what the parameters say, for as long as the call lasts or the parameters say.");
    }
    let name = method_name(api, function);
    let safety = if wrapped.is_unsafe { "unsafe " } else { "" };
    let ret = match wrapped.types.as_slice() {
        [] => "()".to_owned(),
        [one] => one.clone(),
        many => format!("({})", many.join(", ")),
    };
    let open = format!("pub {safety}fn {name}({}) -> Result<{ret}, Error> {{", wrapped.declared.join(", "));
    text.block(open, "}", |text| {
        wrapped.before.iter().for_each(|line| text.line(line));
        text.line(if wrapped.is_unsafe {
            "// SAFETY: the caller says so."
        } else {
            "// SAFETY: all pointers are to values that are borrowed or made here."
        });
        text.line(format_args!("unsafe {{ safe::result({}({})) }}?;", function.name, wrapped.arguments.join(", ")));
        if !wrapped.results.is_empty() {
            text.line("// SAFETY: the call succeeded, and so has written what it writes.");
        }
        match wrapped.results.as_slice() {
            [] => text.line("Ok(())"),
            [one] => text.line(format_args!("Ok(unsafe {{ {one} }})")),
            many => text.line(format_args!("Ok(unsafe {{ ({}) }})", many.join(", "))),
        }
        Ok(())
    })
}

/// A function as Rust sees it.
#[derive(Default)]
struct Wrapped {
    declared: Vec<String>,
    arguments: Vec<String>,
    before: Vec<String>,
    results: Vec<String>,
    types: Vec<String>,
    is_unsafe: bool,
}

impl Wrapped {
    fn add(&mut self, api: &Api, function: &Function, param: &Param) -> Result<(), GenError> {
        let name = rust_name(&param.name);
        let ty = rust_type(&param.ty.form, &format!("{}.{}", function.name, param.name))?;
        if let Some(array) = length_of(function, param) {
            self.arguments.push(format!("{}.len()", rust_name(&array.name)));
        } else if let Some((handle, NamedKind::Handle)) = param.ty.form.named() {
            let wrapper = kind(api, handle);
            if param.is_optional {
                self.declare(&name, &format!("Option<&{wrapper}>"), format!("{name}.map_or(ptr::null_mut(), {wrapper}::as_raw)"));
            } else {
                self.declare(&name, &format!("&{wrapper}"), format!("{name}.0"));
            }
        } else if api.underlying(&param.ty.form).is_callback() {
            self.is_unsafe = true;
            self.declare(&name, &ty, name.clone());
        } else if let Some((pointee, is_const)) = param.ty.form.pointee() {
            self.pointer(api, function, param, pointee, is_const, &ty)?;
        } else {
            self.declare(&name, &ty, name.clone());
        }
        Ok(())
    }

    fn declare(&mut self, name: &str, ty: &str, argument: String) {
        self.declared.push(format!("{name}: {ty}"));
        self.arguments.push(argument);
    }

    fn pointer(
        &mut self,
        api: &Api,
        function: &Function,
        param: &Param,
        pointee: &CType,
        is_const: bool,
        ty: &str,
    ) -> Result<(), GenError> {
        let name = rust_name(&param.name);
        let place = format!("{}.{}", function.name, param.name);
        let is_plain = !matches!(pointee, CType::Void) && param.type_tag.is_none();
        let is_slice = param.range.is_some()
            && function.params.iter().any(|other| length_of(function, other).is_some_and(|array| array.name == param.name));
        let is_output = param.is_out && !param.is_in && !is_const && param.range.is_none() && is_plain;
        match pointee {
            CType::Named { name: handle, of: NamedKind::Handle, .. } if is_slice && !param.is_out => {
                self.before.push(format!("let {name}: Vec<_> = {name}.iter().map(|handle| handle.as_raw()).collect();"));
                let cast = if is_const { "" } else { ".cast_mut()" };
                self.declare(&name, &format!("&[&{}]", kind(api, handle)), format!("{name}.as_ptr(){cast}"));
            }
            CType::Named { name: handle, of: NamedKind::Handle, .. } if is_output => {
                self.output(&name, &rust_type(pointee, &place)?, &format!("{name}.assume_init()"));
                let wrapper = kind(api, handle);
                self.types.push(wrapper.clone());
                if let Some(last) = self.results.last_mut() {
                    *last = format!("{wrapper}({last})");
                }
            }
            _ if is_output => {
                let ty = rust_type(pointee, &place)?;
                self.output(&name, &ty, &format!("{name}.assume_init()"));
                self.types.push(ty);
            }
            CType::Primitive { name: Primitive::Char } if is_const && param.range.is_none() && !param.is_optional => {
                self.declare(&name, "&CStr", format!("{name}.as_ptr()"));
            }
            _ if is_slice && !param.is_out && !has_pointers(api, pointee, 0) && is_plain => {
                let cast = if is_const { "" } else { ".cast_mut()" };
                self.declare(&name, &format!("&[{}]", rust_type(pointee, &place)?), format!("{name}.as_ptr(){cast}"));
            }
            CType::Named { of: NamedKind::Struct, .. } if is_const && param.range.is_none() => {
                self.is_unsafe |= has_pointers(api, pointee, 0);
                // It may be the first of several, which only the caller knows.
                let pointee = rust_type(pointee, &place)?;
                if param.is_optional {
                    self.declare(&name, &format!("Option<&{pointee}>"), format!("{name}.map_or(ptr::null(), ptr::from_ref)"));
                } else {
                    self.declare(&name, &format!("&{pointee}"), name.clone());
                }
            }
            _ => {
                self.is_unsafe = true;
                self.declare(&name, ty, name.clone());
            }
        }
        Ok(())
    }

    fn output(&mut self, name: &str, ty: &str, result: &str) {
        self.before.push(format!("let mut {name} = MaybeUninit::<{ty}>::zeroed();"));
        self.arguments.push(format!("{name}.as_mut_ptr()"));
        self.results.push(result.to_owned());
    }
}

/// The array whose length a parameter is, and nothing else: it begins at 0, and has to be there.
fn length_of<'a>(function: &'a Function, param: &Param) -> Option<&'a Param> {
    let mut arrays = function.params.iter().filter(|other| other.range.as_ref().is_some_and(|range| range.end == param.name));
    let array = arrays.next().filter(|_| arrays.next().is_none())?;
    let is_length = matches!(param.ty.form, CType::Primitive { name: Primitive::Size });
    let begins_at_zero = array.range.as_ref().is_some_and(|range| range.begin.trim() == "0");
    let (pointee, _) = array.ty.form.pointee()?;
    let is_simple = matches!(pointee, CType::Primitive { .. } | CType::Named { .. });
    (is_length && begins_at_zero && is_simple && !array.is_out && !array.is_optional).then_some(array)
}

fn has_pointers(api: &Api, ty: &CType, depth: u32) -> bool {
    match api.underlying(ty) {
        CType::Primitive { .. } | CType::Void => false,
        CType::Named { name, .. } => match api.named(name) {
            Some(Named::Enum(_)) => false,
            Some(Named::Struct(object)) if depth < 64 => object.members.iter().any(|member| has_pointers(api, &member.ty.form, depth + 1)),
            _ => true,
        },
        CType::Array { of, .. } => has_pointers(api, of, depth + 1),
        CType::Pointer { .. } | CType::Opaque { .. } => true,
    }
}

/// The parameter that receives a property, and the enumeration of properties.
fn tagged<'a>(api: &'a Api, function: &'a Function) -> Option<(&'a Param, &'a Enum)> {
    let param = function.params.iter().find(|param| param.type_tag.is_some() && param.is_out)?;
    let tag = param.type_tag.as_ref()?;
    let (name, NamedKind::Enum) = function.params.iter().find(|other| other.name == tag.tag)?.ty.form.named()? else { return None };
    Some((param, api.enums.iter().find(|object| object.name == name && object.is_typed)?))
}

fn property(
    text: &mut Text,
    api: &Api,
    function: &Function,
    param: &Param,
    object: &Enum,
    etor: &Enumerator,
    receiver: Option<&str>,
) -> Result<(), GenError> {
    let (Some(ty), Some(tag)) = (&etor.tagged_type, &param.type_tag) else { return Ok(()) };
    let place = format!("{}.{}", object.name, etor.name);
    let mut wrapped = Wrapped::default();
    let mut asked = Vec::new();
    for (index, other) in function.params.iter().enumerate() {
        if index == 0 && receiver.is_some() {
            wrapped.declared.push("&self".into());
            wrapped.arguments.push("self.0".into());
        } else if other.name == tag.tag {
            wrapped.arguments.push(format!("{}::{}", object.name, etor.c_name));
        } else if other.name == tag.size {
            wrapped.arguments.push("size".into());
            continue;
        } else if other.name == param.name {
            let cast = if matches!(param.ty.form.pointee(), Some((CType::Void, _))) { "" } else { ".cast()" };
            wrapped.arguments.push(format!("value{cast}"));
            continue;
        } else {
            wrapped.add(api, function, other)?;
        }
        asked.push(wrapped.arguments.last().cloned().unwrap_or_default());
    }
    let (ret, convert) = match &ty.form {
        CType::Array { of, .. } if matches!(**of, CType::Primitive { name: Primitive::Char }) => {
            ("String".to_owned(), "safe::text(&bytes)".to_owned())
        }
        CType::Array { of, .. } => {
            let of = rust_type(of, &place)?;
            (format!("Vec<{of}>"), format!("unsafe {{ safe::elements::<{of}>(&bytes) }}"))
        }
        CType::Primitive { name: Primitive::Bool } => ("bool".to_owned(), "value != 0".to_owned()),
        CType::Named { name, of: NamedKind::Handle, .. } if destroyer(api, name).is_none() => {
            let wrapper = kind(api, name);
            (wrapper.clone(), format!("{wrapper}(value)"))
        }
        form => (rust_type(form, &place)?, "value".to_owned()),
    };
    let stem =
        if receiver.is_some() { "info".to_owned() } else { snake_case(handle_stem(api, &object.name)).trim_end_matches("_t").to_owned() };
    let safety = if wrapped.is_unsafe { "unsafe " } else { "" };
    let is_array = matches!(ty.form, CType::Array { .. });
    let size = api.functions.iter().find(|other| other.name == format!("{}Size", function.name));
    let size = match (is_array, size) {
        (true, None) => {
            let name = format!("{}Size", function.name);
            return Err(GenError::Missing { name, needed_by: "properties of any length need" });
        }
        (_, size) => size,
    };
    text.blank();
    text.line(format_args!("/// {} (`{}`).", doc(etor.desc.trim_end_matches('.')), etor.c_name));
    text.line("///");
    text.line("/// # Errors");
    text.line("///");
    text.line(format_args!("/// Those of `{}`.", function.name));
    if wrapped.is_unsafe {
        text.line("///");
        text.line("/// # Safety");
        text.line("///");
        text.line("/// What the pointers among the arguments point to is what the parameters say.");
    }
    let open = format!("pub {safety}fn {stem}_{}({}) -> Result<{ret}, Error> {{", snake_case(&etor.name), wrapped.declared.join(", "));
    text.block(open, "}", |text| {
        let why = if wrapped.is_unsafe { "the caller says so" } else { "the handle is checked by the library" };
        text.line(format_args!("// SAFETY: {why}; there are `size` bytes at `value`."));
        text.line(format_args!("let get = |size: usize, value: *mut c_void| unsafe {{ {}({}) }};", function.name, wrapped.arguments.join(", ")));
        match (is_array, size) {
            (true, Some(size)) => {
                text.line(format_args!("// SAFETY: {why}; `size` is a place for the size."));
                text.line(format_args!("let size = |size: *mut usize| unsafe {{ {}({}, size) }};", size.name, asked.join(", ")));
                text.line("// SAFETY: both are functions of the library, which write no more than they are given room for.");
                text.line("let bytes = unsafe { safe::bytes(size, get) }?;");
                if convert.starts_with("unsafe") {
                    text.line("// SAFETY: any bytes are a value of this type.");
                }
            }
            _ => {
                let ty = match &ty.form {
                    CType::Primitive { name: Primitive::Bool } => "u8".to_owned(),
                    form => rust_type(form, &place)?,
                };
                text.line("// SAFETY: this is a function of the library, which writes no more than it is given room for; any bytes are a value of this type.");
                text.line(format_args!("let value = unsafe {{ safe::property::<{ty}>(get) }}?;"));
            }
        }
        text.line(format_args!("Ok({convert})"));
        Ok(())
    })
}
