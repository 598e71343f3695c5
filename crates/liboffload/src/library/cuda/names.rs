//! The names of what is in an image: the driver finds symbols by their names, and (before CUDA 12.4, and for variables at all) does not list them.
//!
//! What is found is more than kernels and variables: which of the names are some, the driver says.

use object::{Object, ObjectSymbol, SymbolKind};

/// The names in an image, sorted; `None` if its form does not tell.
pub(super) fn of_image(image: &[u8]) -> Option<Vec<String>> {
    let mut names = if image.starts_with(&object::elf::ELFMAG) { of_cubin(image)? } else { of_ptx(std::str::from_utf8(image).ok()?) };
    // The compiler's and this project's own machinery.
    names.retain(|name| !name.is_empty() && !name.starts_with("__hostcall") && !name.starts_with(['.', '$']));
    names.sort();
    names.dedup();
    Some(names)
}

fn of_cubin(image: &[u8]) -> Option<Vec<String>> {
    let file = object::File::parse(image).ok()?;
    // Functions and variables: the assembler's aliases are neither, and the driver refuses to be asked for them.
    let can_be = |symbol: &object::Symbol<'_, '_>| matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Data);
    let named = file.symbols().filter(|symbol| symbol.is_definition() && symbol.is_global() && can_be(symbol));
    Some(named.filter_map(|symbol| Some(symbol.name().ok()?.to_owned())).collect())
}

/// Kernels, which are declared with `.entry`, and variables at the outermost level, in `.global` and `.const` memory.
fn of_ptx(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = 0usize;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let is_declared = words.clone().any(|word| word == ".extern");
        if depth == 0 && !is_declared {
            if words.any(|word| word == ".entry") {
                names.extend(words.next().map(identifier));
            } else if line.split_whitespace().any(|word| matches!(word, ".global" | ".const")) {
                // The last word before the size of an array, the value or the end.
                let head = line.split(['[', '=', ';']).next().unwrap_or_default();
                names.extend(head.split_whitespace().last().map(identifier));
            }
        }
        depth = (depth + line.matches('{').count()).saturating_sub(line.matches('}').count());
    }
    names
}

/// What of a word is a name.
fn identifier(word: &str) -> String {
    word.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_and_variables_are_found_in_ptx() {
        let text = "\
.version 6.3
.target sm_70, debug
.address_size 64
.extern .func  (.param .b32 func_retval0) vprintf
.extern .global .align 4 .u32 elsewhere;
.visible .global .align 16 .b8 table[64] = {1, 2, 3};
.visible .const .align 4 .u32 limit = 7;
.global .align 8 .u64 __hostcall_port;
.visible .entry add(
\t.param .u64 add_param_0
)
{
\t.reg .b32 \t%r<3>;
\t.shared .align 4 .b8 tile[128];
\tld.global.u32 %r1, [%rd1]; // .global not_one
\tret;
}
.entry nothing() { ret; }
";
        assert_eq!(of_image(text.as_bytes()).unwrap(), ["add", "limit", "nothing", "table"]);
    }

    #[test]
    fn what_is_neither_text_nor_elf_does_not_tell() {
        assert_eq!(of_image(&[0x50, 0xed, 0x55, 0xba, 0xff]), None);
        assert_eq!(of_image(b"\x7fELF cut"), None);
    }
}
