//! The symbols of an image: the driver finds symbols by their names, and (before CUDA 12.4, and for variables at all)
//! does not list them.
//!
//! The image says which symbol is a kernel and which a variable. The driver is not asked: it answers a question for the
//! other kind, or for a function that is no kernel, with errors that differ between drivers.

use object::{Object, ObjectSection, ObjectSymbol, SymbolFlags, SymbolKind};

use crate::library::names::Names;
use crate::sys::ol_symbol_kind_t;

const KERNEL: ol_symbol_kind_t = ol_symbol_kind_t::OL_SYMBOL_KIND_KERNEL;
const VARIABLE: ol_symbol_kind_t = ol_symbol_kind_t::OL_SYMBOL_KIND_GLOBAL_VARIABLE;

/// The bit of a cubin's functions that are kernels, in `st_other` (`STO_CUDA_ENTRY`).
const ENTRY: u8 = 0x10;

/// Sections with variables that the host can find: global memory, with a value or without, and constants of programs.
/// Others are of shared memory, and the compiler's own constants.
const VARIABLES: [&str; 2] = [".nv.global", ".nv.constant3"];

/// The symbols of an image; `None` if its form does not tell.
pub(super) fn of_image(image: &[u8]) -> Option<Names> {
    let all = if image.starts_with(&object::elf::ELFMAG) { of_cubin(image)? } else { of_ptx(std::str::from_utf8(image).ok()?) };
    // Without the compiler's machinery.
    Some(Names::new(all.into_iter().filter(|(name, _)| !name.starts_with(['.', '$']))))
}

fn of_cubin(image: &[u8]) -> Option<Vec<(String, ol_symbol_kind_t)>> {
    let file = object::File::parse(image).ok()?;
    let kind = |symbol: &object::Symbol<'_, '_>| match (symbol.kind(), symbol.flags()) {
        (SymbolKind::Text, SymbolFlags::Elf { st_other, .. }) => (st_other.0 & ENTRY != 0).then_some(KERNEL),
        (SymbolKind::Data, _) => {
            let section = file.section_by_index(symbol.section_index()?).ok()?;
            let name = section.name().ok()?;
            VARIABLES.iter().any(|prefix| name.starts_with(prefix)).then_some(VARIABLE)
        }
        // The assembler's aliases.
        _ => None,
    };
    let named = file.symbols().filter(|symbol| symbol.is_definition() && symbol.is_global());
    Some(named.filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), kind(&symbol)?))).collect())
}

/// Kernels, which are declared with `.entry`, and variables at the outermost level, in `.global` and `.const` memory.
fn of_ptx(text: &str) -> Vec<(String, ol_symbol_kind_t)> {
    let mut names = Vec::new();
    let mut depth = 0usize;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let is_declared = words.clone().any(|word| word == ".extern");
        if depth == 0 && !is_declared {
            if words.any(|word| word == ".entry") {
                names.extend(words.next().map(|word| (identifier(word), KERNEL)));
            } else if line.split_whitespace().any(|word| matches!(word, ".global" | ".const")) {
                // The last word before the size of an array, the value or the end.
                let head = line.split(['[', '=', ';']).next().unwrap_or_default();
                names.extend(head.split_whitespace().last().map(|word| (identifier(word), VARIABLE)));
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
        let wanted = [("add", KERNEL), ("limit", VARIABLE), ("nothing", KERNEL), ("table", VARIABLE)];
        assert_eq!(of_image(text.as_bytes()), Some(Names::new(wanted.map(|(name, kind)| (name.to_owned(), kind)))));
    }

    #[test]
    fn what_is_neither_text_nor_elf_does_not_tell() {
        assert_eq!(of_image(&[0x50, 0xed, 0x55, 0xba, 0xff]), None);
        assert_eq!(of_image(b"\x7fELF cut"), None);
    }
}
