//! What the standard streams are: files, pipes, terminals.
//!
//! Programs ask, and do one thing or another: they read the files of a directory if there is no input, refuse to copy a
//! file to itself, and take the length of their input for granted if it is a file.

use std::fs::File;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use hostcall_abi::std_services::stat;

use super::super::console::Console;
use super::super::context::{Context, answer};
use super::super::errno::check;
use super::super::table::{FileTable, Open, OpenFile};
use super::super::{define, errno};
use super::input::Source;
use super::stat::all_of;
use crate::service::Service;

/// Types of files that are not open here, with the permissions that their owner has.
const DEVICE: u64 = 0o020_600;
const PIPE: u64 = 0o010_600;

fn of(descriptor: BorrowedFd<'_>) -> Result<[u64; 16], u32> {
    let file = File::from(check(descriptor.try_clone_to_owned())?);
    check(file.metadata()).map(|metadata| all_of(&metadata))
}

/// Rows, columns and pixels of a terminal. (The kernel looks them up: nothing here waits for a terminal.)
fn terminal_size(descriptor: BorrowedFd<'_>) -> Result<[u32; 4], u32> {
    let size = check(rustix::termios::tcgetwinsize(descriptor).map_err(std::io::Error::from))?;
    Ok([size.ws_row, size.ws_col, size.ws_xpixel, size.ws_ypixel].map(u32::from))
}

fn of_kind(mode: u64) -> [u64; 16] {
    let mut all = [0; 16];
    (all[stat::MODE], all[stat::LINKS], all[stat::BLOCKS]) = (mode, 1, 4096);
    all
}

pub(super) fn services(context: &Context, files: &Arc<FileTable>, input: &Arc<Source>, console: &Arc<Console>) -> Vec<Service> {
    let (f, i) = (files.clone(), input.clone());
    let as_file = context.inline(define::std_system::definition::input(), move |call| {
        let tenant = call.tenant();
        let file = f.room(tenant).and_then(|room| room.take(check(i.file())?.ok_or(errno::ESPIPE)?));
        let result = file.and_then(|file| f.insert(tenant, Open::File(Arc::new(OpenFile::new(file, true, false, false)))));
        answer(call, result)
    });
    let (i, c) = (input.clone(), console.clone());
    let stream = context.inline(define::std_system::definition::stream(), move |call| {
        let result = match call.fixed::<u32>()? {
            // What is at its end from the beginning is as `/dev/null`.
            0 => i.descriptor().map_or(Ok(of_kind(DEVICE)), of),
            number @ 1..=2 => c.descriptor(number).map_or(Ok(of_kind(PIPE)), of),
            _ => Err(errno::EBADF),
        };
        answer(call, result)
    });
    let (i, c) = (input.clone(), console.clone());
    let terminal = context.inline(define::std_system::definition::terminal(), move |call| {
        let stream = match call.fixed::<u32>()? {
            0 => Ok(i.descriptor()),
            number @ 1..=2 => Ok(c.descriptor(number)),
            _ => Err(errno::EBADF),
        };
        answer(call, stream.and_then(|stream| stream.ok_or(errno::ENOTTY)).and_then(terminal_size))
    });
    vec![as_file, stream, terminal]
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn what_is_open_is_what_the_system_says() {
        let file = tempfile::tempfile().unwrap();
        let (known, metadata) = (of(file.as_fd()).unwrap(), file.metadata().unwrap());
        assert_eq!([known[stat::DEV], known[stat::INO]], [metadata.dev(), metadata.ino()]);
        assert_eq!(terminal_size(file.as_fd()), Err(errno::ENOTTY));
    }

    #[test]
    fn a_terminal_has_the_size_that_it_was_given() {
        let Ok(terminal) = File::options().read(true).write(true).open("/dev/ptmx") else {
            println!("skipped: this machine gives no terminal");
            return;
        };
        let size = rustix::termios::Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 640, ws_ypixel: 480 };
        rustix::termios::tcsetwinsize(&terminal, size).unwrap();
        assert_eq!(terminal_size(terminal.as_fd()), Ok([24, 80, 640, 480]));
    }
}
