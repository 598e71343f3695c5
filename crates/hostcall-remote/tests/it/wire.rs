//! What is written is read back, and what is not written by us is refused without harm.

use hostcall::detached::{Message, Note, Replies, ReplyHead};
use hostcall::{Definition, Status};
use hostcall_abi::Shown;
use hostcall_remote::wire::{Answer, Malformed, RequestWriter, answers, read_answer, read_request, refusal};
use proptest::prelude::*;

use crate::support::host;

fn definitions() -> [Definition; 3] {
    [host::definition::mixed(), host::definition::echo(), host::definition::say()]
}

fn messages(definition: Definition) -> impl Strategy<Value = (Definition, Vec<Message>)> {
    let var = definition.takes_var;
    let lane = (prop::collection::vec(any::<u32>(), definition.units), prop::collection::vec(any::<u8>(), 0..if var { 40 } else { 1 }));
    let post = definition.reply_dwords.is_none();
    let message =
        (any::<u64>().prop_filter("lanes", |mask| *mask != 0), any::<u32>(), any::<bool>(), any::<u16>(), prop::collection::vec(lane, 64));
    let message = message.prop_map(move |(mask, port, image, room, lanes)| {
        let mut message = Message { port, mask, post, image: image && var && !post, room: room % 64, ..Message::default() };
        for (mut units, bytes) in lanes.into_iter().take(mask.count_ones() as usize) {
            if var {
                units[1] = bytes.len() as u32;
                message.bytes.extend(bytes);
                message.ends.push(message.bytes.len() as u32);
            }
            message.units.extend(units);
        }
        message
    });
    prop::collection::vec(message, 1..6).prop_map(move |messages| (definition.clone(), messages))
}

fn written(definition: &Definition, messages: &[Message]) -> Vec<u8> {
    let mut request = RequestWriter::new(definition);
    messages.iter().for_each(|message| request.push(message));
    request.finish().to_vec()
}

fn replies() -> impl Strategy<Value = Replies> {
    let note = (any::<Option<u32>>(), ".{0,60}", any::<u32>()).prop_map(|(code, message, lanes)| Note {
        code,
        message: Shown(&message).to_string(),
        lanes,
    });
    let head = (0..14u16, 0..5u16).prop_map(|(status, dwords)| ReplyHead { status: Status(status), dwords });
    let heads = prop_oneof![prop::collection::vec(head.clone(), 0..=64), (head, 0..=64usize).prop_map(|(head, lanes)| vec![head; lanes])];
    (heads, prop::collection::vec(note, 0..3), any::<u32>()).prop_map(|(heads, notes, seed)| {
        let units = heads.iter().map(|head| u32::from(head.dwords)).sum();
        Replies { heads, units: (0..units).map(|i| i ^ seed).collect(), notes }
    })
}

proptest! {
    #[test]
    fn requests_are_read_as_they_were_written((definition, messages) in (0..3usize).prop_flat_map(|i| messages(definitions()[i].clone()))) {
        let bytes = written(&definition, &messages);
        prop_assert_eq!(read_request(&definition, &bytes).unwrap(), messages);
        // Cut anywhere, it is none.
        for end in (0..bytes.len()).step_by(3) {
            prop_assert!(read_request(&definition, &bytes[..end]).is_err());
        }
    }

    #[test]
    fn a_request_that_was_changed_is_refused_or_is_another_good_one(
        (definition, messages) in (0..3usize).prop_flat_map(|i| messages(definitions()[i].clone())),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = written(&definition, &messages);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(messages) = read_request(&definition, &bytes) {
            for message in messages {
                prop_assert_eq!(message.check(&definition), Ok(()));
            }
        }
    }

    #[test]
    fn bytes_of_anybody_are_no_requests_and_no_answers(mut bytes in prop::collection::vec(any::<u8>(), 0..400), ours in any::<bool>()) {
        if ours && bytes.len() >= 16 {
            bytes[..4].copy_from_slice(b"HCQ1");
            bytes[8..16].copy_from_slice(&host::definition::echo().signature.to_le_bytes());
            bytes[6] = 0;
            bytes[7] = 0;
        }
        if let Ok(messages) = read_request(&host::definition::echo(), &bytes) {
            messages.iter().for_each(|message| assert_eq!(message.check(&host::definition::echo()), Ok(())));
        }
        if ours && bytes.len() >= 12 {
            bytes[..12].copy_from_slice(b"HCA1\0\0\0\0\0\0\0\0");
        }
        let _ = read_answer(&bytes);
    }

    #[test]
    fn answers_are_read_as_they_were_written_and_cut_where_they_must(all in prop::collection::vec(replies(), 1..12), most in 3000..20_000usize) {
        let all: Vec<(u32, Replies)> = (0..).zip(all).collect();
        let mut read = Vec::new();
        for body in answers("worker 1", &all, most) {
            prop_assert!(body.len() <= most);
            let (worker, answer) = read_answer(&body).unwrap();
            prop_assert_eq!(worker, "worker 1");
            let Answer::Replies(replies) = answer else { panic!("other than was written") };
            read.extend(replies);
        }
        prop_assert_eq!(read, all);
    }
}

#[test]
fn other_definitions_and_other_messages_say_what_they_are() {
    let (definition, message) = (host::definition::mixed(), crate::support::message(&[1, 2]));
    let bytes = written(&definition, &[message]);
    let mut other = definition.clone();
    other.signature += 1;
    assert!(matches!(read_request(&other, &bytes), Err(Malformed::Signature { .. })));
    assert_eq!(read_request(&definition, &bytes[1..]), Err(Malformed::Magic));
    assert_eq!(read_request(&definition, &[&bytes[..], &[0; 4]].concat()), Err(Malformed::Long { bytes: 4 }));
    assert_eq!(read_answer(&refusal("w", None)), Ok(("w".into(), Answer::Busy)));
    assert_eq!(read_answer(&refusal("w", Some("why"))), Ok(("w".into(), Answer::Invalid("why".into()))));
    // What a worker says is printed.
    assert_eq!(read_answer(&refusal("w\x1b[2J", Some("a\nb"))), Ok(("w\\u{1b}[2J".into(), Answer::Invalid("a\\nb".into()))));
}

#[test]
fn a_few_bytes_do_not_ask_for_much_memory() {
    // As many messages as there can be, each of which asks for all the room for replies that it can say.
    let of = |definition: &Definition| Message {
        mask: u64::MAX,
        units: vec![0; 64 * definition.units],
        ends: if definition.takes_var { vec![0; 64] } else { Vec::new() },
        room: u16::MAX,
        post: definition.reply_dwords.is_none(),
        ..Message::default()
    };
    // `mixed` has a result of one size, whatever room a message says; nobody waits for `say`.
    for (definition, most) in [(host::definition::mixed(), 2200), (host::definition::echo(), 2), (host::definition::say(), 2200)] {
        let message = of(&definition);
        let mut request = RequestWriter::new(&definition);
        let mut fit = 0;
        while request.has_room_for(&message, usize::MAX) {
            request.push(&message);
            fit += 1;
        }
        assert!(fit > 0 && fit <= most, "{fit} messages of {}", definition.name);
        request.push(&message);
        let refused = read_request(&definition, &request.finish());
        assert!(matches!(refused, Err(Malformed::Asks { .. })), "{}: {refused:?}", definition.name);
    }
}
