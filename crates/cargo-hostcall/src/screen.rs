//! The terminal while a command draws on it, and what ends such a command.

use std::io::{self, ErrorKind};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};

/// How lines are printed where nothing is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

/// Seconds between two looks, of an option.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|seconds| (0.01..=3600.0).contains(seconds)).ok_or_else(|| "give 0.01 to 3600 seconds".into())
}

/// The terminal while it is drawn on. A panic gives it back by the hook that ratatui sets.
pub(crate) struct Screen(DefaultTerminal);

impl Screen {
    pub(crate) fn new() -> io::Result<Self> {
        ratatui::try_init().map(Self)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

impl Deref for Screen {
    type Target = DefaultTerminal;

    fn deref(&self) -> &DefaultTerminal {
        &self.0
    }
}

impl DerefMut for Screen {
    fn deref_mut(&mut self) -> &mut DefaultTerminal {
        &mut self.0
    }
}

/// Whether a signal has asked for the end: those that end a process are only noted from then on, so that the terminal
/// is given back.
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn new() -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        #[cfg(unix)]
        for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP, signal_hook::consts::SIGINT] {
            signal_hook::flag::register(signal, stop.clone())?;
        }
        Ok(Self(stop))
    }

    pub(crate) fn is_asked(&self) -> bool {
        // Relaxed: nothing is handed over with it.
        self.0.load(Ordering::Relaxed)
    }
}

/// Whether somebody presses what ends it, within this time.
pub(crate) fn pressed(within: Duration) -> io::Result<bool> {
    match event::poll(within) {
        Ok(true) => {}
        Ok(false) => return Ok(false),
        // A signal.
        Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(false),
        Err(error) => return Err(error),
    }
    let Event::Key(key) = event::read()? else { return Ok(false) };
    let interrupt = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    Ok(key.kind == KeyEventKind::Press && (interrupt || matches!(key.code, KeyCode::Char('q') | KeyCode::Esc)))
}

/// `12.3 M`: a number in four digits at most.
pub(crate) fn short(number: u64) -> String {
    let scaled = |factor: f64, sign: &str| {
        let number = number as f64 / factor;
        let places = if number < 9.995 { 2 } else { usize::from(number < 99.95) };
        format!("{number:.places$} {sign}")
    };
    match number {
        0..10_000 => number.to_string(),
        10_000..999_500 => scaled(1e3, "k"),
        999_500..999_500_000 => scaled(1e6, "M"),
        999_500_000..999_500_000_000 => scaled(1e9, "G"),
        _ => scaled(1e12, "T"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let said = [0, 9_999, 10_000, 99_940, 99_950, 999_499, 999_500, 1_234_567, 52_600_000_000, u64::MAX].map(short);
        assert_eq!(said, ["0", "9999", "10.0 k", "99.9 k", "100 k", "999 k", "1.00 M", "1.23 M", "52.6 G", "18446744 T"]);
    }
}
