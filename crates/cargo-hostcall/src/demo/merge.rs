//! The counts of several devices, put together.

use std::collections::HashMap;

/// Lines as the kernels write them, `COUNT WORD`, by falling count, then by word.
pub(super) struct Merged {
    pub(super) lines: Vec<u8>,
    pub(super) distinct: u64,
}

impl Merged {
    /// The first so many lines.
    pub(super) fn top(&self, most: usize) -> &[u8] {
        let ends = self.lines.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        &self.lines[..ends.take(most).last().unwrap_or(0)]
    }
}

/// Adds up what the devices counted of each word.
pub(super) fn merge(parts: &[Vec<u8>]) -> Merged {
    let mut counts: HashMap<&[u8], u64> = HashMap::new();
    for line in parts.iter().flat_map(|lines| lines.split(|byte| *byte == b'\n')) {
        let (count, word) = line.split_at(line.iter().position(|byte| *byte == b' ').unwrap_or(0));
        // The last line has nothing behind it.
        if let (Some(number), Some((_, word))) =
            (std::str::from_utf8(count).ok().and_then(|text| text.parse::<u64>().ok()), word.split_first())
        {
            *counts.entry(word).or_default() += number;
        }
    }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_unstable_by(|(a, m), (b, n)| n.cmp(m).then(a.cmp(b)));
    let mut lines = Vec::with_capacity(parts.iter().map(Vec::len).sum());
    for (word, count) in &sorted {
        lines.extend_from_slice(count.to_string().as_bytes());
        lines.push(b' ');
        lines.extend_from_slice(word);
        lines.push(b'\n');
    }
    Merged { lines, distinct: sorted.len() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_several_parts_are_added_up_and_sorted_anew() {
        let parts = [b"9 the\n2 a\n1 z\n".to_vec(), Vec::new(), b"3 a\n3 b\n2 z\n".to_vec()];
        let merged = merge(&parts);
        assert_eq!(merged.lines, b"9 the\n5 a\n3 b\n3 z\n");
        assert_eq!((merged.distinct, merged.top(2), merged.top(9).len()), (4, &b"9 the\n5 a\n"[..], merged.lines.len()));
        let none = merge(&[Vec::new(), Vec::new()]);
        assert_eq!((none.lines.len(), none.distinct, none.top(10).len()), (0, 0, 0));
    }
}
