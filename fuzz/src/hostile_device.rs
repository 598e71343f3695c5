//! A device that writes whatever it likes into its port buffer, whenever it likes.
//!
//! The input is a list of commands: store any word, ring any bell, fill the staging area, send a message that is almost right, let the
//! server sweep. Afterwards the server must still answer an honest call on a port that nobody touched.

use hostcall::test_utils::{RawPorts, Sweeper};
use hostcall::{Geometry, PortBuffer, Status};
use hostcall_abi::{Flags, ReplyHead, Tag, Word};

use crate::{Honest, Input, SHAPES, shapes};

const PORTS: u32 = 3;
/// The port of the honest client.
const HONEST: u32 = PORTS - 1;

/// Plays one input.
pub fn run(data: &[u8]) {
    let geometry = Geometry { slots: 2, slot_bytes: 4096, request_words: 48, reply_words: 64, ..Geometry::new(PORTS, 32) };
    let buffer = PortBuffer::in_process(geometry).expect("a good geometry");
    let mut server = Sweeper::new(buffer, shapes::all(Honest)).expect("each name once");
    let device = server.device();
    let (ports, wave) = (device.raw(), device.wave(0));
    let mut input = Input::new(data);
    // What an honest client's next message would carry.
    let mut next = [Tag::new(1); PORTS as usize];
    while !input.is_empty() {
        let command = input.byte();
        let port = u32::from(command >> 4) % HONEST;
        let tag = next[port as usize];
        match command & 7 {
            0 | 1 => {
                let index = u32::from(input.byte()) % geometry.request_words;
                let raw = match input.byte() % 4 {
                    0 => tag.header(),
                    1 | 2 => tag.payload(),
                    _ => input.word(),
                };
                ports.store(port, index, Word { data: [input.word(), input.word(), input.word()], tag: raw });
            }
            2 => ports.ring(port, if input.byte() & 1 == 0 { tag.payload() } else { input.word() }),
            3 => {
                let at = usize::from(input.byte()) * 16;
                let len = usize::from(input.byte());
                wave.stage(at, input.bytes(len));
            }
            4 | 5 => almost(&ports, port, tag, geometry.request_words, &mut input),
            6 => drop(server.sweep()),
            _ => drop(server.sweep_all()),
        }
        // The server answers with the tag it has consumed, whatever it made of the message.
        if ports.answered(port, tag) {
            next[port as usize] = tag.next();
        }
    }
    server.sweep_all();

    let reply = {
        ports.send(HONEST, 0, Tag::new(1), 1, Flags::REPLY, 1 << 7, &[5, 1, 0, 2, 0]);
        ports.ring(HONEST, 1);
        server.sweep_all();
        assert!(ports.answered(HONEST, Tag::new(1)), "the server no longer serves");
        ports.load(HONEST, 0)
    };
    assert_eq!(ReplyHead::decode(reply.data[0]).status, Status::OK);
    assert_eq!(reply.data[1], 3);
}

/// A message with the right tags and with a header that the input makes.
fn almost(ports: &RawPorts, port: u32, tag: Tag, room: u32, input: &mut Input<'_>) {
    let service = u16::from(input.byte()) % (SHAPES + 2);
    let flags = Flags(input.byte() & 7);
    let mask = u64::from(input.word());
    let count = usize::from(input.byte() % 24);
    let units: Vec<u32> = (0..count).map(|_| input.word()).collect();
    if mask.count_ones() * (count.div_ceil(3) as u32) < room {
        ports.send(port, 0, tag, service, flags, mask, &units);
        ports.ring(port, tag.payload());
    }
}
