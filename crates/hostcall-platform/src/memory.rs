//! Typed memory: of the device, and of the host where the device sees it.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use hostcall_abi::Plain;
use hostcall_error::Local;

use crate::backend::{BackendMemory, Span};
use crate::device::Device;
use crate::error::Error;

/// `len` elements of device memory. Dropping it frees it; what queues still copy keeps it until then. A kernel of the
/// simulator keeps what it was launched with as a [slice](crate::Args::slice); other running kernels keep nothing.
pub struct Memory<T: Plain> {
    device: Device,
    backend: Local<Arc<dyn BackendMemory>>,
    address: u64,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Plain> Memory<T> {
    pub(crate) fn new(device: Device, backend: Arc<dyn BackendMemory>, len: usize) -> Self {
        Self { device, address: backend.device_address(), backend: Local::new(backend), len, element: PhantomData }
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

/// `len` elements of pinned host memory that the device sees. Dropping it frees it, whether kernels still use it or
/// not, but for the simulator's, as for [`Memory`].
pub struct HostMemory<T: Plain> {
    device: Device,
    backend: Local<Arc<dyn BackendMemory>>,
    address: u64,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Plain> HostMemory<T> {
    pub(crate) fn new(device: Device, backend: Arc<dyn BackendMemory>, len: usize) -> Self {
        Self { device, address: backend.device_address(), backend: Local::new(backend), len, element: PhantomData }
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

    /// Copies elements out, from `offset` on. What a kernel or another thread writes at the same time may come torn, in
    /// parts as large as elements are aligned.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn read(&self, offset: usize, to: &mut [T]) -> Result<(), Error> {
        self.span("reading host memory", offset, to.len())?;
        let all = size_of_val(to);
        // SAFETY: the range was checked; the memory lives as long as `self`, is page-aligned, was zeroed, and any bits
        // are a `T: Plain`.
        unsafe { Part::of::<T>().copy_out(self.as_ptr().add(offset).cast(), to.as_mut_ptr().cast(), all) };
        Ok(())
    }

    /// Copies elements in, from `offset` on. A kernel or another thread that reads at the same time may see them torn,
    /// as for [`HostMemory::read`].
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn write(&self, offset: usize, from: &[T]) -> Result<(), Error> {
        self.span("writing host memory", offset, from.len())?;
        let all = size_of_val(from);
        // SAFETY: as in `read`.
        unsafe { Part::of::<T>().copy_in(self.as_ptr().add(offset).cast(), from.as_ptr().cast(), all) };
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

/// What memory that several may use at once is copied by: relaxed atomics of one size for all elements of a type.
#[derive(Clone, Copy)]
enum Part {
    One,
    Two,
    Four,
    Eight,
}

impl Part {
    /// The largest of which elements and their places are whole numbers.
    fn of<T>() -> Part {
        match align_of::<T>() {
            1 => Part::One,
            2 => Part::Two,
            4 => Part::Four,
            _ => Part::Eight,
        }
    }

    /// # Safety
    /// `bytes` bytes at both, aligned to the part and whole numbers of it. `from` is used by atomics only, or by a
    /// device.
    unsafe fn copy_out(self, from: *mut u8, to: *mut u8, bytes: usize) {
        macro_rules! by {
            ($atomic:ty, $number:ty) => {
                for at in (0..bytes).step_by(size_of::<$number>()) {
                    // SAFETY: the caller's. Relaxed: whoever waits for the other side is ordered by that.
                    unsafe { to.add(at).cast::<$number>().write(<$atomic>::from_ptr(from.add(at).cast()).load(Ordering::Relaxed)) }
                }
            };
        }
        match self {
            Part::One => by!(AtomicU8, u8),
            Part::Two => by!(AtomicU16, u16),
            Part::Four => by!(AtomicU32, u32),
            Part::Eight => by!(AtomicU64, u64),
        }
    }

    /// # Safety
    /// As for [`Part::copy_out`], the other way around.
    unsafe fn copy_in(self, to: *mut u8, from: *const u8, bytes: usize) {
        macro_rules! by {
            ($atomic:ty, $number:ty) => {
                for at in (0..bytes).step_by(size_of::<$number>()) {
                    // SAFETY: as in `copy_out`.
                    unsafe { <$atomic>::from_ptr(to.add(at).cast()).store(from.add(at).cast::<$number>().read(), Ordering::Relaxed) }
                }
            };
        }
        match self {
            Part::One => by!(AtomicU8, u8),
            Part::Two => by!(AtomicU16, u16),
            Part::Four => by!(AtomicU32, u32),
            Part::Eight => by!(AtomicU64, u64),
        }
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

#[cfg(test)]
mod tests {
    use crate::{Device, SimConfig};

    #[test]
    fn elements_of_host_memory_that_two_threads_write_are_each_one_of_theirs() {
        let device = Device::sim(SimConfig::default()).unwrap();
        let memory = device.alloc_host::<u64>(3).unwrap();
        std::thread::scope(|scope| {
            for own in [u64::MAX, 0x0123_4567_89ab_cdef] {
                let memory = &memory;
                scope.spawn(move || (0..5000).for_each(|_| memory.write(0, &[own; 3]).unwrap()));
            }
            for _ in 0..5000 {
                let mut read = [7; 2];
                memory.read(1, &mut read).unwrap();
                assert!(read.iter().all(|word| [0, u64::MAX, 0x0123_4567_89ab_cdef].contains(word)), "{read:x?}");
            }
        });
    }

    #[test]
    fn host_memory_of_every_alignment_keeps_what_is_written() {
        let device = Device::sim(SimConfig::default()).unwrap();
        let bytes = device.alloc_host::<u8>(5).unwrap();
        bytes.write(1, &[1, 2, 3]).unwrap();
        let mut read = [9; 5];
        bytes.read(0, &mut read).unwrap();
        assert_eq!(read, [0, 1, 2, 3, 0]);
        let shorts = device.alloc_host::<[u16; 3]>(2).unwrap();
        shorts.write(1, &[[4, 5, 6]]).unwrap();
        let mut read = [[0; 3]];
        shorts.read(1, &mut read).unwrap();
        assert_eq!(read, [[4, 5, 6]]);
        assert!(shorts.read(1, &mut [[0; 3]; 2]).is_err() && shorts.write(2, &[[0; 3]]).is_err());
    }
}
