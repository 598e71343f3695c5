//! `gen-print-header`: a C++ header of `operator<<` for enumerations, structures and the parameters of functions.

use super::{GENERIC_HEADER, RULE, Version, params_struct, put};
use crate::ir::{Api, CType, Enum, Function, Param, Struct};

const FILE_BEGIN: &str = "
// Auto-generated file, do not manually edit.

#pragma once

#include <OffloadAPI.h>
#include <llvm/Support/raw_ostream.h>


template <typename T> inline ol_result_t printPtr(llvm::raw_ostream &os, const T *ptr);
template <typename T> inline void printTagged(llvm::raw_ostream &os, const void *ptr, T value, size_t size);
template <typename T> struct is_handle : std::false_type {};
";

const RESULT: &str = "
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                                const ol_error_struct_t *Err) {
  if (Err == nullptr) {
    os << \"OL_SUCCESS\";
  } else {
    os << Err->Code;
  }
  return os;
}
";

const UNKNOWN_ENUMERATOR: &str = "  default:\n    os << \"unknown enumerator\";\n    break;\n  }\n";

const FILE_END: &str = "
///////////////////////////////////////////////////////////////////////////////
// @brief Print pointer value
template <typename T> inline ol_result_t printPtr(llvm::raw_ostream &os, const T *ptr) {
    if (ptr == nullptr) {
        os << \"nullptr\";
    } else if constexpr (std::is_pointer_v<T>) {
        os << (const void *)(ptr) << \" (\";
        printPtr(os, *ptr);
        os << \")\";
    } else if constexpr (std::is_void_v<T> || is_handle_v<T *>) {
        os << (const void *)ptr;
    } else if constexpr (std::is_same_v<std::remove_cv_t< T >, char>) {
        os << (const void *)(ptr) << \" (\";
        os << ptr;
        os << \")\";
    } else {
        os << (const void *)(ptr) << \" (\";
        os << *ptr;
        os << \")\";
    }

    return OL_SUCCESS;
}
  ";

pub(super) fn print_header(out: &mut String, api: &Api, version: Version) {
    out.push_str(GENERIC_HEADER);
    out.push_str(FILE_BEGIN);
    for object in &api.handles {
        put!(out, "template <> struct is_handle<{}> : std::true_type {{}};\n", object.name);
    }
    out.push_str("template <typename T> inline constexpr bool is_handle_v = is_handle<T>::value;\n\n");
    for object in &api.enums {
        put!(out, "inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, enum {} value);\n", object.name);
    }
    for object in &api.structs {
        put!(out, "inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const struct {} param);\n", object.name);
    }
    out.push('\n');
    for object in &api.enums {
        enum_(out, object);
        if object.is_typed {
            tagged(out, object, version);
        }
    }
    out.push_str(RESULT);
    for object in api.structs.iter().filter(|object| object.name != "ol_error_struct_t") {
        struct_(out, object);
    }
    for function in api.functions.iter().filter(|function| !function.params.is_empty()) {
        parameters(out, function);
    }
    out.push_str(FILE_END);
}

fn type_comment(out: &mut String, name: &str) {
    put!(out, "{RULE}/// @brief Print operator for the {name} type\n/// @returns llvm::raw_ostream &\n");
}

fn enum_(out: &mut String, object: &Enum) {
    type_comment(out, &object.name);
    put!(out, "inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, enum {} value) {{\n  switch (value) {{\n", object.name);
    for etor in &object.etors {
        put!(out, "  case {0}:\n    os << \"{0}\";\n    break;\n", etor.c_name);
    }
    put!(out, "{UNKNOWN_ENUMERATOR}  return os;\n}}\n\n");
}

fn tagged(out: &mut String, object: &Enum, version: Version) {
    let name = &object.name;
    put!(out, "{RULE}/// @brief Print type-tagged {name} enum value\n/// @returns llvm::raw_ostream &\n");
    put!(out, "template <>\ninline void printTagged(llvm::raw_ostream &os, const void *ptr, {name} value, size_t size) {{\n");
    out.push_str("  if (ptr == NULL) {\n    printPtr(os, ptr);\n    return;\n  }\n\n  switch (value) {\n");
    for etor in &object.etors {
        let ty = etor.tagged_type.as_ref().map_or("", |ty| ty.text.as_str());
        put!(out, "  case {}: {{\n", etor.c_name);
        if ty == "char[]" {
            out.push_str("    printPtr(os, (const char*) ptr);\n");
        } else {
            put!(out, "    {} = ({})ptr;\n", tagged_pointer(ty, Some("tptr"), version), tagged_pointer(ty, None, version));
            let value = if ty.ends_with('*') { "printPtr(os, tptr)" } else { "*tptr" };
            put!(out, "    os << (const void *)tptr << \" (\";\n    os << {value};\n    os << \")\";\n");
        }
        out.push_str("    break;\n  }\n");
    }
    put!(out, "{UNKNOWN_ENUMERATOR}}}\n");
}

/// A pointer to a property of type `ty`: the declaration of `name`, or the type alone.
fn tagged_pointer(ty: &str, name: Option<&str>, version: Version) -> String {
    let pointer = match version {
        Version::V22 if ty == "void *" => "void * const * const".to_owned(),
        Version::V23 | Version::V24 if ty.ends_with('*') => format!("const {ty} const *"),
        _ => format!("const {ty} * const"),
    };
    name.map_or(pointer.clone(), |name| format!("{pointer} {name}"))
}

fn struct_(out: &mut String, object: &Struct) {
    let name = &object.name;
    type_comment(out, name);
    put!(out, "\ninline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const struct {name} params) {{\n");
    put!(out, "  os << \"(struct {name}){{\";\n");
    for member in &object.members {
        put!(out, "  os << \".{} = \";\n", member.name);
        if is_pointer(&member.ty.text) || is_handle(&member.ty.text) {
            put!(out, "  printPtr(os, params.{});\n", member.name);
        } else {
            put!(out, "  os << params.{};\n", member.name);
        }
        if object.members.last().is_some_and(|last| last.name != member.name) {
            out.push_str("  os << \", \";\n");
        }
    }
    out.push_str("  os << \"}\";\n  return os;\n}\n");
}

fn parameters(out: &mut String, function: &Function) {
    put!(out, "\ninline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const struct {} *params) {{\n", params_struct(&function.name));
    for (i, param) in function.params.iter().enumerate() {
        put!(out, "  os << \".{} = \";\n", param.name);
        parameter(out, param);
        if i + 1 < function.params.len() {
            out.push_str("  os << \", \";\n");
        }
    }
    out.push_str("  return os;\n}\n");
}

fn parameter(out: &mut String, param: &Param) {
    let (name, ty) = (&param.name, &param.ty.text);
    // LLVM's text takes each element's address, and untyped memory has none.
    let is_untyped = matches!(param.ty.form.pointee(), Some((CType::Void, _)));
    if let (Some(range), false) = (&param.range, is_untyped) {
        put!(out, "  os << \"{{\";\n  for (size_t i = {}; i < *params->p{}; i++) {{\n", range.begin, range.end);
        put!(out, "    if (i > 0) {{\n       os << \", \";\n    }}\n    printPtr(os, (*params->p{name})[i]);\n  }}\n  os << \"}}\";\n");
    } else if let Some(tag) = &param.type_tag {
        put!(out, "  printTagged(os, *params->p{name}, *params->p{}, *params->p{});\n", tag.tag, tag.size);
    } else if is_pointer(ty) || is_handle(ty) {
        put!(out, "  printPtr(os, *params->p{name});\n");
    } else if ty.ends_with("_cb_t") {
        put!(out, "  os << reinterpret_cast<void*>(*params->p{name});\n");
    } else {
        put!(out, "  os << *params->p{name};\n");
    }
}

fn is_pointer(ty: &str) -> bool {
    ty.ends_with('*')
}

fn is_handle(ty: &str) -> bool {
    ty.ends_with("_handle_t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_property_that_is_a_pointer_is_written_as_its_version_does() {
        assert_eq!(tagged_pointer("void *", Some("p"), Version::V22), "void * const * const p");
        assert_eq!(tagged_pointer("bool *", None, Version::V22), "const bool * * const");
        assert_eq!(tagged_pointer("void *", Some("p"), Version::V23), "const void * const * p");
        assert_eq!(tagged_pointer("size_t", None, Version::V24), "const size_t * const");
    }
}
