//! `stream live`: what comes into a recording while it is written.
//!
//! A recording is read as it grows, in slices between which the screen is drawn or a line printed. It ends with the
//! recording, on `q`, Ctrl-C, or a signal; the terminal is given back however it ends, by a panic too.

mod model;
mod plain;
mod view;

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hostcall_stream::file::{Error, Follower, follow};

use super::code;
use crate::Outcome;
use crate::screen::{Format, Screen, Stop, pressed, seconds};
use model::Model;

/// Which recording, and how it is shown.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The recording; it is waited for if it is not there yet
    file: PathBuf,
    /// Print lines instead of drawing on the terminal, as where the output is no terminal
    #[arg(long)]
    plain: bool,
    /// How lines are printed; JSON is one object a line, and means --plain
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Seconds between two lines of each stream
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    every: f64,
}

/// How long is read before others have their turn, and how long one waits for more.
const SLICE: Duration = Duration::from_millis(100);
const PAUSE: Duration = Duration::from_millis(50);
/// How often the screen is drawn and rates are told anew.
const DRAWN: Duration = Duration::from_millis(250);

pub(super) fn run(arguments: &Arguments, out: impl Write) -> Outcome {
    let Arguments { file, plain, format, every } = arguments;
    if *plain || *format == Format::Json || !io::stdout().is_terminal() {
        let follower = wait_for(file, || false)?.ok_or("nobody waits")?;
        return lines(file, follower, *format, Duration::from_secs_f64(*every), out);
    }
    drop(out);
    let stop = Stop::new()?;
    let Some(follower) = wait_for(file, || stop.is_asked())? else { return Ok(code(true)) };
    let mut screen = Screen::new()?;
    let shown = show(file, follower, &mut screen, || stop.is_asked());
    drop(screen);
    shown
}

/// Waits until the recording begins; `None`: until it is enough.
fn wait_for(path: &Path, enough: impl Fn() -> bool) -> Result<Option<Follower>, Box<dyn std::error::Error>> {
    let mut told = false;
    while !enough() {
        match follow(path) {
            Ok(Some(follower)) => return Ok(Some(follower)),
            Ok(None) => {}
            Err(Error::Open { source, .. }) if source.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{}: {error}", path.display()).into()),
        }
        if !std::mem::replace(&mut told, true) {
            eprintln!("waiting for {}", path.display());
        }
        std::thread::sleep(PAUSE);
    }
    Ok(None)
}

/// Takes in what has been written, for a while. Whether there may be more at once.
fn read(follower: &mut Follower, model: &mut Model) -> Result<bool, Error> {
    let since = Instant::now();
    let mut count = 0u32;
    while let Some(message) = follower.next()? {
        model.add(&message);
        count = count.wrapping_add(1);
        if count.is_multiple_of(256) && since.elapsed() > SLICE {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Prints lines until the recording ends.
fn lines(path: &Path, mut follower: Follower, format: Format, every: Duration, mut out: impl Write) -> Outcome {
    let (mut model, begin) = (Model::default(), Instant::now());
    let mut last = begin;
    loop {
        let more = read(&mut follower, &mut model);
        let ended = follower.has_ended() || more.is_err();
        if ended || last.elapsed() >= every {
            model.tick(last.elapsed().as_secs_f64(), follower.recording());
            last = Instant::now();
            plain::print(&model, begin.elapsed().as_secs_f64(), format == Format::Json, &mut out)?;
            out.flush()?;
        }
        match more {
            Err(error) => {
                eprintln!("error: {}: {error}", path.display());
                return Ok(code(false));
            }
            Ok(_) if ended => return Ok(code(true)),
            Ok(true) => {}
            Ok(false) => std::thread::sleep(PAUSE.min(every)),
        }
    }
}

/// Draws until the recording ends and a key is pressed, or it is enough.
fn show(path: &Path, mut follower: Follower, terminal: &mut Screen, stopped: impl Fn() -> bool) -> Outcome {
    let (mut model, begin) = (Model::default(), Instant::now());
    let title = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let (mut last, mut right) = (begin, true);
    loop {
        let mut more = false;
        if !model.is_over() {
            more = match read(&mut follower, &mut model) {
                Ok(more) => more,
                Err(error) => {
                    right = false;
                    model.end(format!("error: {error}"));
                    false
                }
            };
            if follower.has_ended() {
                model.end("complete".into());
            }
            if last.elapsed() >= DRAWN || model.is_over() {
                model.tick(last.elapsed().as_secs_f64(), follower.recording());
                model.behind = follower.behind()?;
                last = Instant::now();
            }
        }
        terminal.draw(|frame| view::draw(frame, &model, &title, begin.elapsed().as_secs_f64()))?;
        if stopped() || pressed(if more { Duration::ZERO } else { PAUSE * 2 })? {
            return Ok(code(right));
        }
    }
}
