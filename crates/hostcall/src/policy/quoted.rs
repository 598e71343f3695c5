//! Names of guests and hosts as a shell takes them, and as a terminal shows them.

use std::fmt::{self, Write as _};

/// A name as one word of a shell: as it is if that is enough, in quotes, or with what cannot be printed as numbers.
pub(crate) fn quoted(name: &[u8]) -> impl fmt::Display {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./:=+,@%".contains(byte);
    if !name.is_empty() && name.iter().all(plain) {
        return String::from_utf8_lossy(name).into_owned();
    }
    // What `escape_debug` changes is a sign that a terminal obeys or does not show, but for quotes and backslashes.
    let shown = |text: &str| text.chars().all(|sign| matches!(sign, '"' | '\\') || sign.escape_debug().count() == 1);
    match std::str::from_utf8(name) {
        Ok(text) if !text.contains('\'') && shown(text) => format!("'{text}'"),
        _ => {
            let mut word = String::from("$'");
            for byte in name {
                match byte {
                    b'\'' | b'\\' => word.extend(['\\', char::from(*byte)]),
                    b' '..=b'~' => word.push(char::from(*byte)),
                    _ => {
                        let _ = write!(word, "\\x{byte:02x}");
                    }
                }
            }
            word + "'"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_a_quoted_name_as_it_is() {
        let names: [&[u8]; 9] = [b"a/b", b"", b"a b", b"it's", b"\x1b[31m", b"\xff\xfe", "ß 世".as_bytes(), b"a\\b\n", b"$x`y`\"z\""];
        for name in names {
            let word = quoted(name).to_string();
            assert!(!word.chars().any(char::is_control), "{word:?}");
            let said = std::process::Command::new("bash").arg("-c").arg(format!("printf %s {word}")).output().unwrap();
            assert_eq!(said.stdout, name, "{word}");
        }
    }
}
