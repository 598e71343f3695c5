//! `gen-entry-points`: for each function, its checks, the function itself with its trace, and the variant that is told
//! the code location.

use super::{GENERIC_HEADER, PREFIX, PREFIX_LOWER, RULE, argument_list, param_list, params_struct, put};
use crate::ir::{Api, Function};

pub(super) fn entry_points(out: &mut String, api: &Api) {
    out.push_str(GENERIC_HEADER);
    put!(
        out,
        "static {PREFIX_LOWER}_error_struct_t UninitError = {{{PREFIX}_ERRC_UNINITIALIZED, \
         \"liboffload has not been initialized - please call olInit before using this API\"}};"
    );
    for function in &api.functions {
        validation(out, function);
        entry_point(out, function);
        with_code_location(out, function);
    }
}

fn validation(out: &mut String, function: &Function) {
    let name = &function.name;
    put!(out, "\n{RULE}llvm::Error {name}_val(\n  {}) {{\n", param_list(&function.params));
    if function.returns.iter().any(|result| result.conditions.iter().any(|condition| condition.is_code)) {
        out.push_str("  if (llvm::offload::isValidationEnabled()) {\n");
        for result in &function.returns {
            for code in result.conditions.iter().filter_map(|condition| condition.code()) {
                put!(out, "    if ({code}) {{\n");
                put!(
                    out,
                    "      return createOffloadError(error::ErrorCode::{}, \"validation failure: {code}\");\n    }}\n\n",
                    unprefixed(&result.value)
                );
            }
        }
        out.push_str("  }\n\n");
    }
    put!(out, "  return llvm::offload::{name}_impl({});\n\n}}\n", argument_list(&function.params));
}

/// `FOO` of `OL_ERRC_FOO`. Of a value that is not an error code, what follows its fourth character.
fn unprefixed(value: &str) -> &str {
    let start = value.find("ERRC_").map_or(4, |at| at + "ERRC_".len());
    value.get(start..).unwrap_or_default()
}

fn entry_point(out: &mut String, function: &Function) {
    let name = &function.name;
    put!(out, "{PREFIX}_APIEXPORT {PREFIX_LOWER}_result_t {PREFIX}_APICALL {name}(\n  {}) {{\n", param_list(&function.params));
    // Tracing is set up by olInit, whose line can therefore only begin after the call.
    let starts_library = name == "olInit";
    if !starts_library {
        out.push_str("if (!llvm::offload::isOffloadInitialized()) return &UninitError;");
        put!(out, "  if (llvm::offload::isTracingEnabled()) {{\n    llvm::errs() << \"---> {name}\";\n  }}\n\n");
    }
    put!(out, "  {PREFIX_LOWER}_result_t Result = llvmErrorToOffloadError({name}_val({}));\n\n", argument_list(&function.params));
    out.push_str("  if (llvm::offload::isTracingEnabled()) {\n");
    if starts_library {
        put!(out, "    llvm::errs() << \"---> {name}\";\n");
    }
    if function.params.is_empty() {
        out.push_str("    llvm::errs() << \"()\";\n");
    } else {
        let addresses: Vec<String> = function.params.iter().map(|param| format!("&{}", param.name)).collect();
        put!(out, "    {} Params = {{{}}};\n", params_struct(name), addresses.join(", "));
        out.push_str("    llvm::errs() << \"(\" << &Params << \")\";\n");
    }
    out.push_str("    llvm::errs() << \"-> \" << Result << \"\\n\";\n");
    out.push_str("    if (Result && Result->Details) {\n");
    out.push_str("      llvm::errs() << \"     *Error Details* \" << Result->Details << \" \\n\";\n");
    out.push_str("    }\n  }\n  return Result;\n}\n");
}

fn with_code_location(out: &mut String, function: &Function) {
    let name = &function.name;
    let params: String = function.params.iter().map(|param| format!("{} {}, ", param.ty.text, param.name)).collect();
    put!(out, "{PREFIX_LOWER}_result_t {name}WithCodeLoc(\n  {params}ol_code_location_t *CodeLocation) {{\n");
    out.push_str("  currentCodeLocation() = CodeLocation;\n");
    put!(out, "  {PREFIX_LOWER}_result_t Result = ::{name}({});\n\n", argument_list(&function.params));
    out.push_str("  currentCodeLocation() = nullptr;\n  return Result;\n}\n");
}

#[cfg(test)]
mod tests {
    use super::unprefixed;

    #[test]
    fn an_error_code_is_named_without_its_prefix() {
        assert_eq!(unprefixed("OL_ERRC_INVALID_SIZE"), "INVALID_SIZE");
        assert_eq!(unprefixed("OL_RESULT_SUCCESS"), "ESULT_SUCCESS");
        assert_eq!(unprefixed("OL"), "");
    }
}
