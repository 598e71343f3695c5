//! The small back ends: lists of functions, errors and properties, and the linker's version script.

use super::{Error, GENERIC_HEADER, find_enum, param_list, put};
use crate::ir::Api;

pub(super) fn func_names(out: &mut String, api: &Api) {
    out.push_str(GENERIC_HEADER);
    out.push_str("\n#ifndef OFFLOAD_FUNC\n#error Please define the macro OFFLOAD_FUNC(Function)\n#endif\n\n");
    for function in &api.functions {
        put!(out, "OFFLOAD_FUNC({})\n", function.name);
    }
    for function in &api.functions {
        put!(out, "OFFLOAD_FUNC({}WithCodeLoc)\n", function.name);
    }
    out.push_str("\n#undef OFFLOAD_FUNC\n");
}

pub(super) fn exports(out: &mut String, api: &Api) {
    out.push_str("VERS1.0 {\n  global:\n");
    for function in &api.functions {
        put!(out, "    {};\n", function.name);
    }
    for function in &api.functions {
        put!(out, "    {}WithCodeLoc;\n", function.name);
    }
    out.push_str("  local:\n    *;\n};\n");
}

pub(super) fn impl_func_decls(out: &mut String, api: &Api) {
    out.push_str(GENERIC_HEADER);
    for function in &api.functions {
        put!(out, "Error {}_impl({});\n\n", function.name, param_list(&function.params));
    }
}

/// Error codes count from 0, whatever the enumeration says of itself.
pub(super) fn errcodes(out: &mut String, api: &Api) -> Result<(), Error> {
    out.push_str(GENERIC_HEADER);
    out.push_str("\n#ifndef OFFLOAD_ERRC\n#error Please define the macro OFFLOAD_ERRCODE(Name, Desc, Value)\n#endif\n\n");
    out.push_str("// Error codes are shared between PluginInterface and liboffload.\n");
    out.push_str("// To add new error codes, add them to offload/liboffload/API/Common.td.\n\n");
    for (value, etor) in find_enum(api, "ol_errc_t")?.etors.iter().enumerate() {
        put!(out, "  OFFLOAD_ERRC({}, \"{}\", {value})\n", etor.name.to_ascii_uppercase(), etor.desc);
    }
    Ok(())
}

pub(super) fn info(out: &mut String, api: &Api) -> Result<(), Error> {
    out.push_str(GENERIC_HEADER);
    out.push_str("\n#ifndef OFFLOAD_DEVINFO\n#error Please define the macro OFFLOAD_DEVINFO(Name, Desc, Value)\n#endif\n\n");
    out.push_str("// Device info codes are shared between PluginInterface and liboffload.\n");
    out.push_str("// To add new error codes, add them to offload/liboffload/API/Device.td.\n\n");
    for etor in &find_enum(api, "ol_device_info_t")?.etors {
        put!(out, "  OFFLOAD_DEVINFO({}, \"{}\", {})\n", etor.name.to_ascii_uppercase(), etor.desc, etor.value);
    }
    Ok(())
}
