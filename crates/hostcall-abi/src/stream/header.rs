//! The first two quads of a message: what it is, and who sent it.
//!
//! | unit | bits, from the lowest |
//! |---|---|
//! | 0 | stream 12, granules 11, kind 4, flags 4 |
//! | 1 | lanes 0 to 30, one bit each |
//! | 2 | site 16, lane 31, weight 4, launch 10 |
//! | 3 | with 64 lanes: lanes 32 to 62; else the sender's own 31 bits |
//! | 4 | time in nanoseconds, low 31 bits |
//! | 5 | time, next 26 bits; values of each lane, less one, 5 |
//! | 6 | workgroup, low 31 bits of its number in the grid |
//! | 7 | workgroup, next 16 bits; wave in the workgroup 5, SM 10 |
//!
//! Flags: 1, the message has no time; 2, lane 63 is among them; 4, waves have 64 lanes. Bit 31 of every unit is the
//! phase.

use super::unit::DATA;

/// Units of a header.
pub const UNITS: u32 = 8;
/// Streams that a program can have: numbers from 1 on.
pub const MAX_STREAM: u32 = (1 << 12) - 1;
/// After how many nanoseconds the time of messages begins at 0 again: four and a half years. Readers know what year it
/// is.
pub const TIME_LAP: u64 = 1 << 57;
/// For at most so many messages one stands, as a power of two.
pub const MAX_WEIGHT_LOG2: u32 = 15;
/// Granules of the largest message there can be. (Of rows it is much smaller.)
pub const MAX_GRANULES: u32 = (1 << 11) - 1;

/// The bits of the time in unit 5.
const LATER: u32 = (1 << 26) - 1;

const NO_TIME: u32 = 1;
const LANE_63: u32 = 2;
const WIDE: u32 = 4;

/// What a message is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// A value of the stream's type from each lane.
    Rows = 0,
    /// Bytes of one lane, as many as it likes, see [`mod@super::bytes`].
    Bytes = 1,
}

impl Kind {
    /// The kind with a number, if there is one.
    pub const fn new(number: u32) -> Option<Self> {
        match number {
            0 => Some(Self::Rows),
            1 => Some(Self::Bytes),
            _ => None,
        }
    }
}

/// Who sent a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct From {
    /// The workgroup's number in its grid, modulo 2^47.
    pub group: u64,
    /// The wave's number in the workgroup, modulo 32.
    pub wave: u32,
    /// The SM (compute unit), modulo 1024.
    pub sm: u32,
    /// Low 10 bits of the launch's number.
    pub launch: u32,
}

/// The header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The stream, 1 to [`MAX_STREAM`].
    pub stream: u32,
    /// Length of the message, this header included.
    pub granules: u32,
    /// What it is made of.
    pub kind: Kind,
    /// The lanes that sent it.
    pub mask: u64,
    /// Whether waves have 64 lanes.
    pub wide: bool,
    /// The place in the source, as the program numbers them; 0: none.
    pub site: u32,
    /// For how many messages this one stands: 2 to this power.
    pub weight: u32,
    /// Whatever the sender likes, 31 bits; 0 if waves have 64 lanes.
    pub user: u32,
    /// Values of its type that each lane sent, 1 to 32.
    pub values: u32,
    /// Nanoseconds of the device's clock, modulo [`TIME_LAP`]; `None`: not taken.
    pub time: Option<u64>,
    /// Who sent it.
    pub from: From,
}

impl Header {
    /// The header's units, without phases. Fields are cut to their bits.
    #[inline(always)]
    pub const fn encode(&self) -> [u32; UNITS as usize] {
        let Self { stream, granules, kind, mask, wide, site, weight, user, values, time, from } = *self;
        let (time, untimed) = match time {
            Some(time) => (time, 0),
            None => (0, NO_TIME),
        };
        let flags = untimed | if wide { WIDE | ((mask >> 63) as u32 * LANE_63) } else { 0 };
        [
            stream & MAX_STREAM | (granules & MAX_GRANULES) << 12 | (kind as u32) << 23 | flags << 27,
            mask as u32 & DATA,
            site & 0xffff | ((mask >> 31 & 1) as u32) << 16 | (weight & MAX_WEIGHT_LOG2) << 17 | (from.launch & 0x3ff) << 21,
            if wide { (mask >> 32) as u32 & DATA } else { user & DATA },
            time as u32 & DATA,
            (time >> 31) as u32 & LATER | (values.wrapping_sub(1) & 31) << 26,
            from.group as u32 & DATA,
            (from.group >> 31) as u32 & 0xffff | (from.wave & 31) << 16 | (from.sm & 0x3ff) << 21,
        ]
    }

    /// The header in eight units, whose phases are ignored; `None` if they are none: no such kind or flag, no lane, or
    /// a stream or a length of 0.
    #[inline(always)]
    pub const fn decode(units: [u32; UNITS as usize]) -> Option<Self> {
        let [first, low, place, high, time, later, group, from] = units;
        let (stream, granules, flags) = (first & MAX_STREAM, first >> 12 & MAX_GRANULES, first >> 27 & 15);
        let Some(kind) = Kind::new(first >> 23 & 15) else { return None };
        let wide = flags & WIDE != 0;
        let mut mask = (low & DATA) as u64 | ((place >> 16 & 1) as u64) << 31;
        if wide {
            mask |= ((high & DATA) as u64) << 32 | ((flags & LANE_63 != 0) as u64) << 63;
        }
        if stream == 0 || granules == 0 || mask == 0 || flags & 8 != 0 || (!wide && flags & LANE_63 != 0) {
            return None;
        }
        Some(Self {
            stream,
            granules,
            kind,
            mask,
            wide,
            site: place & 0xffff,
            weight: place >> 17 & MAX_WEIGHT_LOG2,
            user: if wide { 0 } else { high & DATA },
            values: (later >> 26 & 31) + 1,
            time: if flags & NO_TIME != 0 { None } else { Some((time & DATA) as u64 | ((later & LATER) as u64) << 31) },
            from: From {
                group: (group & DATA) as u64 | ((from & 0xffff) as u64) << 31,
                wave: from >> 16 & 31,
                sm: from >> 21 & 0x3ff,
                launch: place >> 21 & 0x3ff,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn headers() -> impl Strategy<Value = Header> {
        let who = (0..1u64 << 47, 0..32u32, 0..1024u32, 0..1024u32).prop_map(|(group, wave, sm, launch)| From { group, wave, sm, launch });
        let what = (1..=MAX_STREAM, 1..=MAX_GRANULES, any::<bool>(), 1..=u64::MAX, 0..1u32 << 16);
        let more =
            (0..16u32, 0..1u32 << 31, 1..=32u32, proptest::option::of(0..TIME_LAP), prop_oneof![Just(Kind::Rows), Just(Kind::Bytes)]);
        (what, more, who).prop_filter_map("no lane", |((stream, granules, wide, mask, site), (weight, user, values, time, kind), from)| {
            let (mask, user) = if wide { (mask, 0) } else { (mask & u64::from(u32::MAX), user) };
            let header = Header { stream, granules, kind, mask, wide, site, weight, user, values, time, from };
            (mask != 0).then_some(header)
        })
    }

    proptest! {
        #[test]
        fn every_header_comes_back_whatever_its_phases(header in headers(), phases: u8) {
            let units = header.encode();
            prop_assert!(units.iter().all(|unit| unit & super::super::unit::PHASE == 0));
            let mut number = 0;
            let units = units.map(|unit| { number += 1; unit | u32::from(phases >> (number - 1) & 1) << 31 });
            prop_assert_eq!(Header::decode(units), Some(header));
        }

        #[test]
        fn any_units_are_a_header_that_encodes_to_them_or_none(units: [u32; 8]) {
            if let Some(header) = Header::decode(units) {
                let mut expected = units.map(|unit| unit & DATA);
                if header.time.is_none() {
                    (expected[4], expected[5]) = (0, expected[5] & !LATER);
                }
                prop_assert_eq!(header.encode(), expected);
            }
        }
    }
}
