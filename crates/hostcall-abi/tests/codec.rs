//! Properties of the codec and of everything that is a number on the wire.
#![cfg(not(loom))]
#![allow(missing_docs, reason = "a test")]

use std::fmt::Debug;

use hostcall_abi::codec::{Fixed, bytes, bytes_mut, padded};
use hostcall_abi::descriptor::KernelParams;
use hostcall_abi::geometry::WordForm;
use hostcall_abi::port::{Group, PortState};
use hostcall_abi::{CallError, Descriptor, Flags, Geometry, Header, ReplyHead, Status, Tag};
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
    fn headers_survive(service: u16, words: u8, flags: u8, mask: u64, seq: u32) {
        let header = Header { service, words, flags: Flags(flags), mask };
        let word = header.encode(Tag::new(seq));
        prop_assert_eq!(Header::decode(word.data), header);
        prop_assert_eq!(word.tag, Tag::new(seq).header());
        let head = ReplyHead { status: Status(service), dwords: mask as u16 };
        prop_assert_eq!(ReplyHead::decode(head.encode()), head);
    }

    #[test]
    fn a_replys_words_hold_its_payload_and_no_more(dwords in 0..60_000u32) {
        let words = ReplyHead::words(dwords);
        prop_assert!(words * 3 > dwords && (words - 1) * 3 < 1 + dwords);
    }

    #[test]
    fn port_states_keep_their_parts(seq: u32, position: u16, unacked: bool) {
        let state = PortState::new(Tag::new(seq), u32::from(position), unacked);
        prop_assert_eq!((state.tag(), state.position(), state.unacked()), (Tag::new(seq), u32::from(position), unacked));
        prop_assert!(!state.locked());
        prop_assert_eq!(state.abandoned(), unacked && position == 0);
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
    fn in_any_lap_a_word_is_rewritten_before_its_tag_returns(seq: u32) {
        // The next scrub is at most 2^30 messages away, so the tag that a word carries now cannot be expected again.
        let now = Tag::new(seq);
        let to_scrub = (Tag::SCRUB_PERIOD - now.seq() % Tag::SCRUB_PERIOD) % Tag::SCRUB_PERIOD;
        prop_assert!(Tag::new(seq.wrapping_add(to_scrub)).scrubs());
        prop_assert!(to_scrub < Tag::SCRUB_PERIOD);
    }

    #[test]
    fn parts_of_a_buffer_never_overlap(
        ports in 1..5000u32, wide: bool, request in 1..400u32, reply in 0..400u32, slots in 0..64u32, pages in 0..16u32, triple: bool
    ) {
        let lanes = if wide { 64 } else { 32 };
        let geometry = Geometry {
            ports, lanes, request_words: lanes + request, reply_words: lanes + reply, slots, slot_bytes: pages * 4096,
            word_form: if triple { WordForm::Triple8 } else { WordForm::Single16 },
        };
        prop_assert_eq!(geometry.validate(), Ok(()));
        let h = geometry.host_layout();
        let ends = [
            (h.control, 64),
            (h.doorbells, ports as usize * 4),
            (h.requests, ports as usize * geometry.request_bytes()),
            (h.replies, ports as usize * geometry.reply_bytes()),
            (h.staging, slots as usize * geometry.slot_bytes as usize),
            (h.bytes, 0),
        ];
        for pair in ends.windows(2) {
            prop_assert!(pair[0].0 + pair[0].1 <= pair[1].0);
        }
        let d = geometry.device_layout();
        prop_assert!(d.states + ports as usize * 8 <= d.slot_locks && d.slot_locks + slots as usize * 4 <= d.bytes);
        let descriptor = Descriptor::new(&geometry, 1 << 40, 1 << 41);
        prop_assert_eq!((descriptor.requests, descriptor.states), ((1 << 40) + h.requests as u64, (1 << 41) + d.states as u64));
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
