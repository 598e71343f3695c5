//! Programs and symbols.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

use super::{gone, image};
use crate::library::info::Value;
use crate::library::program::{Program, no_handles};
use crate::library::{Core, Owner};
use crate::runtime::Error;
use crate::sys::*;

impl Core {
    /// # Safety
    /// There are `size` bytes at `data`.
    pub(in crate::library) unsafe fn create_program(
        &self,
        owner: Owner,
        device: ol_device_handle_t,
        data: *const c_void,
        size: usize,
    ) -> Result<ol_program_handle_t, Error> {
        let device = self.device_in(owner, device)?;
        // SAFETY: the caller says so.
        let driver = device.driver.load(unsafe { image(data, size) }?)?;
        Ok(self.programs.insert(Arc::new(Program::new(device, driver))).ok_or_else(no_handles)?.cast())
    }

    /// # Safety
    /// There are `size` bytes at `data`.
    pub(in crate::library) unsafe fn is_valid_binary(
        &self,
        device: ol_device_handle_t,
        data: *const c_void,
        size: usize,
    ) -> Result<bool, Error> {
        let device = self.device(device)?;
        // SAFETY: the caller says so.
        Ok(unsafe { image(data, size) }.and_then(|image| device.driver.check(image)).is_ok())
    }

    /// # Safety
    /// `name` is a text that ends in a zero.
    pub(in crate::library) unsafe fn get_symbol(
        &self,
        program: ol_program_handle_t,
        name: *const c_char,
        kind: ol_symbol_kind_t,
    ) -> Result<ol_symbol_handle_t, Error> {
        let program = self.programs.get(program.cast()).ok_or_else(|| gone(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, "program"))?;
        // SAFETY: the caller's text, which ends in a zero.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        Ok(self.symbol(&program, &name, kind)?.cast())
    }

    /// # Safety
    /// `callback` may be called with `user_data`.
    #[cfg(llvm24)]
    pub(in crate::library) unsafe fn iterate_symbols(
        &self,
        program: ol_program_handle_t,
        kind: ol_symbol_kind_t,
        callback: ol_symbol_iterate_cb_t,
        user_data: *mut c_void,
    ) -> Result<(), Error> {
        let Some(callback) = callback else {
            return crate::library::error::fail(ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Callback must not be NULL");
        };
        let program = self.programs.get(program.cast()).ok_or_else(|| gone(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, "program"))?;
        for name in program.driver.names(kind)? {
            match self.symbol(&program, &name, kind) {
                // SAFETY: the caller's function and its data. No lock is held: it may call this library.
                Ok(symbol) if unsafe { callback(symbol.cast(), user_data) } => {}
                Ok(_) => break,
                // The image has it, and the driver does not: a compiler of the driver's may leave out what nothing
                // uses.
                Err(error) if error.code == ol_errc_t::OL_ERRC_NOT_FOUND => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub(in crate::library) fn symbol_info<R>(
        &self,
        symbol: ol_symbol_handle_t,
        name: ol_symbol_info_t,
        use_it: impl FnOnce(&Value<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        use_it(&self.symbol_of(symbol)?.info(name)?)
    }
}
