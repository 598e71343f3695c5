//! Rows that other programs measure, because they are about what this one is not linked with: handlers in C, and in
//! Python.
//!
//! A program prints lines. Those that are JSON objects with a `row` are rows: the row's name, `us` or `per_second`,
//! `ratio` where the row's is to something that the program measured as well, and a `note`. Other lines are passed on
//! to standard error.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value as Json;

use super::error::Error;
use super::report::{Against, Figure, Row};
use super::watchdog::Watchdog;

/// The rows, and what the ratio of each is to.
pub(super) const ROWS: [(&str, Against); 3] =
    [("c.handler", Against::Closure), ("python.batched", Against::PerFloor), ("python.call", Against::Floor)];

/// Why there are none unless they are asked for.
pub(super) const NO_COMMAND: Error = Error::NotHere("`--rows COMMAND` names a program that measures it");

/// The longest that a command may take.
const LIMIT: Duration = Duration::from_secs(600);

/// The rows that a command prints, by the shell. Whatever else it prints goes to standard error.
pub(super) fn run(command: &str, watchdog: &Watchdog, floor_us: f64) -> Result<Vec<Row>, Error> {
    watchdog.during(command, LIMIT, || {
        let failed = |source| Error::File { doing: "cannot run", path: command.into(), source };
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = shell.spawn().map_err(failed)?;
        let (mut rows, mut wrong) = (Vec::new(), None);
        for line in child.stdout.take().into_iter().flat_map(|stdout| BufReader::new(stdout).lines()) {
            match line.map_err(failed).and_then(|line| row(&line, floor_us).map(|row| (line, row))) {
                Ok((_, Some(row))) => rows.push(row),
                Ok((line, None)) => eprintln!("{line}"),
                // It is read to its end all the same: who cannot write ends in another way than by itself.
                Err(error) => drop(wrong.get_or_insert(error)),
            }
        }
        let status = child.wait().map_err(failed)?;
        if !status.success() {
            return Err(Error::Program { path: command.into(), status, said: "see above".into() });
        }
        match wrong {
            Some(error) => Err(error),
            None if rows.is_empty() => Err(Error::NoRow { command: command.into() }),
            None => Ok(rows),
        }
    })
}

/// A row, if the line is one.
fn row(line: &str, floor_us: f64) -> Result<Option<Row>, Error> {
    let Some(fields) = serde_json::from_str(line).ok().filter(|fields: &Json| fields.get("row").is_some()) else { return Ok(None) };
    let wrong = |why| Error::Row { line: line.into(), why };
    let name = fields["row"].as_str().unwrap_or_default();
    let &(name, against) = ROWS.iter().find(|row| row.0 == name).ok_or(wrong("no row of `bench` has this name"))?;
    let figure = match (fields["us"].as_f64(), fields["per_second"].as_f64()) {
        (Some(us), None) if us > 0.0 => Figure::Us(us),
        (None, Some(rate)) if rate > 0.0 => Figure::PerS(rate),
        _ => return Err(wrong("it must have one of `us` and `per_second`, greater than 0")),
    };
    let ratio = match (against, figure) {
        (Against::Floor, Figure::Us(us)) => us / floor_us,
        (Against::PerFloor, Figure::PerS(rate)) => rate * floor_us / 1e6,
        (Against::Closure, _) => fields["ratio"].as_f64().ok_or(wrong("it must have a `ratio`"))?,
        _ => return Err(wrong("this row has the other one of `us` and `per_second`")),
    };
    let note = fields["note"].as_str().unwrap_or_default().to_owned();
    Ok(Some(Row { name, figure, ratio, against, note }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(command: &str) -> Result<Vec<Row>, Error> {
        run(command, &Watchdog::start().expect("a thread"), 2.0)
    }

    #[test]
    fn rows_are_found_among_what_a_program_prints() {
        let found = rows(
            r#"echo '{"row": "c.handler", "us": 0.98, "ratio": 1.004, "note": "300 rounds"}'; echo beside; echo '{"device": "sim"}'
            echo '{"row": "python.batched", "per_second": 3e7}'; echo '{"row": "python.call", "us": 9}'"#,
        )
        .expect("three rows");
        let shown: Vec<_> =
            found.iter().map(|row| (row.name, row.figure.shown(), row.against.shown(row.ratio), row.note.as_str())).collect();
        let expected = [
            ("c.handler", "0.980 us", "1.004x a closure", "300 rounds"),
            ("python.batched", "30.00 M/s", "60.000 per floor", ""),
            ("python.call", "9.000 us", "4.50x the floor", ""),
        ];
        assert_eq!(shown, expected.map(|(name, figure, ratio, note)| (name, figure.to_owned(), ratio.to_owned(), note)));
    }

    #[test]
    fn what_is_no_row_of_the_benchmark_is_an_error_with_its_line() {
        for (line, why) in [
            (r#"{"row": "c.handlers", "us": 1, "ratio": 1}"#, "no row of `bench` has this name"),
            (r#"{"row": "c.handler", "us": 1}"#, "it must have a `ratio`"),
            (r#"{"row": "python.call"}"#, "one of `us` and `per_second`"),
            (r#"{"row": "python.call", "us": 0}"#, "greater than 0"),
            (r#"{"row": "python.call", "per_second": 5}"#, "the other one"),
        ] {
            let text = rows(&format!("echo '{line}'")).expect_err("no row").to_string();
            assert!(text.contains(why) && text.contains(line), "{text}");
        }
    }

    #[test]
    fn a_command_that_fails_or_prints_no_row_is_an_error() {
        let text = |command| rows(command).expect_err("no row").to_string();
        assert!(text("exit 3").contains("exit status: 3"));
        assert!(text(r#"echo '{"row": "python.call", "us": 9}'; exit 1"#).contains("exit status: 1"));
        assert!(text("echo nothing").contains("`echo nothing` printed no row"));
    }
}
