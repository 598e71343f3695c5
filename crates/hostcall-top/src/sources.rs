//! Who has something to show, in this process.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
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
pub struct Shown {
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
        sources().lock().retain(|(number, _)| *number != self.number);
    }
}

struct Sources {
    /// Numbers go up. Held for changes, and while somebody looks.
    all: Mutex<Vec<(u64, Weak<dyn Source>)>>,
    next: AtomicU64,
    began: Instant,
    /// The process in which the socket is.
    origin: Mutex<Option<Origin>>,
}

fn sources() -> &'static Sources {
    static SOURCES: OnceLock<Sources> = OnceLock::new();
    SOURCES.get_or_init(|| Sources { all: Mutex::default(), next: AtomicU64::new(1), began: Instant::now(), origin: Mutex::default() })
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
    // A child that `fork` has made has a socket of its own.
    let mut origin = sources.origin.lock().unwrap_or_else(PoisonError::into_inner);
    if origin.is_none_or(|origin| !origin.is_here()) {
        *origin = Some(Origin::here());
        #[cfg(unix)]
        if let Err(error) = crate::socket::open(view) {
            tell(&error);
        }
        #[cfg(not(unix))]
        tell(&format_args!("{VARIABLE} does nothing on this system: it has no Unix sockets"));
    }
    Some(Shown { number, _source: source })
}

impl Sources {
    fn lock(&self) -> MutexGuard<'_, Vec<(u64, Weak<dyn Source>)>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What this process shows now.
fn view() -> View {
    let sources = sources();
    let command = std::env::current_exe().ok();
    let command = command.as_deref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy().into_owned());
    let mut view = View {
        pid: std::process::id(),
        command: command.unwrap_or_default(),
        seconds: sources.began.elapsed().as_secs_f64(),
        ..View::default()
    };
    for (number, source) in &*sources.lock() {
        if let Some(source) = source.upgrade() {
            source.add_to(&mut view, *number);
        }
    }
    view
}
