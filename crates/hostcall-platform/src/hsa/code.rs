//! What an image says of itself, before the runtime is asked: its version, and which of its globals can be written.
//!
//! The runtime cannot be asked which globals can be written: ROCr answers
//! `HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST` the wrong way round.

use std::collections::HashMap;

use object::read::elf::{ElfFile64, FileHeader};
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol, SectionFlags};

/// An image, as far as its ELF file tells.
#[derive(Debug, Default)]
pub(super) struct Code {
    /// Version of the code object; `None` if it is no code of AMD's.
    pub(super) version: Option<u32>,
    /// Whether each global can be written.
    writable: HashMap<String, bool>,
}

/// `EI_ABIVERSION` of code object version 3, whose successors count on (LLVM, "AMDGPU usage", ELF header).
const VERSION_3: u8 = 1;

impl Code {
    /// Reads an image.
    ///
    /// # Errors
    /// Why it is no ELF file of 64 bits.
    pub(super) fn read(image: &[u8]) -> Result<Code, String> {
        let file = ElfFile64::<LittleEndian>::parse(image).map_err(|error| error.to_string())?;
        let header = file.elf_header();
        let amd = header.e_machine(LittleEndian) == object::elf::EM_AMDGPU;
        let version = amd.then(|| u32::from(header.e_ident().abi_version.saturating_sub(VERSION_3)) + 3);
        let globals = file.dynamic_symbols().filter(|symbol| symbol.is_definition() && symbol.kind() == object::SymbolKind::Data);
        let writable = globals.filter_map(|symbol| {
            let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
            let written = section.is_some_and(|section| {
                matches!(section.flags(), SectionFlags::Elf { sh_flags, .. } if sh_flags.contains(object::elf::SHF_WRITE))
                    && !section.name().is_ok_and(|name| name.starts_with(".data.rel.ro"))
            });
            Some((symbol.name().ok()?.to_owned(), written))
        });
        Ok(Code { version, writable: writable.collect() })
    }

    /// Whether a global can be written; those that the file does not tell of cannot.
    pub(super) fn is_writable(&self, global: &str) -> bool {
        self.writable.get(global).copied().unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_elf_file_says_why() {
        for bytes in [&b""[..], b"\x7fELF", b"not at all, but long enough to be a header of sixty-four bytes and more"] {
            assert!(!Code::read(bytes).unwrap_err().is_empty());
        }
    }

    #[test]
    fn a_code_objects_version_is_in_its_header() {
        let mut header = [0u8; 64];
        header[..8].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 64]);
        header[16] = 3;
        header[18] = 224;
        header[20] = 1;
        header[52] = 64;
        for (abi, version) in [(1, 3), (2, 4), (3, 5), (4, 6)] {
            header[8] = abi;
            assert_eq!(Code::read(&header).expect("a header is a file").version, Some(version));
        }
        header[18] = 62;
        assert_eq!(Code::read(&header).expect("a header is a file").version, None);
    }
}
