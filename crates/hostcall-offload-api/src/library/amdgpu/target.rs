//! What a code object says that it is for, and what is in it.
//!
//! The header of a code object names its processor, and for the settings XNACK and SRAM ECC whether they must be on,
//! off, or may be either way (LLVM, "User Guide for AMDGPU Backend", ELF Code Object, tables of `EF_AMDGPU_MACH` and of
//! the feature flags of code object version 4 and later).

use std::borrow::Cow;

use object::read::elf::{ElfFile64, FileHeader};
use object::{LittleEndian, Object, ObjectSymbol, SymbolKind, elf};
use offload::{Image, ImageKind, ProgramBundle, Sha256};

use crate::library::error::fail;
use crate::library::grid;
use crate::library::host::Contents;
use crate::library::names::Names;
use crate::runtime::Error;
use crate::sys::{ol_errc_t, ol_symbol_kind_t};

/// Numbers of processors, `EF_AMDGPU_MACH`. LLVM gave up 0x40 and 0x4b; later ones than LLVM 22's are those of LLVM's
/// `ELF.h`.
const PROCESSORS: [(u32, &str); 63] = [
    (0x20, "gfx600"),
    (0x21, "gfx601"),
    (0x22, "gfx700"),
    (0x23, "gfx701"),
    (0x24, "gfx702"),
    (0x25, "gfx703"),
    (0x26, "gfx704"),
    (0x28, "gfx801"),
    (0x29, "gfx802"),
    (0x2a, "gfx803"),
    (0x2b, "gfx810"),
    (0x2c, "gfx900"),
    (0x2d, "gfx902"),
    (0x2e, "gfx904"),
    (0x2f, "gfx906"),
    (0x30, "gfx908"),
    (0x31, "gfx909"),
    (0x32, "gfx90c"),
    (0x33, "gfx1010"),
    (0x34, "gfx1011"),
    (0x35, "gfx1012"),
    (0x36, "gfx1030"),
    (0x37, "gfx1031"),
    (0x38, "gfx1032"),
    (0x39, "gfx1033"),
    (0x3a, "gfx602"),
    (0x3b, "gfx705"),
    (0x3c, "gfx805"),
    (0x3d, "gfx1035"),
    (0x3e, "gfx1034"),
    (0x3f, "gfx90a"),
    (0x40, "gfx940"),
    (0x41, "gfx1100"),
    (0x42, "gfx1013"),
    (0x43, "gfx1150"),
    (0x44, "gfx1103"),
    (0x45, "gfx1036"),
    (0x46, "gfx1101"),
    (0x47, "gfx1102"),
    (0x48, "gfx1200"),
    (0x49, "gfx1250"),
    (0x4a, "gfx1151"),
    (0x4b, "gfx941"),
    (0x4c, "gfx942"),
    (0x4e, "gfx1201"),
    (0x4f, "gfx950"),
    (0x50, "gfx1310"),
    (0x51, "gfx9-generic"),
    (0x52, "gfx10-1-generic"),
    (0x53, "gfx10-3-generic"),
    (0x54, "gfx11-generic"),
    (0x55, "gfx1152"),
    (0x57, "gfx1154"),
    (0x58, "gfx1153"),
    (0x59, "gfx12-generic"),
    (0x5a, "gfx1251"),
    (0x5b, "gfx12-5-generic"),
    (0x5c, "gfx1172"),
    (0x5d, "gfx1170"),
    (0x5e, "gfx1171"),
    (0x5f, "gfx9-4-generic"),
    (0x62, "gfx11-7-generic"),
    (0x63, "gfx13-generic"),
];

/// `EI_ABIVERSION` of code object version 4: from there on, the flags have two bits for each setting.
const VERSION_4: u8 = 2;

/// The target id that a code object's header names.
fn target_id(abi: u8, flags: u32) -> Option<String> {
    let (_, processor) = PROCESSORS.iter().find(|(number, _)| *number == flags & 0xff)?;
    let mut id = (*processor).to_owned();
    // In the order of a target id: by name. 2 is off, 3 is on; 0 and 1 say nothing.
    let [sramecc, xnack] = if abi >= VERSION_4 {
        [flags >> 10 & 3, flags >> 8 & 3]
    } else {
        // One bit: on, or not said.
        [if flags >> 9 & 1 == 1 { 3 } else { 0 }, if flags >> 8 & 1 == 1 { 3 } else { 0 }]
    };
    for (name, setting) in [("sramecc", sramecc), ("xnack", xnack)] {
        match setting {
            2 => id += &format!(":{name}-"),
            3 => id += &format!(":{name}+"),
            _ => {}
        }
    }
    Some(id)
}

/// A bundle of the one image that a caller passed.
pub(super) fn bundle_of(bytes: &[u8]) -> Result<ProgramBundle, Error> {
    let bad = |what: String| fail(ol_errc_t::OL_ERRC_INVALID_BINARY, format!("the image is no code object for a GPU of AMD: {what}"));
    let file = match ElfFile64::<LittleEndian>::parse(bytes) {
        Ok(file) => file,
        Err(error) => return bad(error.to_string()),
    };
    let header = file.elf_header();
    if header.e_machine(LittleEndian) != elf::EM_AMDGPU {
        // A GPU that is emulated on this machine's processor runs what the simulator runs.
        return match Contents::read(bytes) {
            Ok(contents) if contents.is_simulated() => Ok(grid::bundle_of(bytes)),
            _ => bad(format!("it is for machine {}", header.e_machine(LittleEndian).0)),
        };
    }
    let inside = |offset: u64, size: u64| offset.checked_add(size).is_some_and(|end| end <= bytes.len() as u64);
    let sections = u64::from(header.e_shnum(LittleEndian)) * u64::from(header.e_shentsize(LittleEndian));
    if !inside(header.e_shoff(LittleEndian), sections) {
        return bad("it is cut off".to_owned());
    }
    let flags = header.e_flags(LittleEndian).0;
    let Some(arch) = target_id(header.e_ident().abi_version, flags) else {
        return bad(format!("its processor has the number {:#x}, which this library does not know", flags & 0xff));
    };
    let image = Image { kind: ImageKind::AmdCodeObject, arch: arch.into(), sha256: Sha256::of(bytes), bytes: Cow::Owned(bytes.to_vec()) };
    Ok(ProgramBundle::new("image", vec![image]))
}

/// The symbols of an image.
pub(super) fn names(bytes: &[u8]) -> Names {
    if let Ok(contents) = Contents::read(bytes) {
        return contents.names();
    }
    let Ok(file) = ElfFile64::<LittleEndian>::parse(bytes) else { return Names::default() };
    // A kernel `k` has the descriptor `k.kd`, which is data, and a function of its own name. Other data is variables.
    let defined = file.dynamic_symbols().filter(|symbol| symbol.is_definition() && symbol.kind() == SymbolKind::Data);
    Names::new(defined.filter_map(|symbol| {
        let name = symbol.name().ok()?;
        Some(match name.strip_suffix(".kd") {
            Some(kernel) => (kernel.to_owned(), ol_symbol_kind_t::OL_SYMBOL_KIND_KERNEL),
            None => (name.to_owned(), ol_symbol_kind_t::OL_SYMBOL_KIND_GLOBAL_VARIABLE),
        })
    }))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::process::{Command, Stdio};

    use super::*;

    /// A header without sections: of a code object of this version, with these flags.
    fn header(abi: u8, machine: u16, flags: u32) -> Vec<u8> {
        let mut header = vec![0; 64];
        header[..9].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 64, abi]);
        header[16] = 3;
        header[18..20].copy_from_slice(&machine.to_le_bytes());
        header[20] = 1;
        header[48..52].copy_from_slice(&flags.to_le_bytes());
        header[52] = 64;
        header
    }

    #[test]
    fn a_header_names_the_processor_and_its_settings() {
        assert_eq!(target_id(3, 0x541).as_deref(), Some("gfx1100"));
        assert_eq!(target_id(3, 0x64c).as_deref(), Some("gfx942:xnack-"));
        assert_eq!(target_id(3, 0xf3f).as_deref(), Some("gfx90a:sramecc+:xnack+"));
        assert_eq!(target_id(3, 0xa3f).as_deref(), Some("gfx90a:sramecc-:xnack-"));
        assert_eq!(target_id(1, 0x13f).as_deref(), Some("gfx90a:xnack+"), "version 3");
        assert_eq!(target_id(3, 0x5ff), None);
        let bundle = bundle_of(&header(3, 224, 0x64c)).unwrap();
        assert_eq!((bundle.images.len(), &*bundle.images[0].arch, bundle.images[0].kind), (1, "gfx942:xnack-", ImageKind::AmdCodeObject));
    }

    #[test]
    fn what_is_no_code_object_says_why() {
        let why = |bytes: &[u8]| {
            let error = bundle_of(bytes).unwrap_err();
            assert_eq!(error.code, ol_errc_t::OL_ERRC_INVALID_BINARY);
            error.details().into_owned()
        };
        assert!(why(b"").contains("no code object"));
        assert!(why(&header(3, 62, 0)).contains("machine 62"));
        assert!(why(&header(3, 224, 0xfe)).contains("number 0xfe"));
        let mut cut = header(3, 224, 0x4c);
        cut[40] = 200;
        cut[58] = 64;
        cut[60] = 1;
        assert!(!why(&cut).is_empty());
        for len in 0..64 {
            why(&header(3, 224, 0x4c)[..len]);
        }
    }

    #[test]
    fn no_processor_is_listed_twice() {
        assert!(PROCESSORS.is_sorted_by(|(a, _), (b, _)| a < b));
        let names: BTreeSet<_> = PROCESSORS.iter().map(|(_, name)| name).collect();
        assert_eq!(names.len(), PROCESSORS.len());
    }

    /// What LLVM's compiler says of processors: all that it knows.
    fn processors_of(llc: &str) -> Option<BTreeSet<String>> {
        let help = Command::new(llc).args(["-mtriple=amdgcn-amd-amdhsa", "-mcpu=help"]).stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&help.stderr).into_owned() + &String::from_utf8_lossy(&help.stdout);
        let (_, list) = text.split_once("Available CPUs for this target:").expect("a list of processors");
        let (list, _) = list.split_once("Available features").expect("another one of features");
        let names = list.lines().filter_map(|line| line.split_whitespace().next()).filter(|name| name.starts_with("gfx"));
        Some(names.map(str::to_owned).collect())
    }

    #[test]
    fn kernels_and_variables_of_a_code_object_are_told_from_functions() {
        let (llc, linker) = ("llc-22", "ld.lld-22");
        let there = |tool: &str| Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success());
        if !there(llc) || !there(linker) {
            eprintln!("skipped: {llc} and {linker} are not installed (Debian: llvm-22, lld-22)");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let [source, object, code] = ["k.ll", "k.o", "k.hsaco"].map(|name| folder.path().join(name));
        let text = "@table = protected addrspace(1) global [4 x i32] zeroinitializer
            @__hostcall_own = protected addrspace(1) global i32 0
            @hidden = internal addrspace(1) global i32 1
            define protected amdgpu_kernel void @add() { store volatile i32 2, ptr addrspace(1) @hidden ret void }
            define protected void @helper() { ret void }";
        std::fs::write(&source, text).unwrap();
        let run = |command: &mut Command| {
            let output = command.output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        run(Command::new(llc).args(["-mtriple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj", "-o"]).arg(&object).arg(&source));
        run(Command::new(linker).arg("-shared").arg(&object).arg("-o").arg(&code));
        let names = names(&std::fs::read(&code).unwrap());
        assert_eq!(names.of_kind(ol_symbol_kind_t::OL_SYMBOL_KIND_KERNEL), ["add"]);
        assert_eq!(names.of_kind(ol_symbol_kind_t::OL_SYMBOL_KIND_GLOBAL_VARIABLE), ["table"]);
    }

    #[test]
    fn the_numbers_are_those_that_llvm_writes() {
        let llc = "llc-22";
        let Some(known) = processors_of(llc) else {
            eprintln!("skipped: {llc} is not installed (Debian: llvm-22)");
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let (source, object) = (folder.path().join("k.ll"), folder.path().join("k.o"));
        std::fs::write(&source, "define amdgpu_kernel void @k() { ret void }\n").unwrap();
        for name in &known {
            let output = Command::new(llc)
                .args(["-mtriple=amdgcn-amd-amdhsa", "-filetype=obj", "-o"])
                .arg(&object)
                .arg(format!("-mcpu={name}"))
                .arg(&source)
                .output()
                .unwrap();
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
            let code = std::fs::read(&object).unwrap();
            let flags = u32::from_le_bytes(code[48..52].try_into().unwrap());
            let id =
                target_id(code[8], flags).unwrap_or_else(|| panic!("{name} has the number {:#x}, which the table lacks", flags & 0xff));
            assert_eq!(id, *name, "{flags:#x}");
        }
        // Those that the table has beyond it are of other versions: each number has been looked up in LLVM's header.
        let beyond: Vec<_> = PROCESSORS.iter().map(|(_, name)| *name).filter(|name| !known.contains(*name)).collect();
        assert!(known.len() > 50 && beyond.len() < 12, "{beyond:?}");
    }
}
