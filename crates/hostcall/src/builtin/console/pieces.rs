//! Long texts, which come in pieces: joined until their last piece is there.

use std::collections::HashMap;

use super::Stream;

/// Bytes of unfinished texts that are kept. A guest that never finishes its texts cannot fill the host's memory.
const KEEP: usize = 64 << 20;

#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// By port buffer, and by the text's key with its stream in the lowest bit.
    texts: HashMap<(usize, u64), Vec<u8>>,
    bytes: usize,
}

impl Pieces {
    /// Adds a piece. Returns what is to be written: the whole text with its last piece, or, when there is too
    /// much to keep, what there is of it.
    pub(super) fn add(&mut self, key: (usize, u64), piece: &[u8], last: bool) -> Option<Vec<u8>> {
        let text = self.texts.entry(key).or_default();
        text.extend_from_slice(piece);
        self.bytes += piece.len();
        if !last && self.bytes <= KEEP {
            return None;
        }
        let text = self.texts.remove(&key)?;
        self.bytes -= text.len();
        Some(text)
    }

    /// Everything unfinished.
    pub(super) fn take_all(&mut self) -> Vec<(Stream, Vec<u8>)> {
        self.bytes = 0;
        self.texts.drain().map(|((_, key), text)| ((key & 1) as Stream, text)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_that_never_finishes_its_texts_is_bounded() {
        let mut pieces = Pieces::default();
        let piece = vec![0; 1 << 20];
        let written: usize = (0..200).filter_map(|key| pieces.add((0, key), &piece, false)).map(|text| text.len()).sum();
        assert!(pieces.bytes <= KEEP && written + pieces.bytes == 200 << 20);
    }
}
