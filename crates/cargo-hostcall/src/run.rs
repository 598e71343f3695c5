//! `cargo hostcall run`: an ordinary program on a device; or, given a directory and a name, a kernel.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::cargo::{self, Selection, Verb};
use crate::exec::Entry;
use crate::kernel;
use crate::options::Options;
use crate::{Outcome, exec};

/// What to run, where, and what it may do.
#[derive(clap::Args)]
#[command(after_help = "`cargo hostcall run [-p PACKAGE] [-- ARGUMENTS]` runs a program with `fn main()`;\n\
                        `cargo hostcall run [-p PACKAGE] --kernel NAME --lanes N [-- PARAMETERS ARGUMENTS]` launches a kernel of one;\n\
                        `cargo hostcall run CRATE KERNEL [PARAMETERS] [ARGUMENTS]` launches a kernel of a kernel crate.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    threads: exec::Threads,
    #[command(flatten)]
    selection: Selection,
    /// Run the program in the simulator without a check that a GPU could run it. That check is made if std for GPUs has
    /// been built, as a build for one does
    #[arg(long, conflicts_with = "kernel_crate")]
    no_check_gpu: bool,
    #[command(flatten)]
    entry: Entry,
    /// Directory of the kernel crate whose kernel is launched
    #[arg(requires = "kernel", conflicts_with = "of_program")]
    kernel_crate: Option<PathBuf>,
    /// Name of the kernel
    kernel: Option<String>,
    /// Parameters of the kernel, which must be numbers (3, -1, 2.5, 7u64, 1f32), and then arguments that the kernel
    /// reads itself
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// `rest` is what follows `--` on the command line.
pub(crate) fn run(arguments: Arguments, rest: Vec<OsString>) -> Outcome {
    let Arguments { options, threads, selection, no_check_gpu, entry, kernel_crate, kernel, mut args } = arguments;
    match (kernel_crate, kernel) {
        (Some(kernel_crate), Some(kernel)) => {
            args.extend(rest);
            kernel::run(&options, &entry.shape, &kernel_crate, &kernel, &args)
        }
        _ => {
            let verb = Verb::Run { is_checked: !no_check_gpu };
            cargo::run(verb, &options, [threads.to_arguments(), entry.to_arguments()].concat(), &selection, &rest)
        }
    }
}
