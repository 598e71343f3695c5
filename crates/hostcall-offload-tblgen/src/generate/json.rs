//! The intermediate representation as JSON, and its schema.

use super::GenError;
use crate::ir::Api;

pub(super) fn generate(api: &Api) -> Result<String, GenError> {
    pretty(api)
}

/// The schema does not depend on the API.
pub(super) fn schema(_: &Api) -> Result<String, GenError> {
    pretty(&schemars::schema_for!(Api))
}

fn pretty(value: &impl serde::Serialize) -> Result<String, GenError> {
    let text = serde_json::to_string_pretty(value).map_err(|error| GenError::Json { reason: error.to_string() })?;
    Ok(text + "\n")
}
