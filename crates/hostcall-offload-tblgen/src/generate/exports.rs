//! The linker's list of exported names: a version script, as GNU ld and lld read it.

use super::{Backend, GenError, made_from};
use crate::ir::Api;

pub(super) fn generate(api: &Api) -> Result<String, GenError> {
    let mut text = format!("/* {} */\nVERS1.0 {{\n  global:\n", made_from(api, Backend::Exports));
    for function in &api.functions {
        text.push_str(&format!("    {0};\n    {0}WithCodeLoc;\n", function.name));
    }
    text.push_str("  local:\n    *;\n};\n");
    Ok(text)
}
