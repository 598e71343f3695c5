//! Options of a program's start that come by the environment: its user's, and those that this program has for itself
//! when cargo calls it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::process::Command;

/// More options, from the environment: for those who have cargo call us.
const VARIABLE: &str = "HOSTCALL_RUN";
/// Options that this program has for itself when cargo calls it, each but the last with a [`SEPARATOR`] behind it: they
/// are bytes, and in cargo's settings there are texts only.
pub(crate) const ENCODED: &str = "HOSTCALL_ENCODED_RUN";
const SEPARATOR: u8 = 0x1f;

/// Options as the value of [`ENCODED`].
pub(crate) fn encoded(options: &[OsString]) -> OsString {
    let bytes: Vec<&[u8]> = options.iter().map(|option| option.as_bytes()).collect();
    OsString::from_vec(bytes.join(&SEPARATOR))
}

fn decoded(options: &OsStr) -> Vec<OsString> {
    options.as_bytes().split(|byte| *byte == SEPARATOR).map(|option| OsStr::from_bytes(option).to_owned()).collect()
}

/// What the environment says: goes before all other options.
pub(crate) fn options_from_environment() -> Vec<OsString> {
    let mut all = std::env::var_os(ENCODED).filter(|options| !options.is_empty()).map(|options| decoded(&options)).unwrap_or_default();
    all.extend(words(&std::env::var_os(VARIABLE).unwrap_or_default()));
    all
}

/// What stands between blanks: bytes, as paths and values are.
fn words(text: &OsStr) -> Vec<OsString> {
    let words = text.as_bytes().split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.map(|word| OsStr::from_bytes(word).to_owned()).collect()
}

/// For a process that is given all options on its command line.
pub(crate) fn without_environment(command: &mut Command) -> &mut Command {
    command.env_remove(VARIABLE).env_remove(ENCODED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_are_bytes_come_through_the_environment() {
        let options = [OsString::from("--dir"), OsString::from_vec(b"/\xe9 x".to_vec()), OsString::new(), "--stats".into()];
        assert_eq!(decoded(&encoded(&options)), options);
    }

    #[test]
    fn words_that_are_not_utf_8_are_words() {
        let text = OsStr::from_bytes(b" --dir  /\xe9::g\t--net\n");
        assert_eq!(words(text), ["--dir".into(), OsStr::from_bytes(b"/\xe9::g").to_owned(), "--net".into()]);
    }
}
