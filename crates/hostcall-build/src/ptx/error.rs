//! Why PTX cannot be instrumented.

/// Why PTX cannot be instrumented.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PtxError {
    /// Machine code, in which nothing can be put.
    #[error(
        "{kind} is machine code without PTX, which cannot be instrumented: have its compiler make PTX (`nvcc --ptx`, \
         Triton's `asm[\"ptx\"]`, CuPy's and NVRTC's PTX)"
    )]
    MachineCode {
        /// What it is.
        kind: &'static str,
    },
    /// A container, with PTX in it.
    #[error("a fatbin is not read, and this one has PTX: `cuobjdump --extract-ptx all FILE` makes files of it, which can be instrumented")]
    Fatbin,
    /// Text that is no PTX.
    #[error("this is no PTX that can be read: line {line}: {problem}")]
    Syntax {
        /// The line, from 1 on.
        line: u32,
        /// What is wrong there.
        problem: String,
    },
    /// Code for GPUs that hostcall does not run on.
    #[error("this is PTX for {target}, and what is added to it needs {needed}: compile it for {needed} or later")]
    Target {
        /// What it is for.
        target: String,
        /// The least that is served.
        needed: String,
    },
    /// Addresses of 32 bits.
    #[error("this PTX has addresses of {bits} bits; only those of 64 are served")]
    AddressSize {
        /// How many.
        bits: String,
    },
    /// An instruction that the version of PTX has no more that the module is to have.
    #[error("line {line}: `{instruction}` is not in PTX {version}, which what is added needs: compile this with `.sync`")]
    Outdated {
        /// The line.
        line: u32,
        /// The instruction.
        instruction: String,
        /// The version that the module would have.
        version: String,
    },
    /// A register that is not declared.
    #[error("line {line}: the address `{address}` is of no register or variable that is declared")]
    Undeclared {
        /// The line.
        line: u32,
        /// The address.
        address: String,
    },
    /// A program that links hostcall already.
    #[error("this PTX has `{name}`: it calls the host by hostcall. Kernels in Rust are instrumented when they are built (`--instrument`)")]
    HasHostcall {
        /// What it has.
        name: String,
    },
    /// No kernel has that name.
    #[error("there is no kernel {wanted} to instrument; there are {}", if kernels.is_empty() { "none".to_owned() } else { kernels.join(", ") })]
    NoSuchKernel {
        /// What was asked for.
        wanted: String,
        /// The kernels that there are.
        kernels: Vec<String>,
    },
    /// A function of which there can be only one.
    #[error(
        "function `{function}` has the variable `{variable}` in it, so that chosen kernels can have no copy of it: instrument all kernels"
    )]
    Static {
        /// The function.
        function: String,
        /// The variable.
        variable: String,
    },
}

hostcall_error::readable!(PtxError);

impl PtxError {
    pub(crate) fn syntax(text: &str, at: usize, problem: impl Into<String>) -> PtxError {
        PtxError::Syntax { line: line_of(text, at), problem: problem.into() }
    }
}

/// The line of a place in a text, from 1 on.
pub(crate) fn line_of(text: &str, at: usize) -> u32 {
    1 + text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() as u32
}
