//! A port buffer's memory: what a kernel and its server share.
//!
//! The host part has doorbells, request and reply areas, staging and the control word. The device sees it at some
//! address. The device part has port states, staging locks and the heap. The host never touches it while a kernel
//! runs. A port buffer is allocated before a server gets it, because serving threads allocate nothing and call no
//! driver.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hostcall_abi::descriptor::Descriptor;
use hostcall_abi::geometry::{Geometry, GeometryError, HostLayout};
use hostcall_abi::port::{PortState, ServerPort};
use hostcall_abi::{Status, Tag, Word};
use offload::{LineStore, Window};

use super::pages::Pages;
use super::staging::{StagedRegion, Staging};
use super::whole::{has_whole_words, store16};
use super::window::WindowWords;
use super::words::{Doorbells, PortWords};

/// Why there is no port buffer.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BufferError {
    /// Sizes that cannot work.
    #[error("port buffer: {0}")]
    Geometry(#[from] GeometryError),
    /// A heap that no device of this kind has room for.
    #[error("{device} has {available} bytes of memory, and `.heap({heap})` asks for more: give less{}", offload::sim::more_memory(device))]
    Heap {
        /// The device's name.
        device: String,
        /// Bytes asked for.
        heap: u64,
        /// Bytes of memory that the device has.
        available: u64,
    },
    /// This processor moves no 16-byte words in one piece.
    #[error(
        "hostcall needs a processor with single-copy atomic 16-byte accesses: x86-64 with AVX, or AArch64 with LSE2; this processor has neither"
    )]
    NoWholeWords,
    /// There is no window although somebody insists on one.
    #[error(transparent)]
    Window(#[from] offload::WindowError),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] offload::Error),
    /// The memory handed in is not aligned: the host part to a page, a window to a line.
    #[error("port buffer memory at {address:#x} is not aligned to {alignment} bytes")]
    Alignment {
        /// Where it is.
        address: usize,
        /// What it must be a multiple of.
        alignment: usize,
    },
}

hostcall_error::readable!(BufferError);

/// One port buffer.
pub struct PortBuffer {
    geometry: Geometry,
    layout: HostLayout,
    base: NonNull<u8>,
    words: PortWords,
    window: Option<WindowWords>,
    descriptor: Descriptor,
    first_tag: Tag,
    /// Where the device's part is, if it is on a device.
    on_device: Option<OnDevice>,
    _keep: Box<dyn Any + Send + Sync>,
}

/// The device's part of a buffer that is on a device.
struct OnDevice {
    device: offload::Device,
    memory: Arc<offload::Memory<u8>>,
    /// Who gives the window.
    provider: Option<offload::WindowProvider>,
}

/// The window of a buffer over memory that somebody else allocated.
#[derive(Clone, Copy, Debug)]
pub struct RawWindow {
    /// As this process writes it; aligned to a line.
    pub host: NonNull<u8>,
    /// As the device sees it.
    pub address: u64,
    /// How this processor writes its lines.
    pub store: LineStore,
}

impl RawWindow {
    /// A device's, as long as that is kept.
    pub(crate) fn of(window: &Window) -> Self {
        Self { host: window.as_ptr(), address: window.address(), store: window.line_store() }
    }
}

// SAFETY: the pointer is to shared memory that lives as long as `_keep` and is accessed atomically, through raw
// pointers only.
unsafe impl Send for PortBuffer {}
// SAFETY: as above.
unsafe impl Sync for PortBuffer {}

impl std::fmt::Debug for PortBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PortBuffer").field("geometry", &self.geometry).field("descriptor", &self.descriptor).finish_non_exhaustive()
    }
}

impl PortBuffer {
    /// A buffer all of which lies in this process, its window included: for tests, and for devices that are this
    /// process.
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
        let window = geometry.window.then(|| Pages::zeroed(geometry.window_layout().bytes));
        let raw = window.as_ref().map(|pages| RawWindow {
            host: pages.start,
            address: pages.start.as_ptr() as u64,
            store: LineStore::detect_cached(),
        });
        let (base, states) = (host.start, device.start);
        let closed = states.as_ptr() as u64 + geometry.device_layout().bytes as u64;
        // SAFETY: fresh pages of the sizes that the geometry asks for, kept with the buffer.
        let mut buffer =
            unsafe { Self::from_raw(geometry, base, base.as_ptr() as u64, raw, states.as_ptr() as u64, Box::new((host, device, window)))? };
        buffer.set_closed(closed);
        if last != Tag::new(0) {
            for port in 0..geometry.ports as usize {
                // SAFETY: one `u64` for each port lies at the start of the device part.
                unsafe { states.cast::<u64>().add(port).write(PortState::new(last, 0, false).word(0)) };
            }
            buffer.start_from(last);
        }
        Ok(buffer)
    }

    /// Where kernels keep what they learnt of the buffer's end. With a window there is nothing to learn: the host says
    /// it there.
    fn set_closed(&mut self, device_word: u64) {
        self.descriptor.closed = if self.window.is_some() { self.descriptor.control } else { device_word };
    }

    /// Makes the host's words of every port look as after message `last`. Nobody uses the buffer yet.
    fn start_from(&mut self, last: Tag) {
        let g = self.geometry;
        for port in 0..g.ports as usize {
            // SAFETY: the doorbells are inside the host part.
            unsafe { self.base.add(self.layout.doorbells).cast::<u32>().add(port).write(u32::from(last.payload())) };
            // Relaxed: nobody uses the buffer yet.
            self.words.mark(port as u32).store(ServerPort::new(last).mark(), Ordering::Relaxed);
        }
        let word = Word::new([0; 4], last.payload());
        let replies = if g.window { 0 } else { g.reply_words };
        for (start, words) in [(self.layout.requests, g.request_words), (self.layout.replies, replies)] {
            for i in 0..g.ports as usize * words as usize {
                // SAFETY: all words of both areas are inside the host part, which nobody else uses yet.
                unsafe { store16(self.base.add(start + i * size_of::<Word>()).as_ptr(), word) };
            }
        }
        if let Some(window) = &self.window {
            window.start_from(last);
        }
        self.first_tag = last;
    }

    /// A buffer over memory that somebody else allocated: `host` is the host part as this process sees it,
    /// `host_on_device` the same as the device sees it, `window` the window if the geometry has one, `device` the
    /// device part as the device sees it. `keep` owns all of it.
    ///
    /// # Safety
    /// - `host` is valid for reads and writes of `geometry.host_layout().bytes` bytes as long as `keep` lives; it is
    ///   zeroed.
    /// - The window is valid for writes, by its line store, of `geometry.window_layout().bytes` bytes as long as `keep`
    ///   lives; it is zeroed.
    /// - The device part has `geometry.device_layout().bytes` bytes and is zeroed before a kernel uses it.
    /// - Nothing but this buffer and kernels that were given its descriptor access any of them.
    ///
    /// # Errors
    /// When the geometry cannot work, here or with this memory.
    pub unsafe fn from_raw(
        geometry: Geometry,
        host: NonNull<u8>,
        host_on_device: u64,
        window: Option<RawWindow>,
        device: u64,
        keep: Box<dyn Any + Send + Sync>,
    ) -> Result<Self, BufferError> {
        let geometry = Geometry { window: window.is_some(), ..geometry };
        geometry.validate()?;
        if !has_whole_words() {
            return Err(BufferError::NoWholeWords);
        }
        let starts = [Some((host, Geometry::PAGE)), window.map(|window| (window.host, offload::Line::BYTES))];
        for (start, alignment) in starts.into_iter().flatten() {
            let address = start.as_ptr().addr();
            if !address.is_multiple_of(alignment) {
                return Err(BufferError::Alignment { address, alignment });
            }
        }
        let layout = geometry.host_layout();
        let descriptor = Descriptor::new(&geometry, host_on_device, window.map_or(0, |window| window.address), device);
        // SAFETY: aligned as the check above shows, else as the caller promises.
        let window = window.map(|window| unsafe { WindowWords::new(window.host, &geometry, window.store) });
        // SAFETY: valid and aligned as the caller promises and the check above shows; lives as long as `keep`, which
        // the buffer owns.
        let words = unsafe { PortWords::new(host, &geometry, &layout, window) };
        Ok(Self { geometry, layout, base: host, words, window, descriptor, first_tag: Tag::new(0), on_device: None, _keep: keep })
    }

    /// A buffer for a device: its host part pinned and visible there, its device part and heap in device memory. With
    /// `geometry.window`, replies lie in a [window](offload::Window) into device memory if the device has one; if not,
    /// the geometry's `window` is false after.
    ///
    /// # Errors
    /// When the geometry cannot work, or there is no memory left.
    pub fn on_device(device: &offload::Device, geometry: Geometry, heap_bytes: usize) -> Result<Self, BufferError> {
        Self::on_device_from(device, geometry, heap_bytes, Tag::new(0))
    }

    /// As [`PortBuffer::on_device`], with every port as after message `last`; see [`PortBuffer::in_process_from`].
    ///
    /// # Errors
    /// As [`PortBuffer::on_device`].
    #[doc(hidden)]
    pub fn on_device_from(device: &offload::Device, geometry: Geometry, heap_bytes: usize, last: Tag) -> Result<Self, BufferError> {
        geometry.validate()?;
        let window = if geometry.window { open_window(device, geometry.window_layout().bytes)? } else { None };
        let geometry = Geometry { window: window.is_some(), ..geometry };
        let raw = window.as_ref().map(RawWindow::of);
        let provider = window.as_ref().map(Window::provider);
        let host = device.alloc_host::<u8>(geometry.host_layout().bytes)?;
        // Behind the states and locks: the `closed` word, and the heap on a page of its own.
        let closed = geometry.device_layout().bytes;
        let heap = (closed + 4).next_multiple_of(Geometry::PAGE);
        let memory = device.alloc::<u8>(heap + heap_bytes)?;
        let queue = device.queue()?;
        queue.fill(&memory, 0)?;
        if last != Tag::new(0) {
            let state = PortState::new(last, 0, false).word(0).to_ne_bytes();
            queue.copy_to(&memory, geometry.device_layout().states, &state.repeat(geometry.ports as usize))?;
        }
        queue.synchronize()?;
        let start = NonNull::new(host.as_ptr()).expect("host memory has an address");
        let (seen, address) = (host.address(), memory.address());
        // SAFETY: fresh, zeroed memory of the sizes that the geometry asks for, kept with the buffer.
        let mut buffer = unsafe { Self::from_raw(geometry, start, seen, raw, address, Box::new((host, window)))? };
        buffer.on_device = Some(OnDevice { device: device.clone(), memory: Arc::new(memory), provider });
        buffer.set_closed(address + closed as u64);
        (buffer.descriptor.heap, buffer.descriptor.heap_bytes) =
            if heap_bytes == 0 { (0, 0) } else { (address + heap as u64, heap_bytes as u64) };
        buffer.descriptor.seed = random_seed();
        if last != Tag::new(0) {
            buffer.start_from(last);
        }
        Ok(buffer)
    }

    /// Marks every port as free after the message `tags` says, one for each, and every staging slot as free, unless a
    /// kernel runs on the device. A port is left as one whose last call was given up: its next owner makes sure that
    /// the reply is there.
    pub(crate) fn free_ports(&self, tags: &[Tag]) -> Result<(), offload::Error> {
        let Some(OnDevice { device, memory, .. }) = &self.on_device else { return Ok(()) };
        let layout = self.geometry.device_layout();
        let states: Vec<u8> = tags.iter().flat_map(|&tag| PortState::new(tag, 0, true).word(0).to_ne_bytes()).collect();
        let free = || {
            let queue = device.queue()?;
            queue.copy_to(memory, layout.states, &states)?;
            queue.copy_to(memory, layout.slot_locks, &vec![0; self.geometry.slots as usize * 4])?;
            queue.synchronize()
        };
        // A kernel that is launched meanwhile would take ports that are overwritten under it.
        device.while_idle(free).unwrap_or(Ok(()))
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

    /// Who gives the window in which replies lie; `None`: they lie in host memory.
    pub fn window_provider(&self) -> Option<offload::WindowProvider> {
        self.on_device.as_ref().and_then(|on| on.provider)
    }

    pub(crate) fn words(&self) -> &PortWords {
        &self.words
    }

    pub(crate) fn first_tag(&self) -> Tag {
        self.first_tag
    }

    pub(crate) fn doorbells(&self) -> Doorbells {
        // SAFETY: the offset is inside the host part.
        Doorbells(unsafe { self.base.add(self.layout.doorbells) }.cast())
    }

    pub(crate) fn staging(&self) -> Staging<'_> {
        // SAFETY: the staging area is a part of the host part, which lives as long as the buffer.
        let area = unsafe { StagedRegion::new(self.base.add(self.layout.staging), self.layout.marks - self.layout.staging) };
        Staging::new(area, self.geometry.slot_bytes as usize)
    }

    /// Tells waiting lanes that nobody will answer any more.
    pub(crate) fn close(&self, status: Status) {
        if let Some(window) = &self.window {
            return window.close(u32::from(status.0));
        }
        // SAFETY: the control page is the start of the host part; all accesses to the word are atomic.
        let closed = unsafe { AtomicU32::from_ptr(self.base.add(self.layout.control).as_ptr().cast()) };
        // Pairs with the client's `closed`. Release, though the tags decide: whatever was answered before is visible
        // before.
        closed.store(u32::from(status.0), Ordering::Release);
    }
}

/// A window of so many bytes, if the machine has any way to one, the user wants it, and it passes its litmus test: no
/// word that a kernel reads there is ever in parts of two stores.
pub(crate) fn open_window(device: &offload::Device, bytes: usize) -> Result<Option<Window>, offload::WindowError> {
    use offload::WindowError::{Inconclusive, NoLineStore, NoProvider, Off, Torn};
    let tested = device.window(bytes).and_then(|window| {
        // The simulator's is ordinary memory, whose words the processor promises to keep whole.
        if window.provider() != offload::WindowProvider::Simulator {
            window.litmus(offload::Effort::Brief)?;
        }
        Ok(window)
    });
    match tested {
        Ok(window) => Ok(Some(window)),
        Err(why @ (Off | NoLineStore { .. } | NoProvider { .. })) => {
            tracing::debug!(%why, "no window");
            Ok(None)
        }
        Err(why @ (Torn { .. } | Inconclusive { .. })) => {
            tracing::warn!(%why, "the window is not used");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// A seed that differs from buffer to buffer: the standard library's hash keys come from the system's random source.
fn random_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::time::SystemTime::now())
}
