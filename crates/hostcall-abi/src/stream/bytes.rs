//! Messages of bytes: of one lane, as many as it likes up to a quarter of its ring. Text is bytes that are UTF-8; only
//! the stream's description says so.
//!
//! Behind the [`header`], two quads, stand quads of data up to the end of the last granule. Each quad has 15 bytes of
//! its own, and can be made and read without any other:
//!
//! | unit | bits, from the lowest |
//! |---|---|
//! | 0 | bytes 0 to 3, without their top bit |
//! | 1 | bytes 4 to 7, without their top bit |
//! | 2 | bytes 8 to 11, without their top bit |
//! | 3 | bytes 12 to 14: 24; top bits of units 0, 1 and 2: 3; how many of the 15 bytes are of the message: 4 |
//!
//! Bytes are little-endian in their units. Bytes that are not of the message are 0. All quads are full up to the last
//! that has any byte, those behind it have none, and the message has as few granules as it can. So 15 of 16 bytes of a
//! long message are its own, a message of up to 30 bytes takes one granule, and no length is said anywhere that could
//! be wrong: each quad's 4 bits say at most 15.
//!
//! (Groups of 31 units with one for their displaced bits, as rows have them, would be 31 of 32. But a lane that stores
//! a quad would need the bits of seven others.)
//!
//! # Why it is right
//!
//! What [`super`] says of units holds: each is stored once in a lap, quads without a byte included, and the reader
//! takes a message when all of them are there. The first quad of the header says how many granules the message has, as
//! for rows, so one that will never be whole is skipped as a whole if its first quad is there
//! ([`Reader::give_up`](super::Reader::give_up)), and else searched behind. The reader checks that number against a
//! quarter of the ring before it uses it, because everything else is bounded by it; and the counts of all quads before
//! it hands a message on.

use super::gate;
use super::header::{self, Header, Kind, MAX_GRANULES};
use super::message::{Field, Message};
use super::policy::Sent;
use super::room::reserve;
use super::send::{RingLink, Subject, time};
use super::unit::{DATA, QUAD};
use super::{GRANULE, MAX_RING_LOG2};
use crate::port::Group;

/// Bytes of a quad.
pub const QUAD_BYTES: u32 = 15;
/// Quads before those of data.
const HEADER_QUADS: u32 = header::UNITS / QUAD;
/// Quads of a granule.
const GRANULE_QUADS: u32 = GRANULE / QUAD;
/// Where a quad says how many of its bytes are of the message.
const COUNT: u32 = 27;
/// Bytes of the longest message in the largest ring.
pub const MAX_BYTES: u32 = most_bytes(MAX_RING_LOG2);

/// A stream of bytes, or of text: a type without a value, whose messages are slices. `#[hostcall::stream(bytes)]`
/// implements it.
pub trait ByteStream: Message {}

/// A stream of text, whose messages are strings. `#[hostcall::stream(text)]` implements it.
pub trait TextStream: ByteStream {}

/// [`Message::FIELDS`] of a [`ByteStream`]. Values of 0 bytes are what tells such streams from others.
pub const BYTES_FIELDS: &[Field] = &[Field { name: "value", ty: "[u8]", offset: 0, bytes: 0 }];
/// [`Message::FIELDS`] of a [`TextStream`].
pub const TEXT_FIELDS: &[Field] = &[Field { name: "value", ty: "str", offset: 0, bytes: 0 }];

/// Granules of a message of `length` bytes; `None`: there is none so long.
#[inline(always)]
pub const fn granules(length: u32) -> Option<u32> {
    let granules = (HEADER_QUADS + length.div_ceil(QUAD_BYTES)).div_ceil(GRANULE_QUADS);
    if granules > MAX_GRANULES { None } else { Some(granules) }
}

/// Granules of the longest message in a ring of 2^`ring_log2` granules.
#[inline(always)]
pub const fn most_granules(ring_log2: u32) -> u32 {
    let quarter = 1 << (ring_log2 - 2);
    if quarter < MAX_GRANULES { quarter } else { MAX_GRANULES }
}

/// Bytes of the longest message in a ring of 2^`ring_log2` granules.
pub const fn most_bytes(ring_log2: u32) -> u32 {
    (most_granules(ring_log2) * GRANULE_QUADS - HEADER_QUADS) * QUAD_BYTES
}

/// How many of the bytes of the quad with number `quad` in a message of `length` bytes are its own.
#[inline(always)]
const fn count_of(quad: u32, length: u32) -> u32 {
    let first = (quad - HEADER_QUADS) * QUAD_BYTES;
    match length.saturating_sub(first) {
        rest if rest < QUAD_BYTES => rest,
        _ => QUAD_BYTES,
    }
}

/// The quad of `count` bytes, which are the lowest of `bytes`; the others are 0.
#[inline(always)]
const fn pack(bytes: [u32; 4], count: u32) -> [u32; 4] {
    let [a, b, c, d] = bytes;
    [a & DATA, b & DATA, c & DATA, d & 0xff_ffff | a >> 31 << 24 | b >> 31 << 25 | c >> 31 << 26 | count << COUNT]
}

/// The bytes of a quad, whatever its phases, as a number whose lowest byte is the first; and how many of them are of
/// the message.
#[inline(always)]
const fn unpack(quad: [u32; 4]) -> (u128, u32) {
    let [a, b, c, d] = quad;
    // Bits 24, 25 and 26 of the last unit are bit 31 of the others.
    let (a, b, c) = (a & DATA | d << 7 & !DATA, b & DATA | d << 6 & !DATA, c & DATA | d << 5 & !DATA);
    let low = a as u64 | (b as u64) << 32;
    let high = c as u64 | ((d & 0xff_ffff) as u64) << 32;
    (low as u128 | (high as u128) << 64, d >> COUNT & 15)
}

/// The quads of data of a message.
fn quads(units: &[u32]) -> &[[u32; 4]] {
    units.as_chunks().0.get(HEADER_QUADS as usize..).unwrap_or_default()
}

/// Bytes of the message that has these units, header included, whatever their phases; `None`: its quads do not say what
/// those of a message say.
pub fn length(units: &[u32]) -> Option<u32> {
    let (mut length, mut open, mut right) = (0, true, true);
    for quad in quads(units) {
        let count = quad[3] >> COUNT & 15;
        right &= open || count == 0;
        open = count == QUAD_BYTES;
        length += count;
    }
    (right && granules(length)? as usize * GRANULE as usize == units.len()).then_some(length)
}

/// Writes the bytes of a message to `out`, which has [as many](length).
pub fn copy(units: &[u32], out: &mut [u8]) {
    let mut rest = out;
    for quad in quads(units) {
        let bytes = unpack(*quad).0.to_le_bytes();
        match rest.first_chunk_mut() {
            // One more than there are, which the next quad writes over; at once, because that is one store.
            Some(sixteen) => *sixteen = bytes,
            None => {
                let count = rest.len().min(QUAD_BYTES as usize);
                rest[..count].copy_from_slice(&bytes[..count]);
                rest = &mut rest[count..];
                continue;
            }
        }
        rest = &mut rest[QUAD_BYTES as usize..];
    }
}

/// Writes the units of a message of bytes to `out`, without phases, and says how many they are: what lanes do together,
/// by one thread. [`Header::granules`], [`Header::kind`] and [`Header::values`] are set as they must be.
///
/// `None` if there is no such message, or `out` is too short.
pub fn encode(header: Header, bytes: &[u8], out: &mut [u32]) -> Option<usize> {
    let length = u32::try_from(bytes.len()).ok()?;
    let granules = granules(length).filter(|_| header.mask.is_power_of_two())?;
    let out = out.get_mut(..(granules * GRANULE) as usize)?;
    let header = Header { granules, kind: Kind::Bytes, values: 1, ..header };
    let (head, data) = out.split_at_mut(header::UNITS as usize);
    head.copy_from_slice(&header.encode());
    for (number, quad) in (HEADER_QUADS..).zip(data.as_chunks_mut::<4>().0) {
        let (count, mut fifteen) = (count_of(number, length) as usize, [0; 16]);
        let from = ((number - HEADER_QUADS) * QUAD_BYTES) as usize;
        fifteen[..count].copy_from_slice(bytes.get(from..from + count).unwrap_or_default());
        let words = fifteen.as_chunks::<4>().0;
        *quad = pack(core::array::from_fn(|i| u32::from_le_bytes(words[i])), count as u32);
    }
    Some(out.len())
}

/// What sending bytes needs of its machine besides a ring.
pub trait ByteLink: RingLink {
    /// Whether only the calling lane can load from an address, because it is in the lane's own memory.
    fn is_private(self, address: u64) -> bool;
    /// The `count` bytes from an address on, at most 15, little-endian, and zeros behind them.
    ///
    /// # Safety
    /// The bytes can be read by the calling lane, and nobody writes them meanwhile.
    unsafe fn load_bytes(self, address: u64, count: u32) -> [u32; 4];
}

/// Sends the `length` bytes from `address` on of each lane of `senders`, one lane after the other, in a message each.
/// Every lane of `group` must call, and helps to copy what it can read; `senders` are lanes of it. What became of the
/// caller's own message; [`Sent::Off`] for a lane that sends none.
///
/// # Safety
/// The caller can read its bytes, and so can the other lanes of the group unless they are
/// [private](ByteLink::is_private). Nobody writes them before this returns.
#[inline(always)]
pub unsafe fn send_bytes<A: ByteLink>(arch: A, group: &Group, senders: u64, subject: Subject, address: u64, length: u32) -> Sent {
    let lane = arch.lane();
    let (mut sent, mut rest) = (Sent::Off, senders);
    // What lanes have written is seen by those who help.
    arch.sync(group.mask);
    while rest != 0 {
        let sender = rest.trailing_zeros();
        rest &= rest - 1;
        let mine = lane == sender;
        let low = arch.broadcast(group.mask, address as u32, sender);
        let high = arch.broadcast(group.mask, (address >> 32) as u32, sender);
        let length = arch.broadcast(group.mask, length, sender);
        let address = u64::from(low) | u64::from(high) << 32;
        let alone = arch.ballot(group.mask, mine && arch.is_private(address)) != 0;
        if alone && !mine {
            continue;
        }
        let by = if alone { Group { mask: 1 << sender, count: 1, rank: 0, leader: sender } } else { *group };
        // SAFETY: the caller's.
        let told = unsafe { send_by(arch, &by, sender, subject, address, length) };
        if mine {
            sent = told;
        }
    }
    // Nobody goes on, and perhaps writes its bytes, before the others have read them.
    arch.sync(group.mask);
    sent
}

/// Sends one message of lane `sender`, by the lanes of `group`. All of them are told what became of it.
///
/// # Safety
/// As [`send_bytes`]; the lanes of the group can read the bytes.
#[inline(always)]
unsafe fn send_by<A: ByteLink>(arch: A, group: &Group, sender: u32, mut subject: Subject, address: u64, length: u32) -> Sent {
    let granules = match granules(length) {
        Some(granules) if granules <= most_granules(arch.ring_log2()) => granules,
        _ => return Sent::TooLarge,
    };
    if subject.live {
        match admitted(arch, group, sender, &subject) {
            Ok(weight) => subject.weight = weight,
            Err(why) => return why,
        }
    }
    let (reserved, time) = reserve(arch, group, granules, &mut subject, |subject| time(arch, subject.timed));
    let at = match reserved {
        Ok(at) => at,
        Err(why) => return why,
    };
    let Subject { stream, site, weight, .. } = subject;
    let (kind, mask, wide, from) = (Kind::Bytes, 1 << sender, arch.is_wide(), arch.from());
    let header = Header { stream, granules, kind, mask, wide, site, weight, user: 0, values: 1, time, from }.encode();
    let mut quad = group.rank;
    while quad < granules * GRANULE_QUADS {
        let four = match quad {
            0 => [header[0], header[1], header[2], header[3]],
            1 => [header[4], header[5], header[6], header[7]],
            _ => {
                let count = count_of(quad, length);
                let first = u64::from((quad - HEADER_QUADS) * QUAD_BYTES);
                // SAFETY: inside the sender's bytes, which the caller vouches for; with a count of 0 nothing is read.
                pack(unsafe { arch.load_bytes(address.wrapping_add(first), count) }, count)
            }
        };
        let phase = at.phase(QUAD * quad);
        arch.store_four(at.unit(QUAD * quad), four.map(|unit| unit & DATA | phase));
        quad += group.count;
    }
    Sent::Sent
}

/// Asks the stream's gate for the message of lane `sender`: what it stands for, or what to tell all lanes.
#[inline(always)]
fn admitted<A: RingLink>(arch: A, group: &Group, sender: u32, subject: &Subject) -> Result<u32, Sent> {
    const ADMITTED: u32 = 1 << 8;
    let mut told = 0;
    if arch.lane() == sender {
        let alone = Group { mask: 1 << sender, count: 1, rank: 0, leader: sender };
        told = match gate::admit(arch, &alone, subject) {
            Ok((_, weight)) => ADMITTED | weight,
            Err(why) => why as u32,
        };
    }
    match arch.broadcast(group.mask, told, sender) {
        told if told & ADMITTED != 0 => Ok(told & 0xff),
        told if told == Sent::Filtered as u32 => Err(Sent::Filtered),
        _ => Err(Sent::Off),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::unit::PHASE;
    use crate::stream::{From, MIN_RING_LOG2};
    use proptest::prelude::*;

    fn header() -> Header {
        let (mask, from) = (1 << 31, From::default());
        Header { stream: 3, granules: 0, kind: Kind::Rows, mask, wide: false, site: 0, weight: 0, user: 0, values: 9, time: None, from }
    }

    /// A message of these bytes.
    fn message(bytes: &[u8]) -> Vec<u32> {
        let mut units = vec![u32::MAX; (MAX_GRANULES * GRANULE) as usize];
        let length = encode(header(), bytes, &mut units).expect("a message");
        units.truncate(length);
        units
    }

    fn bytes(units: &[u32]) -> Option<Vec<u8>> {
        let mut bytes = vec![0xee; length(units)? as usize];
        copy(units, &mut bytes);
        Some(bytes)
    }

    #[test]
    fn bytes_of_every_length_come_back_whatever_the_phases() {
        for length in (0..400).chain([MAX_BYTES as usize - 1, MAX_BYTES as usize]) {
            for byte in [0, 0x80, 0xff] {
                let sent: Vec<u8> = (0..length).map(|i| (i * 7) as u8 | byte).collect();
                let units = message(&sent);
                assert!(units.iter().all(|unit| unit & PHASE == 0), "{length} bytes: a unit has a phase already");
                assert_eq!(bytes(&units).as_deref(), Some(&*sent));
                let phased: Vec<u32> = units.iter().map(|unit| unit | PHASE).collect();
                assert_eq!(bytes(&phased), Some(sent));
                let head = Header::decode(*units.first_chunk().expect("a header")).expect("a header");
                assert_eq!((head.kind, head.values, head.granules), (Kind::Bytes, 1, units.len() as u32 / GRANULE));
            }
        }
    }

    #[test]
    fn messages_take_the_granules_that_the_description_says() {
        assert_eq!([0, 1, 30, 31, 90, 91, 150, 151].map(|length| granules(length).expect("a message")), [1, 1, 1, 2, 2, 3, 3, 4]);
        assert_eq!((granules(MAX_BYTES), granules(MAX_BYTES + 1), granules(u32::MAX)), (Some(MAX_GRANULES), None, None));
        assert_eq!((MAX_BYTES, most_granules(MIN_RING_LOG2)), (122_790, if cfg!(loom) { 1 } else { 256 }));
        for ring_log2 in MIN_RING_LOG2..=MAX_RING_LOG2 {
            let most = most_bytes(ring_log2);
            assert_eq!(granules(most), Some(most_granules(ring_log2)));
            assert_ne!(granules(most + 1), Some(most_granules(ring_log2)));
            assert!(most_granules(ring_log2) <= 1 << (ring_log2 - 2));
        }
        assert!(encode(Header { mask: 3, ..header() }, b"two lanes", &mut [0; 64]).is_none());
        assert!(encode(header(), &[0; 31], &mut [0; 16]).is_none());
    }

    #[test]
    fn quads_that_do_not_say_what_a_messages_quads_say_are_none() {
        let units = message(&[0xff; 100]);
        let changed = |quad: usize, count: u32| {
            let mut units = units.clone();
            units[4 * quad + 3] = units[4 * quad + 3] & !(15 << COUNT) | count << COUNT;
            length(&units)
        };
        // 100 bytes: six quads of 15, one of 10, and three of none.
        assert_eq!((changed(8, 10), changed(8, 11), changed(8, 0)), (Some(100), Some(101), None));
        assert_eq!((changed(8, 15), changed(9, 1)), (Some(105), None));
        assert_eq!((changed(3, 14), changed(3, 0), changed(11, 15)), (None, None, None));
        // One granule more than it needs, one fewer, and half of one.
        assert_eq!((length(&[&*units, &[0; 16]].concat()), length(&units[..32]), length(&units[..40])), (None, Some(90), None));
        assert_eq!((length(&units[..8]), length(&[]), length(&units[..3])), (None, None, None));
    }

    proptest! {
        #[test]
        fn any_units_are_bytes_that_encode_to_their_quads_or_none(mut units in prop::collection::vec(any::<u32>(), 16..80), full in 0..20usize) {
            units.truncate(units.len() / 16 * 16);
            for (number, quad) in units.as_chunks_mut::<4>().0.iter_mut().enumerate().skip(2) {
                match number.cmp(&(full + 2)) {
                    std::cmp::Ordering::Less => quad[3] |= 15 << COUNT,
                    std::cmp::Ordering::Equal => {}
                    std::cmp::Ordering::Greater => quad[3] &= !(15 << COUNT),
                }
            }
            if let Some(bytes) = bytes(&units) {
                let again = message(&bytes);
                prop_assert_eq!(again.len(), units.len());
                for (quad, (again, units)) in quads(&again).iter().zip(quads(&units)).enumerate() {
                    let (theirs, count) = unpack(*units);
                    // What is behind the count does not matter.
                    let kept = if count == 0 { 0 } else { u128::MAX >> (128 - 8 * count) };
                    prop_assert_eq!((unpack(*again), quad), ((theirs & kept, count), quad));
                }
            }
        }
    }
}
