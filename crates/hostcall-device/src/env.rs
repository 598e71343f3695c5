//! Arguments and variables that the host granted. What is not UTF-8 in them is replaced by U+FFFD.

use crate::builtin::Environment;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use hostcall_abi::CallError;

/// Bytes that the first call for a value offers room for.
const FIRST: usize = 64;

/// Fetches a value whose length is not known, in one call if it is short.
fn fetch(call: impl Fn(&mut [u8]) -> Result<Option<u32>, CallError>) -> Result<Option<String>, CallError> {
    let mut room = FIRST;
    loop {
        let mut value = vec![0u8; room];
        let Some(len) = call(&mut value)? else { return Ok(None) };
        let len = len as usize;
        if len <= room {
            value.truncate(len);
            return Ok(Some(String::from_utf8_lossy(&value).into_owned()));
        }
        room = len;
    }
}

/// The program's arguments.
///
/// # Errors
/// Whatever ended a call to the host.
pub fn args() -> Result<Vec<String>, CallError> {
    let count = Environment::arg_count()?;
    (0..count).map_while(|i| fetch(|value| Environment::arg(i, value)).transpose()).collect()
}

/// An argument by its number, `None` past the last.
///
/// # Errors
/// Whatever ended the call to the host.
pub fn arg(index: u32) -> Result<Option<String>, CallError> {
    fetch(|value| Environment::arg(index, value))
}

/// A variable's value, `None` if the host did not grant it.
///
/// # Errors
/// Whatever ended the call to the host.
pub fn var(name: &str) -> Result<Option<String>, CallError> {
    fetch(|value| Environment::var(name.as_bytes(), value))
}
