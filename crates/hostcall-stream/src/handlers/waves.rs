//! Messages of accesses as waves make them: lane by lane, at once.

use hostcall_abi::stream::Access;

use crate::batch::Delivery;

/// Calls `each` for every access of the wave in a message, with the lanes that `wanted` chooses and what they access.
/// Lanes that sent several [`Access`]es in one message made them one after another.
pub(super) fn accesses(
    message: &Delivery<'_, Access>,
    buffer: &mut Vec<(u32, Access)>,
    wanted: impl Fn(Access) -> bool,
    mut each: impl FnMut(&[(u32, Access)]),
) {
    let count = message.head.header().values as usize;
    for index in 0..count {
        let its = message.head.lanes().zip(message.values.iter().skip(index).step_by(count));
        buffer.clear();
        buffer.extend(its.map(|(lane, access)| (lane, *access)).filter(|(_, access)| wanted(*access)));
        if !buffer.is_empty() {
            each(buffer);
        }
    }
}
