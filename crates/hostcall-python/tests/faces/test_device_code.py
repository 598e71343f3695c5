"""Each face's device code, compiled to a cubin by the face's own compiler. Nothing of it is run: there need be no GPU."""

import itertools
import subprocess
import sys
import types
import warnings
from pathlib import Path

import numpy as np
import pytest
from face_services import SCALAR, SERVICES, assert_is_attachable, symbols

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from doc_programs import assigned  # noqa: E402

KERNEL = """#include <hostcall_services.cuh>
extern "C" __global__ void k(float* y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = Host::add42(y[i]).value_or(-1);
  if (i == 0) Host::log("the first lane is done");
}
"""


def nvrtc(source, options):
    """Compiles as CuPy does: NVRTC, with these options, to a cubin."""
    bindings = pytest.importorskip("cuda.bindings.nvrtc")

    def ok(result):
        assert result[0] == bindings.nvrtcResult.NVRTC_SUCCESS, result
        return result[1] if len(result) == 2 else result[1:]

    program = ok(bindings.nvrtcCreateProgram(source.encode(), b"k.cu", 0, [], []))
    given = [option.encode() for option in options]
    (status,) = bindings.nvrtcCompileProgram(program, len(given), given)
    said = bytearray(ok(bindings.nvrtcGetProgramLogSize(program)))
    bindings.nvrtcGetProgramLog(program, said)
    assert status == bindings.nvrtcResult.NVRTC_SUCCESS, said.decode()
    cubin = bytearray(ok(bindings.nvrtcGetCUBINSize(program)))
    bindings.nvrtcGetCUBIN(program, cubin)
    return bytes(cubin)


def test_cupys_options_compile(toolkit):
    hc_cupy = pytest.importorskip("hostcall.cupy")
    options = hc_cupy.options(*SERVICES)
    assert isinstance(options, tuple) and all(isinstance(option, str) for option in options)
    # CuPy adds the architecture and this one.
    cubin = nvrtc(KERNEL, [*options, "--gpu-architecture=sm_90", "-ftz=true"])
    assert_is_attachable(cubin, SERVICES)


def test_the_page_s_source_compiles_as_cupys(toolkit):
    hc_cupy = pytest.importorskip("hostcall.cupy")
    page = assigned("CuPy", "SOURCE")
    services = [page["add42"], page["log"]]
    assert_is_attachable(nvrtc(page["SOURCE"], [*hc_cupy.options(*services), "--gpu-architecture=sm_90"]), services)


def test_the_page_s_source_compiles_as_cuda_cores(toolkit):
    hc_core = pytest.importorskip("hostcall.cuda_core")
    core = pytest.importorskip("cuda.core")
    page = assigned("CuPy", "SOURCE")
    services = [page["add42"], page["log"]]
    code = core.Program(page["SOURCE"], "c++", hc_core.options(*services, arch="sm_90")).compile("cubin")
    assert_is_attachable(code.code, services)


def test_cuda_cores_options_compile(toolkit):
    hc_core = pytest.importorskip("hostcall.cuda_core")
    core = pytest.importorskip("cuda.core")
    options = hc_core.options(*SERVICES, arch="sm_90", include_path="/nowhere")
    assert options.std == "c++17" and options.include_path[1] == "/nowhere"
    code = core.Program(KERNEL, "c++", options).compile("cubin")
    assert_is_attachable(code.code, SERVICES)


@pytest.fixture
def numba(toolkit, monkeypatch):
    """Numba that believes in a GPU of compute capability 9.0, as far as its compiler asks."""
    if not hasattr(np, "row_stack"):
        # numba-cuda 0.30 asks for a name that NumPy 2.5 no longer has.
        monkeypatch.setattr(np, "row_stack", np.vstack, raising=False)
    pytest.importorskip("numba")
    pytest.importorskip("numba.cuda")
    from numba.cuda import dispatcher
    from numba.cuda.cudadrv import devices, driver

    if not driver._have_nvjitlink():
        pytest.skip("there is no nvJitLink: pip install nvidia-nvjitlink")
    device = types.SimpleNamespace(compute_capability=(9, 0))
    monkeypatch.setattr(dispatcher, "get_current_device", lambda: device)
    monkeypatch.setattr(devices, "get_context", lambda number=None: types.SimpleNamespace(device=device))

    def compile(function, signature):
        with warnings.catch_warnings():
            # cuda.core says that it cannot ask the driver for its version.
            warnings.simplefilter("ignore")
            options = {"fastmath": False, "opt": True, "debug": False, "lineinfo": False, "link": (), "lto": True}
            cubin = dispatcher._Kernel(function, signature, **options)._codelibrary.get_cubin(cc=(9, 0))
        return cubin.code

    return compile


@pytest.mark.parametrize("on_error", [None, "value"])
def test_numbas_stubs_compile_and_link(numba, services, on_error):
    from numba import cuda
    from numba.cuda import types as numba_types

    hc_numba = pytest.importorskip("hostcall.numba")
    names = ["add42", "log", "note", "nothing", "small", "wide", "is_odd", "split"]
    add42, log, note, nothing, small, wide, is_odd, split = hc_numba.stubs(*(services[name] for name in names), on_error=on_error)
    text = hc_numba.text("the first lane is done")

    if on_error is None:

        def kernel(y, out):
            i = cuda.grid(1)
            y[i] = add42(y[i])
            high, odd = split(i)
            if is_odd(i) and odd:
                y[i] += high + small(-3, 7, True, 65) + wide(2.5, -1)
            nothing()
            note(i)
            log(text)
    else:

        def kernel(y, out):
            i = cuda.grid(1)
            status, value = add42(y[i])
            if status == 0:
                y[i] = value
            status, (high, odd) = split(i)
            if nothing() != 0 or note(i) != 0 or log(text) != 0:
                y[i] = high

    cubin = numba(kernel, (numba_types.float32[::1], numba_types.uint16[::1]))
    assert_is_attachable(cubin, [services[name] for name in names])


def test_numbas_stubs_take_slices(numba, services):
    from numba import cuda
    from numba.cuda import types as numba_types

    hc_numba = pytest.importorskip("hostcall.numba")
    measure, fill = hc_numba.stubs(services["measure"], services["fill"])
    text = hc_numba.text("four")

    def kernel(numbers, out, y):
        i = cuda.grid(1)
        y[i] = measure(text, numbers[i:]) + fill(7, out)

    cubin = numba(kernel, (numba_types.float64[::1], numba_types.uint16[::1], numba_types.float64[::1]))
    assert_is_attachable(cubin, [services["measure"], services["fill"]])


def test_numbas_stubs_of_several_sources_link_into_one_kernel(numba, services):
    from numba import cuda
    from numba.cuda import types as numba_types

    hc_numba = pytest.importorskip("hostcall.numba")
    add42, status42, note = hc_numba.stub(services["add42"]), hc_numba.stub(services["add42"], on_error="value"), hc_numba.stub(services["note"])
    assert hc_numba.stub(services["add42"]) is add42

    def kernel(y):
        i = cuda.grid(1)
        status, value = status42(y[i])
        if status == 0:
            y[i] = value + add42(y[i])
        note(i)

    assert_is_attachable(numba(kernel, (numba_types.float32[::1],)), [services["add42"], services["note"]])


def test_what_stubs_cannot_be_is_told(services):
    import hostcall as hc

    hc_numba = pytest.importorskip("hostcall.numba")

    @hc.service
    def maybe(x: hc.option(hc.u32)) -> hc.u32:
        return 0

    @hc.service
    def arrays(x: hc.u32) -> hc.array(hc.u32, 4):
        return [0] * 4

    with pytest.raises(TypeError, match=r"Host::maybe: argument 0 is `Option<u32>`"):
        hc_numba.stub(maybe)
    with pytest.raises(TypeError, match=r"Host::arrays: the result is `\[u32; 4\]`"):
        hc_numba.stub(arrays)
    with pytest.raises(ValueError, match="on_error"):
        hc_numba.stub(services["add42"], on_error="raise")


@pytest.fixture
def triton():
    # Not `triton` itself: the directory of that name beside the tests is a package of no modules to Python.
    pytest.importorskip("triton.language")
    from hostcall import triton as face

    if not face.CORE.is_file():
        pytest.skip(f"there is no {face.CORE.name}: crates/hostcall-python/triton/build.py makes it")
    return face


@pytest.mark.parametrize("arch", [80, 90, 100])
def test_tritons_stubs_compile(triton, services, arch):
    import triton as compiler
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton_kernels import every_scalar

    source = ASTSource(fn=every_scalar, signature={"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}, constexprs={(2,): 256})
    options = {"extern_libs": triton.libs(*SCALAR), "num_warps": 4}
    compiled = compiler.compile(source, target=GPUTarget("cuda", arch, 32), options=options)
    assert_is_attachable(compiled.asm["cubin"], SCALAR)


@pytest.mark.parametrize(
    ("kernel", "why"),
    [("too_few_elements", "called for 64 elements by 128 lanes"), ("a_scalar", "called for 1 elements"), ("another_type", "is of type fp64")],
)
def test_triton_refuses_what_would_be_wrong(triton, kernel, why):
    import triton as compiler
    import triton_kernels
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    source = ASTSource(fn=getattr(triton_kernels, kernel), signature={"x": "*fp32", "BLOCK": "constexpr"}, constexprs={(1,): 64})
    with pytest.raises(Exception, match=why):
        compiler.compile(source, target=GPUTarget("cuda", 90, 32), options={"extern_libs": triton.libs(*SCALAR), "num_warps": 4})


LOOKUP = {"out": "*fp32", "table": "*fp32", "index": "*i64", "rows": "i32", "BLOCK": "constexpr"}


def compiled_by_triton(name, signature, arch=90, **options):
    import triton as compiler
    import triton_kernels
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    source = ASTSource(fn=getattr(triton_kernels, name), signature=signature, constexprs={(len(signature) - 1,): 256})
    return compiler.compile(source, target=GPUTarget("cuda", arch, 32), options={"num_warps": 4, **options})


def entry(ptx):
    """The kernel itself, without the functions that it calls."""
    return ptx[ptx.index(".visible .entry") : ptx.index("// -- End function", ptx.index(".visible .entry"))]


def assert_reports(compiled, services=()):
    """The kernel calls the function that reports. CUDA's is called by that one alone, if there is no host."""
    ptx = compiled.asm["ptx"]
    assert "call.uni hostcall_asserted," in entry(ptx) and "__assertfail" not in entry(ptx)
    assert ptx.count("call.uni __assertfail,") == 1 and "\texit;" in ptx
    found = symbols(compiled.asm["cubin"])
    names = ["__HOSTCALL__Process__asserted", "__HOSTCALL_SIGNATURE__Process__asserted"]
    assert [found[name] for name in names] == [1, 1]
    assert_is_attachable(compiled.asm["cubin"], services)


@pytest.mark.parametrize("arch", [75, 80, 90, 100])
def test_tritons_asserts_report_to_the_host(triton, arch):
    assert_reports(compiled_by_triton("lookup", LOOKUP, arch, debug=True, extern_libs=triton.libs(asserts=True)))


@pytest.mark.parametrize("asserts_first", [False, True])
def test_tritons_asserts_are_beside_stubs(triton, asserts_first):
    stubs, asserts = triton.libs(*SCALAR), triton.libs(asserts=True)
    libs = asserts | stubs if asserts_first else stubs | asserts
    assert libs == triton.libs(*SCALAR, asserts=True)
    compiled = compiled_by_triton("lookup_and_call", LOOKUP, debug=True, extern_libs=libs)
    assert_reports(compiled, SCALAR)
    assert "vprintf," in entry(compiled.asm["ptx"])


@pytest.mark.parametrize("debug", [False, True])
def test_a_kernel_that_asserts_nothing_is_the_same(triton, debug):
    cases = [("asserts_nothing", {"x": "*fp32", "BLOCK": "constexpr"})] + [("lookup", LOOKUP)] * (not debug)
    for name, signature in cases:
        plain = compiled_by_triton(name, signature, debug=debug)
        linked = compiled_by_triton(name, signature, debug=debug, extern_libs=triton.libs(asserts=True))
        assert plain.metadata.hash != linked.metadata.hash
        for kind in ("llir", "ptx", "cubin"):
            assert plain.asm[kind] == linked.asm[kind], f"{kind} of {name}"


def test_what_is_compiled_in_a_block_reports(triton):
    import triton as compiler

    def is_linked():
        return "hostcall_asserted" in compiled_by_triton("lookup", LOOKUP, debug=True).asm["ptx"]

    from triton.backends.nvidia.compiler import CUDABackend

    before = compiler.runtime.jit.JITFunction.run, CUDABackend.parse_options
    with triton.asserts():
        with triton.asserts():
            assert is_linked()
        assert is_linked()
    assert not is_linked()
    assert (compiler.runtime.jit.JITFunction.run, CUDABackend.parse_options) == before
    with pytest.raises(KeyError), triton.asserts():
        raise KeyError("mine")
    assert not is_linked()


def test_a_kernel_in_memory_has_a_twin_that_reports(triton, monkeypatch):
    """Launched as far as that goes without a GPU: Triton keeps both, and takes the right one."""
    import triton_kernels
    from triton.backends.compiler import GPUTarget
    from triton.runtime import driver
    from triton.runtime.jit import MockTensor

    device = {"get_current_target": lambda: GPUTarget("cuda", 90, 32), "get_current_device": lambda: 0, "get_current_stream": lambda _: 0}
    monkeypatch.setattr(driver, "_active", types.SimpleNamespace(**device))

    def launched():
        floats, numbers = MockTensor("torch.float32"), MockTensor("torch.int64")
        return triton_kernels.lookup.warmup(floats, floats, numbers, 100, BLOCK=256, grid=(1,))

    first = launched()
    with triton.asserts():
        twin = launched()
        assert "hostcall_asserted" in twin.asm["ptx"] and launched() is twin
    assert "hostcall_asserted" not in first.asm["ptx"] and launched() is first
    with triton.asserts():
        assert launched() is twin


def test_what_triton_unloads_is_forgotten(triton, monkeypatch):
    import triton as compiler
    from hostcall import _loaded

    if not hasattr(compiler.knobs.runtime, "kernel_unload_hook"):
        pytest.skip(f"Triton {compiler.__version__} unloads nothing")
    programs = {("module", 100): types.SimpleNamespace(attachment=None), ("module", 200): None}
    monkeypatch.setattr(_loaded, "_programs", programs)
    compiler.knobs.runtime.kernel_unload_hook(100, None, "kernel", {}, "hash")
    assert list(programs) == [("module", 200)]


def test_tritons_stubs_are_one_module_for_llvm(services, tmp_path):
    """Without Triton: LLVM's own tools read the stubs and hostcall's client, and link them."""
    import shutil

    from hostcall import _triton_ir
    from hostcall._wire import wire

    tools = [shutil.which(f"{name}-22") for name in ("llvm-as", "opt")]
    if None in tools:
        pytest.skip("there is no LLVM 22")
    combinations = itertools.permutations(SCALAR, 2)
    for first, second in itertools.islice(combinations, 8):
        (tmp_path / "stubs.ll").write_text(_triton_ir.module([wire(first), wire(second), wire(first)]))
        subprocess.run([tools[0], tmp_path / "stubs.ll", "-o", tmp_path / "stubs.bc"], check=True, timeout=60)
        subprocess.run([tools[1], "-passes=verify", tmp_path / "stubs.bc", "-o", tmp_path / "out.bc"], check=True, timeout=60)


def llvm_22(*names):
    import shutil

    tools = [shutil.which(f"{name}-22") for name in names]
    if None in tools:
        pytest.skip("there is no LLVM 22")
    return tools


def bitcode(name):
    from importlib.resources import files

    file = files("hostcall") / name
    if not file.is_file():
        pytest.skip(f"there is no {name}: crates/hostcall-python/triton/build.py makes it")
    return str(file)


@pytest.mark.parametrize("name", ["_triton.bc", "_triton_assert.bc"])
def test_tritons_client_has_no_flags_that_conflict_with_tritons(name, tmp_path):
    """Triton's modules say ``nvvm-reflect-ftz``, too, and a linker of LLVM's refuses two values of it."""
    tools, client = llvm_22("llvm-dis", "llvm-link"), bitcode(name)
    text = subprocess.run([tools[0], client, "-o", "-"], check=True, capture_output=True, text=True, timeout=60).stdout
    assert "define" in text and "!llvm.module.flags" not in text
    for value in (0, 1):
        kernel = tmp_path / f"kernel{value}.ll"
        kernel.write_text(f'!llvm.module.flags = !{{!0}}\n!0 = !{{i32 1, !"nvvm-reflect-ftz", i32 {value}}}\n')
        subprocess.run([tools[1], kernel, client, "-o", tmp_path / "linked.bc"], check=True, timeout=60)
    both = [tools[1], tmp_path / "kernel0.ll", tmp_path / "kernel1.ll", "-o", tmp_path / "linked.bc"]
    assert subprocess.run(both, capture_output=True, timeout=60).returncode != 0, "so two values are what a linker refuses"


#: What Triton's modules say of CUDA's function.
ASSERTFAIL = "declare void @__assertfail(ptr, ptr, i32, ptr, i64) noreturn\n"


def test_tritons_asserts_are_linked_if_they_are_needed(tmp_path):
    """Without Triton: LLVM's linker, with what Triton asks of it."""
    tools, asserts = llvm_22("llvm-link", "opt"), bitcode("_triton_assert.bc")
    kernel = tmp_path / "kernel.ll"

    def linked(text):
        kernel.write_text(f'target triple = "nvptx64-nvidia-cuda"\n{text}')
        subprocess.run([tools[0], "--only-needed", kernel, asserts, "-o", tmp_path / "linked.bc"], check=True, capture_output=True, timeout=60)
        optimise = [tools[1], "-S", "-O3", tmp_path / "linked.bc", "-o", "-"]
        return subprocess.run(optimise, check=True, capture_output=True, text=True, timeout=60).stdout

    plain = linked("define void @kernel() {\n  ret void\n}\n")
    assert "__hostcall" not in plain.lower() and plain.count("define") == 1
    call = "call void @__assertfail(ptr null, ptr null, i32 7, ptr null, i64 1)"
    text = linked(ASSERTFAIL + f"define void @kernel() {{\n  {call}\n  unreachable\n}}\n")
    assert "define void @hostcall_asserted(" in text.replace("dso_local ", "")
    for name in ("__hostcall_device", "__hostcall_abi", "__HOSTCALL__Process__asserted", "__HOSTCALL_SIGNATURE__Process__asserted"):
        assert f"@{name} = weak" in text
    # CUDA's own, which reports if there is no host; and no other service's words.
    assert 'declare dso_local void @"\\01__assertfail"(' in text and "@__HOSTCALL__Console__print" not in text


def test_pytorchs_extension_compiles(toolkit, tmp_path):
    """The sources that ``load_inline`` is given, by nvcc, without PyTorch."""
    from hostcall import _source
    from hostcall import torch as face

    source = "#include <cuda_runtime.h>\n" + KERNEL + face._binding("k")
    (tmp_path / "k.cu").write_text(source)
    command = [toolkit / "bin/nvcc", "-std=c++17", "-arch=sm_90", "-I", _source.directory(*SERVICES), "-Werror=all-warnings"]
    subprocess.run([*command, "-cubin", tmp_path / "k.cu", "-o", tmp_path / "k.cubin"], check=True, timeout=300)
    assert_is_attachable((tmp_path / "k.cubin").read_bytes(), SERVICES)


#: What PyTorch's headers say of what the page's program uses.
TORCH = "#pragma once\nnamespace torch { struct Tensor { template <class T> T* data_ptr() const; long long numel() const; }; }\n"


def test_the_page_s_sources_compile_as_pytorchs(toolkit, tmp_path, monkeypatch):
    """What the page's ``load_inline`` gives to PyTorch's, by nvcc and g++, with PyTorch's tensors declared only."""
    from hostcall import _need

    given = types.SimpleNamespace(load_inline=lambda name, **given: types.SimpleNamespace(name=name, **given))
    monkeypatch.setattr(_need, "package", lambda module, *_: {"torch.utils.cpp_extension": given}[module])
    page = assigned("PyTorch", "CUDA", "CPP", "module")
    module = page["module"]
    (tmp_path / "torch").mkdir()
    for header in ("extension.h", "types.h"):
        (tmp_path / "torch" / header).write_text(TORCH)
    # The lines that PyTorch begins with.
    cuda = ["#include <torch/types.h>", "#include <cuda.h>", "#include <cuda_runtime.h>", *module.cuda_sources]
    (tmp_path / "k.cu").write_text("\n".join(cuda))
    (tmp_path / "main.cpp").write_text("\n".join(["#include <torch/extension.h>", *module.cpp_sources]))
    include = [f"-I{directory}" for directory in (tmp_path, *module.extra_include_paths)]
    command = [toolkit / "bin/nvcc", "-std=c++17", "-arch=sm_90", *include, "-cubin", tmp_path / "k.cu", "-o", tmp_path / "k.cubin"]
    subprocess.run(command, check=True, timeout=300)
    subprocess.run(["g++", "-std=c++17", "-fsyntax-only", *include, tmp_path / "main.cpp"], check=True, timeout=60)
    assert_is_attachable((tmp_path / "k.cubin").read_bytes(), [page["add42"]])
    assert module.functions == ["run", "hostcall_function"]


@pytest.fixture
def warp():
    pytest.importorskip("warp", reason="there is no Warp: pip install 'warp-lang>=1.19'")
    from hostcall import warp as face

    return face


def test_warps_stubs_compile(warp, tmp_path):
    import warp as wp
    import warp_kernels

    (cubin,) = wp.compile_aot_module(warp_kernels, arch=90, module_dir=str(tmp_path), use_ptx=False)
    assert_is_attachable(cubin.read_bytes(), SCALAR)


def test_what_warp_cannot_call_is_told(warp, services):
    with pytest.raises(TypeError, match=r"Host::log: argument 0 is `&str`: stubs for Warp"):
        warp.stub(services["log"])
    with pytest.raises(TypeError, match=r"Host::split: the result is `\(u32, bool\)`"):
        warp.options(services["split"])
