//! The shape of a launch, by which linear numbers become places.

use std::fmt;

use offload::Launch;

/// How many workgroups a launch has, and how many lanes each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape {
    /// Workgroups in x, y, z.
    pub groups: [u32; 3],
    /// Lanes of a workgroup in x, y, z.
    pub group_size: [u32; 3],
}

impl Shape {
    /// x, y and z of the workgroup with this number in its grid ([`Origin::group`](crate::Origin::group)); `None`:
    /// there is none.
    pub fn group(&self, number: u64) -> Option<[u32; 3]> {
        place(number, self.groups)
    }

    /// x, y and z of the lane with this number in its workgroup: its wave's number times the lanes of a wave, and the
    /// lane's number in the wave. `None`: there is none.
    pub fn lane(&self, number: u32) -> Option<[u32; 3]> {
        place(number.into(), self.group_size)
    }
}

impl From<&Launch> for Shape {
    fn from(launch: &Launch) -> Self {
        Self { groups: launch.groups, group_size: launch.group_size }
    }
}

/// `3x2x1 workgroups of 8x4x1`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([x, y, z], [w, h, d]) = (self.groups, self.group_size);
        write!(f, "{x}x{y}x{z} workgroups of {w}x{h}x{d}")
    }
}

fn place(number: u64, size: [u32; 3]) -> Option<[u32; 3]> {
    let [x, y, z] = size.map(u64::from);
    let (row, layer) = (number.checked_div(x)?, number.checked_div(x)?.checked_div(y)?);
    (layer < z).then(|| [(number % x) as u32, (row % y) as u32, layer as u32])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_its_place_and_those_beyond_have_none() {
        let shape = Shape { groups: [3, 2, 4], group_size: [u32::MAX, u32::MAX, 2] };
        let places = (0..4).flat_map(|z| (0..2).flat_map(move |y| (0..3).map(move |x| Some([x, y, z]))));
        assert!((0..24).map(|number| shape.group(number)).eq(places));
        assert_eq!((shape.group(24), shape.group(u64::MAX), shape.lane(u32::MAX)), (None, None, Some([0, 1, 0])));
        assert_eq!(Shape { groups: [0, 0, 0], group_size: [1, 0, 1] }.lane(0), None);
        assert_eq!(Shape { groups: [3, 2, 1], group_size: [8, 4, 1] }.to_string(), "3x2x1 workgroups of 8x4x1");
    }
}
