//! `top`: what the servers and streams of a running process do.
//!
//! The process shows itself by a socket ([`hostcall_top`]) when it was started with `HOSTCALL_TOP=1`. It is asked again
//! and again, and what has changed in between is drawn, or printed. It ends with the process, on `q`, Ctrl-C, or a
//! signal.

mod table;
mod view;

use std::error::Error;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use hostcall_abi::Shown;
use hostcall_top::{AskError, Found, VARIABLE, View, Watched};

use crate::Outcome;
use crate::screen::{Format, Screen, Stop, pressed, seconds};

/// Which process, and how it is shown.
#[derive(clap::Args)]
#[command(
    after_help = "Start the process that is to be looked at with HOSTCALL_TOP=1 in its environment. Its host program may be written in any language."
)]
pub(crate) struct Arguments {
    /// The process's number; needed where several show themselves
    pid: Option<u32>,
    /// The socket of a process that was started with HOSTCALL_TOP=PATH
    #[arg(long, value_name = "PATH", conflicts_with = "pid")]
    socket: Option<PathBuf>,
    /// Print tables instead of drawing on the terminal, as where the output is no terminal
    #[arg(long)]
    plain: bool,
    /// How it is printed; JSON is one object a line with all counts since the start, and means --plain
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Seconds between two looks
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    every: f64,
    /// End after so many looks; means --plain
    #[arg(long, value_name = "LOOKS", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let mut watched = find(arguments)?;
    let every = Duration::from_secs_f64(arguments.every);
    if arguments.plain || arguments.count.is_some() || arguments.format == Format::Json || !io::stdout().is_terminal() {
        return print(&mut watched, arguments.format, every, arguments.count, io::stdout().lock());
    }
    let first = watched.view()?;
    let stop = Stop::new()?;
    let mut screen = Screen::new()?;
    let shown = draw(&mut watched, first, every, &mut screen, &stop);
    drop(screen);
    shown
}

/// The process that was named, or the only one there is.
fn find(arguments: &Arguments) -> Result<Watched, Box<dyn Error>> {
    if let Some(path) = &arguments.socket {
        return Ok(Watched::at(path)?);
    }
    if let Some(pid) = arguments.pid {
        return Ok(Watched::process(pid)?);
    }
    match &*hostcall_top::running() {
        [] => Err(format!("no process of yours shows itself: start one with {VARIABLE}=1 in its environment").into()),
        [only] => Ok(Watched::process(only.pid)?),
        several => {
            let line = |Found { pid, command }: &Found| format!("\n  cargo hostcall top {pid}  # {}", Shown(command));
            Err(format!("several processes show themselves; name one:{}", several.iter().map(line).collect::<String>()).into())
        }
    }
}

/// A look, unless the process has ended.
fn look(watched: &mut Watched) -> Result<Option<View>, AskError> {
    match watched.view() {
        Ok(view) => Ok(Some(view)),
        Err(error) if error.is_end() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Prints what is seen, until the process ends or it is enough.
fn print(watched: &mut Watched, format: Format, every: Duration, count: Option<u64>, mut out: impl Write) -> Outcome {
    let mut before = View::default();
    let mut looks = 0;
    while let Some(now) = look(watched)? {
        match format {
            Format::Json => writeln!(out, "{}", serde_json::to_string(&now)?)?,
            Format::Text => write!(out, "{}", table::Tables::new(&now, &before))?,
        }
        out.flush()?;
        looks += 1;
        if count.is_some_and(|count| looks >= count) {
            break;
        }
        before = now;
        std::thread::sleep(every);
    }
    Ok(ExitCode::SUCCESS)
}

/// Draws what is seen, until the process ends and a key is pressed, or it is enough.
fn draw(watched: &mut Watched, first: View, every: Duration, screen: &mut Screen, stop: &Stop) -> Outcome {
    let mut tables = table::Tables::new(&first, &View::default());
    let mut before = first;
    let (mut last, mut ended) = (Instant::now(), false);
    loop {
        screen.draw(|frame| view::draw(frame, &tables, ended))?;
        let left = every.saturating_sub(last.elapsed()).min(Duration::from_millis(100));
        if stop.is_asked() || pressed(left)? {
            return Ok(ExitCode::SUCCESS);
        }
        if !ended && last.elapsed() >= every {
            last = Instant::now();
            match look(watched)? {
                Some(now) => {
                    tables = table::Tables::new(&now, &before);
                    before = now;
                }
                None => ended = true,
            }
        }
    }
}
