//! A port buffer's memory: what a kernel and its server share.
//!
//! It has a host part (doorbells, request and reply areas, staging, the control word), which the device sees at some address, and a
//! device part (port states, staging locks, heap), which the host never touches while a kernel runs. It is allocated before
//! it is handed to a server: serving threads allocate nothing and call no driver.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::any::Any;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use hostcall_abi::descriptor::Descriptor;
use hostcall_abi::geometry::{Geometry, GeometryError, HostLayout, WordForm};
use hostcall_abi::port::PortState;
use hostcall_abi::{Status, Tag, Word};

use crate::attach::AttachError;
use crate::invocation::StagedRegion;
use crate::memory::{Areas, Doorbells, Single16, Words, store16, store24};

/// Why there is no port buffer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BufferError {
    /// Sizes that cannot work.
    #[error("port buffer: {0}")]
    Geometry(#[from] GeometryError),
    /// This processor moves no 16-byte words in one piece.
    #[error("this processor has no single-copy atomic 16-byte accesses (AVX, or LSE2): use `WordForm::Triple8`")]
    WordForm,
    /// A GPU's side of the wire moves 16-byte words only.
    #[error(
        "{device} needs a host whose processor has single-copy atomic 16-byte accesses (x86-64 with AVX, AArch64 with LSE2): use the simulator"
    )]
    NoWideWords {
        /// The device.
        device: String,
    },
    /// The memory handed in is not aligned to a page.
    #[error("port buffer memory at {address:#x} is not aligned to {} bytes", Geometry::PAGE)]
    Alignment {
        /// Where it is.
        address: usize,
    },
}

/// One port buffer.
pub struct PortBuffer {
    geometry: Geometry,
    layout: HostLayout,
    base: NonNull<u8>,
    words: Words,
    descriptor: Descriptor,
    first_tag: Tag,
    /// Where the device's part is, if it is on a device.
    on_device: Option<(offload::Device, std::sync::Arc<offload::Memory<u8>>)>,
    _keep: Box<dyn Any + Send + Sync>,
}

// SAFETY: the pointer is to shared memory that lives as long as `_keep` and is accessed atomically, through raw pointers only.
unsafe impl Send for PortBuffer {}
// SAFETY: as above.
unsafe impl Sync for PortBuffer {}

impl std::fmt::Debug for PortBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PortBuffer").field("geometry", &self.geometry).field("descriptor", &self.descriptor).finish_non_exhaustive()
    }
}

impl PortBuffer {
    /// The form in which this processor can move words: 16 bytes at once, unless it cannot.
    pub fn word_form() -> WordForm {
        if Single16::supported() { WordForm::Single16 } else { WordForm::Triple8 }
    }

    /// A buffer all of which lies in this process: for tests, and for devices that are this process.
    ///
    /// # Errors
    /// When the geometry cannot work here.
    pub fn in_process(geometry: Geometry) -> Result<Self, BufferError> {
        Self::in_process_from(geometry, Tag::new(0))
    }

    /// Such a buffer whose ports have all sent messages up to `last`, the last of which rewrote every word: what
    /// [`Tag::scrubs`] makes sure of. For tests of the wrap-around.
    ///
    /// # Errors
    /// When the geometry cannot work here.
    pub fn in_process_from(geometry: Geometry, last: Tag) -> Result<Self, BufferError> {
        geometry.validate()?;
        let host = Pages::zeroed(geometry.host_layout().bytes);
        let device = Pages::zeroed(geometry.device_layout().bytes + Geometry::PAGE);
        let (base, states) = (host.start, device.start);
        let closed = states.as_ptr() as u64 + geometry.device_layout().bytes as u64;
        // SAFETY: fresh pages of the sizes that the geometry asks for, kept with the buffer.
        let mut buffer = unsafe { Self::from_raw(geometry, base, base.as_ptr() as u64, states.as_ptr() as u64, Box::new((host, device)))? };
        buffer.descriptor.closed = closed;
        if last != Tag::new(0) {
            for port in 0..geometry.ports as usize {
                // SAFETY: one `u64` for each port lies at the start of the device part.
                unsafe { states.cast::<u64>().add(port).write(PortState::new(last, 0, false).0) };
            }
            buffer.start_from(last);
        }
        Ok(buffer)
    }

    /// Makes the host part of every port look as after message `last`. Nobody uses the buffer yet.
    fn start_from(&mut self, last: Tag) {
        let g = self.geometry;
        for port in 0..g.ports as usize {
            // SAFETY: the doorbells are inside the host part.
            unsafe { self.base.add(self.layout.doorbells).cast::<u32>().add(port).write(last.payload()) };
        }
        let word = Word { data: [0; 3], tag: last.payload() };
        for (start, words) in [(self.layout.requests, g.request_words), (self.layout.replies, g.reply_words)] {
            for i in 0..g.ports as usize * words as usize {
                // SAFETY: all words of both areas are inside the host part, which nobody else uses yet.
                unsafe {
                    let at = self.base.add(start + i * g.word_form.stride()).as_ptr();
                    match g.word_form {
                        WordForm::Single16 => store16(at, word),
                        WordForm::Triple8 => store24(at, word),
                    }
                }
            }
        }
        self.first_tag = last;
    }

    /// A buffer over memory that somebody else allocated: `host` is the host part as this process sees it, `host_on_device`
    /// the same as the device sees it, `device` the device part as the device sees it. `keep` owns both.
    ///
    /// # Safety
    /// - `host` is valid for reads and writes of `geometry.host_layout().bytes` bytes as long as `keep` lives; it is zeroed.
    /// - The device part has `geometry.device_layout().bytes` bytes and is zeroed before a kernel uses it.
    /// - Nothing but this buffer and kernels that were given its descriptor access either.
    ///
    /// # Errors
    /// When the geometry cannot work, here or with this memory.
    pub unsafe fn from_raw(
        geometry: Geometry,
        host: NonNull<u8>,
        host_on_device: u64,
        device: u64,
        keep: Box<dyn Any + Send + Sync>,
    ) -> Result<Self, BufferError> {
        geometry.validate()?;
        if geometry.word_form == WordForm::Single16 && !Single16::supported() {
            return Err(BufferError::WordForm);
        }
        if !host.as_ptr().addr().is_multiple_of(Geometry::PAGE) {
            return Err(BufferError::Alignment { address: host.as_ptr().addr() });
        }
        let layout = geometry.host_layout();
        // SAFETY: valid and aligned as the caller promises and the check above shows; lives as long as `keep`, which the buffer owns.
        let areas = unsafe { Areas::new(host, &geometry, &layout) };
        Ok(Self {
            geometry,
            layout,
            base: host,
            words: Words::new(areas, geometry.word_form),
            descriptor: Descriptor::new(&geometry, host_on_device, device),
            first_tag: Tag::new(0),
            on_device: None,
            _keep: keep,
        })
    }

    /// A buffer for a device: its host part pinned and visible there, its device part and heap in device memory.
    ///
    /// # Errors
    /// When the geometry cannot work, or there is no memory left.
    pub fn on_device(device: &offload::Device, geometry: Geometry, heap_bytes: usize) -> Result<Self, AttachError> {
        Self::on_device_from(device, geometry, heap_bytes, Tag::new(0))
    }

    /// As [`PortBuffer::on_device`], with every port as after message `last`; see [`PortBuffer::in_process_from`].
    ///
    /// # Errors
    /// As [`PortBuffer::on_device`].
    #[doc(hidden)]
    pub fn on_device_from(device: &offload::Device, geometry: Geometry, heap_bytes: usize, last: Tag) -> Result<Self, AttachError> {
        geometry.validate().map_err(BufferError::from)?;
        if geometry.word_form != WordForm::Single16 && device.info().kind != offload::DeviceKind::Sim {
            return Err(BufferError::NoWideWords { device: device.info().name.clone() }.into());
        }
        let host = device.alloc_host::<u8>(geometry.host_layout().bytes)?;
        // Behind the states and locks: the `closed` word, and the heap on a page of its own.
        let closed = geometry.device_layout().bytes;
        let heap = (closed + 4).next_multiple_of(Geometry::PAGE);
        let memory = device.alloc::<u8>(heap + heap_bytes)?;
        let queue = device.queue()?;
        queue.fill(&memory, 0)?;
        if last != Tag::new(0) {
            let state = PortState::new(last, 0, false).0.to_ne_bytes();
            queue.copy_to(&memory, geometry.device_layout().states, &state.repeat(geometry.ports as usize))?;
        }
        queue.synchronize()?;
        let start = NonNull::new(host.as_ptr()).expect("host memory has an address");
        let (seen, address) = (host.address(), memory.address());
        // SAFETY: fresh, zeroed memory of the sizes that the geometry asks for, kept with the buffer.
        let mut buffer = unsafe { Self::from_raw(geometry, start, seen, address, Box::new(host))? };
        buffer.on_device = Some((device.clone(), std::sync::Arc::new(memory)));
        buffer.descriptor.closed = address + closed as u64;
        (buffer.descriptor.heap, buffer.descriptor.heap_bytes) =
            if heap_bytes == 0 { (0, 0) } else { (address + heap as u64, heap_bytes as u64) };
        buffer.descriptor.seed = random_seed();
        if last != Tag::new(0) {
            buffer.start_from(last);
        }
        Ok(buffer)
    }

    /// Marks every port as free after the message `tags` says, one for each, and every staging slot as free, unless a kernel runs on the
    /// device. A port is left as one whose last call was given up: its next owner makes sure that the reply is there.
    pub(crate) fn free_ports(&self, tags: &[Tag]) -> Result<(), offload::Error> {
        let Some((device, memory)) = &self.on_device else { return Ok(()) };
        if device.in_flight() != 0 {
            return Ok(());
        }
        let layout = self.geometry.device_layout();
        let states: Vec<u8> = tags.iter().flat_map(|&tag| PortState::new(tag, 0, true).0.to_ne_bytes()).collect();
        let queue = device.queue()?;
        queue.copy_to(memory, layout.states, &states)?;
        queue.copy_to(memory, layout.slot_locks, &vec![0; self.geometry.slots as usize * 4])?;
        queue.synchronize()
    }

    /// Its sizes.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// What a program must be given to use it.
    pub fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    /// To complete what only the allocator of the device part knows: heap, `closed` word, seed.
    pub fn descriptor_mut(&mut self) -> &mut Descriptor {
        &mut self.descriptor
    }

    pub(crate) fn words(&self) -> Words {
        self.words
    }

    pub(crate) fn first_tag(&self) -> Tag {
        self.first_tag
    }

    pub(crate) fn doorbells(&self) -> Doorbells {
        // SAFETY: the offset is inside the host part.
        Doorbells(unsafe { self.base.add(self.layout.doorbells) }.cast())
    }

    pub(crate) fn staging(&self) -> StagedRegion<'_> {
        // SAFETY: the staging area is the end of the host part, which lives as long as the buffer.
        unsafe { StagedRegion::new(self.base.add(self.layout.staging), self.layout.bytes - self.layout.staging) }
    }

    /// Tells waiting lanes that nobody will answer any more.
    pub(crate) fn close(&self, status: Status) {
        // SAFETY: the control page is the start of the host part; all accesses to the word are atomic.
        let closed = unsafe { AtomicU32::from_ptr(self.base.add(self.layout.control).as_ptr().cast()) };
        // Pairs with the client's `closed`. Release, though the tags decide: whatever was answered before is visible before.
        closed.store(u32::from(status.0), Ordering::Release);
    }
}

/// A seed that differs from buffer to buffer: the standard library's hash keys come from the system's random source.
fn random_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::time::SystemTime::now())
}

/// Zeroed pages of this process.
struct Pages {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: owned memory.
unsafe impl Send for Pages {}
// SAFETY: nothing is accessed through a shared reference to it.
unsafe impl Sync for Pages {}

impl Pages {
    fn zeroed(bytes: usize) -> Self {
        let layout = Layout::from_size_align(bytes.max(1), Geometry::PAGE).expect("a valid geometry is smaller than the address space");
        // SAFETY: the layout's size is not 0.
        let start = unsafe { alloc_zeroed(layout) };
        Self { start: NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout)), layout }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and freed once.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}
