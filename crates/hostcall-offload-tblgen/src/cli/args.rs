//! Arguments, in LLVM's spelling and in the usual one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args as _, Command, FromArgMatches as _, value_parser};
use tablegen::tool::{self, Common};

use super::action::Action;
use crate::lint::Lint;
use crate::llvm::Version;
use crate::model::Dialect;

/// What was asked for.
#[derive(Debug)]
pub(super) struct Args {
    /// What every tool over TableGen has.
    pub(super) common: Common,
    pub(super) check: bool,
    pub(super) action: Action,
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

pub(super) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Parsed {
    let command = command();
    let arguments = tool::arguments(&command, arguments);
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

fn program_name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn command() -> Command {
    let path = || value_parser!(PathBuf);
    let command = Command::new("offload-tblgen")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Generates sources of an API from its definitions in TableGen")
        .after_help("Options may be written with one dash or two, as LLVM's tools accept them. Of several actions, the last one counts.");
    let mut command = Common::augment_args(command)
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
    command =
        command.arg(action("template").value_name("FILE").value_parser(path()).help("A minijinja template, rendered over the API")).arg(
            action("check-abi-lock")
                .value_name("FILE")
                .value_parser(path())
                .help("Nothing; fail if the API broke the ABI that FILE records"),
        );
    for (name, (help, _)) in Action::named() {
        command = command.arg(action(name).action(ArgAction::SetTrue).help(help));
    }
    command
}

/// An option that is an action, and may be given again.
fn action(name: &'static str) -> Arg {
    Arg::new(name).long(name).overrides_with(name).help_heading("Actions")
}

fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// The action that was named last, as LLVM's tools have it.
fn last_action(matches: &ArgMatches) -> Action {
    let given = |name: &str| (matches.value_source(name) == Some(ValueSource::CommandLine)).then(|| matches.index_of(name)).flatten();
    let path = |name: &str| matches.get_one::<PathBuf>(name).cloned();
    let with_file =
        [("template", path("template").map(Action::Template)), ("check-abi-lock", path("check-abi-lock").map(Action::CheckAbiLock))];
    let with_file = with_file.into_iter().filter_map(|(name, action)| Some((given(name)?, action?)));
    let plain = Action::named().into_iter().filter_map(|(name, (_, action))| Some((given(name)?, action)));
    plain.chain(with_file).max_by_key(|(at, _)| *at).map_or(Action::PrintRecords, |(_, action)| action)
}

fn read(matches: &ArgMatches, program: &str) -> Result<Args, String> {
    let common = Common::from_arg_matches(matches).map_err(|error| error.to_string())?;
    common.check()?;
    if matches.get_flag("check") && common.to_stdout() {
        return Err("--check compares a file with what it should be; name it with -o".into());
    }
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let mut allowed = Vec::new();
    for name in matches.get_many::<String>("allow").into_iter().flatten() {
        let known = || Lint::ALL.iter().map(|lint| format!("{} {}", lint.code(), lint.name())).collect::<Vec<_>>().join(", ");
        allowed.push(Lint::find(name).ok_or_else(|| format!("there is no lint `{name}`; lints are {}", known()))?);
    }
    Ok(Args {
        common,
        check: matches.get_flag("check"),
        action: last_action(matches),
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
    use crate::generate::Backend;
    use crate::llvm;

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
            assert_eq!(args.common.include, [Path::new("a"), Path::new("b")], "{text}");
            assert_eq!((args.common.input, args.common.output), ("in.td".into(), "out".into()), "{text}");
            assert_eq!(args.action, Action::Either(llvm::Action::Api, Backend::Header), "{text}");
        }
    }

    #[test]
    fn the_program_s_name_chooses_the_dialect() {
        assert_eq!(args("/usr/bin/offload-tblgen in.td").default_dialect, Dialect::Llvm);
        assert_eq!(args("/usr/bin/hostcall-tblgen in.td").default_dialect, Dialect::Hostcall);
    }

    #[test]
    fn records_are_printed_if_nothing_else_is_asked_for() {
        assert_eq!(args("offload-tblgen").action, Action::PrintRecords);
    }

    #[test]
    fn of_several_actions_the_last_counts() {
        assert_eq!(args("t --gen-api --lint in.td").action, Action::Lint);
        assert_eq!(args("t --lint --gen-info --lint in.td").action, Action::Lint);
        assert_eq!(args("t --lint --template=a.j2 in.td").action, Action::Template("a.j2".into()));
        assert_eq!(args("t --check-abi-lock a.json --dump-json in.td").action, Action::DumpJson);
    }

    #[test]
    fn what_cannot_be_done_is_said() {
        for (text, part) in [
            ("t -gen-nonsense in.td", "gen-nonsense"),
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
