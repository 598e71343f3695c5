//! What two looks at a process make: tables, for the screen and for lines of text.

use std::cmp::Reverse;
use std::fmt;
use std::time::Duration;

use hostcall_abi::Shown;
use hostcall_top::view::{Program, Server, Service, Streams, Times, View, Waiting};

use crate::screen::short;

/// A process as it is shown.
#[derive(Debug, Default)]
pub(super) struct Tables {
    /// Which process it is.
    pub(super) title: String,
    pub(super) all: Vec<Table>,
}

/// A table: its first column is at the left, the others at the right.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) title: String,
    pub(super) headings: &'static [&'static str],
    pub(super) rows: Vec<Row>,
    /// What is not in the table.
    pub(super) rest: Option<String>,
}

#[derive(Debug)]
pub(super) struct Row {
    pub(super) cells: Vec<String>,
    /// Something is wrong: calls failed, or wait for long.
    pub(super) bad: bool,
}

/// Calls that wait so long are marked.
const LONG: f64 = 1.0;

impl Tables {
    /// What is seen now, with rates since a look before; before the first one, since the start.
    pub(super) fn new(now: &View, before: &View) -> Self {
        let span = (now.seconds - before.seconds).max(1e-3);
        let mut all = Vec::new();
        for server in &now.servers {
            let earlier = before.servers.iter().find(|earlier| earlier.number == server.number);
            all.push(services(server, earlier, span));
            all.extend(waiting(server));
            all.extend(programs(server));
        }
        for streams in &now.streams {
            all.push(of_streams(streams, before.streams.iter().find(|earlier| earlier.number == streams.number), span));
        }
        Self { title: format!("{} (process {}), {:.0} s", Shown(&now.command), now.pid, now.seconds), all }
    }
}

/// `Host__add42` as the kernel says it.
fn service_name(name: &str) -> String {
    Shown(&name.replacen("__", "::", 1)).to_string()
}

fn services(server: &Server, earlier: Option<&Server>, span: f64) -> Table {
    let nothing = Service::default();
    let mut rows: Vec<(u64, Row)> = Vec::new();
    let silent = server.services.iter().filter(|service| service.messages == 0).count();
    for service in server.services.iter().filter(|service| service.messages > 0) {
        let known = earlier.and_then(|earlier| earlier.services.iter().find(|s| (s.number, &s.name) == (service.number, &service.name)));
        let known = known.unwrap_or(&nothing);
        let rate = |now: u64, before: u64| (now.saturating_sub(before) as f64 / span).round() as u64;
        let calls = rate(service.calls, known.calls);
        let lately = service.times.since(&known.times);
        let times = if lately == Times::default() { &service.times } else { &lately };
        let time = |share| times.quantile(share).map_or_else(|| "-".to_owned(), brief);
        let cells = vec![
            service_name(&service.name),
            short(calls),
            short(service.calls),
            short(service.failed),
            short(rate(service.bytes_in, known.bytes_in)),
            short(rate(service.bytes_out, known.bytes_out)),
            time(0.5),
            time(0.99),
            time(0.999),
        ];
        rows.push((calls, Row { cells, bad: service.failed > known.failed }));
    }
    rows.sort_by_key(|(calls, _)| Reverse(*calls));
    let device = if server.device.is_empty() { String::new() } else { format!(" of {}", Shown(&server.device)) };
    let pool = &server.pool;
    Table {
        title: format!(
            "server {}{device}: {} serving threads; blocking handlers: {} run, {} wait for a thread",
            server.number, server.threads, pool.running, pool.queued
        ),
        headings: &["service", "calls/s", "calls", "failed", "B in/s", "B out/s", "p50", "p99", "p99.9"],
        rows: rows.into_iter().map(|(_, row)| row).collect(),
        rest: (silent > 0).then(|| format!("not called: {silent}")),
    }
}

fn waiting(server: &Server) -> Option<Table> {
    let row = |call: &Waiting| {
        let Waiting { service, port, lanes, seconds } = call;
        let cells = vec![
            service_name(service),
            lanes.count_ones().to_string(),
            port.to_string(),
            brief(Duration::from_secs_f64(seconds.clamp(0.0, 1e9))),
        ];
        Row { cells, bad: *seconds >= LONG }
    };
    (!server.waiting.is_empty()).then(|| Table {
        title: "calls that wait for their answer".to_owned(),
        headings: &["service", "lanes", "port", "since"],
        rows: server.waiting.iter().map(row).collect(),
        rest: (server.waiting_unlisted > 0).then(|| format!("and {} more", server.waiting_unlisted)),
    })
}

fn programs(server: &Server) -> Option<Table> {
    let row = |program: &Program| {
        let name = if program.names.is_empty() { format!("program {}", program.number) } else { program.names.join(", ") };
        let Program { ports, open, posts, post_bytes, most_posts, descriptors, waits, printed, .. } = program;
        let cells = vec![
            Shown(&name).to_string(),
            ports.to_string(),
            open.to_string(),
            format!("{posts} of {most_posts}"),
            short(*post_bytes),
            descriptors.to_string(),
            waits.to_string(),
            short(*printed),
        ];
        Row { cells, bad: *most_posts > 0 && posts >= most_posts }
    };
    (!server.programs.is_empty()).then(|| Table {
        title: "programs".to_owned(),
        headings: &["program", "ports", "open", "posts", "B posted", "fds", "waits", "B printed"],
        rows: server.programs.iter().map(row).collect(),
        rest: None,
    })
}

fn of_streams(streams: &Streams, earlier: Option<&Streams>, span: f64) -> Table {
    let mut rows = Vec::new();
    for stream in &streams.streams {
        let known = earlier.and_then(|earlier| earlier.streams.iter().find(|known| known.name == stream.name));
        let (values, messages) = known.map_or((0, 0), |known| (known.values, known.messages));
        let rate = |now: u64, before: u64| short((now.saturating_sub(before) as f64 / span).round() as u64);
        let cells = vec![
            Shown(&stream.name).to_string(),
            rate(stream.values, values),
            rate(stream.messages, messages),
            short(stream.values),
            short(stream.dropped),
            short(stream.waited),
            short(stream.unhandled),
        ];
        rows.push(Row { cells, bad: stream.dropped > 0 });
    }
    let spoiled = [(streams.torn, "torn"), (streams.malformed, "malformed"), (streams.handler_panics, "panics of handlers")];
    let spoiled: Vec<String> =
        spoiled.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{} {what}", short(*count))).collect();
    Table {
        title: format!("streams {}: {} threads", streams.number, streams.threads),
        headings: &["stream", "values/s", "mess./s", "values", "dropped", "waited", "unhandled"],
        rows,
        rest: (!spoiled.is_empty()).then(|| spoiled.join(", ")),
    }
}

/// A time with three digits.
fn brief(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let scaled = |number: f64, unit: &str| {
        let places = if number < 9.995 { 2 } else { usize::from(number < 99.95) };
        format!("{number:.places$} {unit}")
    };
    match seconds {
        0.0..999.5e-9 => scaled(seconds * 1e9, "ns"),
        0.0..999.5e-6 => scaled(seconds * 1e6, "us"),
        0.0..0.9995 => scaled(seconds * 1e3, "ms"),
        0.0..6000.0 => scaled(seconds, "s"),
        _ => scaled(seconds / 3600.0, "h"),
    }
}

impl Table {
    /// How wide each column is.
    pub(super) fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.headings.iter().map(|heading| heading.chars().count()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(&row.cells) {
                *width = (*width).max(cell.chars().count());
            }
        }
        widths
    }
}

/// One line: the first cell at the left.
pub(super) fn line<'a>(cells: impl IntoIterator<Item = &'a str>, widths: &[usize]) -> String {
    let cell = |(at, (text, width)): (usize, (&str, &usize))| if at == 0 { format!("{text:<width$}") } else { format!("  {text:>width$}") };
    cells.into_iter().zip(widths).enumerate().map(cell).collect()
}

impl fmt::Display for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "== {}", self.title)?;
        for table in &self.all {
            writeln!(f, "{}", table.title)?;
            let widths = table.widths();
            if !table.rows.is_empty() {
                writeln!(f, "  {}", line(table.headings.iter().copied(), &widths))?;
            }
            for row in &table.rows {
                writeln!(f, "  {}", line(row.cells.iter().map(String::as_str), &widths))?;
            }
            if let Some(rest) = &table.rest {
                writeln!(f, "  ({rest})")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use hostcall_top::view::{Pool, Stream};

    fn service(name: &str, calls: u64, failed: u64, times: &[(u64, u64)]) -> Service {
        Service {
            name: name.into(),
            number: 3,
            messages: calls / 2,
            calls,
            failed,
            bytes_in: 8 * calls,
            bytes_out: 4 * calls,
            times: Times(times.into()),
        }
    }

    /// Two looks at a process, two seconds apart.
    pub(in super::super) fn looks() -> [View; 2] {
        let server = |services| Server {
            number: 1,
            device: "NVIDIA H200".into(),
            threads: 4,
            pool: Pool { threads: 3, running: 2, queued: 5, most: 512 },
            programs: vec![
                Program {
                    number: 1,
                    names: vec!["train".into(), "eval\u{1b}[2J".into()],
                    ports: 8448,
                    open: 2,
                    posts: 17,
                    post_bytes: 70_000,
                    most_posts: 4096,
                    descriptors: 3,
                    waits: 1,
                    printed: 0,
                },
                Program { number: 2, ports: 2, posts: 4096, most_posts: 4096, ..Program::default() },
            ],
            services,
            waiting: vec![
                Waiting { service: "Host__fetch".into(), port: 7, lanes: 0xf, seconds: 12.5 },
                Waiting { service: "Console__read".into(), port: 8, lanes: 1, seconds: 0.0021 },
            ],
            waiting_unlisted: 3,
        };
        let streams = |values| Streams {
            number: 2,
            threads: 2,
            streams: vec![Stream { name: "Loss".into(), messages: values / 32, values, dropped: 5, ..Stream::default() }],
            torn: 1,
            ..Streams::default()
        };
        let before = View {
            pid: 4711,
            command: "python3.12".into(),
            seconds: 10.0,
            servers: vec![server(vec![service("Host__add42", 1000, 0, &[(2000, 900), (9000, 100)]), service("Host__fetch", 0, 0, &[])])],
            streams: vec![streams(3200)],
        };
        let now = View {
            seconds: 12.0,
            servers: vec![server(vec![
                service("Host__add42", 3001, 1, &[(2000, 1900), (9000, 1100), (3_000_000, 1)]),
                service("Host__fetch", 4, 0, &[]),
                service("Host__idle", 0, 0, &[]),
            ])],
            streams: vec![streams(9600)],
            ..before.clone()
        };
        [before, now]
    }

    #[test]
    fn rates_and_times_are_of_the_time_between_two_looks() {
        let [before, now] = looks();
        insta::assert_snapshot!(Tables::new(&now, &before).to_string());
    }

    #[test]
    fn the_first_look_has_rates_since_the_start() {
        let [before, _] = looks();
        let tables = Tables::new(&before, &View::default());
        assert_eq!(tables.all[0].rows[0].cells[..3], ["Host::add42", "100", "1000"]);
    }

    #[test]
    fn a_process_with_nothing_to_show_has_a_title() {
        assert_eq!(Tables::new(&View::default(), &View::default()).to_string(), "==  (process 0), 0 s\n");
    }

    #[test]
    fn times_are_short() {
        let said = [0, 999, 1000, 999_499, 999_500, 12_345_678, 999_499_999, 999_500_000].map(|ns| brief(Duration::from_nanos(ns)));
        assert_eq!(said, ["0.00 ns", "999 ns", "1.00 us", "999 us", "1.00 ms", "12.3 ms", "999 ms", "1.00 s"]);
        assert_eq!(brief(Duration::from_secs(7200)), "2.00 h");
    }
}
