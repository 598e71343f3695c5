//! Programs and their symbols.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use super::Core;
use super::backend::{self, Global, Kernel};
use super::device::Device;
use super::error::fail;
use super::info::Value;
use super::leaks::Origin;
use super::worker::{self, DroppedApart};
use crate::runtime::Error;
use crate::sys::{ol_errc_t, ol_symbol_info_t, ol_symbol_kind_t};

/// What a program's handle names.
pub(super) struct Program {
    pub(super) device: &'static Device,
    pub(super) driver: Arc<dyn backend::Program>,
    /// Handles of its symbols, by kind and name; `None` when the program is destroyed.
    symbols: Mutex<Option<Symbols>>,
    pub(super) origin: Origin,
}

/// Handles, as numbers.
type Symbols = HashMap<(ol_symbol_kind_t, String), usize>;

/// What a symbol's handle names.
pub(super) struct Symbol {
    pub(super) device: &'static Device,
    pub(super) name: String,
    pub(super) what: What,
}

pub(super) enum What {
    Kernel(Arc<dyn Kernel>),
    Global(Global),
}

impl Program {
    pub(super) fn new(device: &'static Device, driver: Arc<dyn backend::Program>) -> Program {
        Program { device, driver, symbols: Mutex::new(Some(HashMap::new())), origin: Origin::here() }
    }
}

impl Symbol {
    /// The kernel that it is.
    #[inline(always)]
    pub(super) fn kernel(&self) -> Result<&Arc<dyn Kernel>, Error> {
        match &self.what {
            What::Kernel(kernel) => Ok(kernel),
            What::Global(_) => {
                fail(ol_errc_t::OL_ERRC_SYMBOL_KIND, format!("`{}` is a global variable, and a kernel is needed", self.name))
            }
        }
    }

    /// How many bytes it has, if it is a global variable.
    pub(super) fn global_size(&self) -> Option<usize> {
        match &self.what {
            What::Global(global) => Some(global.size),
            What::Kernel(_) => None,
        }
    }

    /// The value of a property.
    pub(super) fn info(&self, name: ol_symbol_info_t) -> Result<Value<'_>, Error> {
        let global = || match &self.what {
            What::Global(global) => Ok(*global),
            What::Kernel(_) => {
                fail(ol_errc_t::OL_ERRC_SYMBOL_KIND, format!("`{}` is a kernel, and a global variable is needed", self.name))
            }
        };
        Ok(match name {
            ol_symbol_info_t::OL_SYMBOL_INFO_KIND => Value::U32(match self.what {
                What::Kernel(_) => ol_symbol_kind_t::OL_SYMBOL_KIND_KERNEL.0,
                What::Global(_) => ol_symbol_kind_t::OL_SYMBOL_KIND_GLOBAL_VARIABLE.0,
            }),
            ol_symbol_info_t::OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS => {
                Value::Pointer(std::ptr::with_exposed_provenance_mut(global()?.address))
            }
            ol_symbol_info_t::OL_SYMBOL_INFO_GLOBAL_VARIABLE_SIZE => Value::Size(global()?.size),
            #[cfg(llvm24)]
            ol_symbol_info_t::OL_SYMBOL_INFO_NAME => Value::Text(&self.name),
            other => return fail(ol_errc_t::OL_ERRC_INVALID_ENUMERATION, format!("{} is no property of symbols", other.0)),
        })
    }
}

impl Core {
    /// The handle of a program's symbol: the same one each time.
    pub(super) fn symbol(&self, program: &Program, name: &str, kind: ol_symbol_kind_t) -> Result<*mut c_void, Error> {
        let mut symbols = program.symbols.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(symbols) = symbols.as_mut() else {
            return fail(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, "the program was destroyed during the call");
        };
        let key = (kind, name.to_owned());
        if let Some(&handle) = symbols.get(&key) {
            return Ok(std::ptr::without_provenance_mut(handle));
        }
        if name.is_empty() {
            return fail(ol_errc_t::OL_ERRC_NOT_FOUND, "no symbol has an empty name");
        }
        let (what, noun) = match kind {
            ol_symbol_kind_t::OL_SYMBOL_KIND_KERNEL => (program.driver.kernel(name)?.map(What::Kernel), "kernel"),
            ol_symbol_kind_t::OL_SYMBOL_KIND_GLOBAL_VARIABLE => (program.driver.global(name)?.map(What::Global), "global variable"),
            other => return fail(ol_errc_t::OL_ERRC_INVALID_ENUMERATION, format!("{} is no kind of symbols", other.0)),
        };
        let Some(what) = what else {
            return fail(ol_errc_t::OL_ERRC_NOT_FOUND, format!("the program has no {noun} `{name}`{}", known(&*program.driver, kind)));
        };
        let symbol = Symbol { device: program.device, name: name.to_owned(), what };
        let handle = self.symbols.insert(Arc::new(symbol)).ok_or_else(no_handles)?;
        symbols.insert(key, handle.addr());
        Ok(handle)
    }

    /// Destroys a program and its symbols. Kernels that are in queues keep their code until they have run, and work
    /// that was put into queues before keeps the program's global variables until it is done.
    pub(super) fn destroy_program(&self, handle: *const c_void) -> Result<(), Error> {
        let Some(program) = self.programs.remove(handle) else {
            return fail(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, "Program is not a program, or is destroyed already");
        };
        let symbols = program.symbols.lock().unwrap_or_else(PoisonError::into_inner).take();
        let handles = symbols.into_iter().flatten().map(|(_, handle)| std::ptr::without_provenance(handle));
        let symbols: Vec<_> = handles.filter_map(|handle| self.symbols.remove(handle)).collect();
        self.launches.forget_destroyed(self);
        worker::retire(DroppedApart(Some((symbols, program))));
        Ok(())
    }
}

/// What there is instead of a symbol that is not there, as the end of a sentence.
fn known(program: &dyn backend::Program, kind: ol_symbol_kind_t) -> String {
    const MOST: usize = 12;
    let names = program.names(kind).unwrap_or_default();
    if names.is_empty() {
        return String::new();
    }
    let more = if names.len() > MOST { ", …" } else { "" };
    let names: Vec<_> = names.iter().take(MOST).map(|name| format!("`{name}`")).collect();
    format!("; its image has {}{more}", names.join(", "))
}

/// There are as many handles as there can be.
pub(super) fn no_handles() -> Error {
    Error::new(ol_errc_t::OL_ERRC_OUT_OF_RESOURCES, "there are as many live handles of this kind as there can be")
}
