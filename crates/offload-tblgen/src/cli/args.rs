//! Arguments, in LLVM's spelling and in the usual one.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command, value_parser};

use super::job::{self, Job};
use crate::lint::Lint;
use crate::llvm::Version;
use crate::model::Dialect;

/// What was asked for.
#[derive(Debug)]
pub(super) struct Args {
    pub(super) input: PathBuf,
    pub(super) include_dirs: Vec<PathBuf>,
    pub(super) defines: Vec<String>,
    pub(super) output: PathBuf,
    pub(super) depfile: Option<PathBuf>,
    pub(super) write_if_changed: bool,
    pub(super) check: bool,
    /// What to make, and of which dialect it is if it is of one only.
    pub(super) job: Job,
    /// Where neither the command line nor the definitions say.
    pub(super) default_dialect: Dialect,
    pub(super) dialect: Option<Dialect>,
    pub(super) llvm_version: Option<Version>,
    pub(super) lints: Option<LintLevel>,
    pub(super) allowed: Vec<Lint>,
}

/// What becomes of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LintLevel {
    Off,
    Warn,
    Error,
}

pub(super) enum Parsed {
    Run(Box<Args>),
    /// Help or version: not an error.
    Shown(String),
    Wrong(String),
}

/// LLVM's options that change nothing here, and whether they have a value.
const IGNORED: [(&str, bool); 4] =
    [("no-warn-on-unused-template-args", false), ("time-phases", false), ("color", false), ("long-string-literals", true)];

pub(super) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Parsed {
    let command = command();
    let longs: Vec<String> =
        command.get_arguments().filter_map(Arg::get_long).map(str::to_owned).chain(["help".into(), "version".into()]).collect();
    let longs: Vec<&str> = longs.iter().map(String::as_str).collect();
    let arguments = tablegen::tool::spell_options(arguments, &longs, &LETTERS);
    let arguments: Vec<OsString> = arguments.into_iter().map(whole_name).collect();
    let program = arguments.first().map(|name| program_name(Path::new(name))).unwrap_or_default();
    match command.try_get_matches_from(arguments) {
        Ok(matches) => match read(&matches, &program) {
            Ok(args) => Parsed::Run(Box::new(args)),
            Err(message) => Parsed::Wrong(format!("error: {message}\n")),
        },
        Err(error) if error.use_stderr() => Parsed::Wrong(error.to_string()),
        Err(error) => Parsed::Shown(error.to_string()),
    }
}

/// Options of one letter.
const LETTERS: [char; 4] = ['I', 'D', 'o', 'd'];

/// An unknown option with one dash is to be named whole in the message, not by its first letter.
fn whole_name(argument: OsString) -> OsString {
    let unknown = argument
        .to_str()
        .and_then(|text| text.strip_prefix('-'))
        .filter(|name| name.len() > 1 && name.starts_with(|first: char| first.is_ascii_alphabetic() && !LETTERS.contains(&first)));
    unknown.map_or_else(|| argument.clone(), |name| format!("--{name}").into())
}

fn program_name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn command() -> Command {
    let path = || value_parser!(PathBuf);
    let mut command = Command::new("offload-tblgen")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Generates sources of an API from its definitions in TableGen")
        .after_help("Options may be written with one dash or two, as LLVM's tools accept them.")
        .arg(
            Arg::new("input")
                .value_name("FILE")
                .value_parser(path())
                .default_value("-")
                .help("File of definitions; `-` is the standard input"),
        )
        .arg(
            Arg::new("include")
                .short('I')
                .value_name("DIR")
                .action(ArgAction::Append)
                .value_parser(path())
                .help("Search DIR for included files"),
        )
        .arg(Arg::new("define").short('D').value_name("MACRO").action(ArgAction::Append).help("Define MACRO for `#ifdef`"))
        .arg(
            Arg::new("output")
                .short('o')
                .value_name("FILE")
                .value_parser(path())
                .default_value("-")
                .help("Write to FILE; `-` is the standard output"),
        )
        .arg(Arg::new("depfile").short('d').value_name("FILE").value_parser(path()).help("Write to FILE what the output depends on"))
        .arg(switch("write-if-changed", "Leave an output that would not change untouched"))
        .arg(switch("check", "Write nothing; fail if the output would change"))
        .arg(Arg::new("dialect").long("dialect").value_name("DIALECT").value_parser(["llvm", "hostcall"]).help(
            "Whose text to write where both have an action of that name [default: what the definitions say, else by this program's name]",
        ))
        .arg(
            Arg::new("llvm-version")
                .long("llvm-version")
                .value_name("N")
                .value_parser(["22", "23", "24"])
                .help("Write the text of this version of LLVM [default: that of the definitions' classes]"),
        )
        .arg(
            Arg::new("lints")
                .long("lints")
                .value_name("LEVEL")
                .value_parser(["off", "warn", "error"])
                .help("What becomes of faults in the definitions [default: warn for LLVM's text, error for ours]"),
        )
        .arg(Arg::new("allow").long("allow").value_name("LINT").action(ArgAction::Append).help("Do not report this lint (code or name)"));
    command = command
        .arg(
            Arg::new("template")
                .long("template")
                .value_name("FILE")
                .value_parser(path())
                .help("A minijinja template, rendered over the API")
                .help_heading("Actions"),
        )
        .arg(
            Arg::new("check-abi-lock")
                .long("check-abi-lock")
                .value_name("FILE")
                .value_parser(path())
                .help("Nothing; fail if the API broke the ABI that FILE records")
                .help_heading("Actions"),
        );
    let mut names = vec!["template", "check-abi-lock"];
    for (name, help) in actions() {
        command = command.arg(switch(name, help).help_heading("Actions"));
        names.push(name);
    }
    for (name, takes_value) in IGNORED {
        let arg = Arg::new(name).long(name).hide(true);
        command = command.arg(if takes_value { arg.value_name("V") } else { arg.action(ArgAction::SetTrue) });
    }
    command.group(ArgGroup::new("action").args(names).multiple(false))
}

fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// The actions without a value, each once, and what they write.
fn actions() -> BTreeMap<&'static str, &'static str> {
    job::ACTIONS.iter().map(|(name, help, _)| (*name, *help)).chain(job::own_actions()).collect()
}

fn read(matches: &ArgMatches, program: &str) -> Result<Args, String> {
    let paths = |name: &str| matches.get_many::<PathBuf>(name).into_iter().flatten().cloned().collect::<Vec<_>>();
    let path = |name: &str| matches.get_one::<PathBuf>(name).cloned();
    // LLVM's parser takes `-o=x` as `-o x`, and so does the one here.
    let output = path("output").unwrap_or_default();
    let depfile = path("depfile");
    let to_stdout = output == Path::new("-");
    if depfile.is_some() && to_stdout {
        return Err("-d names the output that depends on something; give -o as well".into());
    }
    if matches.get_flag("check") && to_stdout {
        return Err("--check compares a file with what it should be; name it with -o".into());
    }
    let named = || Job::Named(actions().into_keys().find(|name| matches.get_flag(name)).unwrap_or("print-records"));
    let job = path("template").map(Job::Template).or_else(|| path("check-abi-lock").map(Job::CheckAbiLock)).unwrap_or_else(named);
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let mut allowed = Vec::new();
    for name in matches.get_many::<String>("allow").into_iter().flatten() {
        let known = || Lint::ALL.iter().map(|lint| format!("{} {}", lint.code(), lint.name())).collect::<Vec<_>>().join(", ");
        allowed.push(Lint::find(name).ok_or_else(|| format!("there is no lint `{name}`; lints are {}", known()))?);
    }
    Ok(Args {
        input: path("input").unwrap_or_default(),
        include_dirs: paths("include"),
        defines: matches.get_many::<String>("define").into_iter().flatten().cloned().collect(),
        output,
        depfile,
        write_if_changed: matches.get_flag("write-if-changed"),
        check: matches.get_flag("check"),
        job,
        default_dialect: if program == "offload-tblgen" { Dialect::Llvm } else { Dialect::Hostcall },
        dialect: text("dialect").and_then(Dialect::find),
        llvm_version: text("llvm-version").map(|version| match version {
            "22" => Version::V22,
            "23" => Version::V23,
            _ => Version::V24,
        }),
        lints: text("lints").map(|level| match level {
            "off" => LintLevel::Off,
            "warn" => LintLevel::Warn,
            _ => LintLevel::Error,
        }),
        allowed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(text: &str) -> Args {
        match parse(text.split(' ').map(OsString::from)) {
            Parsed::Run(args) => *args,
            Parsed::Shown(text) | Parsed::Wrong(text) => panic!("{text}"),
        }
    }

    #[test]
    fn the_command_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn both_spellings_mean_the_same() {
        for text in [
            "offload-tblgen -gen-api -I a -Ib -o out in.td",
            "offload-tblgen in.td --I a -I b --gen-api -o=out",
            "x/offload-tblgen --gen-api -Ia -Ib in.td -oout",
        ] {
            let args = args(text);
            assert_eq!(args.include_dirs, [Path::new("a"), Path::new("b")], "{text}");
            assert_eq!((args.input, args.output), ("in.td".into(), "out".into()), "{text}");
            assert!(matches!(args.job, Job::Named("gen-api")), "{text}");
        }
    }

    #[test]
    fn the_program_s_name_chooses_the_dialect() {
        assert_eq!(args("/usr/bin/offload-tblgen in.td").default_dialect, Dialect::Llvm);
        assert_eq!(args("/usr/bin/hostcall-tblgen in.td").default_dialect, Dialect::Hostcall);
    }

    #[test]
    fn records_are_printed_if_nothing_else_is_asked_for() {
        assert!(matches!(args("offload-tblgen").job, Job::Named("print-records")));
    }

    #[test]
    fn what_cannot_be_done_is_said() {
        for (text, part) in [
            ("t -gen-nonsense in.td", "gen-nonsense"),
            ("t --gen-api --gen-doc in.td", "cannot be used with"),
            ("t --gen-api -d deps in.td", "give -o"),
            ("t --gen-api --check in.td", "name it with -o"),
            ("t --gen-api --allow OT999 in.td", "unknown-return-code"),
            ("t --gen-api --dialect c in.td", "hostcall"),
            ("t --gen-api a.td b.td", "unexpected argument"),
        ] {
            match parse(text.split(' ').map(OsString::from)) {
                Parsed::Wrong(message) => assert!(message.contains(part), "{text}: {message}"),
                Parsed::Run(_) | Parsed::Shown(_) => panic!("{text} was accepted"),
            }
        }
    }
}
