//! A record of an ABI, and what has changed since.
use super::GenError;
use crate::ir::Api;
pub(super) fn generate(_: &Api) -> Result<String, GenError> { Ok(String::new()) }
