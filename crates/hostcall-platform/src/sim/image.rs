//! Simulator images: shared libraries, each load a private copy with fresh statics.

use std::any::Any;
use std::collections::HashMap;
use std::ffi::CString;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, Once};

use hostcall_abi::sim::{KERNEL_ENTRY_PREFIX, KernelEntry, OPS_SYMBOL, SIM_VERSION, SIM_VERSION_SYMBOL, SimOps};
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags};

use super::ops::OPS;
use crate::backend::{BackendKernel, BackendProgram, GlobalInfo, KernelInfo};
use crate::error::Error;

/// A loaded program.
pub(super) struct SimProgram {
    source: Source,
    max_group_size: u32,
}

enum Source {
    Image {
        library: Library,
        /// The exported data symbols.
        data: HashMap<String, Data>,
        /// Open as long as `library`, before which it must not be closed: the loader also knows files by their paths, and another load
        /// must not get the same descriptor number.
        copy: File,
    },
    /// Functions of this process.
    Functions(Vec<(String, KernelEntry)>),
}

/// An exported data symbol.
#[derive(Clone, Copy)]
struct Data {
    size: usize,
    writable: bool,
}

/// A kernel of a [`SimProgram`].
#[derive(Clone)]
pub(super) struct SimKernel {
    pub(super) name: String,
    pub(super) entry: KernelEntry,
    info: KernelInfo,
    /// Keeps the code.
    source: Arc<Source>,
}

impl SimKernel {
    /// The function of the image that has this instruction, if it is one of the image's and that has its symbols.
    pub(super) fn function_at(&self, instruction: u64) -> Option<String> {
        let Source::Image { copy, .. } = &*self.source else { return None };
        let mut place = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: an out parameter; the address is only looked up.
        if unsafe { libc::dladdr(self.entry as *const libc::c_void, place.as_mut_ptr()) } == 0 {
            return None;
        }
        // SAFETY: filled just now, or zeroed, which is a value as well.
        let start = unsafe { place.assume_init() }.dli_fbase as u64;
        let mut image = vec![0; usize::try_from(copy.metadata().ok()?.len()).ok()?];
        copy.read_exact_at(&mut image, 0).ok()?;
        function_of(&image, instruction.checked_sub(start)?)
    }
}

/// The function of a shared library that begins last before an offset, and has not ended there.
fn function_of(image: &[u8], offset: u64) -> Option<String> {
    let file = object::File::parse(image).ok()?;
    let has = |symbol: &object::Symbol<'_, '_>| {
        symbol.kind() == object::SymbolKind::Text && (symbol.address()..symbol.address() + symbol.size()).contains(&offset)
    };
    let symbol = file.symbols().chain(file.dynamic_symbols()).find(has)?;
    Some(format!("{:#}", rustc_demangle::demangle(symbol.name().ok()?)))
}

/// The object and its parts share the source, so that a kernel keeps its code.
pub(super) struct LoadedProgram {
    source: Arc<Source>,
    max_group_size: u32,
}

impl SimProgram {
    /// A program of functions of this process.
    pub(super) fn from_functions(functions: &[(&str, KernelEntry)], max_group_size: u32) -> Arc<LoadedProgram> {
        let functions = functions.iter().map(|&(name, entry)| (name.to_owned(), entry)).collect();
        Self { source: Source::Functions(functions), max_group_size }.share()
    }

    /// Loads an image.
    pub(super) fn load(program: &str, image: &[u8], max_group_size: u32) -> Result<Arc<LoadedProgram>, Error> {
        let bad = |reason: String| Error::Load { program: program.to_owned(), reason, log: None };
        let data = exported(image).map_err(|error| bad(format!("the simulator image is no shared library of this machine: {error}")))?;
        let copy = private_copy(image).map_err(|error| bad(format!("cannot copy the simulator image: {error}")))?;
        let path = format!("/proc/self/fd/{}", copy.as_raw_fd());
        share_unwinder();
        // SAFETY: the image is a program that the caller chose to run here, and its hash was checked; what its initialisers do is its own.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        let library = library.map_err(|error| {
            let reason = std::error::Error::source(&error).unwrap_or(&error);
            bad(format!("the system cannot load the simulator image: {reason}"))
        })?;
        let word = |symbol: &str, size: usize| -> Result<*mut u8, Error> {
            let missing = || bad(format!("the simulator image has no `{symbol}` of {size} bytes; it is not built with hostcall"));
            if data.get(symbol).is_none_or(|data| data.size != size) {
                return Err(missing());
            }
            // SAFETY: only the address is taken.
            let found = unsafe { library.get::<*mut u8>(symbol) }.map_err(|_| missing())?;
            Ok(found.into_raw().cast())
        };
        // SAFETY: the symbol is data of 4 bytes (`word` checked), mapped and initialised by the loader; unaligned to assume nothing more.
        let version = unsafe { word(SIM_VERSION_SYMBOL, 4)?.cast::<u32>().read_unaligned() };
        if version != SIM_VERSION {
            return Err(bad(format!(
                "the image is built for version {version} of the simulator's operations, this is version {SIM_VERSION}; build it again"
            )));
        }
        let ops = word(OPS_SYMBOL, size_of::<*const SimOps>())?;
        if !data[OPS_SYMBOL].writable {
            return Err(bad(format!("`{OPS_SYMBOL}` of the simulator image is a constant; it is not built with hostcall")));
        }
        // SAFETY: data of a pointer's size, writable (just checked), which no code reads before a kernel runs.
        unsafe { ops.cast::<*const SimOps>().write_unaligned(&raw const OPS) };
        Ok(Self { source: Source::Image { library, data, copy }, max_group_size }.share())
    }

    fn share(self) -> Arc<LoadedProgram> {
        Arc::new(LoadedProgram { source: Arc::new(self.source), max_group_size: self.max_group_size })
    }
}

/// Lets images find the functions of the unwinder, which they mention and name no library for: where this code is in a library that was itself opened
/// at run time, what that is linked to is not everybody's.
fn share_unwinder() {
    static SHARED: Once = Once::new();
    SHARED.call_once(|| {
        // SAFETY: the compiler's own library, which this code is linked to: it is loaded already. Where it has another name, images find it or say so.
        if let Ok(library) = unsafe { Library::open(Some("libgcc_s.so.1"), RTLD_NOW | RTLD_GLOBAL) } {
            std::mem::forget(library);
        }
    });
}

/// Exported data, by name.
fn exported(image: &[u8]) -> Result<HashMap<String, Data>, object::Error> {
    let file = object::File::parse(image)?;
    let symbols = file.dynamic_symbols().filter(|symbol| symbol.is_definition() && symbol.kind() == object::SymbolKind::Data);
    let data = symbols.filter_map(|symbol| {
        let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
        let data = Data { size: usize::try_from(symbol.size()).ok()?, writable: section.is_some_and(|section| is_writable(&section)) };
        Some((symbol.name().ok()?.to_owned(), data))
    });
    Ok(data.collect())
}

/// Whether a section can still be written when its library is loaded.
fn is_writable<'a>(section: &impl ObjectSection<'a>) -> bool {
    // The loader makes `.data.rel.ro` read-only once it has relocated it.
    let written = matches!(section.flags(), SectionFlags::Elf { sh_flags, .. } if sh_flags.contains(object::elf::SHF_WRITE));
    written && !section.name().is_ok_and(|name| name.starts_with(".data.rel.ro"))
}

/// A copy that the loader has never seen: it knows files by their inodes, and each memory file has its own.
fn private_copy(image: &[u8]) -> std::io::Result<File> {
    // SAFETY: the name is a C string.
    let fd = unsafe { libc::memfd_create(c"hostcall-sim-image".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: a new descriptor that nobody else owns.
    let mut file = unsafe { File::from_raw_fd(fd) };
    file.write_all(image)?;
    Ok(file)
}

// SAFETY: globals are where their loader says that they are, for as long as this lives.
unsafe impl BackendProgram for LoadedProgram {
    fn kernel(&self, name: &str) -> Result<Option<Arc<dyn BackendKernel>>, Error> {
        let entry = match &*self.source {
            Source::Functions(list) => list.iter().find(|(n, _)| n == name).map(|(_, entry)| *entry),
            Source::Image { library, .. } => {
                let Ok(symbol) = CString::new(format!("{KERNEL_ENTRY_PREFIX}{name}")) else { return Ok(None) };
                // SAFETY: by contract (`hostcall_abi::sim`) a symbol with this prefix is a `KernelEntry`.
                unsafe { library.get::<KernelEntry>(symbol.as_bytes_with_nul()) }.ok().map(|found| *found)
            }
        };
        Ok(entry.map(|entry| {
            let info = KernelInfo { max_group_size: self.max_group_size, ..KernelInfo::default() };
            Arc::new(SimKernel { name: name.to_owned(), entry, info, source: self.source.clone() }) as Arc<dyn BackendKernel>
        }))
    }

    fn global(&self, name: &str) -> Result<Option<GlobalInfo>, Error> {
        let Source::Image { library, data, .. } = &*self.source else { return Ok(None) };
        let Some(&Data { size, writable }) = data.get(name) else { return Ok(None) };
        // SAFETY: only the address is taken.
        let found = unsafe { library.get::<*mut u8>(name) }.ok();
        Ok(found.map(|symbol| GlobalInfo { address: symbol.into_raw() as u64, size, writable }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl BackendKernel for SimKernel {
    fn info(&self) -> &KernelInfo {
        &self.info
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
