//! `tablegen`: evaluates TableGen sources and dumps the records, with the options of `llvm-tblgen`.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};
use tablegen::{Options, Outcome, Records, tool};

/// Evaluates TableGen sources and prints the records they define.
#[derive(Parser)]
#[command(name = "tablegen", version, about, after_help = "Long options may be written with one dash.")]
struct Cli {
    /// The source file; `-` is the standard input
    #[arg(default_value = "-")]
    input: PathBuf,
    /// Where included files are looked for, after the working directory
    #[arg(short = 'I', value_name = "DIRECTORY")]
    include: Vec<PathBuf>,
    /// Defines a macro for `#ifdef`
    #[arg(short = 'D', value_name = "MACRO")]
    define: Vec<String>,
    /// The output file; `-` is the standard output
    #[arg(short = 'o', value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// A dependency file for make and ninja (needs -o)
    #[arg(short = 'd', value_name = "FILE")]
    depfile: Option<PathBuf>,
    /// Leaves the output file alone if it would not change
    #[arg(long)]
    write_if_changed: bool,
    /// Prints classes and records as text (the default)
    #[arg(long, overrides_with_all = ["dump_json", "null_backend"])]
    print_records: bool,
    /// Prints records as JSON
    #[arg(long, overrides_with_all = ["print_records", "null_backend"])]
    dump_json: bool,
    /// Prints nothing: for checking and for measuring
    #[arg(long, overrides_with_all = ["print_records", "dump_json"])]
    null_backend: bool,
    /// Accepted for compatibility: unused template arguments are not warned of
    #[arg(long, hide = true)]
    no_warn_on_unused_template_args: bool,
}

fn main() -> ExitCode {
    match run(std::env::args_os()) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("tablegen: error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: impl IntoIterator<Item = OsString>) -> Result<ExitCode, String> {
    let command = Cli::command();
    let long: Vec<_> = command.get_arguments().filter_map(clap::Arg::get_long).chain(["help", "version"]).collect();
    let short: Vec<_> = command.get_arguments().filter_map(clap::Arg::get_short).collect();
    let arguments = tool::spell_options(arguments, &long, &short);
    let cli = match command.try_get_matches_from(arguments).and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(help) if !help.use_stderr() => {
            help.print().map_err(|error| format!("cannot write to the standard output: {error}"))?;
            return Ok(ExitCode::SUCCESS);
        }
        Err(error) => {
            eprint!("{error}");
            return Ok(ExitCode::FAILURE);
        }
    };
    if cli.depfile.is_some() && cli.output == Path::new("-") {
        return Err("the option -d must be used together with -o".into());
    }
    let outcome = evaluate(&cli)?;
    report(&outcome);
    let Some(records) = &outcome.records else { return Ok(ExitCode::FAILURE) };
    let output = render(&cli, records).map_err(|error| format!("cannot print the records: {error}"))?;
    if let Some(depfile) = &cli.depfile {
        let text = tool::dependency_file(&cli.output, &outcome.dependencies);
        write(depfile, text.as_bytes(), cli.write_if_changed)?;
    }
    write(&cli.output, &output, cli.write_if_changed)?;
    Ok(ExitCode::SUCCESS)
}

fn evaluate(cli: &Cli) -> Result<Outcome, String> {
    let options = Options { include_dirs: cli.include.clone(), defines: cli.define.clone(), ..Options::default() };
    if cli.input == Path::new("-") {
        let text = tool::read_stdin().map_err(|error| format!("cannot read the standard input: {error}"))?;
        return Ok(tablegen::parse_str("<stdin>", &text, &options));
    }
    Ok(tablegen::parse_file(&cli.input, &options))
}

fn report(outcome: &Outcome) {
    let mut out = std::io::stderr().lock();
    for diagnostic in &outcome.diagnostics {
        // There is nowhere to say that the error stream is closed; the exit code still tells.
        let _ = tablegen::emit(diagnostic, &outcome.sources, &mut out);
    }
    let _ = out.flush();
}

fn render(cli: &Cli, records: &Records) -> std::io::Result<Vec<u8>> {
    let mut output = Vec::new();
    if cli.dump_json {
        tablegen::dump_json(records, &mut output)?;
    } else if !cli.null_backend {
        tablegen::print_records(records, &mut output)?;
    }
    Ok(output)
}

fn write(path: &Path, contents: &[u8], only_if_changed: bool) -> Result<(), String> {
    tool::write_output(path, contents, only_if_changed).map(drop).map_err(|error| format!("cannot write `{}`: {error}", path.display()))
}
