//! What a profiler does that replays a kernel: it puts all memory back that the device can reach.

use std::sync::atomic::{AtomicU32, Ordering};

use super::MockDevice;
use crate::wire::PortBuffer;

/// What the memory of an in-process buffer held: of each of its parts where it lies, and its words.
#[derive(Debug)]
pub struct MemoryImage(Vec<(usize, Vec<u32>)>);

/// Where the parts of a buffer lie, and how many bytes they have: the device's, the window, and the host's in pieces.
fn parts(memory: &PortBuffer) -> Vec<(usize, usize)> {
    let (geometry, descriptor) = (memory.geometry(), memory.descriptor());
    let layout = geometry.host_layout();
    let host = descriptor.doorbells as usize - layout.doorbells;
    // Behind the device's part is the word for its end.
    let device = (descriptor.states as usize, geometry.device_layout().bytes + 4);
    let window = geometry.window.then(|| (descriptor.control as usize, geometry.window_layout().bytes));
    let pieces = [0, layout.turns, layout.requests, layout.staging, layout.marks, layout.bytes];
    let host = pieces.windows(2).map(|piece| (host + piece[0], piece[1] - piece[0]));
    [device].into_iter().chain(window).chain(host).collect()
}

/// A word of shared memory.
fn word(at: usize) -> &'static AtomicU32 {
    // SAFETY: an aligned word of the buffer's memory, which the mock device that is asked keeps, and both sides access
    // by atomics or what equals them. The reference does not outlive the call.
    unsafe { AtomicU32::from_ptr(at as *mut u32) }
}

/// Writes a part of an image.
fn write((start, words): &(usize, Vec<u32>)) {
    // As in `MockDevice::image`.
    (*start..).step_by(4).zip(words).for_each(|(at, &value)| word(at).store(value, Ordering::Relaxed));
}

impl MockDevice {
    /// What the buffer's memory holds. No kernel runs.
    pub fn image(&self) -> MemoryImage {
        // Relaxed: pairs with nothing; whoever wrote it is at rest, or may be read before or after.
        let words = |(start, bytes)| (start, (start..start + bytes).step_by(4).map(|at| word(at).load(Ordering::Relaxed)).collect());
        MemoryImage(parts(self.memory()).into_iter().map(words).collect())
    }

    /// Puts the buffer's memory back to what it was. No kernel runs.
    pub fn put_back(&self, image: &MemoryImage) {
        self.put_back_slowly(image, false, || ());
    }

    /// Puts the device's own memory back, and with `window` what of it the host writes, and leaves the host's as it is.
    pub fn put_back_device(&self, image: &MemoryImage, window: bool) {
        let parts = 1 + usize::from(window && self.memory().geometry().window);
        image.0.iter().take(parts).for_each(write);
    }

    /// The same as [`MockDevice::put_back`], and `meanwhile` behind each part; from
    /// the last part to the first, if `from_behind`.
    pub fn put_back_slowly(&self, image: &MemoryImage, from_behind: bool, mut meanwhile: impl FnMut()) {
        let parts: Vec<_> = if from_behind { image.0.iter().rev().collect() } else { image.0.iter().collect() };
        for part in parts {
            write(part);
            meanwhile();
        }
    }

    /// Writes the marks of a port and of the share that would begin with it, as a device can that does not mind its own
    /// business.
    pub fn write_marks(&self, port: u32, mark: u32, turn: Option<u32>) {
        let words = self.memory().words();
        // Relaxed, both: pair with the server's loads, which believe nothing.
        words.mark(port).store(mark, Ordering::Relaxed);
        if let Some(turn) = turn {
            words.turn(port).store(turn, Ordering::Relaxed);
        }
    }
}
