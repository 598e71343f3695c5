//! Which crate a symbol comes from.

/// The crate that a mangled name (Rust's RFC 2603) was made for: the one that needed the instance of a generic
/// function, else the one that defines it. `Cs4fqI2P2rA04_5hello` of `_RNvCs4fqI2P2rA04_5hello4main`; `None` of other
/// names.
pub(super) fn crate_of(symbol: &str) -> Option<&str> {
    // What LLVM adds, when names meet or functions are changed, begins with a sign that no mangled name has.
    let path = symbol.strip_prefix("_R")?.split(['.', '$']).next()?;
    last(path).or_else(|| path.match_indices('C').find_map(|(at, _)| root(&path[at..])))
}

/// The crate that a path ends with: its root, or where that was written before (`B4_`).
fn last(path: &str) -> Option<&str> {
    let at = path.rfind('C').filter(|at| root(&path[*at..]).is_some_and(|root| root.len() == path.len() - at));
    if let Some(at) = at {
        return Some(&path[at..]);
    }
    let digits = &path[path.rfind('B')? + 1..];
    let place = match digits.strip_suffix('_')? {
        "" => 0,
        digits => digits.bytes().try_fold(0_usize, |number, digit| number.checked_mul(62)?.checked_add(value(digit)?))?.checked_add(1)?,
    };
    root(path.get(place..)?)
}

/// A digit of base 62.
fn value(digit: u8) -> Option<usize> {
    Some(usize::from(match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'z' => digit - b'a' + 10,
        b'A'..=b'Z' => digit - b'A' + 36,
        _ => return None,
    }))
}

/// The crate's root that `text` begins with: `C`, what tells crates of one name apart, and the name behind its length.
fn root(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("Cs")?;
    let (disambiguator, rest) = rest.split_once('_')?;
    let is_one = disambiguator.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = rest.get(..digits)?.parse().ok()?;
    // A name that begins with a digit or `_` is set off.
    let name = &rest[digits..];
    let set_off = usize::from(name.starts_with('_'));
    let end = text.len() - name.len() + set_off + length;
    (is_one && length > 0).then(|| text.get(..end)).flatten()
}

/// The name in a crate's root.
pub(super) fn name_of(root: &str) -> &str {
    let counted = root.split_once('_').map_or(root, |(_, rest)| rest);
    let digits = counted.bytes().take_while(u8::is_ascii_digit).count();
    let length = counted[..digits].parse().unwrap_or(0);
    &root[root.len().saturating_sub(length)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_of_the_crate_that_defines_it_and_an_instance_of_the_one_that_needed_it() {
        let of = |symbol: &str| crate_of(symbol).map(name_of).map(str::to_owned);
        assert_eq!(of("_RNvCs4fqI2P2rA04_5hello4main").as_deref(), Some("hello"));
        assert_eq!(of("_RNvMsa_NtCs8_5alloc3vec3foo.12").as_deref(), Some("alloc"));
        assert_eq!(of("_RINvNtCs8_4core3ptr13drop_in_placeNtCs9_3rgs3FooECs7_5hello").as_deref(), Some("hello"));
        // The crate was written before, at the 13th place.
        let text = "_RINvNtCs8_4core3ptrCs7_5hello3FooE";
        let place = text[2..].find("Cs7").expect("it is there");
        let digit = char::from(b"0123456789abcdefghijklmnopqrstuvwxyz"[place - 1]);
        assert_eq!(of(&format!("{text}B{digit}_")).as_deref(), Some("hello"));
        for other in ["main", "__rust_alloc", "_R", "_RC", "_RNvCs_99x4main", "sys_write"] {
            assert_eq!(of(other), None, "{other}");
        }
        assert_eq!(of("_RNvCs1_2_1x4main").as_deref(), Some("1x"));
        assert_eq!(of("_RNvCsfgHYwM92fyn_7___rustc12___rust_alloc").as_deref(), Some("__rustc"));
    }
}
