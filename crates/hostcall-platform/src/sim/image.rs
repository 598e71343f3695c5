//! Simulator images: shared libraries, each load a private copy with fresh statics.

use std::any::Any;
use std::ffi::CString;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::{Arc, Once};

use hostcall_abi::sim::{KERNEL_ENTRY_PREFIX, KernelEntry, OPS_SYMBOL, SIM_VERSION, SIM_VERSION_SYMBOL, SimOps};
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};

use super::call::Function;
use super::elf::{self, Contents, Declared};
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
        contents: Contents,
        /// Open as long as `library`, before which it must not be closed: the loader also knows files by their paths,
        /// and another load must not get the same descriptor number.
        copy: File,
    },
    /// Functions of this process.
    Functions(Vec<(String, KernelEntry)>),
}

/// How a kernel is called.
#[derive(Clone, Copy)]
pub(super) enum Entry {
    /// With the address of its parameters.
    LaidOut(KernelEntry),
    /// With one parameter after another.
    C(Function),
}

/// A kernel of a [`SimProgram`].
#[derive(Clone)]
pub(super) struct SimKernel {
    pub(super) name: String,
    pub(super) entry: Entry,
    info: KernelInfo,
    /// The memory of a workgroup that it declares.
    pub(super) declared: Declared,
    /// Keeps the code.
    source: Arc<Source>,
}

impl SimKernel {
    /// The function of the image that has this instruction, if it is one of the image's and that has its symbols.
    pub(super) fn function_at(&self, instruction: u64) -> Option<String> {
        let Source::Image { copy, .. } = &*self.source else { return None };
        let mut place = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
        let code = match self.entry {
            Entry::LaidOut(entry) => entry as *const libc::c_void,
            Entry::C(Function(address)) => std::ptr::with_exposed_provenance(address),
        };
        // SAFETY: an out parameter; the address is only looked up.
        if unsafe { libc::dladdr(code, place.as_mut_ptr()) } == 0 {
            return None;
        }
        // SAFETY: filled just now, or zeroed, which is a value as well.
        let start = unsafe { place.assume_init() }.dli_fbase as u64;
        let mut image = vec![0; usize::try_from(copy.metadata().ok()?.len()).ok()?];
        copy.read_exact_at(&mut image, 0).ok()?;
        elf::function_of(&image, instruction.checked_sub(start)?)
    }
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
        let contents = Contents::read(image).map_err(|why| bad(format!("the simulator image {why}")))?;
        let copy = private_copy(image).map_err(|error| bad(format!("cannot copy the simulator image: {error}")))?;
        let path = format!("/proc/self/fd/{}", copy.as_raw_fd());
        share_unwinder();
        // SAFETY: the image is a program that the caller chose to run here, and its hash was checked; what its
        // initialisers do is its own.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        let library = library.map_err(|error| {
            let reason = std::error::Error::source(&error).unwrap_or(&error);
            bad(format!("the system cannot load the simulator image: {reason}{}", without_proc(Path::new("/proc"))))
        })?;
        let word = |symbol: &str, size: usize| -> Result<*mut u8, Error> {
            let missing = || bad(format!("the simulator image has no `{symbol}` of {size} bytes; it is not built with hostcall"));
            if contents.data.get(symbol).is_none_or(|data| data.size != size) {
                return Err(missing());
            }
            // SAFETY: only the address is taken.
            let found = unsafe { library.get::<*mut u8>(symbol) }.map_err(|_| missing())?;
            Ok(found.into_raw().cast())
        };
        // SAFETY: the symbol is data of 4 bytes (`word` checked), mapped and initialised by the loader; unaligned to
        // assume nothing more.
        let version = unsafe { word(SIM_VERSION_SYMBOL, 4)?.cast::<u32>().read_unaligned() };
        if version != SIM_VERSION {
            return Err(bad(format!(
                "the image is built for version {version} of the simulator's operations, this is version {SIM_VERSION}; build it again"
            )));
        }
        let ops = word(OPS_SYMBOL, size_of::<*const SimOps>())?;
        if !contents.data[OPS_SYMBOL].writable {
            return Err(bad(format!("`{OPS_SYMBOL}` of the simulator image is a constant; it is not built with hostcall")));
        }
        // SAFETY: data of a pointer's size, writable (just checked), which no code reads before a kernel runs.
        unsafe { ops.cast::<*const SimOps>().write_unaligned(&raw const OPS) };
        Ok(Self { source: Source::Image { library, contents, copy }, max_group_size }.share())
    }

    fn share(self) -> Arc<LoadedProgram> {
        Arc::new(LoadedProgram { source: Arc::new(self.source), max_group_size: self.max_group_size })
    }
}

/// Lets images find the functions of the unwinder, which they mention and name no library for: where this code is in a
/// library that was itself opened at run time, what that is linked to is not everybody's.
fn share_unwinder() {
    static SHARED: Once = Once::new();
    SHARED.call_once(|| {
        // SAFETY: the compiler's own library, which this code is linked to: it is loaded already. Where it has another
        // name, images find it or say so.
        if let Ok(library) = unsafe { Library::open(Some("libgcc_s.so.1"), RTLD_NOW | RTLD_GLOBAL) } {
            std::mem::forget(library);
        }
    });
}

/// What to do where the loader finds no image because nothing says which files this process has open.
fn without_proc(proc: &Path) -> &'static str {
    match proc.join("self/fd").is_dir() {
        true => "",
        false => "; the image is loaded through /proc, which is not mounted here: `mount -t proc proc /proc` mounts it",
    }
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
    for at in elf::undefined_thread_locals(image) {
        file.write_all_at(&[object::elf::STB_WEAK.0 << 4 | object::elf::STT_TLS.0], at as u64)?;
    }
    Ok(file)
}

// SAFETY: globals are where their loader says that they are, for as long as this lives.
unsafe impl BackendProgram for LoadedProgram {
    fn kernel(&self, name: &str) -> Result<Option<Arc<dyn BackendKernel>>, Error> {
        let entry = match &*self.source {
            Source::Functions(list) => list.iter().find(|(n, _)| n == name).map(|(_, entry)| Entry::LaidOut(*entry)),
            Source::Image { library, contents, .. } => {
                let Ok(symbol) = CString::new(format!("{KERNEL_ENTRY_PREFIX}{name}")) else { return Ok(None) };
                // SAFETY: by contract (`hostcall_abi::sim`) a symbol with this prefix is a `KernelEntry`.
                match unsafe { library.get::<KernelEntry>(symbol.as_bytes_with_nul()) } {
                    Ok(found) => Some(Entry::LaidOut(*found)),
                    Err(_) if contents.kernels.contains(name) => {
                        // SAFETY: only the address is taken.
                        let found = unsafe { library.get::<*mut u8>(name) }.ok();
                        found.map(|found| Entry::C(Function(found.into_raw().expose_provenance())))
                    }
                    Err(_) => None,
                }
            }
        };
        let declared = match &*self.source {
            Source::Functions(_) => Declared::default(),
            Source::Image { contents, .. } => contents.declared,
        };
        Ok(entry.map(|entry| {
            let info = KernelInfo { max_group_size: self.max_group_size, shared_bytes: declared.bytes as u32, ..KernelInfo::default() };
            Arc::new(SimKernel { name: name.to_owned(), entry, info, declared, source: self.source.clone() }) as Arc<dyn BackendKernel>
        }))
    }

    fn global(&self, name: &str) -> Result<Option<GlobalInfo>, Error> {
        let Source::Image { library, contents, .. } = &*self.source else { return Ok(None) };
        let Some(&elf::Data { size, writable }) = contents.data.get(name) else { return Ok(None) };
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

#[test]
fn a_system_without_proc_is_told_to_mount_it() {
    assert!(without_proc(Path::new("/dev/null")).contains("mount -t proc proc /proc"));
    assert_eq!(without_proc(Path::new("/proc")), "");
}
