//! Where the processor's time of a link goes, for whoever wants to make links faster.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Names a file to which each link appends what its steps took: a line for each tool, and one for what was done between
/// two tools.
const VARIABLE: &str = "HOSTCALL_TIMINGS";

/// Hundredths of a second that this process had used when the last line was written, and those that its children had.
static USED: Mutex<(u64, u64)> = Mutex::new((0, 0));

/// A tool has ended. Of several at once, the first line has the time of those that have ended, and the rest theirs.
pub(crate) fn ended(tool: &str) {
    let Some(file) = std::env::var_os(VARIABLE) else { return };
    let Some(now) = fs::read_to_string("/proc/self/stat").ok().as_deref().and_then(used) else { return };
    let before = std::mem::replace(&mut *USED.lock().unwrap_or_else(PoisonError::into_inner), now);
    let line = |what: &str, hundredths: u64| format!("{}.{:02} {what}\n", hundredths / 100, hundredths % 100);
    let text = line("between", now.0 - before.0) + &line(tool, now.1 - before.1);
    // A measurement that cannot be written is missed by whoever wanted it, and by nothing else.
    let _ = File::options().append(true).create(true).open(Path::new(&file)).and_then(|mut file| file.write_all(text.as_bytes()));
}

/// The process's own time and that of its children that have ended, from `/proc/PID/stat` (proc(5): fields 14 to 17, in
/// hundredths of a second).
fn used(stat: &str) -> Option<(u64, u64)> {
    // The second field is the program's name, which may have anything in it.
    let fields: Vec<u64> = stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(4).map_while(|field| field.parse().ok()).collect();
    let [user, system, children_user, children_system] = fields[..] else { return None };
    Some((user + system, children_user + children_system))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processs_times_are_read_behind_its_name() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 120 340 0 0 12 3 450 60 20 0 1 0 5 6 7";
        assert_eq!(used(stat), Some((15, 510)));
        assert_eq!(used("7 (a) S 1"), None);
    }
}
