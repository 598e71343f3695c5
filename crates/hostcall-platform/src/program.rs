//! Loaded programs, their kernels and their globals.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use hostcall_abi::descriptor::{ABI_SYMBOL, Element, KERNEL_PREFIX, KernelParams, SERVICE_PREFIX};
use hostcall_abi::llvm_rpc::CLIENT_SYMBOL;
use hostcall_abi::stream::message::STREAM_PREFIX;
use hostcall_abi::stream::site::SITE_PREFIX;
use hostcall_error::Local;

use crate::backend::{BackendKernel, BackendProgram, GlobalInfo, KernelInfo};
use crate::device::Device;
use crate::error::Error;

/// A program loaded on a device. Each load has its own globals. Clones are the same program.
#[derive(Clone)]
pub struct Program(Arc<Inner>);

struct Inner {
    device: Device,
    name: String,
    backend: Local<Arc<dyn BackendProgram>>,
    /// What the loaded code points at. Dropped after `backend`.
    kept: Mutex<Vec<Arc<dyn Any + Send + Sync>>>,
    mentions: Mentions,
    /// Whether it links hostcall, or LLVM's client, and nobody has said yet that its calls are answered or need no
    /// answer.
    unanswered: AtomicBool,
    elsewhere: Mutex<Elsewhere>,
}

/// Something that is to know when a program's kernels may be launched by other means than [`crate::Queue`]s, which
/// count their launches: whoever answers such a kernel cannot know when it runs. See
/// [`Program::tell_if_launched_elsewhere`].
pub trait LaunchedElsewhere: Send + Sync {
    /// From now on the program's kernels may run although no launch was counted. Called once or more, on the thread
    /// that made it so.
    fn launched_elsewhere(&self);
}

/// Whether a program may be launched by other means, and who is to know of it.
#[derive(Default)]
struct Elsewhere {
    is_so: bool,
    told: Vec<Weak<dyn LaunchedElsewhere>>,
}

/// Names that a program's image mentions.
#[derive(Default)]
struct Mentions {
    services: Vec<String>,
    streams: Vec<String>,
    sites: Vec<String>,
}

impl Program {
    /// Keeps something alive as long as the program is loaded, or until something else of its type is to be kept:
    /// memory whose address was written into it, over that of another one.
    pub fn keep<T: Any + Send + Sync>(&self, it: Arc<T>) {
        let mut kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let before = kept.iter().position(|other| (**other).is::<T>()).map(|place| kept.swap_remove(place));
        kept.push(it);
        // What it owns may take its time, and it may ask what is kept.
        drop(kept);
        drop(before);
    }

    /// What is [kept](Program::keep) of this type.
    pub fn kept<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find_map(|it| it.clone().downcast().ok())
    }

    /// A program from a plugin's own object, for example of a module that was loaded elsewhere.
    pub(crate) fn from_backend(device: Device, name: impl Into<String>, backend: Arc<dyn BackendProgram>) -> Self {
        Self::with_mentions(device, name.into(), backend, Mentions::default())
    }

    /// The program of an image.
    pub(crate) fn of_image(device: Device, name: String, backend: Arc<dyn BackendProgram>, image: &[u8]) -> Self {
        let [services, streams, sites] = [SERVICE_PREFIX, STREAM_PREFIX, SITE_PREFIX].map(|prefix| mentioned(image, prefix));
        Self::with_mentions(device, name, backend, Mentions { services, streams, sites })
    }

    /// The same program, with what its image says: of a module that was loaded elsewhere, for whoever knows the image.
    /// Call it before the program is attached to anything.
    #[must_use]
    pub fn with_image(self, image: &[u8]) -> Self {
        let is_elsewhere = self.0.elsewhere.lock().unwrap_or_else(PoisonError::into_inner).is_so;
        let program = Self::of_image(self.device().clone(), self.name().to_owned(), self.backend().clone(), image);
        if is_elsewhere { program.of_others() } else { program }
    }

    fn with_mentions(device: Device, name: String, backend: Arc<dyn BackendProgram>, mentions: Mentions) -> Self {
        // A driver that fails here fails again, and says so, when the program is attached or launched.
        let has = |symbol| matches!(backend.global(symbol), Ok(Some(_)));
        let unanswered = AtomicBool::new(has(ABI_SYMBOL) || has(CLIENT_SYMBOL));
        let (kept, elsewhere) = (Mutex::default(), Mutex::default());
        Self(Arc::new(Inner { device, name, backend: Local::new(backend), kept, mentions, unanswered, elsewhere }))
    }

    /// Names of the hostcall services that the program's image mentions: those that its kernels may call. Of a module
    /// that was loaded elsewhere nothing is known.
    pub fn services(&self) -> &[String] {
        &self.0.mentions.services
    }

    /// Names of the message streams that the program's image mentions: those that its kernels may send to. Of a module
    /// that was loaded elsewhere nothing is known.
    pub fn streams(&self) -> &[String] {
        &self.0.mentions.streams
    }

    /// What the words of places in the source are called that the program's image mentions, behind [`SITE_PREFIX`]. Of
    /// a module that was loaded elsewhere nothing is known.
    pub fn sites(&self) -> &[String] {
        &self.0.mentions.sites
    }

    /// Says that the program is to be launched without a server. A program that links hostcall is otherwise refused
    /// with [`Error::NoServer`] until it is attached: what its kernels call fails, and what they print and panic with
    /// is lost.
    pub fn without_server(&self) {
        self.answered();
    }

    /// Says that somebody answers the program's calls. `hostcall::Server::attach` does so.
    pub fn answered(&self) {
        // Pairs with the load in `check_answered`. Relaxed: it orders nothing, launches are ordered by whoever attaches
        // before he launches.
        self.0.unanswered.store(false, Ordering::Relaxed);
    }

    /// # Errors
    /// [`Error::NoServer`].
    pub(crate) fn check_answered(&self, kernel: &str) -> Result<(), Error> {
        // Pairs with the store in `answered`.
        if self.0.unanswered.load(Ordering::Relaxed) {
            return Err(Error::NoServer { program: self.name().to_owned(), kernel: kernel.to_owned() });
        }
        Ok(())
    }

    /// Says that kernels of this program may be launched by other means than [`crate::Queue`]s. It is so of every
    /// program that was loaded elsewhere, and of one whose raw handle was given out.
    pub fn launched_elsewhere(&self) {
        let told = {
            let mut elsewhere = self.0.elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
            elsewhere.is_so = true;
            std::mem::take(&mut elsewhere.told)
        };
        // Without the lock: whoever is told may ask this program something.
        told.iter().filter_map(Weak::upgrade).for_each(|whom| whom.launched_elsewhere());
    }

    /// Tells `whom` when kernels of this program may be launched by other means than [`crate::Queue`]s: now, if it is
    /// so already.
    pub fn tell_if_launched_elsewhere<T: LaunchedElsewhere + 'static>(&self, whom: &Arc<T>) {
        let is_so = {
            let mut elsewhere = self.0.elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
            if !elsewhere.is_so {
                let weak: Weak<T> = Arc::downgrade(whom);
                elsewhere.told.retain(|told| told.strong_count() > 0);
                elsewhere.told.push(weak);
            }
            elsewhere.is_so
        };
        if is_so {
            whom.launched_elsewhere();
        }
    }

    /// The same program, loaded by somebody else, who launches it.
    pub(crate) fn of_others(self) -> Self {
        self.launched_elsewhere();
        self
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
        let entries = params.iter().flat_map(|table| &table.sizes[..table.count as usize]);
        let sizes = entries.map(|&entry| KernelParams::entry(entry).0).collect();
        Ok(Kernel(Arc::new(KernelInner { program: self.clone(), name: name.into(), params, sizes, backend })))
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
        self.0.device.check_origin()?;
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
    name: Arc<str>,
    params: Option<KernelParams>,
    /// Of the parameters.
    sizes: Vec<u32>,
    backend: Arc<dyn BackendKernel>,
}

impl Kernel {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    pub(crate) fn shared_name(&self) -> &Arc<str> {
        &self.0.name
    }

    /// Its program.
    pub fn program(&self) -> &Program {
        &self.0.program
    }

    /// Sizes of its parameters, if the program says them; without them a launch takes any arguments.
    pub fn params(&self) -> Option<&[u32]> {
        self.0.params.as_ref().map(|_| &*self.0.sizes)
    }

    /// What the program's table says of each parameter's type beside its size: what it points at, or what number it is.
    /// `None` without a table.
    pub fn types(&self) -> Option<Vec<Element>> {
        let table = self.0.params.as_ref()?;
        Some(table.sizes[..table.count as usize].iter().map(|&entry| KernelParams::entry(entry).1).collect())
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
    /// [`Error::Range`], [`Error::ReadOnly`] (on the simulator, where constants lie in memory that cannot be written),
    /// or the device is lost.
    pub fn write(&self, from: &[u8]) -> Result<(), Error> {
        self.check("writing a global", from.len())?;
        if !self.info.writable {
            return Err(Error::ReadOnly { global: self.name.clone() });
        }
        // SAFETY: as in `read`. A kernel that reads it meanwhile was launched through `unsafe fn launch`, whose caller
        // answers for that.
        unsafe { self.program.device().backend().write(self.info.address, from) }
    }

    fn check(&self, what: &'static str, len: usize) -> Result<(), Error> {
        let size = self.info.size;
        if len > size { Err(Error::Range { what, offset: 0, len, size }) } else { Ok(()) }
    }
}

/// What follows `prefix` in symbols that an image mentions: images of all kinds, PTX and ELF, have their symbols' names
/// as they are. Sorted.
fn mentioned(image: &[u8], prefix: &str) -> Vec<String> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let rests = memchr::memmem::find_iter(image, prefix).map(|at| &image[at + prefix.len()..]);
    let names = rests.map(|rest| &rest[..rest.iter().take_while(|byte| is_name(byte)).count()]);
    let mut names: Vec<String> = names.filter(|name| !name.is_empty()).map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_found_in_text_and_in_tables_of_names() {
        let image = b".global .b32 __HOSTCALL__Host__b;\n\0__HOSTCALL__Host__a\0__HOSTCALL_SIGNATURE__Host__a\0mov %r1, __HOSTCALL__Host__b;__HOSTCALL__";
        assert_eq!(mentioned(image, SERVICE_PREFIX), ["Host__a", "Host__b"]);
    }

    #[test]
    fn streams_are_found_by_their_number_words_and_not_by_their_schemas() {
        let image = b"\0__HOSTCALL_STREAM__Loss\0__HOSTCALL_SCHEMA__Other\0.b32 __HOSTCALL_STREAM__Access;";
        assert_eq!(mentioned(image, STREAM_PREFIX), ["Access", "Loss"]);
        assert_eq!(mentioned(image, SERVICE_PREFIX), [""; 0]);
    }
}
