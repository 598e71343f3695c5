//! A message from its values: what a device's lanes do together, by one thread. For tests and measurements.

use super::header::{self, Header};
use super::layout::Layout;
use super::unit::{DATA, PHASE};

/// Writes the units of a message to `out`, without phases, and says how many they are. `rows` are the values of its
/// lanes, one lane's behind another's; [`Header::granules`] is set as it must be.
///
/// `None` if there is no such message, or `out` is too short.
pub fn encode(mut header: Header, rows: &[u32], out: &mut [u32]) -> Option<usize> {
    let lanes = header.mask.count_ones();
    let units = u32::try_from(rows.len()).ok()?.checked_div(lanes)?;
    let layout = Layout::new(units, lanes, header.wide).filter(|_| rows.len() as u32 == units * lanes)?;
    header.granules = layout.granules();
    let out = out.get_mut(..(layout.granules() * super::GRANULE) as usize)?;
    out.fill(0);
    out[..header::UNITS as usize].copy_from_slice(&header.encode());
    let mut mask = header.mask;
    for (rank, row) in (0..).zip(rows.chunks_exact(units as usize)) {
        let lane = mask.trailing_zeros();
        mask &= mask - 1;
        for (index, unit) in (0..).zip(row) {
            out[layout.place(rank, index) as usize] = unit & DATA;
            let at = layout.displaced(lane, index);
            out[at.unit as usize] |= u32::from(unit & PHASE != 0) << at.bit;
        }
    }
    Some(out.len())
}
