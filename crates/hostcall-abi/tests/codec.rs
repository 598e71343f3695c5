//! Properties of the codec and of everything that is a number on the wire.
#![cfg(not(loom))]
#![allow(missing_docs, reason = "a test")]

use std::collections::HashSet;
use std::fmt::Debug;

use hostcall_abi::codec::{Fixed, bytes, bytes_mut, padded};
use hostcall_abi::descriptor::KernelParams;
use hostcall_abi::port::{Group, PortState};
use hostcall_abi::word::{pack, units_in, unpack, words_of};
use hostcall_abi::{CallError, Descriptor, Flags, Geometry, Header, ReplyHead, Status, Tag, Word};
use proptest::prelude::*;

/// A value survives, writes nothing outside its units, and does not decode from fewer.
fn survives<T: Fixed + PartialEq + Debug>(value: &T) -> Result<(), TestCaseError> {
    const CANARY: u32 = 0xc0ff_ee00;
    let mut units = vec![CANARY; T::DWORDS + 1];
    value.put(&mut units);
    prop_assert_eq!(units[T::DWORDS], CANARY);
    let back = T::get(&units[..T::DWORDS]);
    prop_assert_eq!(back.as_ref(), Ok(value));
    if T::DWORDS > 0 {
        prop_assert!(T::get(&units[..T::DWORDS - 1]).is_err());
    }
    // The bytes are determined by the value: nothing of what was there before shows through.
    let mut again = vec![!CANARY; T::DWORDS];
    value.put(&mut again);
    prop_assert_eq!(&again[..], &units[..T::DWORDS]);
    Ok(())
}

/// What decodes encodes to something that decodes to the same: no two readings of one payload.
fn decodes_or_errs<T: Fixed>(units: &[u32]) -> Result<(), TestCaseError> {
    if let Ok(value) = T::get(units) {
        let mut first = vec![0; T::DWORDS];
        value.put(&mut first);
        let mut second = vec![0; T::DWORDS];
        T::get(&first).map_err(|error| TestCaseError::fail(error.to_string()))?.put(&mut second);
        prop_assert_eq!(first, second);
    }
    Ok(())
}

type Deep = (u8, (i16, Option<(char, bool)>), Result<[u64; 2], (u8, i128)>, [u8; 7]);

fn deep() -> impl Strategy<Value = Deep> {
    let tail = prop_oneof![any::<[u64; 2]>().prop_map(Ok), any::<(u8, i128)>().prop_map(Err)];
    (any::<u8>(), any::<(i16, Option<(char, bool)>)>(), tail, any::<[u8; 7]>())
}

proptest! {
    #[test]
    fn values_survive(a: (u8, i64, bool), b: Option<char>, c: Result<u16, [u32; 3]>, d: (usize, u128, f32), e in deep()) {
        survives(&a)?;
        survives(&b)?;
        survives(&c)?;
        if !d.2.is_nan() {
            survives(&d)?;
        }
        survives(&e)?;
        survives(&())?;
    }

    #[test]
    fn arbitrary_payload_decodes_or_errs(units in prop::collection::vec(prop_oneof![0..3u32, any::<u32>()], 0..24)) {
        decodes_or_errs::<Deep>(&units)?;
        decodes_or_errs::<Option<Option<bool>>>(&units)?;
        decodes_or_errs::<Result<char, ()>>(&units)?;
        decodes_or_errs::<(f64, [u16; 3])>(&units)?;
    }

    #[test]
    fn the_bytes_of_a_slice_are_its_bytes(mut values: Vec<u32>, other: u8) {
        let copy: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        prop_assert_eq!(bytes(&values), &copy[..]);
        if let Some(first) = bytes_mut(&mut values).first_mut() {
            *first = other;
            prop_assert_eq!(values[0].to_ne_bytes()[0], other);
        }
    }

    #[test]
    fn headers_survive(service: u16, words: u8, flags in 0..4u8, mask: u64, units: [u32; 2], seq: u16) {
        let (header, tag) = (Header { service, words, flags: Flags(flags), mask }, Tag::new(seq));
        if mask.count_ones() > 1 {
            prop_assert_eq!(Header::decode(header.encode(tag)).0, header);
            prop_assert_eq!(header.encode(tag).tag(), tag.header());
        }
        let lane = mask as u32 % 64;
        let lone = Header { mask: 1 << lane, ..header };
        prop_assert_eq!(Header::decode(lone.encode_lone(lane, units, tag)), (lone, units));
        prop_assert_eq!(lone.encode_lone(lane, units, tag).tag(), tag.header());
        let head = ReplyHead { status: Status(service), dwords: mask as u16 };
        prop_assert_eq!(ReplyHead::decode(head.encode()), head);
    }

    #[test]
    fn any_bits_decode_to_a_header_that_encodes_to_the_same_message(bits: [u32; 4]) {
        // Who reads a header, and who reads what that reader would have written, see the same lanes and the same
        // length.
        let word = Word(bits);
        let (header, first) = Header::decode(word);
        let tag = Tag::new(word.tag());
        let again = match header.lanes() {
            0 => return Ok(()),
            1 => header.encode_lone(header.mask.trailing_zeros(), first, tag),
            _ => header.encode(tag),
        };
        prop_assert_eq!(Header::decode(again).0, header);
        prop_assert_eq!(header.message_words(), 1 + header.lanes() * u32::from(header.words));
    }

    #[test]
    fn a_requests_words_hold_its_payload_and_no_more(units in 0..2000u32, many: bool) {
        let lanes = if many { 5 } else { 1 };
        let words = Header::words_for(units, lanes);
        let in_header = if many { 0 } else { 8 };
        prop_assert!(Header::units_in(words, lanes) >= units);
        prop_assert!(words == 0 || in_header + (words - 1) * 14 < units * 4, "a word too many");
    }

    #[test]
    fn a_replys_words_hold_its_payload_and_no_more(dwords in 0..60_000u32) {
        let words = ReplyHead::words(dwords);
        prop_assert!(words * 14 >= 4 * (1 + dwords) && (words - 1) * 14 < 4 * (1 + dwords));
    }

    #[test]
    fn words_of_replies_have_places_of_their_own(lanes in 1..=64u32, lines in 16..80u32, stride in 1..=2u32) {
        let reply_words = lines * 4;
        let words = ReplyHead::most_words(reply_words, lanes, stride);
        let mut taken = HashSet::new();
        for (rank, j) in (0..lanes).flat_map(|rank| (0..words).map(move |j| (rank, j))) {
            let at = ReplyHead::place(lanes, rank, j, stride);
            prop_assert!(at < ReplyHead::area(lanes, words, stride) && taken.insert(at));
        }
        prop_assert!(ReplyHead::area(lanes, words, stride) <= reply_words);
        prop_assert!(ReplyHead::area(lanes, words + 1, stride) > reply_words, "there was room for a word more");
    }

    #[test]
    fn packed_units_are_the_bytes_of_the_stream(units in prop::collection::vec(any::<u32>(), 0..60), tag: u16) {
        let bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let words: Vec<Word> =
            (0..words_of(units.len() as u32)).map(|j| Word::new(pack(j, |i| units.get(i as usize).copied().unwrap_or(0)), tag)).collect();
        // The reference: word `j` carries bytes 14 j to 14 j + 13, and the tag.
        for (j, word) in words.iter().enumerate() {
            let mut expected = [0; 16];
            let part = &bytes[j * 14..bytes.len().min(j * 14 + 14)];
            expected[..part.len()].copy_from_slice(part);
            expected[14..].copy_from_slice(&tag.to_le_bytes());
            let got: Vec<u8> = word.0.iter().flat_map(|unit| unit.to_le_bytes()).collect();
            prop_assert_eq!(got, expected);
        }
        for (i, &unit) in units.iter().enumerate() {
            prop_assert_eq!(unpack(i as u32, |j| words[j as usize]), unit);
        }
        prop_assert!(units_in(words.len() as u32) as usize >= units.len());
    }

    #[test]
    fn port_states_keep_their_parts(seq: u16, position in 0..=Geometry::MAX_WORDS, unacked: bool) {
        let state = PortState::new(Tag::new(seq), position, unacked);
        prop_assert_eq!((state.tag(), state.position(), state.unacked()), (Tag::new(seq), position, unacked));
        prop_assert!(!state.locked());
        prop_assert_eq!(state.abandoned(), unacked && position == 0);
        let locked = PortState(state.0 | PortState::LOCKED);
        prop_assert!(locked.locked() && locked.tag() == state.tag() && locked.position() == position);
    }

    #[test]
    fn ranks_count_the_lanes_below(mask in 1..=u64::MAX) {
        let lanes: Vec<u32> = (0..64).filter(|lane| mask >> lane & 1 == 1).collect();
        for (rank, &lane) in lanes.iter().enumerate() {
            let group = Group::new(mask, lane);
            prop_assert_eq!((group.rank as usize, group.count as usize, group.leader), (rank, lanes.len(), lanes[0]));
            prop_assert_eq!(group.leads(), rank == 0);
        }
    }

    #[test]
    fn in_any_lap_a_word_is_rewritten_before_its_tag_returns(seq: u16) {
        // The next scrub is less than 2^14 messages away, and the tag that a word carries now is expected again after
        // 2^15.
        let now = Tag::new(seq);
        let to_scrub = (Tag::SCRUB_PERIOD - now.seq() % Tag::SCRUB_PERIOD) % Tag::SCRUB_PERIOD;
        let scrub = Tag::new(seq.wrapping_add(to_scrub));
        prop_assert!(scrub.scrubs());
        prop_assert!(to_scrub < Tag::SCRUB_PERIOD);
        prop_assert_eq!(scrub.since(now), to_scrub);
    }

    #[test]
    fn parts_of_a_buffer_never_overlap(
        ports in 1..5000u32, wide: bool, request in 1..400u32, lines in 0..100u32, slots in 0..64u32, pages in 0..16u32, window: bool
    ) {
        let lanes = if wide { 64 } else { 32 };
        let geometry = Geometry {
            ports, lanes, request_words: lanes + request, reply_words: lanes + lines * 4, slots, slot_bytes: pages * 4096, window,
        };
        prop_assert_eq!(geometry.validate(), Ok(()));
        let h = geometry.host_layout();
        let replies = ports as usize * geometry.reply_bytes();
        let ends = [
            (h.control, 64),
            (h.doorbells, ports as usize * 4),
            (h.requests, ports as usize * geometry.request_bytes()),
            (h.replies, if window { 0 } else { replies }),
            (h.staging, slots as usize * geometry.slot_bytes as usize),
            (h.bytes, 0),
        ];
        for pair in ends.windows(2) {
            prop_assert!(pair[0].0 + pair[0].1 <= pair[1].0);
        }
        let w = geometry.window_layout();
        prop_assert!(w.control + 64 <= w.replies && w.replies + replies <= w.bytes);
        // The host writes whole lines: no port's line is another's.
        prop_assert!(w.replies.is_multiple_of(64) && geometry.reply_bytes().is_multiple_of(64));
        let d = geometry.device_layout();
        prop_assert!(d.states + ports as usize * 8 <= d.slot_locks && d.slot_locks + slots as usize * 4 <= d.bytes);
        let descriptor = Descriptor::new(&geometry, 1 << 40, 1 << 41, 1 << 42);
        prop_assert_eq!((descriptor.requests, descriptor.states), ((1 << 40) + h.requests as u64, (1 << 42) + d.states as u64));
        let (replies, control) = (descriptor.replies, descriptor.control);
        if window {
            prop_assert_eq!((replies, control), ((1 << 41) + w.replies as u64, (1 << 41) + w.control as u64));
        } else {
            prop_assert_eq!((replies, control), ((1 << 40) + h.replies as u64, (1 << 40) + h.control as u64));
        }
        prop_assert_eq!((descriptor.window, descriptor.lone_stride), (u32::from(window), geometry.lone_stride()));
    }

    #[test]
    fn parameters_of_a_kernel_never_overlap(sizes in prop::collection::vec(0..100usize, 0..31)) {
        let mut end = 0;
        for size in sizes {
            let at = KernelParams::place(end, size);
            prop_assert!(at >= end && at < end + 8);
            if matches!(size, 1 | 2 | 4 | 8) {
                prop_assert_eq!(at % size, 0);
            }
            end = at + size;
        }
    }

    #[test]
    fn errors_survive_as_statuses(status in 1..2000u16, detail: u32) {
        let error = CallError::from_status(Status(status), detail);
        let (back, _) = error.to_status();
        prop_assert_eq!(back, Status(status));
        prop_assert!(!error.to_string().is_empty());
    }

    #[test]
    fn padding_goes_up_to_the_next_unit(len in 0..u32::MAX - 3) {
        prop_assert!(padded(len).is_multiple_of(4) && padded(len) >= len && padded(len) - len < 4);
    }
}
