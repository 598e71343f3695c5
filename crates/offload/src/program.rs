//! Loaded programs, their kernels and their globals.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use hostcall_abi::descriptor::{KERNEL_PREFIX, KernelParams};

use crate::backend::{BackendKernel, BackendProgram, GlobalInfo, KernelInfo};
use crate::device::Device;
use crate::error::Error;

/// A program loaded on a device. Each load has its own globals. Clones are the same program.
#[derive(Clone)]
pub struct Program(Arc<Inner>);

struct Inner {
    device: Device,
    name: String,
    backend: Arc<dyn BackendProgram>,
    /// What the loaded code points at. Dropped after `backend`.
    kept: Mutex<Vec<Arc<dyn Any + Send + Sync>>>,
}

impl Program {
    /// Keeps something alive as long as the program is loaded: memory whose address was written into it.
    pub fn keep(&self, it: Arc<dyn Any + Send + Sync>) {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner).push(it);
    }

    /// A program from a plugin's own object, for example of a module that was loaded elsewhere.
    pub fn from_backend(device: Device, name: impl Into<String>, backend: Arc<dyn BackendProgram>) -> Self {
        Self(Arc::new(Inner { device, name: name.into(), backend, kept: Mutex::default() }))
    }

    /// Its name in the bundle.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Where it is loaded.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// The plugin's object.
    pub fn backend(&self) -> &Arc<dyn BackendProgram> {
        &self.0.backend
    }

    /// A kernel.
    ///
    /// # Errors
    /// [`Error::NoKernel`]; a parameter table that makes no sense is an [`Error::Load`].
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        let missing = || Error::NoKernel { program: self.name().to_owned(), kernel: name.to_owned() };
        let backend = self.0.backend.kernel(name)?.ok_or_else(missing)?;
        let params = self.kernel_params(name)?;
        Ok(Kernel(Arc::new(KernelInner { program: self.clone(), name: name.to_owned(), params, backend })))
    }

    /// A global.
    ///
    /// # Errors
    /// [`Error::NoGlobal`].
    pub fn global(&self, name: &str) -> Result<Global, Error> {
        self.find_global(name)?.ok_or_else(|| Error::NoGlobal { program: self.name().to_owned(), global: name.to_owned() })
    }

    /// A global, or `None` if the program has none of this name.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn find_global(&self, name: &str) -> Result<Option<Global>, Error> {
        let found = self.0.backend.global(name)?;
        Ok(found.map(|info| Global { program: self.clone(), name: name.to_owned(), info }))
    }

    fn kernel_params(&self, name: &str) -> Result<Option<KernelParams>, Error> {
        let symbol = format!("{KERNEL_PREFIX}{name}");
        let Some(table) = self.find_global(&symbol)? else { return Ok(None) };
        let bad = |reason: String| Error::Load { program: self.name().to_owned(), reason, log: None };
        let mut units = [0u32; size_of::<KernelParams>() / 4];
        let bytes = crate::memory::bytes_of_mut(&mut units);
        if table.size() != bytes.len() {
            let (size, expected) = (table.size(), bytes.len());
            return Err(bad(format!("`{symbol}` has {size} bytes instead of {expected}; build the program with this version of hostcall")));
        }
        table.read(bytes)?;
        let mut sizes = [0; KernelParams::MAX];
        sizes.copy_from_slice(&units[1..]);
        if units[0] as usize > KernelParams::MAX {
            return Err(bad(format!("`{symbol}` says {} parameters, the most are {}", units[0], KernelParams::MAX)));
        }
        Ok(Some(KernelParams { count: units[0], sizes }))
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("name", &self.0.name).field("device", &self.0.device.info().name).finish()
    }
}

/// A kernel of a loaded program, which it keeps loaded.
#[derive(Clone)]
pub struct Kernel(Arc<KernelInner>);

struct KernelInner {
    program: Program,
    name: String,
    params: Option<KernelParams>,
    backend: Arc<dyn BackendKernel>,
}

impl Kernel {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Its program.
    pub fn program(&self) -> &Program {
        &self.0.program
    }

    /// Sizes of its parameters, if the program says them; without them a launch takes any arguments.
    pub fn params(&self) -> Option<&[u32]> {
        self.0.params.as_ref().map(|p| &p.sizes[..p.count as usize])
    }

    /// What the device says of it.
    pub fn info(&self) -> &KernelInfo {
        self.0.backend.info()
    }

    /// The plugin's object.
    pub fn backend(&self) -> &Arc<dyn BackendKernel> {
        &self.0.backend
    }

    pub(crate) fn table(&self) -> Option<&KernelParams> {
        self.0.params.as_ref()
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("name", &self.0.name).field("params", &self.params()).finish()
    }
}

/// A global of a loaded program, which it keeps loaded.
#[derive(Clone, Debug)]
pub struct Global {
    program: Program,
    name: String,
    info: GlobalInfo,
}

impl Global {
    /// Its symbol.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the device sees it.
    pub fn address(&self) -> u64 {
        self.info.address
    }

    /// Its size in bytes.
    pub fn size(&self) -> usize {
        self.info.size
    }

    /// Reads its first `to.len()` bytes, now, without waiting for kernels.
    ///
    /// # Errors
    /// [`Error::Range`], or the device is lost.
    pub fn read(&self, to: &mut [u8]) -> Result<(), Error> {
        self.check("reading a global", to.len())?;
        // SAFETY: the range was checked against the size the plugin gave, and `self.program` keeps the global there.
        unsafe { self.program.device().backend().read(self.info.address, to) }
    }

    /// Writes its first `from.len()` bytes, now, without waiting for kernels: do it before the launch that reads them.
    ///
    /// # Errors
    /// [`Error::Range`], [`Error::ReadOnly`] (on the simulator, where constants lie in memory that cannot be written), or the device is lost.
    pub fn write(&self, from: &[u8]) -> Result<(), Error> {
        self.check("writing a global", from.len())?;
        if !self.info.writable {
            return Err(Error::ReadOnly { global: self.name.clone() });
        }
        // SAFETY: as in `read`. A kernel that reads it meanwhile was launched through `unsafe fn launch`, whose caller answers for that.
        unsafe { self.program.device().backend().write(self.info.address, from) }
    }

    fn check(&self, what: &'static str, len: usize) -> Result<(), Error> {
        let size = self.info.size;
        if len > size { Err(Error::Range { what, offset: 0, len, size }) } else { Ok(()) }
    }
}
