//! Programs and symbols.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

use super::{gone, image};
use crate::library::Core;
use crate::library::info::Value;
use crate::library::program::{Program, no_handles};
use crate::runtime::Error;
use crate::sys::*;

impl Core {
    /// # Safety
    /// There are `size` bytes at `data`.
    pub(in crate::library) unsafe fn create_program(
        &self,
        device: ol_device_handle_t,
        data: *const c_void,
        size: usize,
    ) -> Result<ol_program_handle_t, Error> {
        let device = self.device(device)?;
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

    pub(in crate::library) fn symbol_info(&self, symbol: ol_symbol_handle_t, name: ol_symbol_info_t) -> Result<Value<'static>, Error> {
        self.symbol_of(symbol)?.info(name)
    }
}
