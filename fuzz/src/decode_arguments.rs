//! Payload that decodes, or does not: values, strings and slices, inline and staged, in messages that are otherwise
//! right.

use hostcall::__private::{Geometry, PortBuffer};
use hostcall::Status;
use hostcall::test_utils::Sweeper;
use hostcall_abi::codec::{Fixed, VarHead};
use hostcall_abi::{Flags, ReplyHead, Tag};

use crate::{Honest, Input, SHAPES, shapes};

/// Plays one input.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let units: Vec<u32> = data.chunks(4).map(|chunk| chunk.iter().rev().fold(0, |unit, &byte| unit << 8 | u32::from(byte))).collect();
    twice::<(u8, i64, bool)>(&units);
    twice::<Option<(char, Option<bool>)>>(&units);
    twice::<Result<[u16; 5], (u128, char)>>(&units);

    let geometry = Geometry { slots: 1, slot_bytes: 4096, ..Geometry::new(1, 32) };
    let buffer = PortBuffer::in_process(geometry).expect("a good geometry");
    let mut server = Sweeper::new(buffer, shapes::all(Honest)).expect("each name once");
    let device = server.device();
    let (ports, wave) = (device.raw(), device.wave(0));
    let mut tag = Tag::new(0);
    while !input.is_empty() {
        tag = tag.next();
        let kind = input.byte();
        let service = 1 + u16::from(kind & 15) % SHAPES;
        let staged = kind & 16 != 0;
        let mut units = Vec::new();
        if service > 2 && kind & 32 == 0 {
            // Strings and slices: a head that is right more often than chance would have it.
            let bytes = if kind & 64 == 0 { u32::from(input.byte()) } else { input.word() };
            units.extend([if staged { u32::from(input.byte()) } else { VarHead::INLINE }, bytes]);
        }
        if staged {
            let len = usize::from(input.byte());
            wave.stage(usize::from(input.byte()) * 8, input.bytes(len));
        }
        let count = usize::from(input.byte() % 40);
        units.extend((0..count).map(|_| if kind & 128 == 0 { u32::from(input.byte() % 24) } else { input.word() }));
        let flags = if staged { Flags::REPLY.and(Flags::STAGED) } else { Flags::REPLY };
        ports.send(0, 0, tag, service, flags, 1 << (kind & 31), &units);
        ports.ring(0, u32::from(tag.payload()));
        server.sweep();
        assert!(ports.answered(0, tag), "a whole message was not answered");
        let status = ReplyHead::decode(ports.load(0, 0).0[0]).status;
        assert!(
            matches!(status, Status::OK | Status::MALFORMED | Status::TOO_LARGE | Status::REFUSED),
            "{status:?} for {units:?} to service {service}"
        );
    }
}

/// What decodes encodes to the same value again.
fn twice<T: Fixed>(units: &[u32]) {
    let Ok(value) = T::get(units) else { return };
    let mut first = vec![0; T::DWORDS];
    value.put(&mut first);
    let mut second = vec![0; T::DWORDS];
    T::get(&first).expect("what was encoded decodes").put(&mut second);
    assert_eq!(first, second);
}
