//! `cargo xtask bench-tablegen`: our TableGen front end and LLVM's, on the same source, in the same run.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

/// Times three actions of both tools on two generated sources, on the Offload API's definitions and on LLVM's own
/// intrinsics.
pub(crate) fn bench(sh: &Shell, megabytes: usize, runs: usize) -> Result<()> {
    cmd!(sh, "cargo build --quiet --release --package hostcall-tablegen").run()?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| super::root().join("target"), PathBuf::from);
    let tools = [target.join("release/tablegen"), "llvm-tblgen-22".into()];
    let folder = sh.create_temp_dir()?;
    let [generated, wide] = ["generated.td", "wide.td"].map(|name| folder.path().join(name));
    sh.write_file(&generated, generate(megabytes << 20))?;
    sh.write_file(&wide, generate_wide(megabytes * WIDE_FAMILIES_PER_MEGABYTE))?;
    let debian = super::root().join("target/debian/usr/include/llvm-22");
    let sources = [
        (generated, folder.path().to_path_buf()),
        (wide, folder.path().to_path_buf()),
        (super::root().join("crates/hostcall-offload-api/api/OffloadAPI.td"), super::root().join("crates/hostcall-offload-api/api")),
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

/// A source of about `bytes` bytes in which every record takes some work: inheritance, late binding, bits, lists,
/// operators, dags, multiclasses, loops.
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

/// Families of the wide source for each megabyte that was asked for. A family is one line of source and about 140 KB of
/// printed records.
const WIDE_FAMILIES_PER_MEGABYTE: usize = 100;

/// A source in the shape of AMDGPU's: little text, and of it records with hundreds of fields. Instructions inherit from
/// a chain of classes, most fields of which are computed from a *profile*, a record of its own; each is there in
/// several encodings with 64 bits; and multiclasses that call multiclasses make all of them from one line.
fn generate_wide(families: usize) -> String {
    const CLASSES: usize = 12;
    const FLAGS: usize = 16;
    let mut text = String::from(
        r#"def ops; def ins; def outs;
class Type<int size, string suffix, bit float> { int Size = size; string Suffix = suffix; bit IsFloat = float; }
def f16 : Type<16, "f16", 1>; def f32 : Type<32, "f32", 1>; def f64 : Type<64, "f64", 1>;
def i16 : Type<16, "i16", 0>; def i32 : Type<32, "i32", 0>; def i64 : Type<64, "i64", 0>;
class Operand<string name, Type type> { string Name = name; Type OperandType = type; string Text = "$" # name # "_" # type.Suffix; }
class Profile<list<Type> types> {
  list<Type> ArgTypes = types;
  Type Dst = types[0];
  int NumSrc = !add(!size(types), -1);
  bit HasSrc2 = !gt(NumSrc, 2);
  bit HasModifiers = !foldl(0, types, any, type, !or(any, type.IsFloat));
  string Asm = "$dst" # !foldl("", !range(NumSrc), text, i, text # ", $src" # i # !if(HasModifiers, "$mods" # i, ""));
  dag Outs = (outs Dst:$dst);
  dag Ins = !foldl((ins), !range(NumSrc), arguments, i, !con(arguments, !setdagname((ins types[!add(i, 1)]), 0, "src" # i)));
  list<dag> Patterns = !foreach(type, types, (ops type, !cond(!eq(type.Size, 64): 2, !eq(type.Size, 32): 1, true: 0)));
}
class Level0<string mnemonic, Profile profile> {
  string Mnemonic = mnemonic;
  Profile P = profile;
  string AsmString = mnemonic # " " # P.Asm;
  dag OutOperandList = P.Outs;
  dag InOperandList = P.Ins;
  list<dag> Pattern = P.Patterns;
  bits<64> TSFlags = 0;
  list<string> Predicates = [];
  string PseudoName = NAME;
}
"#,
    );
    let line = |text: &mut String, arguments: std::fmt::Arguments<'_>| text.write_fmt(arguments).expect("written to memory");
    for level in 1..=CLASSES {
        line(
            &mut text,
            format_args!(
                "class Level{level}<string mnemonic, Profile profile, int op = {level}> : Level{}<mnemonic, profile> {{\n\
                 \x20 int Op{level} = !add(op, P.NumSrc);\n  string Name{level} = !strconcat(mnemonic, \"_{level}_\", P.Dst.Suffix);\n\
                 \x20 bit Wide{level} = !and(P.HasSrc2, !eq(P.Dst.Size, 64));\n  let TSFlags{{{level}}} = Wide{level};\n",
                level - 1
            ),
        );
        for flag in 0..FLAGS {
            line(&mut text, format_args!("  bit Flag{level}_{flag} = {};\n", if flag % 3 == 0 { "P.HasModifiers" } else { "0" }));
        }
        text += "}\n";
    }
    line(
        &mut text,
        format_args!(
            r#"class Real<Level{CLASSES} pseudo, int generation, bits<10> op> : Level{CLASSES}<pseudo.Mnemonic # "_g" # generation, pseudo.P> {{
  int Generation = generation;
  string DecoderNamespace = "GFX" # generation;
  let Predicates = !listconcat(pseudo.Predicates, ["isGFX" # generation]);
  bits<8> vdst; bits<9> src0; bits<9> src1; bits<9> src2; bits<3> neg;
  bits<64> Inst;
  let Inst{{7-0}} = vdst;
  let Inst{{25-16}} = op;
  let Inst{{31-26}} = !if(pseudo.P.HasSrc2, 0b110100, 0b110101);
  let Inst{{40-32}} = src0;
  let Inst{{49-41}} = !if(!gt(pseudo.P.NumSrc, 1), src1{{8-0}}, 0);
  let Inst{{58-50}} = !if(pseudo.P.HasSrc2, src2{{8-0}}, 0);
  let Inst{{63-61}} = neg;
}}
multiclass Reals<string name, bits<10> op> {{
  foreach generation = [6, 7, 8, 9, 10, 11, 12] in
    def _gfx # generation : Real<!cast<Level{CLASSES}>(name), generation, op>;
}}
multiclass Forms<string name, string mnemonic, Profile profile, bits<10> op> {{
  def "" : Level{CLASSES}<mnemonic, profile>;
  defm "" : Reals<name, op>;
}}
multiclass Family<string mnemonic, bits<10> op> {{
  defm _f32 : Forms<NAME # "_f32", mnemonic # "_f32", Profile<[f32, f32, f32]>, op>;
  defm _f64 : Forms<NAME # "_f64", mnemonic # "_f64", Profile<[f64, f64, f64, f64]>, !add(op, 1)>;
  defm _i16 : Forms<NAME # "_i16", mnemonic # "_i16", Profile<[i16, i16]>, !add(op, 2)>;
}}
"#
        ),
    );
    for family in 0..families {
        line(&mut text, format_args!("defm V_OP{family} : Family<\"v_op{family}\", {}>;\n", family % 1000));
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_line_of_the_wide_source_makes_two_dozen_records_of_hundreds_of_fields() {
        let outcome = tablegen::parse_str("wide.td", &super::generate_wide(1), &tablegen::Options::default());
        let records = outcome.records.unwrap_or_else(|| panic!("{:?}", outcome.diagnostics));
        let instructions: Vec<_> = records.defs().filter(|record| record.name().starts_with("V_OP0")).collect();
        assert_eq!(instructions.len(), 3 * (1 + 7));
        assert!(instructions.iter().all(|record| record.fields().count() > 200));
    }

    #[test]
    fn the_generated_source_has_the_size_that_was_asked_for() {
        let text = super::generate(100_000);
        assert!((100_000..101_000).contains(&text.len()), "{}", text.len());
    }
}
