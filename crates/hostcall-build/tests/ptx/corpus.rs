//! PTX to put calls into: written by hand, and made by whichever compilers are here.

use std::path::Path;
use std::process::Command;

/// Each `.ptx` below a directory, with its path.
pub(crate) fn files_below(dir: &Path) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display())) {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "ptx") {
                let text = std::fs::read(&path).expect("a file");
                all.push((path.display().to_string(), String::from_utf8_lossy(&text).into_owned()));
            }
        }
    }
    all.sort();
    all
}

fn run(command: &mut Command) -> bool {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        println!("{command:?}: {}", said.lines().last().unwrap_or_default());
    }
    output.status.success()
}

/// `kernels.cu` for each architecture, in each way.
pub(crate) fn by_nvcc(toolkit: &Path, arches: &[&str], ways: &[&[&str]]) -> Vec<(String, String)> {
    let dir = tempfile::tempdir().expect("a directory");
    for arch in arches {
        for way in ways {
            let file = dir.path().join(format!("{arch}{}.ptx", way.concat()));
            let mut nvcc = Command::new(toolkit.join("bin/nvcc"));
            nvcc.args(["-ptx", "-std=c++17", &format!("-arch={arch}")]).args(*way);
            nvcc.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx/kernels.cu")).arg("-o").arg(&file);
            assert!(run(&mut nvcc), "nvcc for {arch}");
        }
    }
    files_below(dir.path())
}

/// What a script of ours makes with a compiler in Python, over NVIDIA's libraries in `toolkit`; `None`: it is not
/// there.
pub(crate) fn by_python(python: &Path, toolkit: &Path, module: &str, script: &str, count: u32) -> Option<Vec<(String, String)>> {
    if !run(Command::new(python).args(["-c", &format!("import {module}")])) {
        println!("skipped: {} has no {module}", python.display());
        return None;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx").join(script);
    let mut made = Command::new(python);
    made.arg(&script).arg(dir.path()).arg(count.to_string());
    made.env("CUDA_HOME", toolkit).env("LD_LIBRARY_PATH", toolkit.join("lib"));
    assert!(run(&mut made), "{}", script.display());
    Some(files_below(dir.path()))
}

/// Kernels with what is rare in those of compilers.
pub(crate) fn by_hand() -> Vec<(String, String)> {
    let all = [
        ("plain", "sm_70", PLAIN),
        ("guards", "sm_70", GUARDS),
        ("spaces", "sm_90", SPACES),
        ("calls", "sm_70", CALLS),
        ("copies", "sm_90", COPIES),
        ("flow", "sm_70", FLOW),
        ("text", "sm_70", TEXT),
        ("barriers", "sm_90", BARRIERS),
        ("matrices", "sm_90", MATRICES),
        ("bounded", "sm_80", BOUNDED),
    ];
    all.map(|(name, arch, body)| (name.to_owned(), format!(".version 8.4\n.target {arch}\n.address_size 64\n{body}"))).into()
}

const PLAIN: &str = r"
.visible .entry plain(.param .u64 p, .param .u32 n)
{
	.reg .pred %p<3>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
	.shared .align 4 .b8 own[128];
	ld.param.u64 %rd1, [p];
	ld.param.u32 %r1, [n];
	cvta.to.global.u64 %rd2, %rd1;
	mov.u32 %r2, %tid.x;
	mul.wide.u32 %rd3, %r2, 4;
	add.s64 %rd4, %rd2, %rd3;
	ld.global.u32 %r3, [%rd4];
	mov.u32 %r4, own;
	st.shared.u32 [%r4+4], %r3;
	bar.sync 0;
	ld.shared.u32 %r5, [own+8];
	setp.lt.u32 %p1, %r2, %r1;
	@%p1 bra L;
	add.s32 %r5, %r5, 1;
L:	st.global.u32 [%rd4], %r5;
	ret;
}
";

const GUARDS: &str = r"
.entry guards(.param .u64 p)
{ .reg .pred %p<4>, q; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<30>;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, %laneid;
  setp.eq.u32 %p1, %r1, 3; not.pred q, %p1;
  @%p1 ld.global.nc.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1+-16]; @!q ld.f32 %f10, [%rd1+4];
  @!%p1 st.global.v2.b32 [%rd1+32], {%r1, %r1};
  @q atom.global.add.u32 %r6, [%rd1], %r1; @q red.global.max.s32 [%rd1+8], %r6;
  { .reg .pred %p1; .reg .b32 q; mov.u32 q, 5; setp.eq.u32 %p1, q, %r1; @%p1 st.u32 [%rd1], q; }
  @%p1 exit;
  st.global.f32 [%rd1], %f10; ret; }
";

const SPACES: &str = r"
.global .align 8 .b8 table[64] = {1, 2, 3, 0xff};
.const .align 4 .b32 fixed[4] = {1, 2, 3, 4};
.extern .shared .align 16 .b8 dynamic[];
.visible .entry spaces(.param .u64 .ptr .global .align 4 p, .param .align 8 .b8 s[16])
{
	.reg .b16 %rs<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b128 %q<2>;
	.local .align 8 .b8 stack[32];
	ld.param.u64 	%rd1, [p];
	ld.param.v2.u32 {%r1, %r2}, [s+8];
	ld.global.b8 %rs1, [table+3];
	ld.global.u32 %r3, table[4];
	ld.const.b32 %r4, [fixed+4];
	st.local.b32 [stack], %r4;
	mov.u64 %rd2, stack;
	cvta.local.u64 %rd3, %rd2;
	st.b32 [%rd3+4], %r3;
	ld.volatile.b32 %r5, [ %rd3 + 4 ];
	st.shared.b64 [dynamic + 8], %rd1;
	mov.u32 %r6, dynamic;
	mapa.shared::cluster.u32 %r7, %r6, 1;
	ld.shared::cluster.b32 %r8, [%r7 + 0];
	st.shared::cta.b16 [%r6], %rs1;
	ld.global.relaxed.sys.b64 %rd4, [%rd1];
	ld.relaxed.sys.global.b128 %q1, [%rd1];
	st.weak.global.L1::no_allocate.b128 [%rd1], %q1;
	atom.relaxed.gpu.shared::cta.cas.b32 %r1, [%r6], 0, 1;
	atom.global.cas.b128 %q1, [%rd1], %q1, %q1;
	atom.global.add.noftz.f16x2 %r1, [%rd1], %r2;
	atom.global.v2.f32.add {%r1, %r2}, [%rd1], {%r3, %r4};
	red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r7], %r1, [%r7+8];
	ld.global.u32 %r1, [%rd1].unified;
	ret;
}
";

const CALLS: &str = r#"
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.func (.param .b32 out) twice(.param .b32 x, .param .b64 p);
.weak .func (.reg .u32 %res) old(.reg .u32 %a, .reg .u64 %where)
{
	ld.global.u32 %res, [%where];
	add.u32 %res, %res, %a;
	ret;
}
.func (.param .b32 out) twice(.param .b32 x, .param .b64 p)
{
	.reg .b32 %r<4>; .reg .b64 %rd<4>;
	ld.param.b32 %r1, [x]; ld.param.b64 %rd1, [p];
	ld.global.u32 %r2, [%rd1+4];
	add.u32 %r3, %r1, %r2;
	st.param.b32 [out], %r3;
	ret;
}
.visible .entry calls(.param .u64 p)
{
	.reg .pred %p1; .reg .b32 %r<9>; .reg .b64 %rd<9>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %laneid; setp.ne.u32 %p1, %r1, 0;
	{ // callseq 0, 0
	.param .b32 param0;
	.param .b64 param1;
	.param .b32 retval0;
	ld.global.b32 %r2, [%rd1+8];
	st.param.b32 [param0], %r2;
	@%p1 ld.global.b64 %rd2, [%rd1+16];
	@!%p1 st.global.b32 [%rd1+24], %r2;
	st.param.b64 [param1], %rd1;
	call.uni (retval0),
	twice,
	(
	param0,
	param1
	);
	st.global.b32 [%rd1], %r2;
	ld.param.b32 %r3, [retval0];
	} // callseq 0
	call (%r4), old, (%r3, %rd1);
	prototype_0 : .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);
	mov.u64 %rd3, twice;
	{
	.param .b32 param0; .param .b64 param1; .param .b32 retval0;
	st.param.b32 [param0], %r4; st.param.b64 [param1], %rd1;
	call (retval0), %rd3, (param0, param1), prototype_0;
	ld.param.b32 %r5, [retval0];
	}
	st.global.b32 [%rd1], %r5;
	ret;
}
"#;

const COPIES: &str = r"
.shared .align 128 .b8 buffer[4096];
.shared .align 8 .b64 mbar;
.visible .entry copies(.param .u64 p)
{
	.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, buffer; mov.u32 %r2, mbar; mov.u32 %r3, 12;
	setp.eq.u32 %p1, %r3, 0;
	cp.async.cg.shared.global [%r1], [%rd1], 16;
	cp.async.ca.shared.global.L2::128B [ %r1 + 0 ], [ %rd1 + 0 ], 0x10, %r3;
	@%p1 cp.async.ca.shared::cta.global [buffer+16], [%rd1+16], 8, %p1;
	cp.async.commit_group;
	cp.async.wait_group 0;
	mbarrier.init.shared.b64 [mbar], 1;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 256, [%r2];
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r3, [mbar];
	cp.async.bulk.global.shared::cta.bulk_group [%rd1], [buffer], 64;
	cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], 128;
	cp.async.bulk.prefetch.L2.global [%rd1], 64;
	prefetch.global.L2 [%rd1];
	ret;
}
";

const FLOW: &str = r#"
.visible .entry flow(.param .u64 p)
.maxntid 128, 1, 1
.pragma "nounroll";
{
	.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %tid.x;
	ts: .branchtargets A, B, C;
A: // first
	.pragma "nounroll";
	add.u32 %r1, %r1, 1;
	ld.global.u32 %r2, [%rd1];
	setp.lt.u32 %p1, %r1, %r2;
	@%p1 bra.uni A;
	and.b32 %r3, %r1, 3;
	setp.gt.u32 %p2, %r3, 2;
	@%p2 ret;
	brx.idx %r3, ts;
B:	{ .reg .pred z; W: ld.acquire.gpu.global.u32 %r4, [%rd1]; setp.eq.u32 z, %r4, 0; @z bra W; }
	{ .reg .pred z; W: ld.acquire.gpu.global.u32 %r4, [%rd1]; setp.eq.u32 z, %r4, 0; @z bra W; }
C:	st.global.u32 [%rd1], %r4;
}
"#;

const TEXT: &str = "\
.file 1 \"/a b/;{[x].cu\" // } ; ld.global.u32 %r1, [%rd1];
.visible .entry text(.param .u64 p)/* { */
{
\t.reg .b32 %r<3>;.reg .b64 %rd<3>;
\t.loc 1 7 3
/* ld.global.u32 %r1, [%rd1]; */ ld.param.u64 %rd1,[p];ld.global.u32 %r1,[%rd1];
\t.loc 1 12 5\n\t.loc\t1 9 1, function_name $names+2, inlined_at 1 12 5
\tst.global.u32
\t\t[%rd1 // the address
\t\t], %r1; // ;
\t.loc 1 0 0
\tst.global.u32[%rd1+4],%r1;\r
\tret;
}
.section .debug_str
{
$names:
.b8 97,0
.b8 105,110,110,101,114,0
}
";

const BARRIERS: &str = r"
.visible .entry barriers(.param .u64 p)
{
	.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0;
	bar.sync 0;
	barrier.sync 1, 64;
	@%p1 bar.sync 2;
	bar.red.or.pred %p1, 0, %p1;
	@%p1 bar.red.popc.u32 %r2, 0, %p1;
	bar.arrive 3, 64;
	bar.warp.sync 0xffffffff;
	barrier.cluster.arrive.release.aligned;
	barrier.cluster.wait.acquire.aligned;
	st.global.u32 [%rd1], %r2;
	ret;
}
";

const MATRICES: &str = r"
.shared .align 16 .b8 rows[1024];
.visible .entry matrices(.param .u64 p)
{
	.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, rows;
	ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, %r5}, [%r1];
	ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r2, %r3}, [%r1+64];
	stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};
	mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r2, %r3}, {%r4}, {%f1, %f2, %f3, %f4};
	st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};
	ret;
}
";

const BOUNDED: &str = r"
.visible .entry bounded(.param .u64 p)
.reqntid 128
.minnctapersm 8
.maxnreg 32
{
	.reg .b32 %r<40>; .reg .b64 %rd<3>;
	ld.param.u64 %rd1, [p];
	ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%rd1];
	ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1+16];
	ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%rd1+32];
	ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%rd1+48];
	st.global.v4.u32 [%rd1+64], {%r0, %r5, %r10, %r15};
	st.global.v4.u32 [%rd1+80], {%r4, %r9, %r14, %r3};
	st.global.v4.u32 [%rd1+96], {%r8, %r13, %r2, %r7};
	st.global.v4.u32 [%rd1+112], {%r12, %r1, %r6, %r11};
	ret;
}
";
