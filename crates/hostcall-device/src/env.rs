//! Arguments and variables that the host granted. What is not UTF-8 in them is replaced by U+FFFD.

use crate::builtin::Environment;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use hostcall_abi::CallError;
use hostcall_abi::rank::{RANK, WORLD_SIZE};

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

/// This device's or process's number among those that run the program, from 0 on, as the host grants it
/// (`hostcall::Fleet`, `cargo hostcall run --devices`, launchers such as `mpirun`); 0 if it does not. A call to the
/// host: ask once.
///
/// # Errors
/// Whatever ended the call to the host.
pub fn rank() -> Result<u32, CallError> {
    number(RANK, 0)
}

/// How many devices or processes run the program; 1 if the host does not say.
///
/// # Errors
/// Whatever ended the call to the host.
pub fn world_size() -> Result<u32, CallError> {
    number(WORLD_SIZE, 1)
}

/// A variable that the host writes, without a heap; what is no number is as if it was not granted.
fn number(name: &str, default: u32) -> Result<u32, CallError> {
    /// Of the largest number.
    const DIGITS: usize = 10;
    let mut value = [0; DIGITS];
    let Some(len) = Environment::var(name.as_bytes(), &mut value)? else { return Ok(default) };
    let digits = value.get(..len as usize).unwrap_or_default();
    let number = digits.iter().try_fold(0u32, |number, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 { None } else { number.checked_mul(10)?.checked_add(digit.into()) }
    });
    Ok(number.filter(|_| !digits.is_empty()).unwrap_or(default))
}

/// A variable's value, `None` if the host did not grant it.
///
/// # Errors
/// Whatever ended the call to the host.
pub fn var(name: &str) -> Result<Option<String>, CallError> {
    fetch(|value| Environment::var(name.as_bytes(), value))
}
