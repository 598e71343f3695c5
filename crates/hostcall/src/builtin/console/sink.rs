//! Where what kernels print goes.

use std::fmt;
use std::io::{self, Write};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError};

/// Where one stream of a kernel goes.
pub enum Sink {
    /// This process's standard output. Written to directly, not through [`std::io::stdout`], so that a thread that
    /// holds that one's lock while it waits for a kernel does not wait for ever.
    Stdout,
    /// This process's standard error.
    Stderr,
    /// Any writer, on the console's thread.
    Writer(Box<dyn Write + Send>),
    /// Nowhere.
    Null,
}

impl Sink {
    /// A sink into memory, and the memory.
    pub fn buffer() -> (Self, Arc<Mutex<Vec<u8>>>) {
        struct Shared(Arc<Mutex<Vec<u8>>>);
        impl Write for Shared {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let memory = Arc::new(Mutex::new(Vec::new()));
        (Self::Writer(Box::new(Shared(memory.clone()))), memory)
    }

    /// The descriptor of this process's own that it is, if it is one.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'static>> {
        match self {
            Self::Stdout => Some(rustix::stdio::stdout()),
            Self::Stderr => Some(rustix::stdio::stderr()),
            Self::Writer(_) | Self::Null => None,
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Stdout => write_fd(rustix::stdio::stdout(), bytes),
            Self::Stderr => write_fd(rustix::stdio::stderr(), bytes),
            Self::Writer(writer) => writer.write_all(bytes).and_then(|()| writer.flush()),
            Self::Null => Ok(()),
        }
    }
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stdout => "Stdout",
            Self::Stderr => "Stderr",
            Self::Writer(_) => "Writer",
            Self::Null => "Null",
        })
    }
}

fn write_fd(fd: impl std::os::fd::AsFd, mut bytes: &[u8]) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::io::Errno;
    while !bytes.is_empty() {
        match rustix::io::write(&fd, bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(Errno::INTR) => {}
            // Somebody made it non-blocking, as node.js and some shells do to terminals.
            Err(Errno::AGAIN) => {
                let _ = poll(&mut [PollFd::new(&fd, PollFlags::OUT)], None);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_text_is_written_whole_to_a_descriptor_that_does_not_wait_for_its_reader() {
        let (mut from, to) = io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&to, true).unwrap();
        // More than a pipe holds.
        let text: Vec<u8> = (0..300_000u32).flat_map(u32::to_ne_bytes).collect();
        let got = std::thread::scope(|scope| {
            let read = scope.spawn(move || {
                let mut got = Vec::new();
                from.read_to_end(&mut got).unwrap();
                got
            });
            write_fd(&to, &text).unwrap();
            drop(to);
            read.join().unwrap()
        });
        assert!(got == text);
        let (from, to) = io::pipe().unwrap();
        drop(from);
        let nobody_reads = write_fd(to, b"text").unwrap_err();
        assert_eq!(nobody_reads.kind(), io::ErrorKind::BrokenPipe);
    }
}
