//! The bare words of a port buffer, for clients that keep to no protocol, and for filling a buffer without a thread per
//! lane.

use hostcall_abi::header::pack_lone;
use hostcall_abi::port::Arch;
use hostcall_abi::word::pack;
use hostcall_abi::{Flags, Header, Tag, Word};

use super::{Lanes, MockArch};
use crate::server::BufferHandle;

/// Writes request words and reads reply words of any port.
#[derive(Debug)]
pub struct RawPorts {
    buffer: BufferHandle,
    lanes: Lanes,
}

impl RawPorts {
    pub(super) fn new(buffer: BufferHandle) -> Self {
        Self { buffer, lanes: Lanes::new(1) }
    }

    fn arch(&self) -> MockArch<'_> {
        MockArch::new(&self.buffer.0.memory, &self.lanes, 0, 0, 0)
    }

    /// Writes a word of a request area.
    pub fn store(&self, port: u32, index: u32, word: Word) {
        self.arch().store_request(port, index as usize, word);
    }

    /// Rings a doorbell.
    pub fn ring(&self, port: u32, value: u32) {
        self.arch().show(port, value);
    }

    /// Reads a word of a reply area.
    pub fn load(&self, port: u32, index: u32) -> Word {
        self.arch().load_reply(port, index as usize)
    }

    /// The status with which the buffer was closed, 0 while it is served.
    pub fn closed(&self) -> u32 {
        self.arch().closed()
    }

    /// Writes a whole message, each lane of the header's mask with the same payload, at position `base` of the request
    /// area, without ringing. The header's word count is taken from the payload.
    #[expect(clippy::too_many_arguments, reason = "each is one fact of the message")]
    pub fn send(&self, port: u32, base: u32, tag: Tag, service: u16, flags: Flags, mask: u64, payload: &[u32]) {
        let lanes = mask.count_ones();
        let words = Header::words_for(payload.len() as u32, lanes);
        let header = Header { service, words: words as u8, flags, mask };
        let unit = |i: u32| payload.get(i as usize).copied().unwrap_or(0);
        for j in 0..words {
            let units = if lanes == 1 { pack_lone(j, unit) } else { pack(j, unit) };
            for lane in 0..lanes {
                self.store(port, base + 1 + j * lanes + lane, Word::new(units, tag.payload()));
            }
        }
        let first = if lanes == 1 { header.encode_lone(mask.trailing_zeros(), [unit(0), unit(1)], tag) } else { header.encode(tag) };
        self.store(port, base, first);
    }

    /// Whether the first lane's reply to message `tag` is there.
    pub fn answered(&self, port: u32, tag: Tag) -> bool {
        self.load(port, 0).tag() == tag.payload()
    }
}
