//! Simulator images: shared libraries, each load a private copy with fresh statics.

use std::any::Any;
use std::collections::HashMap;
use std::ffi::CString;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};
use std::sync::Arc;

use hostcall_abi::sim::{KERNEL_ENTRY_PREFIX, KernelEntry, OPS_SYMBOL, SIM_VERSION, SIM_VERSION_SYMBOL, SimOps};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use object::{Object, ObjectSymbol};

use super::ops::OPS;
use crate::backend::{BackendKernel, BackendProgram, KernelInfo};
use crate::error::Error;

/// A loaded program.
pub(super) struct SimProgram {
    source: Source,
    max_group_size: u32,
}

enum Source {
    Image {
        library: Library,
        /// Sizes of the exported data symbols.
        sizes: HashMap<String, usize>,
        /// Open as long as `library`, before which it must not be closed: the loader also knows files by their paths, and another load
        /// must not get the same descriptor number.
        _copy: File,
    },
    /// Functions of this process.
    Functions(Vec<(String, KernelEntry)>),
}

/// A kernel of a [`SimProgram`].
#[derive(Clone)]
pub(super) struct SimKernel {
    pub(super) name: String,
    pub(super) entry: KernelEntry,
    info: KernelInfo,
    /// Keeps the code.
    _source: Arc<Source>,
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
        let sizes = exported(image).map_err(|error| bad(format!("the simulator image is no shared library of this machine: {error}")))?;
        let copy = private_copy(image).map_err(|error| bad(format!("cannot copy the simulator image: {error}")))?;
        let path = format!("/proc/self/fd/{}", copy.as_raw_fd());
        // SAFETY: the image is a program that the caller chose to run here, and its hash was checked; what its initialisers do is its own.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        let library = library.map_err(|error| bad(format!("the system cannot load the simulator image: {error}")))?;
        let word = |symbol: &str, size: usize| -> Result<*mut u8, Error> {
            let missing = || bad(format!("the simulator image has no `{symbol}` of {size} bytes; it is not built with hostcall"));
            if sizes.get(symbol) != Some(&size) {
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
        // SAFETY: data of a pointer's size, writable by contract (`hostcall_abi::sim`), which no code reads before a kernel runs.
        unsafe { ops.cast::<*const SimOps>().write_unaligned(&raw const OPS) };
        Ok(Self { source: Source::Image { library, sizes, _copy: copy }, max_group_size }.share())
    }

    fn share(self) -> Arc<LoadedProgram> {
        Arc::new(LoadedProgram { source: Arc::new(self.source), max_group_size: self.max_group_size })
    }
}

/// Names and sizes of exported data.
fn exported(image: &[u8]) -> Result<HashMap<String, usize>, object::Error> {
    let file = object::File::parse(image)?;
    let data = file.dynamic_symbols().filter(|symbol| symbol.is_definition() && symbol.kind() == object::SymbolKind::Data);
    Ok(data.filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), usize::try_from(symbol.size()).ok()?))).collect())
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

impl BackendProgram for LoadedProgram {
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
            Arc::new(SimKernel { name: name.to_owned(), entry, info, _source: self.source.clone() }) as Arc<dyn BackendKernel>
        }))
    }

    fn global(&self, name: &str) -> Result<Option<(u64, usize)>, Error> {
        let Source::Image { library, sizes, .. } = &*self.source else { return Ok(None) };
        let Some(&size) = sizes.get(name) else { return Ok(None) };
        // SAFETY: only the address is taken.
        let found = unsafe { library.get::<*mut u8>(name) }.ok();
        Ok(found.map(|symbol| (symbol.into_raw() as u64, size)))
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
