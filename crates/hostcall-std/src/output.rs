//! What a kernel's lanes print.
//!
//! A program's threads share one standard output behind a lock, as everywhere. Thousands of lanes would wait for each
//! other there, each for the time of a call. So a kernel's lane has a standard output of its own, which is
//! line-buffered like the shared one: what it writes leaves, up to the last newline, at once and in one message with
//! what other lanes of its wave write there, and what is behind stays with the lane until more comes, or it flushes, or
//! ends. Lines of different lanes never mix.

use crate::error::{Errno, answered, returned};
use crate::lane;
use crate::services::StdSystem;
use alloc::vec::Vec;
use hostcall_device::__runtime::{self as device, Console};
use hostcall_device::wave;

/// Standard output, as the host numbers it.
const STDOUT: u32 = 1;
/// The longest text that goes in one call.
const WHOLE: usize = 16 << 10;
/// Bytes without a newline that a lane keeps.
const KEPT: usize = 4 << 10;

/// Sends a text, which the host writes whole.
fn send(stream: u32, text: &[u8]) -> Result<(), Errno> {
    if text.len() <= WHOLE {
        return answered(StdSystem::write(stream, text)).map(drop);
    }
    // No two texts under way have the same lane's number and start in the same nanosecond.
    let key = (device::now_ns() << 24 ^ wave::global_id() as u64) | 1 << 63;
    let mut pieces = text.chunks(WHOLE).peekable();
    while let Some(piece) = pieces.next() {
        Console::print_piece(stream, key, pieces.peek().is_none(), piece)?;
    }
    Ok(())
}

/// How much of a text is whole lines.
fn lines(text: &[u8]) -> usize {
    text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

fn write(stream: u32, text: &[u8]) -> Result<(), Errno> {
    if stream != STDOUT {
        return send(stream, text);
    }
    let mut all = take_unfinished();
    let whole = lines(text);
    if all.is_empty() && whole == text.len() {
        return send(STDOUT, text);
    }
    let before = all.len();
    all.extend_from_slice(text);
    let rest = match whole {
        0 if all.len() < KEPT => core::mem::take(&mut all),
        0 => Vec::new(),
        _ => {
            // Not `split_off`, whose panic is a text with numbers, and so brings `core::fmt` into every program.
            let rest = all.get(before + whole..).unwrap_or_default().to_vec();
            all.truncate(before + whole);
            rest
        }
    };
    if !rest.is_empty() {
        lane::here().unfinished.set(rest);
    }
    if all.is_empty() { Ok(()) } else { send(STDOUT, &all) }
}

fn take_unfinished() -> Vec<u8> {
    lane::known().map(|lane| lane.unfinished.take()).unwrap_or_default()
}

fn flush() -> Result<(), Errno> {
    let unfinished = take_unfinished();
    if unfinished.is_empty() { Ok(()) } else { send(STDOUT, &unfinished) }
}

/// Writes out what the calling lane has kept, because it ends.
pub(crate) fn finish() {
    // Nobody is left whom an error could be told.
    let _ = flush();
}

/// A text that a kernel's lane prints on stream 1 or 2: 0, or a negated error number.
///
/// # Safety
/// `text` is valid for reads of `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sys_lane_write(stream: u32, text: *const u8, len: usize) -> i32 {
    // SAFETY: the caller's.
    let text = if len == 0 { &[] } else { unsafe { core::slice::from_raw_parts(text, len) } };
    returned(write(stream, text).map(|()| 0))
}

/// Sends what the calling lane has written behind its last newline: 0, or a negated error number.
#[unsafe(no_mangle)]
pub extern "C" fn sys_lane_flush() -> i32 {
    returned(flush().map(|()| 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_behind_its_last_newline() {
        assert_eq!([&b""[..], b"a", b"a\n", b"a\nb", b"\n\n", b"a\nb\nc"].map(lines), [0, 0, 2, 2, 2, 4]);
    }
}
