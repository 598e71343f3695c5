//! Loaded code: executables, their kernels and globals.

use std::any::Any;
use std::ffi::{CString, c_void};
use std::sync::Arc;

use super::code::Code;
use super::context::Context;
use super::fault;
use super::runtime::Failed;
use super::sys::*;
use crate::backend::{BackendKernel, BackendProgram, GlobalInfo, KernelInfo};
use crate::error::Error;
use hostcall_abi::descriptor::STACK_PREFIX;
use offload_image::Image;

/// An executable, and the bytes that it was loaded from.
pub(super) struct Executable {
    pub(super) context: Arc<Context>,
    raw: hsa_executable_t,
    reader: hsa_code_object_reader_t,
    code: Code,
    /// The runtime reads them as long as the executable exists.
    _bytes: Vec<u8>,
}

/// What of an executable is being made, so that errors release it.
fn load(context: &Arc<Context>, bytes: Vec<u8>, code: Code) -> Result<Executable, Failed> {
    let runtime = context.runtime;
    let mut executable = Executable {
        context: context.clone(),
        raw: hsa_executable_t::default(),
        reader: hsa_code_object_reader_t::default(),
        code,
        _bytes: bytes,
    };
    let (at, len) = (executable._bytes.as_ptr().cast(), executable._bytes.len());
    let mut loaded = hsa_loaded_code_object_t::default();
    // SAFETY: bytes that live as long as the executable (a vector's do not move with it); out parameters; handles that
    // were just made.
    unsafe {
        runtime.hsa_code_object_reader_create_from_memory(at, len, &mut executable.reader)?;
        runtime.hsa_executable_create_alt(PROFILE_FULL, ROUNDING_DEFAULT, std::ptr::null(), &mut executable.raw)?;
        let agent = context.found.agent;
        runtime.hsa_executable_load_agent_code_object(executable.raw, agent, executable.reader, std::ptr::null(), &mut loaded)?;
        runtime.hsa_executable_freeze(executable.raw, std::ptr::null())?;
    }
    Ok(executable)
}

impl Executable {
    pub(super) fn load(context: &Arc<Context>, program: &str, image: &Image) -> Result<Executable, Error> {
        let code = Code::read(&image.bytes).map_err(|why| fault::no_code(program, &image.arch, &why))?;
        let version = code.version;
        load(context, image.bytes.to_vec(), code)
            .map_err(|failed| context.good().err().unwrap_or_else(|| fault::load(context, program, &image.arch, version, &failed)))
    }

    fn symbol(&self, name: &str) -> Result<Option<hsa_executable_symbol_t>, Error> {
        // No symbol has a NUL in its name.
        let Ok(name) = CString::new(name) else { return Ok(None) };
        let mut symbol = hsa_executable_symbol_t::default();
        let agent = self.context.found.agent;
        // SAFETY: a live executable, a C string, a live agent, an out parameter.
        match unsafe { self.context.runtime.hsa_executable_get_symbol_by_name(self.raw, name.as_ptr(), &agent, &mut symbol) } {
            Ok(()) => Ok(Some(symbol)),
            Err(failed) if failed.status == hsa_status_t::INVALID_SYMBOL_NAME => Ok(None),
            Err(failed) => Err(self.context.error(&failed)),
        }
    }

    /// What a symbol says. `T` is an integer of the attribute's size, or larger.
    fn ask<T: Default>(&self, symbol: hsa_executable_symbol_t, attribute: u32) -> Result<T, Error> {
        let mut value = T::default();
        // SAFETY: a live symbol, and a place of the attribute's size.
        let asked = unsafe { self.context.runtime.hsa_executable_symbol_get_info(symbol, attribute, (&raw mut value).cast::<c_void>()) };
        self.context.check(asked).map(|()| value)
    }

    fn kernel(self: &Arc<Self>, name: &str) -> Result<Option<Kernel>, Error> {
        let Some(symbol) = self.symbol(&format!("{name}.kd"))? else { return Ok(None) };
        if self.ask::<u32>(symbol, symbol_info::TYPE)? != SYMBOL_KERNEL {
            return Ok(None);
        }
        let private_bytes = self.ask::<u32>(symbol, symbol_info::PRIVATE_SIZE)?;
        let group_bytes = self.ask::<u32>(symbol, symbol_info::GROUP_SIZE)?;
        // A `bool` is a byte of C, read as one.
        let dynamic = self.ask::<u8>(symbol, symbol_info::DYNAMIC_CALLSTACK)? != 0;
        Ok(Some(Kernel {
            name: name.to_owned(),
            object: self.ask::<u64>(symbol, symbol_info::KERNEL_OBJECT)?,
            kernarg_bytes: self.ask::<u32>(symbol, symbol_info::KERNARG_SIZE)? as usize,
            private_bytes,
            group_bytes,
            unbounded: dynamic || self.symbol(&format!("{STACK_PREFIX}{name}"))?.is_some(),
            info: KernelInfo {
                max_group_size: self.context.info.max_group_size,
                shared_bytes: group_bytes,
                local_bytes: private_bytes,
                ..KernelInfo::default()
            },
            executable: self.clone(),
        }))
    }

    pub(super) fn global(&self, name: &str) -> Result<Option<GlobalInfo>, Error> {
        let Some(symbol) = self.symbol(name)? else { return Ok(None) };
        if self.ask::<u32>(symbol, symbol_info::TYPE)? != SYMBOL_VARIABLE {
            return Ok(None);
        }
        Ok(Some(GlobalInfo {
            address: self.ask::<u64>(symbol, symbol_info::VARIABLE_ADDRESS)?,
            size: self.ask::<u32>(symbol, symbol_info::VARIABLE_SIZE)? as usize,
            writable: self.code.is_writable(name),
        }))
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        let runtime = self.context.runtime;
        if self.raw.handle != 0 {
            // SAFETY: made here, destroyed this once; kernels keep the executable, and launches their kernels.
            self.context.ignore(unsafe { runtime.hsa_executable_destroy(self.raw) });
        }
        if self.reader.handle != 0 {
            // SAFETY: as above.
            self.context.ignore(unsafe { runtime.hsa_code_object_reader_destroy(self.reader) });
        }
    }
}

/// A program is a shared executable: kernels keep it loaded.
pub(super) struct Loaded(pub(super) Arc<Executable>);

// SAFETY: globals are where their loader says that they are, for as long as this lives.
unsafe impl BackendProgram for Loaded {
    fn kernel(&self, name: &str) -> Result<Option<Arc<dyn BackendKernel>>, Error> {
        self.0.context.usable()?;
        Ok(self.0.kernel(name)?.map(|kernel| Arc::new(kernel) as Arc<dyn BackendKernel>))
    }

    fn global(&self, name: &str) -> Result<Option<GlobalInfo>, Error> {
        self.0.context.usable()?;
        self.0.global(name)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A kernel.
pub(super) struct Kernel {
    pub(super) name: String,
    /// Its descriptor.
    pub(super) object: u64,
    /// Bytes of arguments, hidden ones included.
    pub(super) kernarg_bytes: usize,
    /// Bytes of stack of a lane, as far as the compiler knew.
    pub(super) private_bytes: u32,
    /// Bytes of memory of a workgroup.
    pub(super) group_bytes: u32,
    /// Whether its lanes may need more stack than that.
    pub(super) unbounded: bool,
    info: KernelInfo,
    pub(super) executable: Arc<Executable>,
}

impl Kernel {
    /// Bytes of stack of a lane, `more` for what the compiler could not know.
    pub(super) fn stack(&self, more: u32) -> u32 {
        let bytes = if self.unbounded { self.private_bytes.saturating_add(more) } else { self.private_bytes };
        bytes.checked_next_multiple_of(16).unwrap_or(!15)
    }
}

impl BackendKernel for Kernel {
    fn info(&self) -> &KernelInfo {
        &self.info
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
