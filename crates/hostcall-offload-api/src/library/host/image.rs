//! Host images: shared libraries, each load a private copy with its own variables.
//!
//! The system's loader trusts a file that it is given, so what it would read past the file's end is looked for before.

use std::any::Any;
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::Path;
use std::sync::Arc;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SymbolKind, elf};

use super::only_one_item;
use crate::library::backend::{Global, Kernel, Program, Shape};
use crate::library::error::fail;
use crate::library::names::Names;
use crate::runtime::Error;
use crate::sys::{ol_errc_t, ol_symbol_kind_t};

/// A kernel of a host image: `args[i]` points to the value of argument `i`.
pub(in crate::library) type Entry = unsafe extern "C" fn(args: *mut *mut c_void);

/// What an image says that it has.
pub(in crate::library) struct Contents {
    /// Exported symbols: what each is, and the size.
    symbols: HashMap<String, (Symbol, usize)>,
}

/// What a symbol is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Symbol {
    Function,
    /// A kernel of the simulator in C, under its own name.
    SimulatorKernel,
    Variable,
}

/// The machine that this library runs on, as ELF files name it.
const MACHINE: elf::Machine = if cfg!(target_arch = "aarch64") { elf::EM_AARCH64 } else { elf::EM_X86_64 };

impl Contents {
    /// Reads what is in an image, and refuses what the system's loader could stumble over.
    pub(in crate::library) fn read(image: &[u8]) -> Result<Contents, Error> {
        let bad = |what: String| fail(ol_errc_t::OL_ERRC_INVALID_BINARY, format!("the image is no shared library for the host: {what}"));
        match Self::parse(image) {
            Ok(contents) => Ok(contents),
            Err(what) => bad(what),
        }
    }

    fn parse(image: &[u8]) -> Result<Contents, String> {
        if !image.starts_with(&elf::ELFMAG) {
            return Err("it is no ELF file".to_owned());
        }
        let text = |error: object::Error| error.to_string();
        let header = elf::FileHeader64::<Endianness>::parse(image).map_err(text)?;
        let endian = header.endian().map_err(text)?;
        let machine = header.e_machine(endian);
        if machine != MACHINE {
            return Err(format!("it is for machine {}, and this is machine {}", machine.0, MACHINE.0));
        }
        if header.e_type(endian) != elf::ET_DYN {
            return Err("it is an object or an executable".to_owned());
        }
        let inside = |offset: u64, size: u64| offset.checked_add(size).is_some_and(|end| end <= image.len() as u64);
        let sections = u64::from(header.e_shnum.get(endian)) * u64::from(header.e_shentsize.get(endian));
        let segments = header.program_headers(endian, image).map_err(text)?;
        let cut = segments.iter().any(|segment| !inside(segment.p_offset(endian), segment.p_filesz(endian)));
        if cut || segments.is_empty() || !inside(header.e_shoff(endian), sections) {
            return Err("it is cut off".to_owned());
        }
        let file = object::File::parse(image).map_err(text)?;
        let exported = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
        let kernels = file.section_by_name(hostcall_abi::sim::KERNEL_SECTION).map(|section| section.index());
        let symbols = exported.filter_map(|symbol| {
            let what = match symbol.kind() {
                SymbolKind::Text if kernels.is_some() && symbol.section_index() == kernels => Symbol::SimulatorKernel,
                SymbolKind::Text => Symbol::Function,
                SymbolKind::Data => Symbol::Variable,
                _ => return None,
            };
            Some((symbol.name().ok()?.to_owned(), (what, usize::try_from(symbol.size()).ok()?)))
        });
        Ok(Contents { symbols: symbols.collect() })
    }

    /// The symbols that it exports. Kernels of the simulator have a prefix there; other functions of its images are no
    /// kernels.
    pub(in crate::library) fn names(&self) -> Names {
        let is_simulated = self.is_simulated();
        Names::new(self.symbols.iter().filter_map(|(name, (what, _))| {
            let kernel = match what {
                Symbol::Variable => return Some((name.clone(), ol_symbol_kind_t::OL_SYMBOL_KIND_GLOBAL_VARIABLE)),
                Symbol::Function if is_simulated => name.strip_prefix(hostcall_abi::sim::KERNEL_ENTRY_PREFIX)?,
                Symbol::Function | Symbol::SimulatorKernel => name,
            };
            Some((kernel.to_owned(), ol_symbol_kind_t::OL_SYMBOL_KIND_KERNEL))
        }))
    }

    /// Whether the image is one for the simulator.
    pub(in crate::library) fn is_simulated(&self) -> bool {
        self.symbols.contains_key(hostcall_abi::sim::OPS_SYMBOL)
    }
}

/// A loaded host image.
pub(super) struct HostProgram(Arc<Loaded>);

struct Loaded {
    library: Library,
    contents: Contents,
    /// Open as long as `library`, before which it must not be closed: the loader also knows files by their paths, and
    /// another load must not get the same descriptor number.
    _copy: File,
}

/// A copy that the loader has never seen: it knows files by their inodes, and each memory file has its own.
fn private_copy(image: &[u8]) -> std::io::Result<File> {
    // SAFETY: the name is a C string.
    let descriptor = unsafe { libc::memfd_create(c"offload-host-image".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: a new descriptor that nobody else owns.
    let mut file = unsafe { File::from_raw_fd(descriptor) };
    file.write_all(image)?;
    Ok(file)
}

impl HostProgram {
    pub(super) fn load(image: &[u8], contents: Contents) -> Result<HostProgram, Error> {
        let copy = match private_copy(image) {
            Ok(copy) => copy,
            Err(error) => return fail(ol_errc_t::OL_ERRC_HOST_IO, format!("cannot copy the image: {error}")),
        };
        let path = format!("/proc/self/fd/{}", copy.as_raw_fd());
        // SAFETY: the image is a program that the caller chose to run here; what its initialisers do is its own.
        match unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) } {
            Ok(library) => Ok(HostProgram(Arc::new(Loaded { library, contents, _copy: copy }))),
            Err(error) => {
                let text = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
                let linked = text.contains("undefined symbol") || text.contains("cannot open shared object file");
                let code = if linked { ol_errc_t::OL_ERRC_LINK_FAILURE } else { ol_errc_t::OL_ERRC_INVALID_BINARY };
                let proc = if Path::new("/proc/self/fd").is_dir() { "" } else { "; mount /proc, through which it is loaded" };
                fail(code, format!("the system cannot load the image: {text}{proc}"))
            }
        }
    }
}

impl Loaded {
    /// The address of a symbol of a kind, and its size.
    fn find(&self, name: &str, wanted: Symbol) -> Option<(usize, usize)> {
        let &(_, size) = self.contents.symbols.get(name).filter(|(what, _)| *what == wanted)?;
        let name = CString::new(name).ok()?;
        // SAFETY: only the address is taken.
        let found = unsafe { self.library.get::<*mut c_void>(name.as_bytes_with_nul()) }.ok()?;
        Some((found.into_raw().expose_provenance(), size))
    }
}

impl Program for HostProgram {
    fn kernel(&self, name: &str) -> Result<Option<Arc<dyn Kernel>>, Error> {
        let Some((address, _)) = self.0.find(name, Symbol::Function) else { return Ok(None) };
        // SAFETY: the address of a function of the image, which is kept loaded; that it is a kernel is for whoever
        // launches it to say.
        let entry = unsafe { std::mem::transmute::<*const c_void, Entry>(std::ptr::with_exposed_provenance(address)) };
        Ok(Some(Arc::new(HostKernel { name: name.to_owned(), entry, _image: self.0.clone() })))
    }

    fn global(&self, name: &str) -> Result<Option<Global>, Error> {
        Ok(self.0.find(name, Symbol::Variable).map(|(address, size)| Global { address, size }))
    }

    fn names(&self, kind: ol_symbol_kind_t) -> Result<Vec<String>, Error> {
        Ok(self.0.contents.names().of_kind(kind))
    }
}

/// A kernel of a host image.
pub(in crate::library) struct HostKernel {
    name: String,
    pub(in crate::library) entry: Entry,
    _image: Arc<Loaded>,
}

impl HostKernel {
    /// Whether a launch is one call.
    pub(in crate::library) fn check(&self, shape: &Shape) -> Result<(), Error> {
        if shape.group_count() != 1 || shape.items() != 1 || shape.shared != 0 {
            return only_one_item(&self.name);
        }
        Ok(())
    }
}

impl Kernel for HostKernel {
    fn optimal_group_size(&self, _shared_per_item: usize) -> Result<usize, Error> {
        Ok(1)
    }

    fn max_cooperative_groups(&self, shape: &Shape) -> Result<u32, Error> {
        self.check(shape)?;
        Ok(1)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
