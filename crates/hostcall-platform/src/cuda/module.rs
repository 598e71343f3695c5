//! Programs: modules with every kernel loaded up front, their kernels and globals.

use std::any::Any;
use std::ffi::{CStr, CString, c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::sys;

use super::context::{Context, Entered};
use super::driver::Status;
use super::fault;
use super::image::{self, Form};
use super::release::Resource;
use crate::backend::{BackendKernel, BackendProgram, GlobalInfo, KernelInfo};
use crate::error::Error;
use hostcall_abi::descriptor::STACK_PREFIX;
use hostcall_abi::stacks::STACKS_SYMBOL;
use offload_image::{Image, ImageKind};

/// Bytes kept of each log of the driver's compiler.
const LOG_BYTES: usize = 16 << 10;

/// A loaded module, unloaded when dropped (once no kernel is in flight: see [`Context::release`]).
pub(super) struct Module {
    pub(super) context: Arc<Context>,
    raw: sys::CUmodule,
    owned: bool,
    #[expect(dead_code, reason = "held for its drop")]
    keep: Option<Box<dyn Any + Send + Sync>>,
}

// SAFETY: a handle, valid on every thread; the driver serialises its use.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Module {
    /// Loads an image, compiling it if it is PTX, and all its kernels.
    pub(super) fn load(context: &Arc<Context>, program: &str, image: &Image) -> Result<Module, Error> {
        // PTX is text, which ends with a NUL; the parser reads no further than it. Binaries are copied into aligned
        // words, as the tools that embed them do: the driver reads the ELF in place.
        let is_ptx = image.kind == ImageKind::Ptx;
        image::check(if is_ptx { Form::Ptx } else { Form::Cubin }, &image.bytes).map_err(|what| Error::Load {
            program: program.to_owned(),
            reason: format!("the {} image is damaged: {what}; build it again", image.arch),
            log: None,
        })?;
        Module::load_bytes(context, program, &image.arch, &image.bytes, is_ptx)
    }

    /// Loads an image that was found whole.
    pub(super) fn load_bytes(context: &Arc<Context>, program: &str, arch: &str, bytes: &[u8], is_ptx: bool) -> Result<Module, Error> {
        let mut words = vec![0u64; (bytes.len() + usize::from(is_ptx)).div_ceil(8)];
        // SAFETY: `words` has room for these bytes, and (being zeroed, and with one byte more for PTX) for the NUL
        // after them.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), words.as_mut_ptr().cast::<u8>(), bytes.len()) };

        let (mut info_log, mut error_log) = (vec![0u8; LOG_BYTES], vec![0u8; LOG_BYTES]);
        let mut keys = [
            sys::CU_JIT_INFO_LOG_BUFFER,
            sys::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
            sys::CU_JIT_ERROR_LOG_BUFFER,
            sys::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            sys::CU_JIT_LOG_VERBOSE,
        ];
        // Numbers travel as pointers (cuda.h).
        let number = |n: usize| std::ptr::without_provenance_mut::<c_void>(n);
        let mut values = [info_log.as_mut_ptr().cast(), number(LOG_BYTES), error_log.as_mut_ptr().cast(), number(LOG_BYTES), number(1)];

        let may = context.may_wait("loading a program")?;
        context.free_if_quiet();
        let entered = context.enter()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the image is a NUL-terminated text or a binary, valid for the call; the logs are as long as their
        // sizes say and outlive it.
        let loaded = unsafe {
            entered.driver.module_load(may, &mut raw, words.as_ptr().cast(), keys.len() as u32, keys.as_mut_ptr(), values.as_mut_ptr())
        };
        let log = log_text(&error_log, &info_log);
        if let Err(failed) = loaded {
            if failed.status.is_sticky() {
                return Err(entered.error(&failed));
            }
            return Err(fault::load(program, arch, &context.name, entered.driver, &failed, log));
        }
        if let Some(log) = log {
            tracing::debug!(program, arch, log, "loaded");
        }
        let module = Module { context: context.clone(), raw, owned: true, keep: None };
        let functions = module.load_functions(&entered);
        drop(entered);
        functions.map(|()| module)
    }

    /// Has every kernel on the device now: under lazy loading the first launch would wait for the context to fall idle.
    fn load_functions(&self, entered: &Entered<'_>) -> Result<(), Error> {
        let may = self.context.may_wait("loading kernels")?;
        for function in self.functions(entered)? {
            // SAFETY: a function of this module.
            entered.check(unsafe { entered.driver.function_load(may, function) })?;
        }
        Ok(())
    }

    /// The kernels.
    fn functions(&self, entered: &Entered<'_>) -> Result<Vec<sys::CUfunction>, Error> {
        let mut count = 0;
        // SAFETY: an out parameter, a live module.
        entered.check(unsafe { entered.driver.module_function_count(&mut count, self.raw) })?;
        let mut functions = vec![std::ptr::null_mut(); count as usize];
        // SAFETY: room for `count` handles, a live module.
        entered.check(unsafe { entered.driver.module_functions(functions.as_mut_ptr(), count, self.raw) })?;
        Ok(functions)
    }

    /// The names of the kernels, as the driver has them.
    pub(super) fn function_names(&self) -> Result<Vec<String>, Error> {
        let entered = self.context.enter()?;
        let name = |function| {
            let mut text = std::ptr::null();
            // SAFETY: an out parameter, a function of this module.
            entered.check(unsafe { entered.driver.function_name(&mut text, function) })?;
            // SAFETY: the driver's text, which ends in a zero and stays as long as the module is loaded.
            Ok(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
        };
        self.functions(&entered)?.into_iter().map(name).collect()
    }

    /// The global of a name, if there is one.
    fn global(&self, name: &str) -> Result<Option<GlobalInfo>, Error> {
        let Ok(symbol) = CString::new(name) else { return Ok(None) };
        let entered = self.context.enter()?;
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: out parameters, a live module, a C string.
        match unsafe { entered.driver.module_global(&mut address, &mut bytes, self.raw, symbol.as_ptr()) } {
            // Constants lie in memory that copies can write, too.
            Ok(()) => Ok(Some(GlobalInfo { address, size: bytes, writable: true })),
            Err(failed) if failed.status == Status::NOT_FOUND => Ok(None),
            Err(failed) => Err(entered.error(&failed)),
        }
    }

    /// Whether nobody can tell how much stack one of its kernels needs: those that [`STACK_PREFIX`] marks, and all of
    /// modules with std ([`STACKS_SYMBOL`]).
    pub(super) fn has_unbounded_stacks(&self) -> Result<bool, Error> {
        if self.global(STACKS_SYMBOL)?.is_some() {
            return Ok(true);
        }
        let names = self.function_names()?;
        names.iter().try_fold(false, |found, name| Ok(found || self.global(&format!("{STACK_PREFIX}{name}"))?.is_some()))
    }

    /// Somebody else's module.
    ///
    /// # Safety
    /// `raw` is a module of `context` and outlives the result and everything made from it (or `keep` sees to that).
    pub(super) unsafe fn borrowed(
        context: &Arc<Context>,
        raw: sys::CUmodule,
        keep: Option<Box<dyn Any + Send + Sync>>,
    ) -> Result<Module, Error> {
        let module = Module { context: context.clone(), raw, owned: false, keep };
        let loaded = { module.load_functions(&context.enter()?) };
        loaded.map(|()| module)
    }

    /// The module that somebody else's function is part of.
    ///
    /// # Safety
    /// `function` is a live function, and outlives the result and everything made from it (or `keep` sees to that).
    pub(super) unsafe fn of_function(
        context: &Arc<Context>,
        function: sys::CUfunction,
        keep: Option<Box<dyn Any + Send + Sync>>,
    ) -> Result<Module, Error> {
        let mut raw = std::ptr::null_mut();
        {
            let entered = context.enter()?;
            // SAFETY: an out parameter, a live function.
            entered.check(unsafe { entered.driver.function_module(&mut raw, function) })?;
        }
        // SAFETY: a function's module lives as long as it does.
        unsafe { Module::borrowed(context, raw, keep) }
    }

    /// The module that somebody else's library has in this context.
    ///
    /// # Safety
    /// `library` is a live library, and outlives the result and everything made from it.
    pub(super) unsafe fn of_library(context: &Arc<Context>, library: sys::CUlibrary) -> Result<Module, Error> {
        let mut raw = std::ptr::null_mut();
        {
            let entered = context.enter()?;
            // SAFETY: an out parameter, a live library.
            entered.check(unsafe { entered.driver.library_module(&mut raw, library) })?;
        }
        // SAFETY: the library owns the module.
        unsafe { Module::borrowed(context, raw, None) }
    }

    pub(super) fn raw(&self) -> sys::CUmodule {
        self.raw
    }

    pub(super) fn function(self: &Arc<Self>, name: &str) -> Result<Option<Function>, Error> {
        // No symbol has a NUL in its name.
        let Ok(symbol) = CString::new(name) else { return Ok(None) };
        let entered = self.context.enter()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: a live module, a C string.
        match unsafe { entered.driver.module_function(&mut raw, self.raw, symbol.as_ptr()) } {
            Err(failed) if failed.status == Status::NOT_FOUND => return Ok(None),
            result => entered.check(result)?,
        }
        let attribute = |attribute: c_int| {
            let mut value = 0;
            // SAFETY: an out parameter, a live function.
            entered.check(unsafe { entered.driver.function_attribute(&mut value, attribute, raw) })?;
            Ok::<u32, Error>(value.max(0) as u32)
        };
        let info = KernelInfo {
            max_group_size: attribute(sys::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            registers: attribute(sys::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            shared_bytes: attribute(sys::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            local_bytes: attribute(sys::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
        };
        Ok(Some(Function { module: self.clone(), name: name.to_owned(), raw, info, dynamic_shared: AtomicU32::new(DYNAMIC_SHARED_FREE) }))
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if self.owned {
            self.context.release(Resource::Module(self.raw));
        }
    }
}

/// A program is a shared module: kernels keep it loaded.
pub(super) struct Loaded(pub(super) Arc<Module>);

// SAFETY: globals are where their loader says that they are, for as long as this lives.
unsafe impl BackendProgram for Loaded {
    fn kernel(&self, name: &str) -> Result<Option<Arc<dyn BackendKernel>>, Error> {
        Ok(self.0.function(name)?.map(|function| Arc::new(function) as Arc<dyn BackendKernel>))
    }

    fn global(&self, name: &str) -> Result<Option<GlobalInfo>, Error> {
        self.0.global(name)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Dynamic shared memory that every kernel may have without asking.
const DYNAMIC_SHARED_FREE: u32 = 48 << 10;

/// A kernel.
pub(super) struct Function {
    pub(super) module: Arc<Module>,
    pub(super) name: String,
    pub(super) raw: sys::CUfunction,
    info: KernelInfo,
    /// The most dynamic shared memory asked for so far. Relaxed: a hint that saves a driver call, and the driver keeps
    /// the truth.
    dynamic_shared: AtomicU32,
}

// SAFETY: a handle, valid on every thread; the driver serialises its use.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Function {
    /// Whether a launch with so much dynamic shared memory needs nothing to be asked for.
    #[inline]
    pub(super) fn allows_dynamic_shared(&self, bytes: u32) -> bool {
        bytes <= self.dynamic_shared.load(Ordering::Relaxed)
    }

    /// Asks for more dynamic shared memory than every kernel gets, if this launch needs it.
    pub(super) fn allow_dynamic_shared(&self, entered: &Entered<'_>, bytes: u32) -> Result<(), Error> {
        if self.allows_dynamic_shared(bytes) {
            return Ok(());
        }
        let attribute = sys::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let value = c_int::try_from(bytes).unwrap_or(c_int::MAX);
        // SAFETY: a live function.
        match unsafe { entered.driver.function_set_attribute(self.raw, attribute, value) } {
            Ok(()) => {
                self.dynamic_shared.fetch_max(bytes, Ordering::Relaxed);
                Ok(())
            }
            Err(failed) if failed.status == Status::INVALID_VALUE => Err(Error::Launch {
                kernel: self.name.clone(),
                reason: format!(
                    "{bytes} bytes of dynamic shared memory are more than a workgroup can have on {}",
                    self.module.context.name
                ),
            }),
            Err(failed) => Err(entered.error(&failed)),
        }
    }
}

impl BackendKernel for Function {
    fn info(&self) -> &KernelInfo {
        &self.info
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// What the driver wrote into its two log buffers (C strings, errors first), if anything.
fn log_text(error: &[u8], info: &[u8]) -> Option<String> {
    let text = |log: &[u8]| String::from_utf8_lossy(log.split(|&b| b == 0).next().unwrap_or_default()).trim_end().to_owned();
    let both = [text(error), text(info)].into_iter().filter(|t| !t.is_empty()).collect::<Vec<_>>().join("\n");
    (!both.is_empty()).then_some(both)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_read_up_to_their_nul_and_errors_come_first() {
        assert_eq!(log_text(b"\0\0", b"\0junk"), None);
        assert_eq!(log_text(b"", b""), None);
        assert_eq!(log_text(b"line 3: bad\n\0\0", b"info\0").as_deref(), Some("line 3: bad\ninfo"));
        assert_eq!(log_text(b"full buffer", b"").as_deref(), Some("full buffer"));
    }
}
