//! LLVM's modules as text: what the passes over it read in common.

/// The first function of a module, as text, that mentions `symbol`.
pub(crate) fn caller_of(module: &str, symbol: &str) -> Option<String> {
    let mention = format!("@{symbol}");
    let mut function = None;
    for line in module.lines() {
        if let Some((_, name)) = definition(line) {
            function = Some(name);
        } else if line.starts_with('}') {
            function = None;
        } else if let Some(name) = function
            && line.match_indices(&mention).any(|(at, _)| self::symbol(&line[at + 1..]) == symbol)
        {
            return Some(name.to_owned());
        }
    }
    None
}

/// What is before the name, and the name, if the line begins a function's definition.
pub(crate) fn definition(line: &str) -> Option<(&str, &str)> {
    let (before, after) = line.strip_prefix("define ")?.split_once('@')?;
    Some((before, symbol(after)))
}

/// The function that a line begins or declares.
pub(crate) fn function(line: &str) -> Option<&str> {
    let (_, after) = line.strip_prefix("define ").or_else(|| line.strip_prefix("declare "))?.split_once('@')?;
    Some(symbol(after))
}

/// The symbol that `text` begins with, perhaps in quotes.
pub(crate) fn symbol(text: &str) -> &str {
    let name = text.trim_start_matches('"');
    name.split(|c: char| !(c.is_ascii_alphanumeric() || "_$.-".contains(c))).next().unwrap_or_default()
}

/// The types of a definition's parameters, without attributes.
pub(crate) fn parameters(line: &str) -> Vec<&str> {
    let Some((_, rest)) = line.split_once('@').and_then(|(_, rest)| rest.split_once('(')) else { return Vec::new() };
    let mut types = Vec::new();
    let mut depth = 0;
    let mut start = 0;
    for (at, c) in rest.char_indices() {
        match c {
            '(' => depth += 1,
            ',' | ')' if depth == 0 => {
                types.extend(rest[start..at].split_whitespace().next());
                start = at + 1;
                if c == ')' {
                    break;
                }
            }
            ')' => depth -= 1,
            _ => {}
        }
    }
    types
}

/// Whether a definition, of which this is what stands before the name, is a kernel: a function of that calling
/// convention.
pub(crate) fn is_kernel(before: &str, convention: &str) -> bool {
    before.split_whitespace().any(|word| word == convention)
}

/// Whether a line of a function begins a block.
pub(crate) fn is_label(line: &str) -> bool {
    !line.starts_with([' ', ';', '}']) && line.split(';').next().is_some_and(|code| code.trim_end().ends_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caller_of_a_symbol_is_found() {
        let module = "declare void @getpid2()\ndeclare i32 @getpid()\ndefine void @a() {\n  call void @getpid2()\n}\ndefine void @b() {\n  %1 = call i32 @getpid()\n}\n";
        assert_eq!(caller_of(module, "getpid").as_deref(), Some("b"));
        assert_eq!(caller_of(module, "nobody"), None);
    }
}
