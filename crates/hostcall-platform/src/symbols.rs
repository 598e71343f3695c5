//! Programs of which only the addresses of globals are known: whoever loaded them finds those.

use std::any::Any;
use std::sync::Arc;

use crate::backend::{BackendKernel, BackendProgram, GlobalInfo};
use crate::device::Device;
use crate::error::Error;
use crate::program::Program;

impl Program {
    /// A program that was loaded elsewhere and by other means than this crate's, with globals and no kernels. `find`
    /// gives the global of a name, if there is one; it is asked whenever a global is looked for.
    ///
    /// ```
    /// use offload::{Device, Program, backend::GlobalInfo};
    ///
    /// # fn main() -> Result<(), offload::Error> {
    /// let device = Device::open("sim")?;
    /// let memory = device.alloc::<u32>(1)?;
    /// let word = GlobalInfo { address: memory.address(), size: 4, writable: true };
    /// // SAFETY: the memory outlives the program, and no kernel uses it.
    /// let program = unsafe { Program::from_symbols(&device, "mine", move |name| (name == "word").then_some(word)) };
    /// program.global("word")?.write(&7u32.to_ne_bytes())?;
    /// assert_eq!(device.queue()?.read(&memory)?, [7]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// * What `find` gives is memory of the device of this size, as long as the result and its globals live.
    pub unsafe fn from_symbols(device: &Device, name: &str, find: impl Fn(&str) -> Option<GlobalInfo> + Send + Sync + 'static) -> Program {
        Program::from_backend(device.clone(), name, Arc::new(Symbols(find))).of_others()
    }
}

/// A program by its symbols.
struct Symbols<F>(F);

// SAFETY: what `Program::from_symbols` was promised.
unsafe impl<F: Fn(&str) -> Option<GlobalInfo> + Send + Sync + 'static> BackendProgram for Symbols<F> {
    fn kernel(&self, _: &str) -> Result<Option<Arc<dyn BackendKernel>>, Error> {
        Ok(None)
    }

    fn global(&self, name: &str) -> Result<Option<GlobalInfo>, Error> {
        Ok((self.0)(name))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
