//! The socket of a process that shows itself, and where it lies.

use std::fs::{self, DirBuilder};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use crate::VARIABLE;
use crate::view::View;

/// Clients that look at one process at a time.
const MOST_CLIENTS: u32 = 16;
/// The longest line that a client sends.
const LONGEST_REQUEST: u64 = 1 << 10;
/// How long a client is waited for that does not read.
const PATIENCE: Duration = Duration::from_secs(5);
/// A socket that nobody answers and that is as old as this is a dead process's.
const STALE: Duration = Duration::from_secs(10);

/// Why a process does not show itself.
#[derive(thiserror::Error)]
#[error("{VARIABLE}: this process cannot show itself at {}: {source}", path.display())]
pub(crate) struct OpenError {
    path: PathBuf,
    source: io::Error,
}

hostcall_error::readable!(OpenError);

/// The directory of the user's sockets.
pub(crate) fn directory() -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from) {
        Some(runtime) if runtime.is_absolute() => runtime.join("hostcall"),
        _ => std::env::temp_dir().join(format!("hostcall-{}", rustix::process::getuid().as_raw())),
    }
}

/// The socket of a process.
pub(crate) fn path_of(pid: u32) -> PathBuf {
    directory().join(format!("{pid}.sock"))
}

/// Opens this process's socket, and starts the thread that answers there with what `view` gives.
pub(crate) fn open(view: fn() -> View) -> Result<(), OpenError> {
    let asked = std::env::var_os(VARIABLE).unwrap_or_default();
    let path = if asked == "1" { path_of(std::process::id()) } else { PathBuf::from(asked) };
    let failed = |source| OpenError { path: path.clone(), source };
    if path.parent() == Some(&directory()) {
        private(&directory()).map_err(failed)?;
        sweep(&directory());
    }
    let listener = listen(&path).map_err(failed)?;
    let spawned = std::thread::Builder::new().name("hostcall-top".to_owned()).spawn(move || answer_all(&listener, view));
    spawned.map_err(failed)?;
    Ok(())
}

/// Makes a directory that nobody else may enter, or finds it.
///
/// # Errors
/// When it is somebody else's, or open to others: in a directory that all may write to, anybody may have made it.
fn private(directory: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Err(_) | Ok(()) => {}
    }
    // Of the name itself: a link is nobody's directory.
    let found = fs::symlink_metadata(directory)?;
    let is_ours = found.is_dir() && found.uid() == rustix::process::getuid().as_raw() && found.mode() & 0o077 == 0;
    if is_ours {
        Ok(())
    } else {
        Err(io::Error::other("its directory must be this user's, and of mode 700: remove it, or set XDG_RUNTIME_DIR"))
    }
}

/// Removes sockets of processes that have ended.
fn sweep(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let is_old = || Some(SystemTime::now().duration_since(entry.metadata().ok()?.modified().ok()?).ok()? > STALE);
        if is_refused(&entry.path()) && is_old() == Some(true) {
            // Another process may have done it.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether nobody listens at a socket that is there.
fn is_refused(path: &Path) -> bool {
    UnixStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

fn listen(path: &Path) -> io::Result<UnixListener> {
    let bound = UnixListener::bind(path);
    let listener = match bound {
        // Of a process that had our number, or that was given our path.
        Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_refused(path) => {
            fs::remove_file(path)?;
            UnixListener::bind(path)?
        }
        bound => bound?,
    };
    // Wherever it lies.
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Answers clients, each on a thread of its own, for as long as the process runs.
fn answer_all(listener: &UnixListener, view: fn() -> View) {
    let clients = Arc::new(AtomicU32::new(0));
    for client in listener.incoming() {
        let Ok(client) = client else {
            // No descriptors are left, for now.
            std::thread::sleep(Duration::from_millis(100));
            continue;
        };
        // Only this thread adds; pairs with the drop of `Counted`. Relaxed: a bound, not an order.
        if clients.load(Ordering::Relaxed) >= MOST_CLIENTS {
            continue;
        }
        clients.fetch_add(1, Ordering::Relaxed);
        let counted = Counted(clients.clone());
        // No thread to be had: the client sees that it is sent away.
        let _ = std::thread::Builder::new().name("hostcall-top".to_owned()).spawn(move || {
            let _counted = counted;
            answer(&client, view)
        });
    }
}

/// A client while it is answered.
struct Counted(Arc<AtomicU32>);

impl Drop for Counted {
    fn drop(&mut self) {
        // Pairs with `answer_all`.
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A view for each line, until the client goes.
fn answer(client: &UnixStream, view: fn() -> View) -> io::Result<()> {
    client.set_write_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new(client);
    loop {
        let mut line = Vec::new();
        let length = (&mut lines).take(LONGEST_REQUEST).read_until(b'\n', &mut line)?;
        if length == 0 || line.last() != Some(&b'\n') {
            return Ok(());
        }
        let mut text = serde_json::to_vec(&view())?;
        text.push(b'\n');
        // (Rust's library asks the system for no signal where a client has gone.)
        (&*client).write_all(&text)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_others_may_enter_is_refused() {
        let here = tempfile::tempdir().expect("a directory");
        let mine = here.path().join("mine");
        private(&mine).expect("made");
        private(&mine).expect("found");
        assert_eq!(fs::metadata(&mine).expect("it is there").mode() & 0o777, 0o700);
        fs::set_permissions(&mine, fs::Permissions::from_mode(0o755)).expect("it is ours");
        assert!(private(&mine).is_err(), "open to others");
        let link = here.path().join("link");
        std::os::unix::fs::symlink(here.path(), &link).expect("a link");
        assert!(private(&link).is_err(), "a link");
        fs::write(here.path().join("file"), "").expect("a file");
        assert!(private(&here.path().join("file")).is_err(), "a file");
    }

    #[test]
    fn sockets_of_the_dead_are_swept_and_those_of_the_living_stay() {
        let here = tempfile::tempdir().expect("a directory");
        let [dead, young, living] = ["1.sock", "2.sock", "3.sock"].map(|name| here.path().join(name));
        for path in [&dead, &young] {
            drop(UnixListener::bind(path).expect("a socket"));
        }
        let _listener = UnixListener::bind(&living).expect("a socket");
        for path in [&dead, &living] {
            let long_ago = SystemTime::now() - 2 * STALE;
            let times = rustix::fs::Timestamps { last_access: since_epoch(long_ago), last_modification: since_epoch(long_ago) };
            rustix::fs::utimensat(rustix::fs::CWD, path, &times, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).expect("times");
        }
        sweep(here.path());
        assert_eq!([&dead, &young, &living].map(|path| path.exists()), [false, true, true]);
        // Whoever has the number of the dead takes its place.
        drop(listen(&young).expect("it is nobody's"));
        assert!(listen(&living).is_err(), "it is somebody's");
    }

    fn since_epoch(time: SystemTime) -> rustix::fs::Timespec {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
        rustix::fs::Timespec { tv_sec: since.as_secs() as i64, tv_nsec: 0 }
    }
}
