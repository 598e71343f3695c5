//! `gen-api`: the C header, with comments for Doxygen.

use super::{Error, GENERIC_HEADER, PREFIX, PREFIX_LOWER, RULE, Version, bare_name, impl_name, paragraphs, params_struct, put};
use crate::ir::{Api, Callback, Enum, Function, Macro, Param, Struct};

const FILE_BEGIN: &str = "
// Auto-generated file, do not manually edit.

#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern \"C\" {
#endif

";

const FILE_END: &str = "
#if defined(__cplusplus)
} // extern \"C\"
#endif

";

pub(super) fn header(out: &mut String, api: &Api, version: Version) -> Result<(), Error> {
    out.push_str(GENERIC_HEADER);
    out.push_str(FILE_BEGIN);
    for object in &api.macros {
        macro_(out, object);
    }
    for object in &api.handles {
        put!(out, "\n{RULE}/// @brief {}\ntypedef struct {} *{};\n", object.desc, impl_name(object)?, object.name);
    }
    for object in &api.enums {
        enum_(out, object, version);
    }
    for object in &api.typedefs {
        put!(out, "\n{RULE}/// @brief {}\ntypedef {} {};\n", object.desc, object.ty.text, object.name);
    }
    for object in &api.callbacks {
        callback(out, object);
    }
    for object in &api.structs {
        struct_(out, object, version);
    }
    for object in &api.functions {
        param_struct(out, object);
        function(out, object, version);
        with_code_location(out, object, version);
    }
    out.push_str(FILE_END);
    Ok(())
}

fn macro_(out: &mut String, object: &Macro) {
    let bare = bare_name(object);
    put!(out, "\n{RULE}#ifndef {bare}\n");
    if let Some(condition) = &object.condition {
        put!(out, "#if {condition}\n");
    }
    put!(out, "/// @brief {}\n#define {} {}\n", object.desc, object.name, object.value);
    if let Some(alternative) = &object.alt_value {
        put!(out, "#else\n#define {} {alternative}\n", object.name);
    }
    if let Some(condition) = &object.condition {
        put!(out, "#endif // {condition}\n");
    }
    put!(out, "#endif // {bare}\n");
}

fn nodiscard(wanted: bool, version: Version) -> &'static str {
    if wanted && version >= Version::V24 { "OL_NODISCARD " } else { "" }
}

fn enum_(out: &mut String, object: &Enum, version: Version) {
    put!(out, "\n{RULE}/// @brief {}\ntypedef enum {}{} {{\n", object.desc, nodiscard(object.nodiscard, version), object.name);
    for etor in &object.etors {
        match &etor.tagged_type {
            Some(ty) if object.is_typed => comment(out, &format!("[{}] {}", ty.text, etor.desc)),
            _ => comment(out, &etor.desc),
        }
        put!(out, "  {} = {},\n", etor.c_name, etor.value);
    }
    let prefix = &object.prefix;
    put!(out, "  /// @cond\n  {prefix}_LAST = {},\n  {prefix}_FORCE_UINT32 = 0x7fffffff\n  /// @endcond\n\n", object.next_value());
    put!(out, "}} {};\n", object.name);
}

/// One comment line for each line of `text`, up to a line of less than two characters that is not the last.
fn comment(out: &mut String, text: &str) {
    let mut rest = text;
    while !rest.is_empty() {
        match rest.split_once('\n') {
            Some((line, _)) if line.len() <= 1 => return,
            Some((line, tail)) => {
                put!(out, "/// {line}\n");
                rest = tail;
                if rest.is_empty() {
                    out.push_str("/// \n");
                }
            }
            None => {
                put!(out, "/// {rest}\n");
                return;
            }
        }
    }
}

fn callback(out: &mut String, object: &Callback) {
    put!(out, "\n{RULE}/// @brief {}\ntypedef {} (*{})(", object.desc, object.ret.text, object.name);
    for (i, param) in object.params.iter().enumerate() {
        let comma = if i + 1 < object.params.len() { "," } else { "" };
        put!(out, "\n  // {}\n  {} {}{comma}", param.desc, param.ty.text, param.name);
    }
    out.push_str(");\n");
}

fn struct_(out: &mut String, object: &Struct, version: Version) {
    put!(out, "\n{RULE}/// @brief {}\ntypedef struct {}{} {{\n", object.desc, nodiscard(object.nodiscard, version), object.name);
    for member in &object.members {
        put!(out, "  {} {}; ", member.ty.text, member.name);
        comment(out, &member.desc);
    }
    put!(out, "}} {};\n\n", object.name);
}

fn param_struct(out: &mut String, function: &Function) {
    if function.params.is_empty() {
        return;
    }
    let (name, tag) = (&function.name, params_struct(&function.name));
    put!(out, "\n{RULE}/// @brief Function parameters for {name}\n");
    put!(out, "/// @details Each entry is a pointer to the parameter passed to the function;\ntypedef struct {tag} {{\n");
    for param in &function.params {
        put!(out, "  {}* p{};\n", param.ty.text, param.name);
    }
    put!(out, "}} {tag};\n");
}

fn function(out: &mut String, function: &Function, version: Version) {
    put!(out, "\n{RULE}/// @brief {}\n///\n/// @details\n", function.desc);
    if version >= Version::V24 {
        for line in paragraphs(&function.details) {
            let text = if line.is_empty() { line.to_owned() } else { format!("    {line}") };
            put!(out, "///{text}\n");
        }
    } else {
        for detail in &function.details {
            put!(out, "///    - {detail}\n");
        }
    }
    out.push_str("///\n");
    if !function.analogues.is_empty() {
        out.push_str("/// @remarks\n///  _Analogues_\n");
        for analogue in &function.analogues {
            put!(out, "///    - **{analogue}**\n");
        }
        out.push_str("///\n");
    }
    out.push_str("/// @returns\n");
    for result in &function.returns {
        put!(out, "///     - ::{}\n", result.value);
        for condition in &result.conditions {
            put!(out, "///         + {}\n", condition.text);
        }
    }
    let marker = nodiscard(function.nodiscard, version);
    put!(out, "{marker}{PREFIX}_APIEXPORT {PREFIX_LOWER}_result_t {PREFIX}_APICALL {}(\n", function.name);
    for (i, param) in function.params.iter().enumerate() {
        let comma = if i + 1 < function.params.len() { "," } else { "" };
        put!(out, "// {} {}\n  {} {}{comma}\n", direction(param), param.desc, param.ty.text, param.name);
    }
    out.push_str(");\n\n");
}

fn direction(param: &Param) -> String {
    let part = |wanted: bool, text: &'static str| if wanted { text } else { "" };
    [part(param.is_in, "[in]"), part(param.is_out, "[out]"), part(param.is_optional, "[optional]")].concat()
}

fn with_code_location(out: &mut String, function: &Function, version: Version) {
    let name = &function.name;
    put!(out, "\n{RULE}/// @brief Variant of {name} that also sets source code location information\n/// @details See also ::{name}\n");
    put!(out, "{}OL_APIEXPORT ol_result_t OL_APICALL {name}WithCodeLoc(\n", nodiscard(function.nodiscard, version));
    for param in &function.params {
        put!(out, "  {} {},\n", param.ty.text, param.name);
    }
    out.push_str("ol_code_location_t *CodeLocation);\n\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commented(text: &str) -> String {
        let mut out = String::new();
        comment(&mut out, text);
        out
    }

    #[test]
    fn a_comment_has_a_line_for_each_line_of_the_text() {
        assert_eq!(commented(""), "");
        assert_eq!(commented("x"), "/// x\n");
        assert_eq!(commented("one\ntwo"), "/// one\n/// two\n");
        assert_eq!(commented("one\n"), "/// one\n/// \n");
        assert_eq!(commented("one\n\ntwo"), "/// one\n", "an empty line ends it");
        assert_eq!(commented("a\ntwo"), "", "and so does a line of one character");
    }
}
