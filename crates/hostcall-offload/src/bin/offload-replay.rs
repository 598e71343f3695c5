//! `offload-replay RECORDING`: makes the calls of a recording (`OFFLOAD_RECORD=FILE program`) again, and compares what comes of them.
//!
//! Ends with 0 if everything was as recorded, with 1 if something was different, and with 2 if the recording cannot be read or replayed.

use std::fmt::Display;
use std::fs::File;
use std::io::BufReader;
use std::process::ExitCode;

use hostcall_offload::Hostcall;
use liboffload::library::Library;
use liboffload::recording;
use liboffload::replay::{Options, replay};

const USAGE: &str = "usage: offload-replay [--device HOST|CUDA] [--image FILE]... RECORDING

Makes the calls of a recording again, and compares their results.

  --device NAME   on the first device of this platform, whatever was recorded
  --image FILE    with this image in place of the first recorded one; repeat it for those after it";

struct Arguments {
    options: Options,
    recording: String,
}

fn arguments() -> Result<Option<Arguments>, String> {
    let (mut options, mut recording) = (Options::default(), None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value\n{USAGE}"));
        match word.as_str() {
            "--help" | "-h" => return Ok(None),
            "--device" => options.platform = Some(value()?),
            "--image" => {
                let path = value()?;
                options.images.push(std::fs::read(&path).map_err(|error| format!("cannot read {path}: {error}"))?);
            }
            _ if word.starts_with('-') || recording.is_some() => return Err(format!("what is `{word}`?\n{USAGE}")),
            _ => recording = Some(word),
        }
    }
    let recording = recording.ok_or(USAGE.to_owned())?;
    Ok(Some(Arguments { options, recording }))
}

fn fail(error: &dyn Display) -> ExitCode {
    eprintln!("offload-replay: {error}");
    ExitCode::from(2)
}

fn main() -> ExitCode {
    let Arguments { options, recording } = match arguments() {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => return fail(&error),
    };
    let entries = match File::open(&recording).map_err(recording::RecordingError::Io) {
        Ok(file) => recording::read(&mut BufReader::new(file)),
        Err(error) => Err(error),
    };
    let entries = match entries {
        Ok(entries) => entries,
        Err(error) => return fail(&format_args!("{recording}: {error}")),
    };
    // SAFETY: whoever replays a recording lets the recorded kernels run here.
    match unsafe { replay::<Library<Hostcall>>(&entries, &options) } {
        Ok(report) => {
            println!("{report}");
            ExitCode::from(u8::from(!report.differences.is_empty()))
        }
        Err(error) => fail(&format_args!("{recording}: {error}")),
    }
}
