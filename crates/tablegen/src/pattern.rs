//! Patterns of `!match` and `!instances`: POSIX extended regular expressions, for an engine of another dialect.
//!
//! The dialects agree on most; where they do not (`\d` is a `d`, `.` matches a line's end, `{` may stand for itself, a backslash in brackets
//! is one), the pattern is rewritten.

use std::iter::Peekable;
use std::str::Chars;

use regex_lite::Regex;

/// Compiles a pattern as POSIX reads it. The error says what is wrong with it.
pub(crate) fn compile(pattern: &str) -> Result<Regex, String> {
    Regex::new(&translate(pattern)?).map_err(|error| error.to_string())
}

fn translate(pattern: &str) -> Result<String, String> {
    let mut out = String::from("(?s)");
    let mut rest = pattern.chars().peekable();
    // Whether something that may be repeated came just before.
    let mut atom = false;
    let mut branch_is_empty = true;
    while let Some(c) = rest.next() {
        match c {
            '\\' => {
                let Some(escaped) = rest.next() else { return Err("a backslash ends it".into()) };
                if escaped.is_ascii_digit() && escaped != '0' {
                    return Err("references back to a group are not supported".into());
                }
                literal(&mut out, escaped);
                atom = true;
            }
            '[' => {
                bracket(&mut rest, &mut out)?;
                atom = true;
            }
            '*' | '+' | '?' => repeat(&mut out, &mut atom, c)?,
            '{' if rest.peek().is_some_and(char::is_ascii_digit) => {
                repeat(&mut out, &mut atom, c)?;
                out.extend(std::iter::from_fn(|| rest.next_if(|&c| c != '}')));
                out.push('}');
                rest.next().ok_or("a '{' is not closed")?;
            }
            '(' | ')' | '|' => {
                let empty_group = c == ')' && pattern_so_far_opens(&out);
                if c != '(' && branch_is_empty && !empty_group {
                    return Err("an alternative is empty".into());
                }
                out.push(c);
                atom = c == ')';
                branch_is_empty = !atom;
                continue;
            }
            '^' | '$' => {
                out.push(c);
                atom = false;
            }
            '.' => {
                out.push('.');
                atom = true;
            }
            _ => {
                literal(&mut out, c);
                atom = true;
            }
        }
        branch_is_empty = false;
    }
    if branch_is_empty { Err("an alternative is empty".into()) } else { Ok(out) }
}

/// Whether a group has just begun: `()` is a pattern, `(|a)` is none.
fn pattern_so_far_opens(out: &str) -> bool {
    out.ends_with('(') && !out.ends_with("\\(")
}

fn repeat(out: &mut String, atom: &mut bool, operator: char) -> Result<(), String> {
    if !std::mem::take(atom) {
        return Err(format!("nothing stands before '{operator}' that could be repeated"));
    }
    out.push(operator);
    Ok(())
}

/// A character that stands for itself.
fn literal(out: &mut String, c: char) {
    if c.is_ascii_punctuation() {
        out.push('\\');
    }
    out.push(c);
}

/// What follows `[`, to the `]` that closes it.
fn bracket(rest: &mut Peekable<Chars<'_>>, out: &mut String) -> Result<(), String> {
    out.push('[');
    if rest.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    let mut first = true;
    loop {
        match rest.next().ok_or("a '[' is not closed")? {
            ']' if !first => break,
            '[' if rest.next_if_eq(&':').is_some() => {
                let name: String = std::iter::from_fn(|| rest.next_if(char::is_ascii_alphabetic)).collect();
                if rest.next() != Some(':') || rest.next() != Some(']') {
                    return Err("a character class is not closed by ':]'".into());
                }
                out.push_str(&format!("[:{name}:]"));
            }
            '[' if matches!(rest.peek(), Some('.' | '=')) => return Err("collating elements are not supported".into()),
            // A range, or itself at the beginning and the end, in both dialects.
            '-' => out.push('-'),
            c => literal(out, c),
        }
        first = false;
    }
    out.push(']');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each was checked with `llvm-tblgen-22`.
    #[test]
    fn patterns_mean_what_posix_says() {
        let cases = [
            ("d", r"^\d$", true),
            ("5", r"^\d$", false),
            ("a\nb", "a.b", true),
            ("a\nb", "^b", false),
            ("a{b", "a{b", true),
            ("aaab", "^a{3}b", true),
            ("a]b", "a[]]b", true),
            ("a]", "a]", true),
            ("\\", r"[\]", true),
            ("aXb", "a[^a-z]b", true),
            ("xyz", "^[[:alpha:]]{3}$", true),
            ("wd x", r"\bx", false),
            ("a+", r"a\+$", true),
            ("a-b", "a[+-]b", true),
            ("ab", "^(a|b)+$", true),
            ("a&&b", "[a&&b]&", true),
            ("é", "^é$", true),
            ("ab", "a()b", true),
        ];
        for (text, pattern, matches) in cases {
            let regex = compile(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
            assert_eq!(regex.is_match(text), matches, "{text:?} against {pattern}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for pattern in
            ["", "a|b|", "|a", "a(|b)", "*a", "a**", "a*?", "(?i)a", "[a", "a(", "a{2", "\\", r"(a)\1", "[[:no:]]", "[b-a]", "a{3,2}"]
        {
            assert!(compile(pattern).is_err(), "{pattern}");
        }
    }
}
