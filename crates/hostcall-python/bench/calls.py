"""How many calls a second Python answers, and how long one takes.

    python calls.py                                  # the simulator
    python calls.py --device cuda:0                  # a GPU; the kernel is compiled by clang++
    python calls.py --write-image calls.ptx          # where there is a compiler
    python calls.py --device cuda:0 --image calls.ptx  # where there is a GPU

Needs NumPy, and of CUDA the driver only. Prints a line of JSON for each measurement; two of them are rows of `cargo hostcall bench --rows "python calls.py …"`. On a GPU the row of a batched service called by all resident waves,
and that of a single call's time, say their targets, and whether they are met or MISSED.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import hostcall as hc

# Before CUDA is initialised: kernels that wait for the host must be loaded before they run.
os.environ.setdefault("CUDA_MODULE_LOADING", "EAGER")


@hc.service(batch=True)
def add42(x: hc.f32) -> hc.f32:
    return x + np.float32(42)


@hc.service
def lane42(x: hc.f32) -> hc.f32:
    return x + 42


@hc.service(batch=True)
def note(x: hc.f32) -> None:
    pass


SOURCE = r"""
#if defined(__CUDA_ARCH__) || defined(__NVPTX__)
HC_DEVICE_INLINE unsigned long long ticks() { unsigned long long t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); return t; }
#elif defined(__aarch64__)
static inline unsigned long long ticks() { unsigned long long t; asm volatile("mrs %0, cntvct_el0" : "=r"(t)); return t; }
#else
static inline unsigned long long ticks() { return __builtin_ia32_rdtsc(); }
#endif

// Each lane calls so often; `wrong` counts answers that are not the right ones.
HOSTCALL_KERNEL(batched, unsigned rounds, unsigned* wrong) {
    float x = 0; unsigned bad = 0;
    for (unsigned i = 0; i < rounds; i++) { const float y = Host::add42(x).value_or(-1); bad += y != x + 42; x = i; }
    if (bad) wrong[hostcall::global_id()] = bad;
}
HOSTCALL_KERNEL(scalars, unsigned rounds, unsigned* wrong) {
    float x = 0; unsigned bad = 0;
    for (unsigned i = 0; i < rounds; i++) { const float y = Host::lane42(x).value_or(-1); bad += y != x + 42; x = i; }
    if (bad) wrong[hostcall::global_id()] = bad;
}
HOSTCALL_KERNEL(posted, unsigned rounds, unsigned* wrong) {
    (void)wrong;
    for (unsigned i = 0; i < rounds; i++) Host::note((float)i);
}
// One lane calls; each call's ticks are written down.
HOSTCALL_KERNEL(latency, unsigned rounds, unsigned long long* took) {
    if (hostcall::global_id() != 0) return;
    for (unsigned i = 0; i < rounds; i++) {
        const auto began = ticks();
        const float y = Host::add42((float)i).value_or(-1);
        took[i] = y == (float)i + 42 ? ticks() - began : ~0ull;
    }
}
"""
SERVICES = [add42, lane42, note]

# : Targets, of an H200: calls a second of a batched service at least, and microseconds of half of the single calls at
# most.
RATE, LATENCY = 20_000_000, 15


def beside(row: dict[str, object], target: int, is_met: bool) -> dict[str, object]:
    """The row with its target, and whether that is met."""
    return {**row, "target": target, "is": "met" if is_met else "MISSED"}


class Simulator:
    """Kernels on the simulator."""

    def __init__(self, server: hc.Server) -> None:
        self.server = server
        self.module = hc.sim.Module(SOURCE, SERVICES)
        server.attach(self.module)

    def array(self, count: int, dtype: type) -> np.ndarray:
        return np.zeros(count, dtype)

    def read(self, array: np.ndarray) -> np.ndarray:
        return array

    def launch(self, kernel: str, waves: int, rounds: int, array: np.ndarray) -> None:
        self.module.launch(kernel, waves, 32, np.uint32(rounds), array)

    def tick(self) -> float:
        """Seconds of a tick."""
        began, first = time.perf_counter(), tsc()
        time.sleep(0.2)
        return (time.perf_counter() - began) / (tsc() - first)


# What reads the processor's counter, for each processor.
CODE = {
    "x86_64": b"\x0f\x31\x48\xc1\xe2\x20\x48\x09\xd0\xc3",  # rdtsc; shl rdx, 32; or rax, rdx; ret
    "aarch64": b"\x40\xe0\x3b\xd5\xc0\x03\x5f\xd6",  # mrs x0, cntvct_el0; ret
}


def tsc() -> int:
    """The processor's counter, by the smallest function that reads it."""
    global _tsc
    if _tsc is None:
        import mmap

        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        page.write(CODE[platform.machine()])
        address = ctypes.addressof(ctypes.c_char.from_buffer(page))
        # The system makes instructions of it: AArch64 would not see them otherwise.
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE), mmap.PROT_READ | mmap.PROT_EXEC) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")
        function = ctypes.CFUNCTYPE(ctypes.c_uint64)(address)
        _tsc = (function, page)
    return int(_tsc[0]())


_tsc: tuple | None = None


class Cuda:
    """Kernels on a GPU, by CUDA's driver."""

    def __init__(self, server: hc.Server, image: bytes) -> None:
        self.server = server
        self.cuda = ctypes.CDLL("libcuda.so.1")
        device, context, module = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.cuda.cuInit(0))
        self.check(self.cuda.cuDeviceGet(ctypes.byref(device), server.device["ordinal"]))
        self.check(self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
        self.check(self.cuda.cuCtxSetCurrent(context))
        self.check(self.cuda.cuModuleLoadData(ctypes.byref(module), ctypes.c_char_p(image + b"\0")))
        self.module = module
        server.attach_cuda_module(module.value, "calls")
        self.functions: dict[str, ctypes.c_void_p] = {}
        for name in ("batched", "scalars", "posted", "latency"):
            function = ctypes.c_void_p()
            self.check(self.cuda.cuModuleGetFunction(ctypes.byref(function), module, name.encode()))
            self.functions[name] = function

    @staticmethod
    def check(code: int) -> None:
        if code:
            sys.exit(f"CUDA's driver says {code}")

    def array(self, count: int, dtype: type) -> tuple[ctypes.c_uint64, int, type]:
        pointer, size = ctypes.c_uint64(), count * np.dtype(dtype).itemsize
        self.check(self.cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(size)))
        self.check(self.cuda.cuMemsetD8_v2(pointer, ctypes.c_ubyte(0), ctypes.c_size_t(size)))
        return pointer, count, dtype

    def read(self, array: tuple[ctypes.c_uint64, int, type]) -> np.ndarray:
        pointer, count, dtype = array
        out = np.zeros(count, dtype)
        self.check(self.cuda.cuMemcpyDtoH_v2(ctypes.c_void_p(out.ctypes.data), pointer, ctypes.c_size_t(out.nbytes)))
        self.check(self.cuda.cuMemFree_v2(pointer))
        return out

    def launch(self, kernel: str, waves: int, rounds: int, array: tuple[ctypes.c_uint64, int, type]) -> None:
        # Blocks of four waves, as far as the waves go round.
        block = 4 if waves % 4 == 0 else 1
        count = ctypes.c_uint32(rounds)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(count), ctypes.addressof(array[0]))
        self.check(self.cuda.cuLaunchKernel(self.functions[kernel], waves // block, 1, 1, 32 * block, 1, 1, 0, None, values, None))

    def tick(self) -> float:
        return 1e-9


def compiled() -> bytes:
    """The kernels as PTX."""
    compiler = next((found for found in ("clang++-22", "clang++") if shutil.which(found)), None)
    if compiler is None:
        sys.exit("there is no clang++ to compile the kernel: make the image elsewhere by `--write-image`, and pass it by `--image`")
    with tempfile.TemporaryDirectory() as directory:
        source, image = Path(directory, "calls.cu"), Path(directory, "calls.ptx")
        source.write_text(hc.cuda_source(*SERVICES) + SOURCE)
        flags = ["--cuda-device-only", "-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_90", "--cuda-feature=+ptx84", "-O3", "-Wno-pragma-once-outside-header"]
        subprocess.run([compiler, "-std=c++17", "-x", "cuda", *flags, "-I", hc.include_dir(), "-S", str(source), "-o", str(image)], check=True)
        return image.read_bytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--device", default="sim", help="sim or cuda:N")
    parser.add_argument("--image", type=Path, help="the kernels as PTX or as machine code")
    parser.add_argument("--write-image", type=Path, help="write the kernels as PTX, and measure nothing")
    parser.add_argument("--waves", type=int, help="waves that call at once [as many as are resident; 8448 on an H200]")
    parser.add_argument("--rounds", type=int, help="calls of each lane")
    parser.add_argument("--threads", type=int, help="serving threads")
    parser.add_argument("--spin", type=float, default=50e-6, help="seconds that the dispatcher looks before it sleeps")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--soak", type=int, metavar="N", help="then: calls lost in a hundred times N, and memory in N batches")
    options = parser.parse_args()
    if options.write_image:
        options.write_image.write_bytes(compiled())
        return
    is_sim = options.device.startswith("sim")
    with hc.Server(options.device, threads=options.threads, spin=options.spin) as server:
        server.register(*SERVICES)
        kernels = Simulator(server) if is_sim else Cuda(server, options.image.read_bytes() if options.image else compiled())
        waves = options.waves or server.device["resident_waves"]
        rounds = options.rounds or (200 if is_sim else 100)
        about = {"device": server.device["name"], "python": platform.python_version(), "numpy": np.__version__, "hostcall": hc.__version__}
        print(json.dumps(about), flush=True)

        def rate(kernel: str, waves: int, rounds: int, service: str, target: int | None = None) -> None:
            speeds, batches = [], []
            for _ in range(options.repeat):
                before = server.stats()[service]
                wrong = kernels.array(waves * 32, np.uint32)
                began = time.perf_counter()
                kernels.launch(kernel, waves, rounds, wrong)
                server.wait()
                speeds.append(waves * 32 * rounds / (time.perf_counter() - began))
                after = server.stats()[service]
                if after.calls - before.calls != waves * 32 * rounds or kernels.read(wrong).any():
                    sys.exit(f"{kernel}: {after.calls - before.calls} calls of {waves * 32 * rounds}, or wrong answers")
                batches.append(after.messages - before.messages)
            row = {"what": kernel, "waves": waves, "lanes": waves * 32, "rounds": rounds, "calls_per_second": round(statistics.median(speeds))}
            if target is not None:
                row |= {"row": "python.batched", "per_second": row["calls_per_second"], "note": f"{waves} waves, all lanes"}
                if not is_sim:
                    row = beside(row, target, statistics.median(speeds) >= target)
            print(json.dumps(row), flush=True)

        rate("batched", waves, rounds, "Host::add42", None if options.waves else RATE)
        rate("batched", max(waves // 8, 1), rounds, "Host::add42")
        rate("posted", waves, rounds, "Host::note")
        rate("scalars", max(waves // 8, 1), max(rounds // 10, 1), "Host::lane42")

        count = 2000 if is_sim else 20000
        tick = kernels.tick()
        took = kernels.array(count, np.uint64)
        kernels.launch("latency", 1, count, took)
        server.wait()
        seconds = np.sort(kernels.read(took)[count // 10 :]) * tick
        quantiles = {f"p{q}_us": round(float(np.quantile(seconds, q / 100)) * 1e6, 2) for q in (1, 50, 90, 99)}
        row = {"what": "latency of one call", "calls": len(seconds), **quantiles}
        row |= {"row": "python.call", "us": quantiles["p50_us"], "note": f"p50; p99 {quantiles['p99_us']} us"}
        print(json.dumps(row if is_sim else beside(row, LATENCY, quantiles["p50_us"] <= LATENCY)), flush=True)

        if options.soak:
            rate("batched", waves, -(-100 * options.soak // (32 * waves)), "Host::add42")

            def batches(count: int) -> tuple[int, int]:
                """Makes so many calls of one lane, each a batch; objects of Python and bytes of the process behind them."""
                took = kernels.array(count, np.uint64)
                kernels.launch("latency", 1, count, took)
                server.wait()
                if (kernels.read(took) == ~np.uint64(0)).any():
                    sys.exit("wrong answers")
                gc.collect()
                resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
                return len(gc.get_objects()) + sys.getallocatedblocks(), resident

            batches(options.soak // 10)
            first = batches(options.soak // 10)
            last = batches(options.soak)
            grown = {"objects": last[0] - first[0], "bytes": last[1] - first[1]}
            print(json.dumps({"what": "memory", "batches": options.soak, **grown}), flush=True)


if __name__ == "__main__":
    main()
