//! A measurement that hangs ends the process, and says which one it was.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What is going on, and until when it may.
type Current = Option<(String, Instant)>;

/// Watches one thing at a time.
#[derive(Clone, Debug)]
pub(super) struct Watchdog(Arc<Mutex<Current>>);

impl Watchdog {
    /// The longest that one launch may take.
    pub(super) const LAUNCH: Duration = Duration::from_secs(30);
    /// The longest that loading the kernels may take: the driver may have to compile them.
    pub(super) const LOAD: Duration = Duration::from_secs(180);

    pub(super) fn start() -> std::io::Result<Self> {
        let current = Arc::new(Mutex::new(None));
        let watched = Self(current.clone());
        std::thread::Builder::new().name("watchdog".into()).spawn(move || {
            loop {
                std::thread::sleep(Duration::from_millis(250));
                if let Some((what, deadline)) = &*watched.lock()
                    && Instant::now() > *deadline
                {
                    eprintln!("error: {what} did not end in time; the kernel or its server hangs, so no figure of this run is printed");
                    // Not `exit`: a GPU driver's exit handlers wait for the kernel that hangs.
                    std::process::abort();
                }
            }
        })?;
        Ok(Self(current))
    }

    fn lock(&self) -> MutexGuard<'_, Current> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work`, which may take `limit`. What was watched before is watched again afterwards.
    pub(super) fn during<R>(&self, what: &str, limit: Duration, work: impl FnOnce() -> R) -> R {
        let before = self.lock().replace((what.to_owned(), Instant::now() + limit));
        let result = work();
        *self.lock() = before;
        result
    }
}
