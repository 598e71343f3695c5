//! Random messages, and random states of the memory that they meet.

use hostcall_abi::stream::bounds::span;

use super::*;

pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, end: u32) -> u32 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % u64::from(end)) as u32
    }
}

/// One message of a wave. Kinds: 0 a value, 1 the first lane's value, 2 bytes, 3 the first lane's bytes.
#[derive(Clone)]
pub(super) struct Message {
    pub(super) kind: u32,
    pub(super) word: u32,
    pub(super) mask: u64,
    pub(super) values: u32,
    pub(super) units: u32,
    pub(super) info: LaneInfo,
    /// Lanes whose bytes only they can read.
    pub(super) private: u64,
    pub(super) dice: u32,
    seed: u32,
    /// All lanes' bytes, and where each lane's are.
    bytes: Arc<Vec<u8>>,
    parts: Vec<(u32, u32)>,
}

impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { kind, word, mask, values, units, info, private, .. } = self;
        let policy = word::policy(*word);
        write!(f, "kind {kind}, word {word:#x} ({policy:?}), lanes {mask:#x} of {}, ", info.wave_size)?;
        if *kind < 2 { write!(f, "{values} values, {units} units") } else { write!(f, "private {private:#x}, parts {:?}", self.parts) }
    }
}

impl Message {
    /// The units of a lane.
    pub(super) fn units_of(&self, lane: u32) -> Vec<u32> {
        (0..self.units).map(|i| self.seed.wrapping_add(i * 64 + lane).wrapping_mul(0x85eb_ca6b)).collect()
    }

    /// Where a lane's bytes are, and how many.
    pub(super) fn bytes_of(&self, lane: u32) -> (u64, u32) {
        let (first, length) = self.parts[lane as usize];
        (self.bytes[first as usize..].as_ptr() as u64, length)
    }
}

/// A ring somewhere, with some room.
pub(super) fn memory(random: &mut Random) -> Memory {
    let (ring_log2, rings_log2) = (10 + random.below(3), random.below(4));
    let window = random.below(2) == 0;
    let rings = Rings {
        data: 1 << 32,
        stride: (1 << (ring_log2 + 6)) + 4096,
        states: 2 << 32,
        credit: if window { 3 << 32 } else { (2 << 32) + offset_of!(RingState, credit) as u64 },
        control: if window { 0 } else { 4 << 32 },
        counters: 5 << 32,
        ring_log2,
        rings_log2,
        gates: 6 << 32,
    };
    let size = 1 << ring_log2;
    // Often just before a lap's end, or before the numbers'.
    let head = [random.below(u32::MAX), size - random.below(40), random.below(40).wrapping_neg()][random.below(3) as usize];
    let used = [0, random.below(size), size - random.below(size / 8), size][random.below(4) as usize];
    let freed = head.wrapping_sub(used);
    let closed = u64::from(random.below(12) == 0) << 32;
    let said = u64::from(freed) | closed;
    // What has been learnt may be old.
    let credit = if window { said } else { u64::from(freed.wrapping_sub(random.below(size - used + 1))) };
    let closes = if random.below(4) == 0 { 1 + random.below(6) } else { 0 };
    Memory {
        rings,
        gate: gate(random),
        bounds: bounds(random),
        head,
        credit,
        control: said,
        reads: 1 + random.below(size / 4),
        closes,
        naps: 0,
    }
}

fn gate(random: &mut Random) -> Gate {
    let lanes = [u64::MAX, u64::MAX, u64::from(random.below(u32::MAX)) * 0x1_0000_8001, 0][random.below(4) as usize];
    let groups = [u32::MAX, u32::MAX, random.below(9)][random.below(3) as usize];
    let rate_log2 = [0, 0, 0, 1, 3, 40][random.below(6) as usize];
    let shut = u32::from(random.below(10) == 0);
    Gate { lanes, first: random.below(3), groups, rate_log2, shut, patience: random.below(4000), bounded: random.below(2) }
}

/// Mostly everywhere but for one part.
fn bounds(random: &mut Random) -> Bounds {
    let mut some = || span(random.below(3), random.below(9));
    let (group_y, group_z, lane_x, lane_y, lane_z) = (some(), some(), span(1, 40), some(), some());
    let (first_x, waves) = (random.below(3), random.below(u32::MAX));
    let all = Bounds::NONE;
    match random.below(8) {
        0 => all,
        1 => Bounds { first_x, last_x: first_x + 1, ..all },
        2 => Bounds { group_y, ..all },
        3 => Bounds { group_z, ..all },
        4 => Bounds { lane_x, ..all },
        5 => Bounds { lane_y, lane_z, ..all },
        6 => Bounds { waves, ..all },
        _ => Bounds { first_x, group_y, lane_x, waves, ..all },
    }
}

/// A message for a ring of this size.
pub(super) fn message(random: &mut Random, ring_log2: u32) -> Message {
    let wide = random.below(2) == 0;
    let whole = if wide { u64::MAX } else { u64::from(u32::MAX) };
    let wave_size = if wide { 64 } else { 32 };
    let mask = match random.below(6) {
        0 => whole,
        1 | 2 => 1 << random.below(wave_size),
        _ => (0..1 + random.below(6)).fold(0, |mask, _| mask | 1u64 << random.below(wave_size)),
    };
    let kind = [0, 0, 1, 2, 2, 3][random.below(6) as usize];
    let policy = POLICIES[random.below(4) as usize];
    let most_streams = if random.below(4) == 0 { word::NUMBER } else { 5 };
    let mut number = word::of(1 + random.below(most_streams), policy);
    number |= if random.below(3) == 0 { word::UNTIMED } else { 0 };
    number |= if random.below(3) == 0 { word::LIVE } else { 0 };
    let most = bytes::most_bytes(ring_log2);
    let mut all = 0;
    let parts = (0..64).map(|lane| {
        let length = match random.below(40) {
            _ if mask >> lane & 1 == 0 || kind < 2 => 0,
            // A wave's long messages would take most of the test's time.
            0 => most - random.below(30),
            1 => most + 1 + random.below(30),
            2 | 3 => random.below(2000),
            4 => [u32::MAX, 1 << 31][random.below(2) as usize],
            _ => random.below(100),
        };
        let first = all + random.below(20);
        // Nobody reads what is too long.
        all = first + length.min(most);
        (first, length)
    });
    let parts: Vec<_> = parts.collect();
    let bytes = (0..=all).map(|_| [0, 0xff, random.below(256) as u8][random.below(3) as usize]).collect();
    let groups = [1 + random.below(5), 1 + random.below(3), 1 + random.below(3)];
    let local_size = [wave_size * (1 + random.below(3)), 1 + random.below(2), 1 + random.below(2)];
    let [group, local] = [groups, local_size].map(|size| size.map(|end| random.below(end)));
    let (sm, launch) = (random.below(2000), random.below(5000));
    let info = LaneInfo { lane: 0, wave_size, wave: 0, sm, group, groups, local, local_size, launch };
    let private = [0, 0, u64::MAX, u64::from(random.below(u32::MAX)) * 0x1_0000_0001][random.below(4) as usize];
    let (values, units) = (1 + random.below(8), 1 + random.below(31));
    let (dice, seed) = (random.below(u32::MAX), random.below(u32::MAX));
    Message { kind, word: number, mask, values, units, info, private, dice, seed, bytes: Arc::new(bytes), parts }
}

/// Sends the units of a lane, whose number is a constant of the client's.
pub(super) fn with_units(m: &Message, lane: u32, act: impl FnOnce(&dyn Fn(&Group, Subject) -> Sent) -> Sent) -> Sent {
    fn of<const N: usize>(once: bool, group: &Group, subject: Subject, units: &[u32]) -> Sent {
        let units = units.try_into().expect("so many units");
        if once { stream::send_once::<_, N>(Machine, group, subject, units) } else { stream::send::<_, N>(Machine, group, subject, units) }
    }
    macro_rules! of_units {
        ($($n:literal)+) => {
            match m.units {
                $($n => of::<$n>,)+
                units => unreachable!("{units} units"),
            }
        };
    }
    let send = of_units!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
    let units = m.units_of(lane);
    act(&|group, subject| send(m.kind == 1, group, subject, &units))
}
