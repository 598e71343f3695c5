//! What LLVM 24 has otherwise than LLVM 23: contexts, and functions of its own.

/// The functions of [`Api`](crate::Api) that LLVM 23 has with another signature, or not at all.
macro_rules! functions_of_this_version {
    () => {
        unsafe fn create_queue(
            &self,
            context: ol_context_handle_t,
            device: ol_device_handle_t,
            queue: *mut ol_queue_handle_t,
        ) -> Result<(), Error> {
            let owner = Core::get().owner(context)?;
            let made = Core::get().create_queue(owner, device)?;
            // SAFETY: the caller's.
            unsafe { put(queue, made) }
        }

        unsafe fn mem_alloc(
            &self,
            context: ol_context_handle_t,
            device: ol_device_handle_t,
            r#type: ol_alloc_type_t,
            size: usize,
            allocation_out: *mut *mut c_void,
        ) -> Result<(), Error> {
            let owner = Core::get().owner(context)?;
            let made = Core::get().mem_alloc(owner, device, r#type, size, 1)?;
            // SAFETY: the caller's.
            unsafe { put(allocation_out, made) }
        }

        unsafe fn mem_alloc_aligned(
            &self,
            context: ol_context_handle_t,
            device: ol_device_handle_t,
            r#type: ol_alloc_type_t,
            size: usize,
            alignment: usize,
            allocation_out: *mut *mut c_void,
        ) -> Result<(), Error> {
            let owner = Core::get().owner(context)?;
            let made = Core::get().mem_alloc(owner, device, r#type, size, alignment)?;
            // SAFETY: the caller's.
            unsafe { put(allocation_out, made) }
        }

        unsafe fn mem_free(&self, context: ol_context_handle_t, address: *mut c_void) -> Result<(), Error> {
            let owner = Core::get().owner(context)?;
            Core::get().mem_free(owner, address)
        }

        unsafe fn get_mem_info(
            &self,
            context: ol_context_handle_t,
            ptr: *const c_void,
            prop_name: ol_mem_info_t,
            prop_size: usize,
            prop_value: *mut c_void,
        ) -> Result<(), Error> {
            let owner = Core::get().owner(context)?;
            // SAFETY: the caller says that there is room.
            unsafe { Core::get().mem_info(owner, ptr, prop_name)?.write(prop_size, prop_value) }
        }

        unsafe fn get_mem_info_size(
            &self,
            context: ol_context_handle_t,
            ptr: *const c_void,
            prop_name: ol_mem_info_t,
            prop_size_ret: *mut usize,
        ) -> Result<(), Error> {
            let owner = Core::get().owner(context)?;
            let size = Core::get().mem_info(owner, ptr, prop_name)?.size();
            // SAFETY: the caller's.
            unsafe { put(prop_size_ret, size) }
        }

        unsafe fn create_program(
            &self,
            context: ol_context_handle_t,
            device: ol_device_handle_t,
            prog_data: *const c_void,
            prog_data_size: usize,
            program: *mut ol_program_handle_t,
        ) -> Result<(), Error> {
            let owner = Core::get().owner(context)?;
            // SAFETY: the caller says that there is such an image.
            let made = unsafe { Core::get().create_program(owner, device, prog_data, prog_data_size) }?;
            // SAFETY: the caller's.
            unsafe { put(program, made) }
        }

        unsafe fn create_context(
            &self,
            devices_count: usize,
            devices: *mut ol_device_handle_t,
            context: *mut ol_context_handle_t,
        ) -> Result<(), Error> {
            // SAFETY: the caller says that there are that many.
            let made = unsafe { Core::get().create_context(devices_count, devices) }?;
            // SAFETY: the caller's.
            unsafe { put(context, made) }
        }

        unsafe fn destroy_context(&self, context: ol_context_handle_t) -> Result<(), Error> {
            Core::get().destroy_context(context)
        }

        unsafe fn get_context_info(
            &self,
            context: ol_context_handle_t,
            prop_name: ol_context_info_t,
            prop_size: usize,
            prop_value: *mut c_void,
        ) -> Result<(), Error> {
            // SAFETY: the caller says that there is room.
            Core::get().context_info(context, prop_name, |value| unsafe { value.write(prop_size, prop_value) })
        }

        unsafe fn get_context_info_size(
            &self,
            context: ol_context_handle_t,
            prop_name: ol_context_info_t,
            prop_size_ret: *mut usize,
        ) -> Result<(), Error> {
            let size = Core::get().context_info(context, prop_name, |value| Ok(value.size()))?;
            // SAFETY: the caller's.
            unsafe { put(prop_size_ret, size) }
        }

        unsafe fn iterate_platforms(&self, callback: ol_platform_iterate_cb_t, user_data: *mut c_void) -> Result<(), Error> {
            // SAFETY: the caller's.
            unsafe { Core::get().iterate_platforms(callback, user_data) }
        }

        unsafe fn iterate_compatible_devices(
            &self,
            prog_data: *const c_void,
            prog_data_size: usize,
            callback: ol_device_iterate_cb_t,
            user_data: *mut c_void,
        ) -> Result<(), Error> {
            // SAFETY: the caller's.
            unsafe { Core::get().iterate_compatible_devices(prog_data, prog_data_size, callback, user_data) }
        }

        unsafe fn iterate_symbols(
            &self,
            program: ol_program_handle_t,
            kind: ol_symbol_kind_t,
            callback: ol_symbol_iterate_cb_t,
            user_data: *mut c_void,
        ) -> Result<(), Error> {
            // SAFETY: the caller's.
            unsafe { Core::get().iterate_symbols(program, kind, callback, user_data) }
        }

        unsafe fn mem_alloc_host(
            &self,
            context: ol_context_handle_t,
            device: ol_device_handle_t,
            size: usize,
            allocation_out: *mut *mut c_void,
        ) -> Result<(), Error> {
            // SAFETY: the caller's.
            unsafe { self.mem_alloc_aligned_host(context, device, size, 1, allocation_out) }
        }

        unsafe fn mem_alloc_aligned_host(
            &self,
            context: ol_context_handle_t,
            device: ol_device_handle_t,
            size: usize,
            alignment: usize,
            allocation_out: *mut *mut c_void,
        ) -> Result<(), Error> {
            // SAFETY: the caller's.
            unsafe { self.mem_alloc_aligned(context, device, ol_alloc_type_t::OL_ALLOC_TYPE_HOST, size, alignment, allocation_out) }
        }

        unsafe fn mem_is_accessible(
            &self,
            context: ol_context_handle_t,
            device: ol_device_handle_t,
            ptr: *const c_void,
            size: usize,
            is_accessible: *mut bool,
        ) -> Result<(), Error> {
            let answer = Core::get().mem_is_accessible(Core::get().owner(context)?, device, ptr, size)?;
            // SAFETY: the caller's.
            unsafe { put(is_accessible, answer) }
        }
    };
}
