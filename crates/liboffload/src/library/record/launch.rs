//! Launches: shapes, properties and arguments.

use std::ffi::c_void;

use serde_json::json;

use super::fields::Fields;
use super::memory::bytes;
use crate::library::calls::is_cooperative;
use crate::sys::*;

/// No launch has more arguments, and none is larger.
const MOST: usize = 64 << 10;

impl Fields<'_> {
    pub(in crate::library) fn shape(&mut self, size: &ol_kernel_launch_size_args_t) {
        let three = |it: ol_dimensions_t| json!([it.x, it.y, it.z]);
        self.number("Dimensions", size.Dimensions as u64);
        self.say("NumGroups", three(size.NumGroups));
        self.say("GroupSize", three(size.GroupSize));
        self.number("DynSharedMemory", size.DynSharedMemory as u64);
    }

    /// # Safety
    /// The structure, list and arrays of `olLaunchKernel`.
    pub(in crate::library) unsafe fn launch(
        &mut self,
        size: *const ol_kernel_launch_size_args_t,
        properties: *const ol_kernel_launch_prop_t,
        count: usize,
        pointers: *mut *mut c_void,
        sizes: *const usize,
    ) {
        self.memory();
        // SAFETY: the caller's.
        self.shape(&unsafe { size.read_unaligned() });
        // SAFETY: the caller's. A list that is refused is recorded as none.
        if let Ok(true) = unsafe { is_cooperative(properties) } {
            self.say("Cooperative", true);
        }
        self.number("NumArgs", count as u64);
        let (mut arguments, mut all) = (Vec::new(), Vec::new());
        for index in 0..count.min(MOST) {
            // SAFETY: the caller says that there are as many.
            let (pointer, size) = unsafe { (pointers.add(index).read_unaligned(), sizes.add(index).read_unaligned()) };
            if size > MOST || pointer.is_null() {
                arguments.push(json!({ "bytes": size, "null": pointer.is_null() }));
                continue;
            }
            let value = bytes(pointer.expose_provenance(), size);
            let mut places = Vec::new();
            for (at, word) in value.chunks_exact(size_of::<usize>()).enumerate() {
                let address = word.try_into().map_or(0, usize::from_ne_bytes);
                if self.state.regions.find(address).is_some() {
                    places.push(json!({ "at": at * size_of::<usize>(), "is": self.state.regions.place(address) }));
                    self.state.regions.touch(address);
                }
            }
            arguments.push(json!({ "at": all.len(), "bytes": value.len(), "addresses": places }));
            all.extend_from_slice(&value);
        }
        self.say("Arguments", arguments);
        self.bring("Values", &all);
    }
}
