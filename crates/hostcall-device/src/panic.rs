//! Panics: the host gets one report per wave, the lanes end, and the context stays usable.
//!
//! The first of the lanes that panic together formats its message into a buffer of fixed size on its stack, and
//! reports it. Then all of them exit. The host ends the kernel: every other lane ends at its next call, which answers
//! [`KERNEL_ENDED`](hostcall_abi::Status::KERNEL_ENDED). Nothing here allocates.
//!
//! A panic while a panic is being reported (in a `Display` of the message) ends the lane at once. GPUs have no
//! thread-local storage, so a small table has the lanes that report.

use crate::builtin::Process;
use crate::wave::{self, Converged};
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a message that the host gets; what is longer is cut, and says so.
const BUFFER: usize = 480;
const CUT: &str = " […]";

/// Lanes that are reporting a panic, by number in the grid plus one; 0: nobody.
static REPORTING: [AtomicU64; 1024] = [const { AtomicU64::new(0) }; 1024];
/// Places of the table that a lane tries.
const TRIES: usize = 8;

struct Message {
    len: usize,
    cut: bool,
    buffer: [u8; BUFFER],
}

impl Message {
    const fn new() -> Self {
        Self { len: 0, cut: false, buffer: [0; BUFFER] }
    }

    fn text(&self) -> &str {
        // Only whole characters are ever put in.
        core::str::from_utf8(&self.buffer[..self.len]).unwrap_or_default()
    }

    /// A number, without what `core::fmt` brings along: programs with std have that already, of their own.
    fn number(&mut self, number: u64) -> fmt::Result {
        const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
        let mut unit = 1;
        while number / unit >= 10 {
            unit *= 10;
        }
        while unit > 0 {
            self.write_str(DIGITS[(number / unit % 10) as usize])?;
            unit /= 10;
        }
        Ok(())
    }
}

impl Write for Message {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.cut {
            return Err(fmt::Error);
        }
        let room = BUFFER - CUT.len() - self.len;
        let n = if text.len() <= room { text.len() } else { text.floor_char_boundary(room) };
        self.buffer[self.len..self.len + n].copy_from_slice(&text.as_bytes()[..n]);
        self.len += n;
        if n < text.len() {
            self.buffer[self.len..self.len + CUT.len()].copy_from_slice(CUT.as_bytes());
            self.len += CUT.len();
            self.cut = true;
            return Err(fmt::Error);
        }
        Ok(())
    }
}

/// What a lane may do that panics.
#[derive(PartialEq, Eq)]
enum Turn {
    /// Report; clear the slot afterwards.
    Report(usize),
    /// Other lanes have all slots it tries: report without running code of the user's, which could panic again.
    PlaceOnly,
    /// This lane is reporting already.
    Again,
}

fn take_turn(me: u64) -> Turn {
    // Lanes that panic together often have numbers that differ by a multiple of the workgroup's size: spread them.
    let first = (me.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize;
    for slot in (first..first + TRIES).map(|slot| slot % REPORTING.len()) {
        // Relaxed: only this lane's own earlier store of `me` matters, and a lane sees its own stores.
        match REPORTING[slot].compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return Turn::Report(slot),
            Err(other) if other == me => return Turn::Again,
            Err(_) => {}
        }
    }
    Turn::PlaceOnly
}

/// Tells the host of a panic at `file`, `[line, column]`, once for all `lanes` that panic there together, and ends the
/// calling lane. `say` writes the message.
fn report(lanes: Converged, file: &str, place: [u32; 2], say: impl FnOnce(&mut Message) -> fmt::Result) -> ! {
    if lanes.leads() {
        let turn = take_turn(wave::global_id() as u64 + 1);
        if turn != Turn::Again {
            let mut message = Message::new();
            if turn == Turn::PlaceOnly {
                let _ = message.write_str("(another lane's report is under way)");
            } else {
                // An error is a message that was cut, or a `Display` that failed: what is there is sent.
                let _ = say(&mut message);
                let _ = explain_out_of_memory(&mut message);
            }
            // If the host is gone nobody can be told.
            let _ = Process::panicked(wave::group_id(), wave::local_id(), lanes.mask(), place, file.as_bytes(), message.text().as_bytes());
            if let Turn::Report(slot) = turn {
                // Relaxed: see `take_turn`.
                REPORTING[slot].store(0, Ordering::Relaxed);
            }
        }
    }
    crate::ending::end_lane()
}

/// What `alloc` says when the heap is exhausted names the size but not the setting.
fn explain_out_of_memory(message: &mut Message) -> fmt::Result {
    let text = message.text();
    if text.starts_with("memory allocation of ") && text.ends_with(" bytes failed") {
        let heap = crate::heap::stats();
        message.write_str(": ")?;
        message.number(heap.used_bytes as u64)?;
        message.write_str(" of the ")?;
        message.number(heap.total_bytes as u64)?;
        message.write_str(" bytes of the device heap are in use; raise it with `.heap(bytes)` or `--heap`")?;
    }
    Ok(())
}

/// The end of lanes whose panic somebody else (`std`) has put into words. What tells lanes that panic here from others
/// is the place in the source.
pub fn panicked(file: &str, place: [u32; 2], message: &str) -> ! {
    let site = file.as_ptr() as usize ^ (place[0] as usize) << 12 ^ place[1] as usize;
    report(Converged::at_site(site, place[0]), file, place, |to| to.write_str(message))
}

#[cfg(all(hostcall_device, not(test), not(target_vendor = "hostcall")))]
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    let lanes = info.location().map_or_else(Converged::here, Converged::at);
    let (file, place) = info.location().map_or(("", [0; 2]), |at| (at.file(), [at.line(), at.column()]));
    report(lanes, file, place, |to| write!(to, "{}", info.message()))
}

/// The precompiled `core` that a simulator image links was built to unwind and refers to this symbol; with
/// `panic = "abort"` nobody calls it.
#[cfg(all(hostcall_device, not(test), not(target_vendor = "hostcall"), not(any(target_arch = "nvptx64", target_arch = "amdgpu"))))]
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_full() {
        let mut message = Message::new();
        for number in [0, 7, 10, 1909, u64::MAX] {
            message.number(number).expect("there is room");
            message.write_str(" ").expect("there is room");
        }
        assert_eq!(message.text(), "0 7 10 1909 18446744073709551615 ");
    }

    #[test]
    fn a_long_message_is_cut_at_a_character_and_says_so() {
        let mut message = Message::new();
        for _ in 0..400 {
            if message.write_str("äö").is_err() {
                break;
            }
        }
        assert!(message.text().ends_with(CUT), "{:?}", message.text());
        assert!(message.text().len() > BUFFER - 8);
        assert!(message.write_str("more").is_err());
        assert!(message.text().len() <= BUFFER);
    }

    #[test]
    fn a_lane_that_panics_while_it_reports_is_recognised() {
        let Turn::Report(slot) = take_turn(7) else { panic!("the slot is free") };
        assert!(take_turn(7) == Turn::Again);
        let others: std::vec::Vec<usize> = (1..=TRIES - 1).map(|k| (slot + k) % REPORTING.len()).collect();
        others.iter().for_each(|other| REPORTING[*other].store(u64::MAX, Ordering::Relaxed));
        REPORTING[slot].store(u64::MAX, Ordering::Relaxed);
        assert!(take_turn(7) == Turn::PlaceOnly);
        others.iter().for_each(|other| REPORTING[*other].store(0, Ordering::Relaxed));
        REPORTING[slot].store(0, Ordering::Relaxed);
        assert!(matches!(take_turn(7), Turn::Report(_)));
        REPORTING[slot].store(0, Ordering::Relaxed);
    }
}
