//! What the file of a simulator image says, before the system's loader sees it.

use std::collections::{HashMap, HashSet};

use hostcall_abi::sim::{GROUP_MEMORY_BYTES, GROUP_MEMORY_SYMBOL, KERNEL_SECTION};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, Sym};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, RelocationFlags, SectionFlags, SymbolKind, elf};

/// An exported data symbol.
#[derive(Clone, Copy)]
pub(super) struct Data {
    pub(super) size: usize,
    pub(super) writable: bool,
}

/// Memory of a workgroup that an image declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Declared {
    pub(super) bytes: usize,
    /// A power of two, or 0 where there are no bytes.
    pub(super) align: usize,
}

/// What is in an image.
pub(super) struct Contents {
    /// The exported data symbols.
    pub(super) data: HashMap<String, Data>,
    /// Functions that are kernels under their own names.
    pub(super) kernels: HashSet<String>,
    pub(super) declared: Declared,
}

/// The most that variables in group memory are aligned to: a page.
const MOST_ALIGNED: u64 = super::arena::PAGE as u64;

impl Contents {
    /// # Errors
    /// In words, for behind "the simulator image".
    pub(super) fn read(image: &[u8]) -> Result<Self, String> {
        let unreadable = |error: object::Error| format!("is no shared library of this machine: {error}");
        let file = object::File::parse(image).map_err(unreadable)?;
        let data = exported(&file);
        let in_section = file.section_by_name(KERNEL_SECTION).map(|section| section.index());
        let kernels: HashSet<String> = (file.dynamic_symbols())
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.section_index().is_some_and(|index| Some(index) == in_section))
            .filter_map(|symbol| Some(symbol.name().ok()?.to_owned()))
            .collect();
        if !kernels.is_empty() && !cfg!(target_arch = "x86_64") {
            return Err("has kernels that take their parameters as on x86-64: build them with OffloadKernel.h".to_owned());
        }
        let declared = if data.contains_key(GROUP_MEMORY_SYMBOL) { declared(image, &file)? } else { Declared::default() };
        Ok(Self { data, kernels, declared })
    }
}

/// Exported data, by name.
fn exported(file: &object::File<'_>) -> HashMap<String, Data> {
    let symbols = file.dynamic_symbols().filter(|symbol| symbol.is_definition() && symbol.kind() == SymbolKind::Data);
    let data = symbols.filter_map(|symbol| {
        let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
        let data = Data { size: usize::try_from(symbol.size()).ok()?, writable: section.is_some_and(|section| is_writable(&section)) };
        Some((symbol.name().ok()?.to_owned(), data))
    });
    data.collect()
}

/// Whether a section can still be written when its library is loaded.
fn is_writable<'a>(section: &impl ObjectSection<'a>) -> bool {
    // The loader makes `.data.rel.ro` read-only once it has relocated it.
    let written = matches!(section.flags(), SectionFlags::Elf { sh_flags, .. } if sh_flags.contains(elf::SHF_WRITE));
    written && !section.name().is_ok_and(|name| name.starts_with(".data.rel.ro"))
}

/// The group memory of an image whose thread-local variables are that.
fn declared(image: &[u8], file: &object::File<'_>) -> Result<Declared, String> {
    // Other ways to reach such a variable than by the function that the image has for it.
    let direct = [elf::R_X86_64_TPOFF64, elf::R_X86_64_TPOFF32, elf::R_X86_64_TLSDESC];
    let mut relocations = file.dynamic_relocations().into_iter().flatten();
    if relocations.any(|(_, relocation)| matches!(relocation.flags(), RelocationFlags::Elf { r_type } if direct.contains(&r_type))) {
        return Err(
            "reaches its group memory as memory of a thread: compile it with -fPIC, and without -ftls-model and -mtls-dialect".to_owned()
        );
    }
    let unreadable = |error: object::Error| format!("is no shared library of this machine: {error}");
    let header = elf::FileHeader64::<Endianness>::parse(image).map_err(unreadable)?;
    let endian = header.endian().map_err(unreadable)?;
    let segments = header.program_headers(endian, image).map_err(unreadable)?;
    let Some(segment) = segments.iter().find(|segment| segment.p_type(endian) == elf::PT_TLS) else { return Ok(Declared::default()) };
    let (bytes, align) = (segment.p_memsz(endian), segment.p_align(endian).max(1));
    if segment.p_filesz(endian) != 0 {
        return Err("gives initial values to group memory, which no GPU has: write them in the kernel".to_owned());
    }
    if bytes > GROUP_MEMORY_BYTES as u64 {
        return Err(format!("declares {bytes} bytes of group memory: a workgroup has at most {GROUP_MEMORY_BYTES}"));
    }
    if align > MOST_ALIGNED || !align.is_power_of_two() {
        return Err(format!("aligns group memory to {align} bytes: the most is {MOST_ALIGNED}"));
    }
    Ok(Declared { bytes: bytes as usize, align: align as usize })
}

/// Where the file has the byte of each thread-local variable that it mentions and does not have, in which its binding
/// is. The system's loader refuses the file for them unless they are weak: of those it then says that they are in no
/// module.
pub(super) fn undefined_thread_locals(image: &[u8]) -> Vec<usize> {
    let find = || -> Result<Vec<usize>, object::Error> {
        let header = elf::FileHeader64::<Endianness>::parse(image)?;
        let endian = header.endian()?;
        let mut found = Vec::new();
        for section in header.sections(endian, image)?.iter().filter(|section| section.sh_type(endian) == elf::SHT_DYNSYM) {
            let (symbols, start) = (section.data_as_array::<elf::Sym64<Endianness>, _>(endian, image)?, section.sh_offset(endian) as usize);
            let at = |index| start + index * size_of::<elf::Sym64<Endianness>>() + std::mem::offset_of!(elf::Sym64<Endianness>, st_info);
            let missing = |symbol: &elf::Sym64<Endianness>| symbol.st_type() == elf::STT_TLS && symbol.is_undefined(endian);
            found.extend(symbols.iter().enumerate().filter(|(_, symbol)| missing(symbol)).map(|(index, _)| at(index)));
        }
        Ok(found)
    };
    find().unwrap_or_default()
}

/// The function of a shared library that begins last before an offset, and has not ended there.
pub(super) fn function_of(image: &[u8], offset: u64) -> Option<String> {
    let file = object::File::parse(image).ok()?;
    let has = |symbol: &object::Symbol<'_, '_>| {
        symbol.kind() == SymbolKind::Text && (symbol.address()..symbol.address() + symbol.size()).contains(&offset)
    };
    let symbol = file.symbols().chain(file.dynamic_symbols()).find(has)?;
    Some(format!("{:#}", rustc_demangle::demangle(symbol.name().ok()?)))
}
