//! GPU memory of CUDA's that GDRCopy has mapped for the host: its library, opened while the program runs.
//!
//! GDRCopy's kernel module `gdrdrv` maps pages of `cuMemAlloc` memory across the PCIe BAR. It is the second choice,
//! where Vulkan offers nothing: on machines whose driver was installed without its graphics libraries.

use std::ffi::{c_int, c_uint, c_ulong, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

use libloading::Library;

/// The GPU's page as `gdrdrv` maps it (`GPU_PAGE_SIZE`): memory to be mapped begins and ends on one.
pub(crate) const PAGE: usize = 64 << 10;

const REMEDY: &str = "install GDRCopy 2 (libgdrapi and the kernel module gdrdrv, `modprobe gdrdrv`)";

/// `gdr_t`.
type Session = *mut c_void;

/// `gdr_mh_t`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Handle {
    h: c_ulong,
}

/// `gdr_info_v2_t`.
#[repr(C)]
#[derive(Default)]
struct Info {
    va: u64,
    mapped_size: u64,
    page_size: u32,
    tm_cycles: u64,
    cycles_per_ms: u32,
    /// `mapped:1`, `wc_mapping:1`.
    flags: c_uint,
    mapping_type: c_int,
    /// The structure grew once (it had no type), so there is room for its growing again.
    _room: [u64; 4],
}

const _: () = {
    assert!(std::mem::offset_of!(Info, tm_cycles) == 24);
    assert!(std::mem::offset_of!(Info, flags) == 36);
    assert!(std::mem::offset_of!(Info, mapping_type) == 40);
};

/// `wc_mapping` among [`Info::flags`].
const WRITE_COMBINING: c_uint = 1 << 1;

/// The functions, of a library that is never closed.
struct Functions {
    open: unsafe extern "C" fn() -> Session,
    close: unsafe extern "C" fn(Session) -> c_int,
    pin: unsafe extern "C" fn(Session, c_ulong, usize, u64, u32, *mut Handle) -> c_int,
    unpin: unsafe extern "C" fn(Session, Handle) -> c_int,
    info: unsafe extern "C" fn(Session, Handle, *mut Info) -> c_int,
    map: unsafe extern "C" fn(Session, Handle, *mut *mut c_void, usize) -> c_int,
    unmap: unsafe extern "C" fn(Session, Handle, *mut c_void, usize) -> c_int,
    _library: Library,
}

impl Functions {
    /// Opened on first use. Only success is kept, so that a library installed meanwhile is found.
    fn get() -> Result<&'static Functions, String> {
        static FUNCTIONS: OnceLock<Functions> = OnceLock::new();
        if let Some(functions) = FUNCTIONS.get() {
            return Ok(functions);
        }
        let functions = Functions::load()?;
        Ok(FUNCTIONS.get_or_init(|| functions))
    }

    fn load() -> Result<Functions, String> {
        // SAFETY: GDRCopy's library has no initialisers to speak of.
        let library = unsafe { Library::new("libgdrapi.so.2") }
            .or_else(|first| unsafe { Library::new("libgdrapi.so") }.map_err(|_| first))
            .map_err(|error| std::error::Error::source(&error).unwrap_or(&error).to_string())?;
        macro_rules! symbol {
            ($name:literal) => {
                // SAFETY: the type of gdrapi.h for this name, by the field that it is assigned to.
                *unsafe { library.get(concat!($name, "\0").as_bytes()) }.map_err(|_| concat!("libgdrapi lacks `", $name, "`"))?
            };
        }
        Ok(Functions {
            open: symbol!("gdr_open"),
            close: symbol!("gdr_close"),
            pin: symbol!("gdr_pin_buffer"),
            unpin: symbol!("gdr_unpin_buffer"),
            info: symbol!("gdr_get_info_v2"),
            map: symbol!("gdr_map"),
            unmap: symbol!("gdr_unmap"),
            _library: library,
        })
    }
}

/// A part of a GPU's memory, mapped into this process until dropped.
pub(crate) struct Mapping {
    functions: &'static Functions,
    session: Session,
    pinned: Option<Handle>,
    /// What `gdr_map` gave; null before.
    mapped: *mut c_void,
    bytes: usize,
    host: NonNull<u8>,
}

// SAFETY: handles and an address range; GDRCopy guards a session by a lock of its own, and this one is used in `new`
// and `drop` only.
unsafe impl Send for Mapping {}
// SAFETY: as above; no method writes through the pointers.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps GPU memory.
    ///
    /// # Safety
    /// `address` is memory of `cuMemAlloc`, aligned to [`PAGE`] as is `bytes`, and outlives the result.
    pub(crate) unsafe fn new(address: u64, bytes: usize) -> Result<Mapping, String> {
        debug_assert!(address.is_multiple_of(PAGE as u64) && bytes.is_multiple_of(PAGE));
        let functions = Functions::get().map_err(|reason| format!("{reason}; {REMEDY}"))?;
        // SAFETY: no requirement.
        let session = unsafe { (functions.open)() };
        if session.is_null() {
            return Err(format!("gdr_open failed: no /dev/gdrdrv that this user may open; {REMEDY}"));
        }
        // From here on what was done is undone when it is dropped.
        let mut mapping = Mapping { functions, session, pinned: None, mapped: std::ptr::null_mut(), bytes, host: NonNull::dangling() };
        let mut handle = Handle { h: 0 };
        // SAFETY: the caller's memory; an out parameter. Tokens are of the past: both are 0.
        done("gdr_pin_buffer", unsafe { (functions.pin)(session, address as c_ulong, bytes, 0, 0, &mut handle) })?;
        mapping.pinned = Some(handle);
        // SAFETY: pinned just now; an out parameter.
        done("gdr_map", unsafe { (functions.map)(session, handle, &mut mapping.mapped, bytes) })?;
        let mut info = Info::default();
        // SAFETY: as above; the structure is at least as large as the library's.
        done("gdr_get_info", unsafe { (functions.info)(session, handle, &mut info) })?;
        if info.flags & WRITE_COMBINING == 0 {
            return Err(format!("gdrdrv did not map the memory write-combining (type {})", info.mapping_type));
        }
        // The mapping may begin at a page before the address.
        let skip = address.checked_sub(info.va).filter(|&skip| skip < info.mapped_size).ok_or("gdrdrv mapped other memory")?;
        // SAFETY: inside the mapping.
        let host = unsafe { mapping.mapped.cast::<u8>().add(skip as usize) };
        mapping.host = NonNull::new(host).ok_or("gdr_map gave no address")?;
        Ok(mapping)
    }

    /// Where the host has it mapped.
    pub(crate) fn host(&self) -> NonNull<u8> {
        self.host
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let Mapping { functions, session, .. } = *self;
        // SAFETY: what `new` did, undone in the opposite order, each once; whoever held this was the last to know the
        // address.
        unsafe {
            if let Some(handle) = self.pinned {
                if !self.mapped.is_null() {
                    (functions.unmap)(session, handle, self.mapped, self.bytes);
                }
                (functions.unpin)(session, handle);
            }
            (functions.close)(session);
        }
    }
}

fn done(call: &str, status: c_int) -> Result<(), String> {
    if status == 0 { Ok(()) } else { Err(format!("{call} failed: {}", std::io::Error::from_raw_os_error(status.abs()))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_library_the_reason_names_the_remedy() {
        // SAFETY: no memory is at address 0, which the kernel module finds out; without it nothing is done at all.
        let Err(reason) = (unsafe { Mapping::new(0, PAGE) }) else { panic!("there is no GPU memory at address 0") };
        eprintln!("{reason}");
        assert!(reason.contains("GDRCopy") || reason.starts_with("gdr_"), "{reason}");
    }
}
