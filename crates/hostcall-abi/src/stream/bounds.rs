//! Which places of a grid a stream's messages are wanted from: the part of what the host says that few streams have.

/// Where a lane is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// x, y and z of its workgroup in the grid.
    pub group: [u32; 3],
    /// Its own in the workgroup.
    pub lane: [u32; 3],
}

/// Places whose messages are wanted. In device memory, one for each stream, which counts if
/// [`Gate::bounded`](super::Gate::bounded) says so.
///
/// A span of 32 bits is a first number, and in the high half a last one, both wanted. Numbers from 65535 on are 65535
/// to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(32))]
pub struct Bounds {
    /// The first x of a workgroup.
    pub first_x: u32,
    /// The last x of a workgroup.
    pub last_x: u32,
    /// Span of y of a workgroup.
    pub group_y: u32,
    /// Span of z of a workgroup.
    pub group_z: u32,
    /// Span of x of a lane in its workgroup.
    pub lane_x: u32,
    /// Span of y of a lane.
    pub lane_y: u32,
    /// Span of z of a lane.
    pub lane_z: u32,
    /// Waves of a workgroup, one bit each, by their numbers modulo 32.
    pub waves: u32,
}

const _: () = assert!(size_of::<Bounds>() == 32);

/// The largest number of a span.
pub const MOST: u32 = 0xffff;

/// A span from `first` to `last`, both wanted; nothing if `last` is the smaller.
#[inline(always)]
pub const fn span(first: u32, last: u32) -> u32 {
    let (first, last) = if first <= last { (at_most(first), at_most(last)) } else { (1, 0) };
    first | last << 16
}

#[inline(always)]
const fn at_most(number: u32) -> u32 {
    if number < MOST { number } else { MOST }
}

/// Whether a number is in a span.
#[inline(always)]
const fn is_in(span: u32, number: u32) -> bool {
    let number = at_most(number);
    span & MOST <= number && number <= span >> 16
}

impl Bounds {
    /// Everywhere.
    pub const NONE: Self = Self {
        first_x: 0,
        last_x: u32::MAX,
        group_y: span(0, MOST),
        group_z: span(0, MOST),
        lane_x: span(0, MOST),
        lane_y: span(0, MOST),
        lane_z: span(0, MOST),
        waves: u32::MAX,
    };

    /// The words in memory.
    pub const fn words(&self) -> [u32; 8] {
        let Self { first_x, last_x, group_y, group_z, lane_x, lane_y, lane_z, waves } = *self;
        [first_x, last_x, group_y, group_z, lane_x, lane_y, lane_z, waves]
    }

    /// The bounds in these words.
    #[inline(always)]
    pub const fn of_words(words: [u32; 8]) -> Self {
        let [first_x, last_x, group_y, group_z, lane_x, lane_y, lane_z, waves] = words;
        Self { first_x, last_x, group_y, group_z, lane_x, lane_y, lane_z, waves }
    }

    /// Whether messages of this workgroup are wanted.
    #[inline(always)]
    pub const fn take_group(&self, group: [u32; 3]) -> bool {
        let [x, y, z] = group;
        self.first_x <= x && x <= self.last_x && is_in(self.group_y, y) && is_in(self.group_z, z)
    }

    /// Whether values of this lane of a workgroup are wanted.
    #[inline(always)]
    pub const fn take_lane(&self, lane: [u32; 3]) -> bool {
        let [x, y, z] = lane;
        is_in(self.lane_x, x) && is_in(self.lane_y, y) && is_in(self.lane_z, z)
    }

    /// Whether messages of the wave of this number in its workgroup are wanted.
    #[inline(always)]
    pub const fn take_wave(&self, wave: u32) -> bool {
        self.waves >> (wave & 31) & 1 != 0
    }

    /// Whether values of a lane there, in the wave of this number, are wanted.
    #[inline(always)]
    pub const fn take(&self, place: &Place, wave: u32) -> bool {
        self.take_group(place.group) && self.take_lane(place.lane) && self.take_wave(wave)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_the_same_in_words() {
        let bounds = Bounds { first_x: 1, last_x: 2, group_y: 3, group_z: 4, lane_x: 5, lane_y: 6, lane_z: 7, waves: 8 };
        assert_eq!(bounds.words(), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(Bounds::of_words(bounds.words()), bounds);
    }

    #[test]
    fn a_span_has_both_its_ends_and_numbers_beyond_are_the_largest() {
        let taken = |first, last| [0, 3, 4, 5, 6, 65534, 65535, u32::MAX].map(|number| is_in(span(first, last), number));
        assert_eq!(taken(4, 5), [false, false, true, true, false, false, false, false]);
        assert_eq!(taken(0, u32::MAX), [true; 8]);
        assert_eq!(taken(5, 4), [false; 8]);
        assert_eq!(taken(70_000, 80_000), [false, false, false, false, false, false, true, true]);
    }

    #[test]
    fn a_lane_is_wanted_if_every_axis_of_it_is_and_its_wave() {
        let place = Place { group: [7, 2, 1], lane: [3, 4, 5] };
        assert!(Bounds::NONE.take(&place, 9));
        let only = Bounds {
            first_x: 7,
            last_x: 7,
            group_y: span(2, 2),
            group_z: span(1, 1),
            lane_x: span(3, 3),
            lane_y: span(4, 4),
            lane_z: span(5, 5),
            waves: 1 << 9,
        };
        assert!(only.take(&place, 9) && only.take(&place, 41) && !only.take(&place, 8));
        for axis in 0..3 {
            for by in [1u32, u32::MAX] {
                let (mut group, mut lane) = (place, place);
                group.group[axis] = group.group[axis].wrapping_add(by);
                lane.lane[axis] = lane.lane[axis].wrapping_add(by);
                assert!(!only.take(&group, 9) && !only.take(&lane, 9), "{group:?} {lane:?}");
            }
        }
    }
}
