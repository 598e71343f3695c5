//! Who has something to show, in this process.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Instant;

use hostcall_error::Origin;

use crate::VARIABLE;
use crate::view::View;

/// Something that can be shown. It is asked on a thread of this crate's, and must not wait for anything that ends a
/// [`Shown`].
pub trait Source: Send + Sync {
    /// Adds what it is now to a view. `number` tells it from others of the process.
    fn add_to(&self, view: &mut View, number: u64);
}

/// While it lives, a source is shown. When it is dropped, nobody is looking at the source any more.
///
/// A child that `fork` has made has sources and a socket of its own; there, dropping its parent's does nothing.
pub struct Shown {
    sources: &'static Sources,
    number: u64,
    /// Keeps it: others look only while this lives.
    _source: Arc<dyn Source>,
}

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shown")
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        // Whoever looks may drop the last of what a service owned, and that may own a server. It cannot wait for
        // itself, and forgets the source when it looks again.
        if self.sources.origin.is_here() && !LOOKING.get() {
            self.sources.lock().retain(|(number, _)| *number != self.number);
        }
    }
}

thread_local! {
    /// Whether this thread is looking.
    static LOOKING: Cell<bool> = const { Cell::new(false) };
}

/// Those of one process.
struct Sources {
    origin: Origin,
    /// Numbers go up. Held for changes, and while somebody looks.
    all: Mutex<Vec<(u64, Weak<dyn Source>)>>,
    next: AtomicU64,
    began: Instant,
    /// Whether somebody has opened the socket, or tried to.
    opened: AtomicBool,
    /// Those of a child that `fork` has made of this process, in the child. (Its parent's locks may be held there, by
    /// threads that it does not have.)
    child: OnceLock<Box<Sources>>,
}

/// Those of this process.
fn sources() -> &'static Sources {
    static FIRST: OnceLock<Sources> = OnceLock::new();
    let mut sources = FIRST.get_or_init(Sources::new);
    while !sources.origin.is_here() {
        sources = sources.child.get_or_init(|| Box::new(Sources::new()));
    }
    sources
}

/// Whether this process was asked to show itself: [`VARIABLE`].
pub fn is_wanted() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Shows a source from now on, if this process was asked to show itself, until what is returned is dropped. What keeps
/// the socket from being opened is given to `tell`: nothing depends on it.
pub fn show(source: impl FnOnce() -> Arc<dyn Source>, tell: impl FnOnce(&dyn fmt::Display)) -> Option<Shown> {
    if !is_wanted() {
        return None;
    }
    let (sources, source) = (sources(), source());
    // Pairs with nothing: a counter orders only itself.
    let number = sources.next.fetch_add(1, Ordering::Relaxed);
    sources.lock().push((number, Arc::downgrade(&source)));
    // Pairs with itself: one of them opens it. Relaxed: nothing is handed over.
    if !sources.opened.swap(true, Ordering::Relaxed) {
        #[cfg(unix)]
        if let Err(error) = crate::socket::open(view) {
            tell(&error);
        }
        #[cfg(not(unix))]
        tell(&format_args!("{VARIABLE} does nothing on this system: it has no Unix sockets"));
    }
    Some(Shown { sources, number, _source: source })
}

impl Sources {
    fn new() -> Self {
        Self {
            origin: Origin::here(),
            all: Mutex::default(),
            next: AtomicU64::new(1),
            began: Instant::now(),
            opened: AtomicBool::new(false),
            child: OnceLock::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(u64, Weak<dyn Source>)>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What this process shows now.
fn view() -> View {
    look(sources())
}

fn look(sources: &Sources) -> View {
    let command = std::env::current_exe().ok();
    let command = command.as_deref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy().into_owned());
    let mut view = View {
        pid: std::process::id(),
        command: command.unwrap_or_default(),
        seconds: sources.began.elapsed().as_secs_f64(),
        ..View::default()
    };
    let mut all = sources.lock();
    LOOKING.set(true);
    all.retain(|(number, source)| source.upgrade().map(|source| source.add_to(&mut view, *number)).is_some());
    LOOKING.set(false);
    view
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Drops another one when it is looked at.
    struct Owner(Mutex<Option<Shown>>);

    impl Source for Owner {
        fn add_to(&self, view: &mut View, _: u64) {
            view.servers.push(crate::view::Server::default());
            drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
        }
    }

    fn add(sources: &'static Sources, number: u64, source: Arc<dyn Source>) -> Shown {
        sources.lock().push((number, Arc::downgrade(&source)));
        Shown { sources, number, _source: source }
    }

    #[test]
    fn what_is_dropped_while_somebody_looks_is_shown_no_more() {
        let sources: &Sources = Box::leak(Box::new(Sources::new()));
        let first = add(sources, 1, Arc::new(Owner(Mutex::default())));
        let second = add(sources, 2, Arc::new(Owner(Mutex::new(Some(first)))));
        assert_eq!([look(sources), look(sources)].map(|view| view.servers.len()), [2, 1]);
        drop(second);
        assert!(sources.lock().is_empty());
    }

    #[test]
    fn a_child_has_sources_of_its_own_whatever_its_parent_holds() {
        let parents = sources();
        // As a thread does that answers a client.
        let _held = parents.lock();
        // SAFETY: the child takes a lock of its own, and ends without running anything else.
        let pid = unsafe { libc::fork() };
        assert!(pid >= 0, "no process");
        if pid == 0 {
            // SAFETY: a child that hangs is ended by the system.
            unsafe { libc::alarm(60) };
            let own = sources();
            let right = !std::ptr::eq(own, parents) && own.lock().is_empty() && std::ptr::eq(own, sources());
            // SAFETY: ends the child.
            unsafe { libc::_exit(i32::from(!right)) };
        }
        let mut status = 0;
        // SAFETY: the child just made, an out parameter.
        assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
        assert_eq!(status, 0, "{} is that it hung", libc::SIGALRM);
        assert!(std::ptr::eq(sources(), parents));
    }
}
