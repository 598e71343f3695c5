//! Lines of a log.

use std::fmt;
use std::sync::Arc;

use hostcall_abi::Shown;
use hostcall_abi::stream::Log;

use crate::batch::{Batch, Origin};
use crate::handler::{Flow, Handler};
use crate::report::{Cell, Report, Table};
use crate::sites::{Level, Site};

/// Formats the lines that kernels log, and hands them on: one for each lane, in the order of each wave.
pub struct Logger {
    to: Box<dyn Fn(&LogLine<'_>) + Send + Sync>,
    least: Level,
}

/// A line of a kernel's log.
#[derive(Clone, Debug)]
pub struct LogLine<'a> {
    /// Who wrote it.
    pub origin: Origin,
    /// Where in the source.
    pub site: &'a Site,
    /// How important it is.
    pub level: Level,
    /// What it says, as it is: a kernel may say anything. [`Shown`] prints it, as the line's own `Display` does.
    pub text: String,
}

/// What [`Logger`] keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logged {
    /// Lines of each level, from [`Level::Error`] on, those that were not handed on included.
    pub lines: [u64; 5],
    /// Lines that are none: their place in the source is not known, or their arguments are none.
    pub malformed: u64,
}

impl fmt::Debug for Logger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logger").field("least", &self.least).finish_non_exhaustive()
    }
}

impl Logger {
    /// Calls `to` with each line, on the threads that read.
    pub fn new(to: impl Fn(&LogLine<'_>) + Send + Sync + 'static) -> Self {
        Self { to: Box::new(to), least: Level::Trace }
    }

    /// Writes lines to standard error.
    pub fn stderr() -> Self {
        Self::new(|line| eprintln!("{line}"))
    }

    /// Makes each line an event of `tracing`, of its level, with the target `hostcall::kernel`.
    pub fn tracing() -> Self {
        Self::new(|line| {
            macro_rules! event {
                ($level:ident) => {{
                    let (file, number, group, wave, lane) =
                        (&*line.site.file, line.site.line, line.origin.group, line.origin.wave, line.origin.lane);
                    tracing::event!(target: "hostcall::kernel", tracing::Level::$level, file, line = number, group, wave, lane, "{}", Shown(&line.text));
                }};
            }
            match line.level {
                Level::Error => event!(ERROR),
                Level::Warn => event!(WARN),
                Level::Info => event!(INFO),
                Level::Debug => event!(DEBUG),
                Level::Trace => event!(TRACE),
            }
        })
    }

    /// Hands on no line that is less important. (The device sends it all the same:
    /// [`StreamsBuilder::sites`](crate::StreamsBuilder::sites) is what turns places off.)
    pub fn least(mut self, level: Level) -> Self {
        self.least = level;
        self
    }
}

impl fmt::Display for LogLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { origin, site, level, text } = self;
        let Origin { group, wave, lane, .. } = origin;
        write!(f, "{:5} [{group}.{wave}.{lane}] {}:{}: {}", level.name(), site.file, site.line, Shown(text))
    }
}

impl Handler<Log> for Logger {
    type State = Logged;

    fn fold(&self, state: &mut Logged, batch: &Batch<'_, Log>) -> Flow {
        let mut last: (u32, Option<Arc<Site>>) = (0, None);
        for message in batch.messages() {
            let header = message.head.header();
            if header.site != last.0 {
                last = (header.site, batch.sites().get(header.site));
            }
            let each = header.values as usize;
            let Some((site, level)) = last.1.as_deref().and_then(|site| Some((site, site.level?))) else {
                state.malformed = state.malformed.saturating_add(u64::from(header.mask.count_ones()));
                continue;
            };
            for ((origin, _), units) in message.iter().step_by(each).zip(message.values.chunks_exact(each)) {
                let Some(text) = site.line(units) else {
                    state.malformed = state.malformed.saturating_add(1);
                    continue;
                };
                let lines = &mut state.lines[level as usize - 1];
                *lines = lines.saturating_add(1);
                if level <= self.least {
                    (self.to)(&LogLine { origin, site, level, text });
                }
            }
        }
        Flow::Next
    }

    fn merge(&self, into: &mut Logged, from: &Logged) {
        into.lines.iter_mut().zip(from.lines).for_each(|(all, one)| *all = all.saturating_add(one));
        into.malformed = into.malformed.saturating_add(from.malformed);
    }

    fn report(&self, state: &Logged) -> Report {
        let mut report = Report::new("Log");
        let all = state.lines.iter().fold(0, |all: u64, lines| all.saturating_add(*lines));
        report.lines.push(format!("{all} lines"));
        if state.malformed > 0 {
            report.lines.push(format!("{} were none", state.malformed));
        }
        let mut table = Table { title: "lines".into(), columns: vec!["level".into(), "lines".into()], rows: Vec::new() };
        for (number, lines) in (1..).zip(state.lines) {
            table.rows.push(vec![Cell::from(Level::new(number).map_or("", Level::name)), lines.into()]);
        }
        report.tables.push(table);
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_and_steers_no_terminal() {
        let site = Site {
            file: "a\u{1b}.rs".into(),
            line: 7,
            column: 9,
            module: "a".into(),
            level: Some(Level::Warn),
            text: String::new(),
            kernel: "".into(),
        };
        let origin = Origin {
            device: 0,
            launch: 1,
            dispatch: crate::Dispatch::default(),
            group: 0,
            wave: 0,
            lane: 0,
            sm: 0,
            time: None,
            site: 1,
            weight: 1,
            after_gap: false,
        };
        let line = LogLine { origin, site: &site, level: Level::Warn, text: "two\nlines \u{1b}[2J \u{202e}".into() };
        assert_eq!(line.to_string(), "warn  [0.0.0] a\\u{1b}.rs:7: two\\nlines \\u{1b}[2J \\u{202e}");
    }
}
