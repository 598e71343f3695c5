//! `offload-replay FILE`: makes the calls of a recording (`OFFLOAD_RECORD=FILE`) again, and compares what comes back.
//!
//! The exit status is 0 if everything is as it was recorded, 1 if something differs, and 2 if the recording cannot be
//! replayed.

#[cfg(llvm24)]
extern crate liboffload24 as liboffload;

use std::process::ExitCode;

use liboffload::library::replay::{Finding, Options, replay};
use liboffload::library::{Library, Recording};

const USAGE: &str = "usage: offload-replay FILE [--device host|cuda|cuda:N] [--image FILE] [--quiet]

Makes the calls of a recording again. Record a program by running it with OFFLOAD_RECORD=FILE.

  --device   run on this device instead of the recorded ones
  --image    load this image instead of the recorded ones: the same kernels for another device
  --quiet    print differences only, no notes

exit status: 0 as recorded, 1 something differs, 2 the recording cannot be replayed";

struct Arguments {
    file: String,
    options: Options,
    is_quiet: bool,
}

fn arguments() -> Result<Arguments, String> {
    let (mut file, mut options, mut is_quiet) = (None, Options::default(), false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} wants a value\n{USAGE}"));
        match word.as_str() {
            "--device" => options.device = Some(value()?.parse()?),
            "--image" => options.image = Some(read(&value()?)?),
            "--quiet" => is_quiet = true,
            "--help" => return Err(USAGE.into()),
            _ if word.starts_with('-') || file.is_some() => return Err(format!("`{word}` is not understood\n{USAGE}")),
            _ => file = Some(word),
        }
    }
    Ok(Arguments { file: file.ok_or(USAGE)?, options, is_quiet })
}

fn read(path: &str) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("cannot read {path}: {error}"))
}

fn run() -> Result<bool, String> {
    let Arguments { file, options, is_quiet } = arguments()?;
    let recording = Recording::read(&read(&file)?).map_err(|error| format!("{file}: {error}"))?;
    if recording.cut() > 0 {
        println!("note: the recording is cut: {} bytes follow its last whole record", recording.cut());
    }
    let summary = replay::<Library>(&recording, &options, &mut |finding| match finding {
        Finding::Note(text) if is_quiet => drop(text),
        Finding::Note(text) => println!("note: {text}"),
        Finding::Difference(text) => println!("difference: {text}"),
    })?;
    println!("{} calls replayed, {} results compared, {} differ", summary.calls, summary.compared, summary.differences);
    Ok(summary.differences == 0)
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("offload-replay: {error}");
            ExitCode::from(2)
        }
    }
}
