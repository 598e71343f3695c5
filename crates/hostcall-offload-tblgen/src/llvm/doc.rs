//! `gen-doc`: reStructuredText for Sphinx, in its C domain.

use super::{PREFIX_LOWER, Version, impl_name_of_any, paragraphs, param_list, put};
use crate::ir::{Api, Condition, Enum, Function, Param, Struct};

pub(super) fn document(out: &mut String, api: &Api, version: Version) {
    out.push_str("Offload API\n===========\n\n");
    if !api.macros.is_empty() {
        section(out, "Macros");
        for object in &api.macros {
            put!(out, ".. c:macro:: {}\n\n  {}\n\n", object.name, object.desc);
        }
    }
    if !api.handles.is_empty() || !api.typedefs.is_empty() || !api.callbacks.is_empty() {
        section(out, "Type Definitions");
        for object in &api.handles {
            put!(out, ".. c:type:: struct {} *{}\n\n  {}\n\n", impl_name_of_any(object), object.name, object.desc);
        }
        for object in &api.typedefs {
            put!(out, ".. c:type:: {} {}\n\n  {}\n\n", object.ty.text, object.name, object.desc);
        }
        for object in &api.callbacks {
            put!(out, ".. c:type:: {} (*{})({})\n\n", object.ret.text, object.name, param_list(&object.params));
            params(out, &object.params);
            out.push('\n');
        }
    }
    section(out, "Enums");
    for object in &api.enums {
        enum_(out, object);
    }
    if !api.structs.is_empty() {
        section(out, "Structs");
        for object in &api.structs {
            struct_(out, object);
        }
    }
    if !api.functions.is_empty() {
        section(out, "Functions");
        for object in &api.functions {
            function(out, object, version);
        }
    }
}

fn section(out: &mut String, title: &str) {
    put!(out, "{title}\n{}\n\n", "-".repeat(title.len()));
}

fn params(out: &mut String, params: &[Param]) {
    for param in params {
        put!(out, "  :param {}: {}\n", param.name, param.desc);
    }
}

fn enum_(out: &mut String, object: &Enum) {
    put!(out, ".. c:enum:: {}\n\n  {}\n\n", object.name, object.desc);
    for etor in &object.etors {
        put!(out, "  .. c:enumerator:: {}\n\n    ", etor.c_name);
        if object.is_typed {
            put!(out, ":c:expr:`{}` — ", etor.tagged_type.as_ref().map_or("", |ty| &ty.text));
        }
        put!(out, "{}\n\n", etor.desc);
    }
}

fn struct_(out: &mut String, object: &Struct) {
    put!(out, ".. c:struct:: {}\n\n  {}\n\n", object.name, object.desc);
    for member in &object.members {
        put!(out, "  .. c:member:: {} {}\n\n    {}\n\n", member.ty.text, member.name, member.desc);
    }
}

fn function(out: &mut String, function: &Function, version: Version) {
    put!(out, ".. c:function:: {PREFIX_LOWER}_result_t {}({})\n\n", function.name, param_list(&function.params));
    put!(out, "  {}\n\n", function.desc);
    if version >= Version::V24 {
        for line in paragraphs(&function.details) {
            let indent = if line.is_empty() { "" } else { "  " };
            put!(out, "{indent}{line}\n");
        }
    } else {
        for detail in &function.details {
            put!(out, "  {detail}\n");
        }
    }
    if !function.details.is_empty() {
        out.push('\n');
    }
    params(out, &function.params);
    for result in &function.returns {
        put!(out, "  :retval {}:\n", result.value);
        for condition in &result.conditions {
            put!(out, "    * {}\n", condition_text(condition));
        }
    }
    out.push('\n');
}

/// Code is marked up as an expression; in prose, what stands between backticks is set as it is.
fn condition_text(condition: &Condition) -> String {
    if condition.is_code { format!(":c:expr:{}", condition.text) } else { condition.text.replace('`', "``") }
}
