//! Sizes of a port buffer and where everything lies in it.

use core::fmt;

use crate::word::Word;

/// Sizes of one port buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Ports. At least one more than waves can be resident, or waves queue for them: each may keep one, and the last is
    /// never kept.
    pub ports: u32,
    /// Lanes of a wave: 32 or 64.
    pub lanes: u32,
    /// Words of a port's request area, header included.
    pub request_words: u32,
    /// Words of a port's reply area.
    pub reply_words: u32,
    /// Staging slots for large payloads.
    pub slots: u32,
    /// Bytes of one staging slot; a multiple of 4096.
    pub slot_bytes: u32,
    /// Whether the host's words to the device (replies, and the control line) lie in a *window*: device memory that the
    /// host writes and never reads.
    pub window: bool,
}

/// A geometry that cannot work, and why.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum GeometryError {
    /// `ports` is 0 or above [`Geometry::MAX_PORTS`].
    Ports(u32),
    /// `lanes` is neither 32 nor 64.
    Lanes(u32),
    /// A message of one word per lane does not fit, or positions would not fit into 15 bits.
    RequestWords(u32),
    /// One reply word per lane does not fit, or they are no whole lines of four, or there are more than 32767.
    ReplyWords(u32),
    /// `slot_bytes` is no multiple of 4096, or all slots together exceed [`Geometry::MAX_STAGING`].
    Slots {
        /// Number of slots.
        slots: u32,
        /// Bytes of each.
        slot_bytes: u32,
    },
}

impl fmt::Display for GeometryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Ports(n) => write!(f, "{n} ports: give 1 to {}", Geometry::MAX_PORTS),
            Self::Lanes(n) => write!(f, "waves of {n} lanes: only 32 and 64 are supported"),
            Self::RequestWords(n) => write!(f, "{n} request words per port: give one more than the lanes of a wave, to 32767"),
            Self::ReplyWords(n) => write!(f, "{n} reply words per port: give a multiple of 4, as many as the lanes of a wave, to 32767"),
            Self::Slots { slots, slot_bytes } => write!(
                f,
                "{slots} staging slots of {slot_bytes} bytes: a slot is a multiple of 4096 bytes, all together at most {} bytes",
                Geometry::MAX_STAGING
            ),
        }
    }
}

impl core::error::Error for GeometryError {}

/// The same text as [`fmt::Display`]'s.
impl fmt::Debug for GeometryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Byte offsets of a port buffer's parts in host memory, and its size. With a window, control page and replies are
/// there instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostLayout {
    /// [`crate::descriptor::Control`]: written by the host only.
    pub control: usize,
    /// One `u32` per port, dense; written by the device only.
    pub doorbells: usize,
    /// One `u32` per [`Geometry::LOT`] ports, dense: the marks of shares, before what kernels send. Written and read by
    /// the host only.
    pub turns: usize,
    /// Request areas, one after another; written by the device only.
    pub requests: usize,
    /// Reply areas, one after another; written by the host only.
    pub replies: usize,
    /// Staging slots, written by whoever owns the slot at the time.
    pub staging: usize,
    /// One `u32` per port, dense: the server's [mark](crate::port::ServerPort::mark). Written by the host only, which
    /// reads it; so does the first owner of a port in a launch.
    pub marks: usize,
    /// Size of the whole.
    pub bytes: usize,
}

/// Byte offsets of a port buffer's parts in a window, and its size. All of it is written by the host only, in whole
/// lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowLayout {
    /// [`crate::descriptor::Control`].
    pub control: usize,
    /// Reply areas, one after another.
    pub replies: usize,
    /// Size of the whole.
    pub bytes: usize,
}

/// Byte offsets of a port buffer's parts in device memory, and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceLayout {
    /// One `u64` per port: lock, sequence number, position, launch. See [`crate::port::PortState`].
    pub states: usize,
    /// One `u32` per staging slot: 1 while it is held.
    pub slot_locks: usize,
    /// Size of the whole.
    pub bytes: usize,
}

const fn round_up(n: usize, to: usize) -> usize {
    n.div_ceil(to) * to
}

impl Geometry {
    /// The most ports of one buffer.
    pub const MAX_PORTS: u32 = 1 << 20;
    /// The most bytes of staging of one buffer: offsets travel in units of 16 bytes.
    pub const MAX_STAGING: u64 = 1 << 36;
    /// The most words of a request or reply area: positions have 15 bits.
    pub const MAX_WORDS: u32 = 0x7fff;
    /// Words of a line of 64 bytes, which the host writes at once where it can.
    pub const LINE_WORDS: u32 = 4;
    /// Ports whose doorbells the host compares at once.
    pub const LOT: u32 = 16;
    /// Everything starts on a page: host and device words never share a cache line.
    pub const PAGE: usize = 4096;

    /// A geometry for `ports` ports of waves of `lanes` lanes: 64 bytes each way for every lane of a
    /// full wave, about 3 KB for a single lane, 1024 staging slots of 64 KiB. Neighbouring ports begin 64 bytes off a
    /// power of two, so that their first lines do not fall into one set of a cache.
    pub const fn new(ports: u32, lanes: u32) -> Self {
        Self { ports, lanes, request_words: lanes * 8 + 4, reply_words: lanes * 6 + 4, slots: 1024, slot_bytes: 64 << 10, window: false }
    }

    /// Checks every size.
    ///
    /// # Errors
    /// The first one that cannot work.
    pub const fn validate(&self) -> Result<(), GeometryError> {
        if self.ports == 0 || self.ports > Self::MAX_PORTS {
            return Err(GeometryError::Ports(self.ports));
        }
        if self.lanes != 32 && self.lanes != 64 {
            return Err(GeometryError::Lanes(self.lanes));
        }
        if self.request_words <= self.lanes || self.request_words > Self::MAX_WORDS {
            return Err(GeometryError::RequestWords(self.request_words));
        }
        if self.reply_words < self.lanes || !self.reply_words.is_multiple_of(Self::LINE_WORDS) || self.reply_words > Self::MAX_WORDS {
            return Err(GeometryError::ReplyWords(self.reply_words));
        }
        if !self.slot_bytes.is_multiple_of(4096) || self.slots as u64 * self.slot_bytes as u64 > Self::MAX_STAGING {
            return Err(GeometryError::Slots { slots: self.slots, slot_bytes: self.slot_bytes });
        }
        Ok(())
    }

    /// Where the parts lie in host memory.
    pub const fn host_layout(&self) -> HostLayout {
        let control = 0;
        let doorbells = Self::PAGE;
        let turns = doorbells + round_up(self.ports as usize * 4, Self::PAGE);
        let requests = turns + round_up(self.ports.div_ceil(Self::LOT) as usize * 4, Self::PAGE);
        let replies = requests + round_up(self.ports as usize * self.request_bytes(), Self::PAGE);
        let here = if self.window { 0 } else { self.ports as usize * self.reply_bytes() };
        let staging = replies + round_up(here, Self::PAGE);
        let marks = staging + self.slots as usize * self.slot_bytes as usize;
        let bytes = marks + round_up(self.ports as usize * 4, Self::PAGE);
        HostLayout { control, doorbells, turns, requests, replies, staging, marks, bytes }
    }

    /// Where the parts lie in the window, if there is one.
    pub const fn window_layout(&self) -> WindowLayout {
        let replies = Self::PAGE;
        WindowLayout { control: 0, replies, bytes: replies + round_up(self.ports as usize * self.reply_bytes(), Self::PAGE) }
    }

    /// Words from one word of a lone lane's reply to its next.
    ///
    /// Two polling loads of one lane into the same 32-byte sector of host memory wait for each other on NVIDIA GPUs
    /// (measured on an H200: 1.9 times the floor instead of 1.0), so there it is 2. A window is the GPU's own memory,
    /// and the host writes whole lines.
    pub const fn lone_stride(&self) -> u32 {
        if self.window { 1 } else { 2 }
    }

    /// Where the parts lie in device memory.
    pub const fn device_layout(&self) -> DeviceLayout {
        let slot_locks = round_up(self.ports as usize * 8, 256);
        DeviceLayout { states: 0, slot_locks, bytes: slot_locks + round_up(self.slots as usize * 4, 256) }
    }

    /// Bytes of one port's request area.
    pub const fn request_bytes(&self) -> usize {
        self.request_words as usize * size_of::<Word>()
    }

    /// Bytes of one port's reply area.
    pub const fn reply_bytes(&self) -> usize {
        self.reply_words as usize * size_of::<Word>()
    }

    /// All lanes of a wave as a mask.
    pub const fn lane_mask(&self) -> u64 {
        if self.lanes == 64 { u64::MAX } else { (1 << self.lanes) - 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_one_after_another_on_their_own_pages() {
        let g = Geometry::new(8448, 32);
        g.validate().unwrap();
        let l = g.host_layout();
        assert!(
            l.control < l.doorbells
                && l.doorbells < l.turns
                && l.turns < l.requests
                && l.requests < l.replies
                && l.replies < l.staging
                && l.staging < l.marks
                && l.marks < l.bytes
        );
        for offset in [l.doorbells, l.turns, l.requests, l.replies, l.staging, l.marks] {
            assert_eq!(offset % Geometry::PAGE, 0);
        }
        assert!(l.replies - l.requests >= 8448 * g.request_bytes());
    }

    #[test]
    fn a_window_takes_the_replies_out_of_host_memory() {
        let g = Geometry { window: true, ..Geometry::new(8448, 32) };
        let (h, w) = (g.host_layout(), g.window_layout());
        assert_eq!(h.replies, h.staging);
        assert!(w.bytes - w.replies >= 8448 * g.reply_bytes() && w.replies.is_multiple_of(Geometry::PAGE));
    }

    #[test]
    fn a_full_wave_of_64_byte_lanes_fits() {
        for lanes in [32, 64] {
            let g = Geometry::new(1, lanes);
            assert!(lanes * crate::Header::words_for(16, lanes) < g.request_words);
            assert!(lanes * crate::ReplyHead::words(16) <= g.reply_words);
        }
    }

    #[test]
    fn sizes_that_cannot_work_are_named() {
        let good = Geometry::new(4, 32);
        assert_eq!(Geometry { ports: 0, ..good }.validate(), Err(GeometryError::Ports(0)));
        assert_eq!(Geometry { lanes: 16, ..good }.validate(), Err(GeometryError::Lanes(16)));
        assert_eq!(Geometry { request_words: 32, ..good }.validate(), Err(GeometryError::RequestWords(32)));
        assert_eq!(Geometry { reply_words: 28, ..good }.validate(), Err(GeometryError::ReplyWords(28)));
        assert_eq!(Geometry { reply_words: 34, ..good }.validate(), Err(GeometryError::ReplyWords(34)));
        assert!(matches!(Geometry { slot_bytes: 100, ..good }.validate(), Err(GeometryError::Slots { .. })));
    }
}
