//! `operator<<` for any stream that takes text, numbers and addresses (`std::ostream`, `llvm::raw_ostream`), in a
//! header of its own that needs the C header and a few of C++'s.
//!
//! What a function has written is not read: this header does not know whether the call succeeded. (The library's own
//! trace does, and shows it.)

use super::rust_sys::params_struct;
use super::text::Text;
use super::{Backend, GenError, made_from};
use crate::ir::{Api, CType, Enum, Function, Named, NamedKind, Param, Primitive, Struct};

pub(super) fn generate(api: &Api) -> Result<String, GenError> {
    let prefix = api.prefix.to_lowercase();
    let mut text = Text::default();
    text.line(format_args!("/* {} */", made_from(api, Backend::PrintCpp)));
    text.blank();
    let stem = api.source.split('.').next().unwrap_or("API");
    let guard = format!("{}_{}_PRINT_HPP", api.prefix, stem.to_uppercase());
    text.line(format_args!("#ifndef {guard}\n#define {guard}"));
    text.blank();
    text.line(format_args!("#include <{stem}.h>"));
    for header in ["cstddef", "cstdint", "cstdio", "cstring", "type_traits"] {
        text.line(format_args!("#include <{header}>"));
    }
    text.blank();
    text.line(format_args!("namespace {prefix}_print {{"));
    text.line(HELPERS.trim_end());
    text.line(format_args!("}} // namespace {prefix}_print"));
    for object in &api.enums {
        enumeration(&mut text, object, &prefix)?;
    }
    // Declared first: a structure may have members of any other.
    text.blank();
    for object in &api.structs {
        text.line(format_args!("{};", operator(&prefix, &format!("const {} &value", object.name)).trim_end_matches(" {")));
    }
    for object in &api.structs {
        structure(&mut text, api, object, &prefix)?;
    }
    if let Some(Named::Typedef(object)) = api.named(&format!("{prefix}_result_t"))
        && let Some((CType::Named { name, .. }, _)) = object.ty.form.pointee()
        && let Some(Named::Struct(error)) = api.named(name)
        && let [code, details, ..] = error.members.as_slice()
    {
        text.blank();
        text.line("/// The result's code, and what is known of the failure.");
        text.block(operator(&prefix, &format!("{} result", object.name)), "}", |text| {
            text.block("if (!result) {", "}", |text| {
                text.line(format_args!("os << \"{}_SUCCESS\";", api.prefix));
                text.line("return os;");
                Ok::<(), GenError>(())
            })?;
            text.line(format_args!("os << result->{};", code.name));
            text.line(format_args!("if (result->{0}) os << \": \" << result->{0};", details.name));
            text.line("return os;");
            Ok::<(), GenError>(())
        })?;
    }
    for object in api.enums.iter().filter(|object| object.is_typed) {
        property(&mut text, api, object, &prefix)?;
    }
    for object in &api.functions {
        params(&mut text, api, object, &prefix)?;
    }
    text.blank();
    text.line(format_args!("#endif /* {guard} */"));
    Ok(text.finish())
}

/// The first lines of an operator that writes `what`.
fn operator(prefix: &str, what: &str) -> String {
    format!("template <class Stream>\ninline {prefix}_print::if_stream<Stream> &operator<<(Stream &os, {what}) {{")
}

const HELPERS: &str = r#"/// The type itself, of a stream: numbers are shifted by enumerators, and nothing is written.
template <class Stream> using if_stream = typename std::enable_if<std::is_class<Stream>::value, Stream>::type;
template <class Stream> inline void address(Stream &os, const void *value) {
    if (value)
        os << value;
    else
        os << "NULL";
}
template <class Stream> inline void text(Stream &os, const char *value, std::size_t size) {
    os << '"';
    for (std::size_t i = 0; i < size && value[i]; i++)
        os << value[i];
    os << '"';
}
/// What `flags` has besides `known`, in hexadecimal, if there is any or nothing else has been written.
template <class Stream>
inline void other_flags(Stream &os, std::uint32_t flags, std::uint32_t known, const char *separator) {
    char hex[16];
    if ((flags & ~known) == 0 && *separator)
        return;
    std::snprintf(hex, sizeof hex, "0x%x", static_cast<unsigned>(flags & ~known));
    os << separator << hex;
}"#;

fn enumeration(text: &mut Text, object: &Enum, prefix: &str) -> Result<(), GenError> {
    let name = &object.name;
    text.blank();
    if object.is_bit_field {
        text.line("/// The names of the bits.");
        text.line("template <class Stream>");
        text.block(format_args!("inline void {prefix}_print_{name}(Stream &os, std::uint32_t flags) {{"), "}", |text| {
            text.line("const char *separator = \"\";");
            let mut known = 0;
            for etor in object.etors.iter().filter(|etor| etor.value != 0) {
                text.block(format_args!("if (flags & {:#x}u) {{", etor.value), "}", |text| {
                    text.line(format_args!("os << separator << \"{}\";", etor.c_name));
                    text.line("separator = \" | \";");
                    Ok::<(), GenError>(())
                })?;
                known |= etor.value;
            }
            text.line(format_args!("{prefix}_print::other_flags(os, flags, {known:#x}u, separator);"));
            Ok::<(), GenError>(())
        })?;
    }
    text.block(operator(prefix, &format!("{name} value")), "}", |text| {
        if object.is_bit_field {
            text.line(format_args!("{prefix}_print_{name}(os, static_cast<std::uint32_t>(value));"));
            text.line("return os;");
            return Ok(());
        }
        text.line("// By number: a caller may pass values that have no name, and enumerators may share one.");
        text.block("switch (static_cast<std::uint32_t>(value)) {", "}", |text| {
            let mut seen = Vec::new();
            for etor in &object.etors {
                if !seen.contains(&etor.value) {
                    seen.push(etor.value);
                    text.line(format_args!("case {}u: os << \"{}\"; return os;", etor.value, etor.c_name));
                }
            }
            text.line(format_args!("default: os << static_cast<std::uint32_t>(value) << \" (not in {name})\"; return os;"));
            Ok::<(), GenError>(())
        })
    })
}

fn structure(text: &mut Text, api: &Api, object: &Struct, prefix: &str) -> Result<(), GenError> {
    text.blank();
    text.block(operator(prefix, &format!("const {} &value", object.name)), "}", |text| {
        for (index, member) in object.members.iter().enumerate() {
            text.line(format_args!("os << \"{}.{} = \";", if index == 0 { "{" } else { ", " }, member.name));
            value(text, api, &member.ty.form, &format!("value.{}", member.name), prefix)?;
        }
        let empty = if object.members.is_empty() { "{" } else { "" };
        text.line(format_args!("{}os << \"{empty}}}\";", if object.members.is_empty() { "(void)value; " } else { "" }));
        text.line("return os;");
        Ok(())
    })
}

/// Writes a value of a type.
fn value(text: &mut Text, api: &Api, ty: &CType, expr: &str, prefix: &str) -> Result<(), GenError> {
    if let Some(flags) = api.flags_of(ty).filter(|_| !matches!(ty, CType::Named { of: NamedKind::Enum, .. })) {
        text.line(format_args!("{prefix}_print_{}(os, {expr});", flags.name));
        return Ok(());
    }
    match api.underlying(ty) {
        CType::Primitive { name: Primitive::Bool } => text.line(format_args!("os << ({expr} ? \"true\" : \"false\");")),
        CType::Primitive { name: Primitive::Char | Primitive::Int8 | Primitive::Uint8 } => {
            text.line(format_args!("os << static_cast<int>({expr});"))
        }
        CType::Primitive { .. } => text.line(format_args!("os << {expr};")),
        CType::Pointer { .. } => text.line(format_args!("{prefix}_print::address(os, {expr});")),
        CType::Named { of: NamedKind::Handle, .. } => text.line(format_args!("{prefix}_print::address(os, {expr});")),
        CType::Named { of: NamedKind::Callback, .. } => {
            text.line(format_args!("{prefix}_print::address(os, reinterpret_cast<const void *>({expr}));"));
        }
        CType::Named { of: NamedKind::Enum | NamedKind::Struct, .. } => text.line(format_args!("os << {expr};")),
        CType::Array { of, len: Some(_) } => {
            text.line("os << '[';");
            text.block(format_args!("for (const auto &element : {expr}) {{"), "}", |text| {
                text.line(format_args!("if (&element != {expr}) os << \", \";"));
                value(text, api, of, "element", prefix)
            })?;
            text.line("os << ']';");
        }
        other => return Err(GenError::Unsupported { place: expr.to_owned(), reason: format!("`{other}` cannot be printed") }),
    }
    Ok(())
}

fn property(text: &mut Text, api: &Api, object: &Enum, prefix: &str) -> Result<(), GenError> {
    text.blank();
    text.line("/// The property of that name: `size` bytes at `data`. What has another size is shown as an address.");
    text.line("template <class Stream>");
    let open = format!("inline void {prefix}_print_property(Stream &os, {} name, const void *data, std::size_t size) {{", object.name);
    text.block(open, "}", |text| {
        text.line(format_args!("if (!data) return {prefix}_print::address(os, data);"));
        text.block("switch (static_cast<std::uint32_t>(name)) {", "}", |text| {
            for etor in &object.etors {
                let Some(ty) = &etor.tagged_type else { continue };
                text.block(format_args!("case {}u: {{ // {}", etor.value, etor.c_name), "}", |text| match &ty.form {
                    CType::Array { of, .. } if matches!(**of, CType::Primitive { name: Primitive::Char }) => {
                        text.line(format_args!("return {prefix}_print::text(os, static_cast<const char *>(data), size);"));
                        Ok(())
                    }
                    CType::Array { of, .. } => {
                        text.line("os << '[';");
                        text.block(format_args!("for (std::size_t i = 0; i + 1 <= size / sizeof({of}); i++) {{"), "}", |text| {
                            text.line(format_args!("{of} element;"));
                            text.line("std::memcpy(&element, static_cast<const char *>(data) + i * sizeof element, sizeof element);");
                            text.line("if (i) os << \", \";");
                            value(text, api, of, "element", prefix)
                        })?;
                        text.line("os << ']';");
                        text.line("return;");
                        Ok(())
                    }
                    form => {
                        text.line(format_args!("{form} value;"));
                        text.line(format_args!("if (size < sizeof value) return {prefix}_print::address(os, data);"));
                        text.line("std::memcpy(&value, data, sizeof value);");
                        value(text, api, form, "value", prefix)?;
                        text.line("return;");
                        Ok::<(), GenError>(())
                    }
                })?;
            }
            text.line(format_args!("default: return {prefix}_print::address(os, data);"));
            Ok::<(), GenError>(())
        })
    })
}

fn params(text: &mut Text, api: &Api, object: &Function, prefix: &str) -> Result<(), GenError> {
    if object.params.is_empty() {
        return Ok(());
    }
    text.blank();
    text.line(format_args!("/// The arguments of a call of ::{}.", object.name));
    text.block(operator(prefix, &format!("const {} &params", params_struct(object))), "}", |text| {
        for (index, param) in object.params.iter().enumerate() {
            text.line(format_args!("os << \"{}.{} = \";", if index == 0 { "" } else { ", " }, param.name));
            let expr = format!("(*params.p{})", param.name);
            value(text, api, &param.ty.form, &expr, prefix)?;
            pointee(text, api, param, &expr, prefix)?;
        }
        text.line("return os;");
        Ok(())
    })
}

/// Writes what a parameter that is only read points to.
fn pointee(text: &mut Text, api: &Api, param: &Param, expr: &str, prefix: &str) -> Result<(), GenError> {
    let Some((pointee, _)) = param.ty.form.pointee() else { return Ok(()) };
    if param.is_out || param.type_tag.is_some() || param.range.is_some() || *pointee == CType::Void {
        return Ok(());
    }
    text.block(format_args!("if {expr} {{"), "}", |text| {
        text.line("os << \" (\";");
        if matches!(pointee, CType::Primitive { name: Primitive::Char }) {
            text.line(format_args!("{prefix}_print::text(os, {expr}, 256);"));
        } else {
            value(text, api, pointee, &format!("(*{expr})"), prefix)?;
        }
        text.line("os << ')';");
        Ok(())
    })
}
