//! Where words begin and end, whatever the slices: `hostcall_demo::Text` against a plain loop.

use std::collections::BTreeMap;

use hostcall_demo::{Entry, Head, Text, Word};
use proptest::prelude::*;

fn heads(text: &Text<'_>) -> Vec<Head> {
    (0..text.slices()).map(|slice| text.head(slice)).collect()
}

/// All words, slice by slice.
fn words(bytes: &[u8], slice: usize) -> Vec<Word> {
    let text = Text { bytes, slice };
    let heads = heads(&text);
    let mut words = Vec::new();
    for slice in 0..text.slices() {
        text.words(&heads, slice, |word| {
            words.push(word);
            true
        });
    }
    words
}

/// Place and letters of all words.
fn plain(bytes: &[u8]) -> Vec<(usize, String)> {
    let mut words: Vec<(usize, String)> = Vec::new();
    let mut inside = false;
    for (at, &byte) in bytes.iter().enumerate() {
        let letter = byte.is_ascii_alphabetic();
        if letter && !inside {
            words.push((at, String::new()));
        }
        if let (true, Some((_, word))) = (letter, words.last_mut()) {
            word.push(byte.to_ascii_lowercase().into());
        }
        inside = letter;
    }
    words
}

/// Few different letters, so that words repeat; runs, so that they are long; the neighbours of the letters in ASCII.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::collection::vec(prop::sample::select(b"abABzZ".to_vec()), 1..12),
        2 => (prop::sample::select(b"aAz@".to_vec()), 1usize..300).prop_map(|(byte, count)| vec![byte; count]),
        2 => prop::sample::select(b" \n@[`{\0\x80\xc1\xff".to_vec()).prop_map(|byte| vec![byte]),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_word_is_found_once_and_whole_wherever_slices_are_cut(bytes in texts(), slice in 1usize..200) {
        let found = words(&bytes, slice);
        let expected: Vec<(usize, usize)> = plain(&bytes).iter().map(|(at, word)| (*at, word.len())).collect();
        prop_assert_eq!(found.iter().map(|word| (word.at, word.len)).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_words_hash_does_not_depend_on_the_slices(bytes in texts(), slice in 1usize..200) {
        prop_assert_eq!(words(&bytes, slice), words(&bytes, bytes.len().max(1)));
    }

    #[test]
    fn words_are_the_same_exactly_if_their_letters_are(bytes in texts()) {
        let (found, plain) = (words(&bytes, 64), plain(&bytes));
        let text = Text { bytes: &bytes, slice: 64 };
        for (word, (_, letters)) in found.iter().zip(&plain).take(20) {
            for (at, other) in &plain {
                prop_assert_eq!(text.is_same(*at, *word), letters == other, "{} at {}", letters, at);
            }
        }
    }

    #[test]
    fn lines_are_ordered_by_falling_count_and_word_and_can_be_written_in_pieces(bytes in texts(), piece in 1usize..40) {
        let text = Text { bytes: &bytes, slice: 64 };
        let mut counts = BTreeMap::new();
        for (word, (_, letters)) in words(&bytes, 64).iter().zip(plain(&bytes)) {
            counts.entry(letters).or_insert((*word, 0u64)).1 += 1;
        }
        let mut entries: Vec<Entry> = counts.values().map(|&(word, count)| text.entry(word, count)).collect();
        entries.sort_by(|a, b| if text.before(a, b) { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater });
        let mut expected: Vec<(&String, u64)> = counts.iter().map(|(letters, (_, count))| (letters, *count)).collect();
        expected.sort_by_key(|&(letters, count)| (std::cmp::Reverse(count), letters));

        let mut lines = Vec::new();
        for entry in &entries {
            let mut written = 0;
            while written < entry.line_len() {
                let mut out = vec![0; piece];
                let n = entry.write_line(&bytes, written, &mut out);
                prop_assert!(n > 0);
                lines.extend_from_slice(&out[..n]);
                written += n as u64;
            }
        }
        let expected: String = expected.iter().map(|(letters, count)| format!("{count} {letters}\n")).collect();
        prop_assert_eq!(String::from_utf8(lines).expect("ASCII"), expected);
    }
}
