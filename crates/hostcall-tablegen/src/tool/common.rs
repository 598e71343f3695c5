//! The options that every tool on top of this front end has, those of `llvm-tblgen` among them.
//!
//! A tool flattens [`Common`] into its own options (`#[command(flatten)]`, or [`clap::Args::augment_args`]), so that
//! all of them accept the same ones and mean the same.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Arg, Args, ValueEnum};

use super::{dependency_file, read_stdin, spell_options, write_output};
use crate::{Format, Options, Outcome, Style};

/// Options of every tool.
#[derive(Args, Clone, Debug)]
pub struct Common {
    /// The source file; `-` is the standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub input: PathBuf,
    /// Where included files are looked for, after the working directory
    #[arg(short = 'I', value_name = "DIRECTORY")]
    pub include: Vec<PathBuf>,
    /// Defines a macro for `#ifdef`
    #[arg(short = 'D', value_name = "MACRO")]
    pub define: Vec<String>,
    /// The output file; `-` is the standard output
    #[arg(short = 'o', value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// A file that names, for make and ninja, what the output depends on (needs -o)
    #[arg(short = 'd', value_name = "FILE")]
    pub depfile: Option<PathBuf>,
    /// Leaves the output file alone if it would not change
    #[arg(long)]
    pub write_if_changed: bool,
    /// Does not warn of template arguments that nothing uses
    #[arg(long)]
    pub no_warn_on_unused_template_args: bool,
    /// Says on the standard error output how long each phase took
    #[arg(long)]
    pub time_phases: bool,
    /// Colours in diagnostics [default: on a terminal, unless NO_COLOR is set]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = boolean)]
    pub color: Option<bool>,
    /// How diagnostics look
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub diagnostics: Option<DiagnosticFormat>,
    /// Accepted for LLVM's command lines: it is about tables of strings, which nothing here writes
    #[arg(long, hide = true, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = boolean)]
    pub long_string_literals: Option<bool>,
}

/// The formats of diagnostics by their names on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiagnosticFormat {
    /// All places of a diagnostic in one picture
    Rich,
    /// `file:line:column: error: message`, as LLVM's tools write
    Llvm,
}

/// As LLVM's tools read them.
fn boolean(text: &str) -> Result<bool, String> {
    match text {
        "true" | "TRUE" | "True" | "1" => Ok(true),
        "false" | "FALSE" | "False" | "0" => Ok(false),
        _ => Err("write true or false, 1 or 0".to_owned()),
    }
}

/// Arguments in the usual spelling of `command`'s options, from LLVM's: see [`spell_options`].
pub fn arguments(command: &clap::Command, given: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let long: Vec<&str> = command.get_arguments().filter_map(Arg::get_long).chain(["help", "version"]).collect();
    let short: Vec<char> = command.get_arguments().filter_map(Arg::get_short).collect();
    let spelt = spell_options(given, &long, &short);
    spelt.into_iter().map(|argument| whole_name(argument, &short)).collect()
}

/// An unknown option with one dash is to be named whole in the message, not by its first letter.
fn whole_name(argument: OsString, short: &[char]) -> OsString {
    let unknown = argument
        .to_str()
        .and_then(|text| text.strip_prefix('-'))
        .filter(|name| name.len() > 1 && name.starts_with(|first: char| first.is_ascii_alphabetic() && !short.contains(&first)));
    unknown.map_or_else(|| argument.clone(), |name| format!("--{name}").into())
}

impl Common {
    /// What cannot go together.
    ///
    /// # Errors
    /// A dependency file of an output that is no file.
    pub fn check(&self) -> Result<(), String> {
        if self.depfile.is_some() && self.to_stdout() {
            return Err("-d names what an output file depends on; give -o as well".into());
        }
        Ok(())
    }

    /// Whether the output is the standard output.
    #[must_use]
    pub fn to_stdout(&self) -> bool {
        self.output == Path::new("-")
    }

    /// Reads the source.
    ///
    /// # Errors
    /// When the standard input cannot be read. Everything else is among the diagnostics.
    pub fn read(&self) -> Result<Outcome, String> {
        let options = Options {
            include_dirs: self.include.clone(),
            defines: self.define.clone(),
            warn_unused_template_args: !self.no_warn_on_unused_template_args,
            ..Options::default()
        };
        if self.input == Path::new("-") {
            let text = read_stdin().map_err(|error| format!("cannot read the standard input: {error}"))?;
            return Ok(crate::parse_str("<stdin>", &text, &options));
        }
        Ok(crate::parse_file(&self.input, &options))
    }

    /// Writes the output, and the dependency file if there is to be one.
    ///
    /// # Errors
    /// What could not be written, and why.
    pub fn write(&self, output: &[u8], dependencies: &[PathBuf]) -> Result<(), String> {
        if let Some(depfile) = &self.depfile {
            let text = dependency_file(&self.output, dependencies);
            put(depfile, text.as_bytes(), self.write_if_changed)?;
        }
        put(&self.output, output, self.write_if_changed)
    }

    /// How diagnostics look: as was asked for, or else in `format`.
    #[must_use]
    pub fn style(&self, format: Format) -> Style {
        let automatic = || std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Style {
            format: match self.diagnostics {
                Some(DiagnosticFormat::Rich) => Format::Rich,
                Some(DiagnosticFormat::Llvm) => Format::Llvm,
                None => format,
            },
            color: self.color.unwrap_or_else(automatic),
        }
    }

    /// A clock for the phases of a run, which prints nothing unless it was asked for.
    #[must_use]
    pub fn phases(&self) -> Phases {
        Phases { wanted: self.time_phases, last: Instant::now(), done: Vec::new() }
    }
}

fn put(path: &Path, contents: &[u8], only_if_changed: bool) -> Result<(), String> {
    match write_output(path, contents, only_if_changed) {
        Ok(_) => Ok(()),
        // Whoever reads our output may stop when it has seen enough.
        Err(error) if path == Path::new("-") && error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(format!("cannot write `{}`: {error}", path.display())),
    }
}

/// How long the phases of a run take.
#[derive(Debug)]
pub struct Phases {
    wanted: bool,
    last: Instant,
    done: Vec<(&'static str, Duration)>,
}

impl Phases {
    /// A phase ends, and the next one begins.
    pub fn end(&mut self, phase: &'static str) {
        let now = Instant::now();
        self.done.push((phase, now - self.last));
        self.last = now;
    }

    /// Says on the standard error output how long each phase took.
    pub fn report(&self) {
        if self.wanted {
            // There is nowhere to say that the error stream is closed.
            let _unreported = std::io::stderr().lock().write_all(self.text().as_bytes());
        }
    }

    fn text(&self) -> String {
        let total: Duration = self.done.iter().map(|(_, time)| *time).sum();
        let line = |name: &str, time: Duration| {
            let share = if total.is_zero() { 100.0 } else { 100.0 * time.as_secs_f64() / total.as_secs_f64() };
            format!("{:10.4} s  {share:5.1} %  {name}\n", time.as_secs_f64())
        };
        let phases: String = self.done.iter().map(|(name, time)| line(name, *time)).collect();
        format!("wall-clock time of each phase\n{phases}{}", line("total", total))
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches as _};

    use super::*;

    fn parsed(text: &str) -> Result<Common, clap::Error> {
        let command = Common::augment_args(Command::new("tool"));
        let arguments = arguments(&command, text.split(' ').map(OsString::from));
        command.try_get_matches_from(arguments).and_then(|matches| Common::from_arg_matches(&matches))
    }

    fn common(text: &str) -> Common {
        parsed(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn llvm_s_options_are_understood_in_both_spellings() {
        let common_ = common("tool -I a --I=b -Dx -time-phases --no-warn-on-unused-template-args -long-string-literals -color=0 in.td");
        assert_eq!(common_.include, [Path::new("a"), Path::new("b")]);
        assert!(common_.time_phases && common_.no_warn_on_unused_template_args);
        assert_eq!((common_.color, common_.long_string_literals), (Some(false), Some(true)));
        assert_eq!(common("tool --color in.td").color, Some(true), "a value stands behind '='");
        assert_eq!(common("tool --color in.td").input, Path::new("in.td"));
        assert!(parsed("tool --color=perhaps").is_err());
    }

    #[test]
    fn an_unknown_option_is_named_whole() {
        let error = parsed("tool -gen-nonsense in.td").expect_err("there is none").to_string();
        assert!(error.contains("--gen-nonsense"), "{error}");
    }

    #[test]
    fn what_is_asked_for_comes_before_what_a_tool_does_by_itself() {
        assert_eq!(common("tool --diagnostics=llvm --color=1 in.td").style(Format::Rich), Style { format: Format::Llvm, color: true });
        assert_eq!(common("tool --diagnostics rich --color=0 in.td").style(Format::Llvm), Style { format: Format::Rich, color: false });
        assert_eq!(common("tool --color=0 in.td").style(Format::Llvm), Style { format: Format::Llvm, color: false });
    }

    #[test]
    fn every_phase_has_its_line() {
        let mut phases = common("tool --time-phases in.td").phases();
        phases.end("read");
        phases.end("write");
        let text = phases.text();
        assert!(text.lines().count() == 4 && text.contains(" read\n") && text.contains(" write\n") && text.contains(" total\n"), "{text}");
    }

    #[test]
    fn a_dependency_file_needs_an_output_file() {
        assert!(common("tool -d deps in.td").check().is_err());
        assert!(common("tool -d deps -o out in.td").check().is_ok());
    }
}
