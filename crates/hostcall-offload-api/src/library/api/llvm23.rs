//! What LLVM 23 has otherwise than LLVM 24: no contexts.

/// The functions of [`Api`](crate::Api) that LLVM 24 has with another signature.
macro_rules! functions_of_this_version {
    () => {
        unsafe fn create_queue(&self, device: ol_device_handle_t, queue: *mut ol_queue_handle_t) -> Result<(), Error> {
            let made = Core::get().create_queue(NO_CONTEXT, device)?;
            // SAFETY: the caller's.
            unsafe { put(queue, made) }
        }

        unsafe fn mem_alloc(
            &self,
            device: ol_device_handle_t,
            r#type: ol_alloc_type_t,
            size: usize,
            allocation_out: *mut *mut c_void,
        ) -> Result<(), Error> {
            let made = Core::get().mem_alloc(NO_CONTEXT, device, r#type, size, 1)?;
            // SAFETY: the caller's.
            unsafe { put(allocation_out, made) }
        }

        unsafe fn mem_alloc_aligned(
            &self,
            device: ol_device_handle_t,
            r#type: ol_alloc_type_t,
            size: usize,
            alignment: usize,
            allocation_out: *mut *mut c_void,
        ) -> Result<(), Error> {
            let made = Core::get().mem_alloc(NO_CONTEXT, device, r#type, size, alignment)?;
            // SAFETY: the caller's.
            unsafe { put(allocation_out, made) }
        }

        unsafe fn mem_free(&self, address: *mut c_void) -> Result<(), Error> {
            Core::get().mem_free(NO_CONTEXT, address)
        }

        unsafe fn get_mem_info(
            &self,
            ptr: *const c_void,
            prop_name: ol_mem_info_t,
            prop_size: usize,
            prop_value: *mut c_void,
        ) -> Result<(), Error> {
            // SAFETY: the caller says that there is room.
            unsafe { Core::get().mem_info(NO_CONTEXT, ptr, prop_name)?.write(prop_size, prop_value) }
        }

        unsafe fn get_mem_info_size(&self, ptr: *const c_void, prop_name: ol_mem_info_t, prop_size_ret: *mut usize) -> Result<(), Error> {
            let size = Core::get().mem_info(NO_CONTEXT, ptr, prop_name)?.size();
            // SAFETY: the caller's.
            unsafe { put(prop_size_ret, size) }
        }

        unsafe fn create_program(
            &self,
            device: ol_device_handle_t,
            prog_data: *const c_void,
            prog_data_size: usize,
            program: *mut ol_program_handle_t,
        ) -> Result<(), Error> {
            // SAFETY: the caller says that there is such an image.
            let made = unsafe { Core::get().create_program(NO_CONTEXT, device, prog_data, prog_data_size) }?;
            // SAFETY: the caller's.
            unsafe { put(program, made) }
        }
    };
}
