//! `cargo xtask bench-tablegen`: our TableGen front end and LLVM's, on the same source, in the same run.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

/// Times three actions of both tools on a generated source, on the Offload API's definitions and on LLVM's own intrinsics.
pub(crate) fn bench(sh: &Shell, megabytes: usize, runs: usize) -> Result<()> {
    cmd!(sh, "cargo build --quiet --release --package tablegen").run()?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| super::root().join("target"), PathBuf::from);
    let tools = [target.join("release/tablegen"), "llvm-tblgen-22".into()];
    let folder = sh.create_temp_dir()?;
    let generated = folder.path().join("generated.td");
    sh.write_file(&generated, generate(megabytes << 20))?;
    let debian = super::root().join("target/debian/usr/include/llvm-22");
    let sources = [
        (generated, folder.path().to_path_buf()),
        (super::root().join("crates/liboffload/api/OffloadAPI.td"), super::root().join("crates/liboffload/api")),
        (debian.join("llvm/IR/Intrinsics.td"), debian),
    ];
    println!("time of a whole process, the fastest of {runs} runs of each, in turns");
    for (source, include) in sources.iter().filter(|(source, _)| source.exists()) {
        let size = sh.read_binary_file(source)?.len() as f64 / 1e6;
        println!("{} ({size:.1} MB without what it includes)", source.file_name().expect("a file").display());
        for action in ["--null-backend", "--dump-json", "--print-records"] {
            let arguments = [action.as_ref(), source.as_os_str(), "-I".as_ref(), include.as_os_str()];
            let [ours, llvms] = compare(&tools, &arguments, runs)?.map(|time| time.as_secs_f64() * 1e3);
            println!("  {action:16} tablegen {ours:7.1} ms   llvm-tblgen-22 {llvms:7.1} ms   ratio {:.2}", ours / llvms);
        }
    }
    Ok(())
}

/// The shortest time of each tool. Their outputs must be equal.
fn compare(tools: &[PathBuf; 2], arguments: &[&OsStr], runs: usize) -> Result<[Duration; 2]> {
    let mut best = [Duration::MAX; 2];
    let mut outputs = [Vec::new(), Vec::new()];
    // In turns: what else the machine does falls on both.
    for _ in 0..runs.max(1) {
        for ((tool, best), output) in tools.iter().zip(&mut best).zip(&mut outputs) {
            let began = Instant::now();
            let run = Command::new(tool).args(arguments).output().with_context(|| format!("cannot run {}", tool.display()))?;
            *best = (*best).min(began.elapsed());
            ensure!(run.status.success(), "{}: {}", tool.display(), String::from_utf8_lossy(&run.stderr));
            *output = run.stdout;
        }
    }
    ensure!(outputs[0] == outputs[1], "{arguments:?}: the two tools do not say the same");
    Ok(best)
}

/// A source of about `bytes` bytes in which every record takes some work: inheritance, late binding, bits, lists, operators, dags,
/// multiclasses, loops.
fn generate(bytes: usize) -> String {
    let mut text = String::from(
        r#"class Reg<string name, int number> {
  string Name = name;
  int Number = number;
  bits<8> Encoding = number;
}
def ops;
foreach i = 0...63 in def R # i : Reg<"r" # i, i>;
class Op<int opcode, string mnemonic> {
  int Code = opcode;
  string Mnemonic = mnemonic;
  list<string> Operands = [];
  string Asm = Mnemonic # "\t" # !interleave(Operands, ", ");
  int Latency = !if(!gt(!size(Operands), 2), 3, 1);
  bits<32> Inst;
  bits<8> Opcode = !and(Code, 255);
  let Inst{31-24} = Opcode;
  let Inst{23-16} = !shl(!size(Operands), 2);
  let Inst{7-0} = 0b10100101;
  list<Reg> Uses = [];
  dag Pattern = (ops);
}
multiclass Sizes<int opcode, string mnemonic, list<string> operands> {
  foreach size = [8, 32] in {
    def _ # size : Op<!add(opcode, size), mnemonic # "." # size> { let Operands = operands; }
  }
  def _imm : Op<!add(opcode, 1), mnemonic # "i"> { let Operands = !listconcat(operands, ["imm"]); }
}
"#,
    );
    let mut i = 0;
    while text.len() < bytes {
        let (a, b) = (i % 64, (i * 7 + 3) % 64);
        writeln!(
            text,
            "// Instruction {i}: one record by itself, and three by a multiclass.\n\
             def I{i} : Op<{i}, \"insn{i}\"> {{\n  let Operands = [\"r{a}\", \"r{b}\", \"label_{i}\"];\n  \
             let Uses = [R{a}, R{b}];\n  let Pattern = (ops R{a}:$dst, (ops R{b}, {i}):$src, \"text {i}\");\n  \
             int Sum = !foldl(0, Uses, sum, use, !add(sum, use.Number));\n}}\n\
             let Latency = {a} in defm M{i} : Sizes<{i}, \"multi{i}\", [\"r{a}\", \"r{b}\"]>;"
        )
        .expect("written to memory");
        i += 1;
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_generated_source_has_the_size_that_was_asked_for() {
        let text = super::generate(100_000);
        assert!((100_000..101_000).contains(&text.len()), "{}", text.len());
    }
}
