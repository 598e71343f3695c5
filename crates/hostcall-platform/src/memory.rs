//! Typed memory: of the device, and of the host where the device sees it.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr;
use std::sync::Arc;

use hostcall_abi::Plain;

use crate::backend::{BackendMemory, Span};
use crate::device::Device;
use crate::error::Error;

/// `len` elements of device memory. Dropping it frees it; what queues still copy keeps it until then, running kernels do not.
pub struct Memory<T: Plain> {
    device: Device,
    backend: Arc<dyn BackendMemory>,
    address: u64,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Plain> Memory<T> {
    pub(crate) fn new(device: Device, backend: Arc<dyn BackendMemory>, len: usize) -> Self {
        Self { device, address: backend.device_address(), backend, len, element: PhantomData }
    }

    /// Where the device sees it.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The address as something to point at, which cudarc's launches want.
    #[cfg(feature = "cudarc")]
    pub(crate) fn address_ref(&self) -> &u64 {
        &self.address
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whose memory it is.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The plugin's object.
    pub fn backend(&self) -> &Arc<dyn BackendMemory> {
        &self.backend
    }

    pub(crate) fn span(&self, what: &'static str, offset: usize, len: usize) -> Result<Span, Error> {
        span::<T>(&self.backend, self.len, what, offset, len)
    }
}

impl<T: Plain> fmt::Debug for Memory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory {{ {:#x}, {} elements of {} bytes }}", self.address(), self.len, size_of::<T>())
    }
}

/// `len` elements of pinned host memory that the device sees. Dropping it frees it, whether kernels still use it or not.
pub struct HostMemory<T: Plain> {
    device: Device,
    backend: Arc<dyn BackendMemory>,
    address: u64,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Plain> HostMemory<T> {
    pub(crate) fn new(device: Device, backend: Arc<dyn BackendMemory>, len: usize) -> Self {
        Self { device, address: backend.device_address(), backend, len, element: PhantomData }
    }

    /// Where the device sees it.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The address as something to point at, which cudarc's launches want.
    #[cfg(feature = "cudarc")]
    pub(crate) fn address_ref(&self) -> &u64 {
        &self.address
    }

    /// Where the host sees it. A kernel may write it at any time: read and write through atomics or volatile accesses.
    pub fn as_ptr(&self) -> *mut T {
        self.backend.host_pointer().cast()
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whose memory it is.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The plugin's object.
    pub fn backend(&self) -> &Arc<dyn BackendMemory> {
        &self.backend
    }

    /// Copies elements out, from `offset` on. What a kernel writes at the same time may come torn.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn read(&self, offset: usize, to: &mut [T]) -> Result<(), Error> {
        self.span("reading host memory", offset, to.len())?;
        for (i, element) in to.iter_mut().enumerate() {
            // SAFETY: the range was checked; the memory lives as long as `self`, is page-aligned, was zeroed, and any bits are a `T: Plain`.
            // Volatile, since a device may write at the same time.
            *element = unsafe { ptr::read_volatile(self.as_ptr().add(offset + i)) };
        }
        Ok(())
    }

    /// Copies elements in, from `offset` on. A kernel that reads at the same time may see them torn.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn write(&self, offset: usize, from: &[T]) -> Result<(), Error> {
        self.span("writing host memory", offset, from.len())?;
        for (i, element) in from.iter().enumerate() {
            // SAFETY: as in `read`.
            unsafe { ptr::write_volatile(self.as_ptr().add(offset + i), *element) };
        }
        Ok(())
    }

    pub(crate) fn span(&self, what: &'static str, offset: usize, len: usize) -> Result<Span, Error> {
        span::<T>(&self.backend, self.len, what, offset, len)
    }
}

impl<T: Plain> fmt::Debug for HostMemory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostMemory {{ {:p}, {} elements of {} bytes }}", self.as_ptr(), self.len, size_of::<T>())
    }
}

fn span<T>(memory: &Arc<dyn BackendMemory>, size: usize, what: &'static str, offset: usize, len: usize) -> Result<Span, Error> {
    match offset.checked_add(len) {
        Some(end) if end <= size => {
            let Range { start, end } = offset * size_of::<T>()..end * size_of::<T>();
            Ok(Span { memory: memory.clone(), offset: start, bytes: end - start })
        }
        _ => Err(Error::Range { what, offset, len, size }),
    }
}

/// The bytes of plain elements.
pub(crate) fn bytes_of<T: Plain>(elements: &[T]) -> &[u8] {
    // SAFETY: `T: Plain` has no padding, so all its bytes are initialised; the result borrows `elements`.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

/// The bytes of plain elements, to be written.
pub(crate) fn bytes_of_mut<T: Plain>(elements: &mut [T]) -> &mut [u8] {
    // SAFETY: as in `bytes_of`; any bytes written are a `T: Plain`.
    unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), size_of_val(elements)) }
}
