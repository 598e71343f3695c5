"""A kernel moves a progress bar of tqdm's while it runs: ``pip install tqdm``."""

from tqdm import tqdm  # type: ignore[import-untyped]

import hostcall as hc

BLOCKS, STEPS = 4, 250

KERNEL = """
HOSTCALL_KERNEL(simulate, unsigned steps) {
    for (unsigned step = 0; step < steps; step++) {
        // … the work of a step
        if (hostcall::local_id().x == 0) Host::progress(1);
    }
}
"""


def main() -> None:
    # The bar is closed after the last call: the server stops first.
    with tqdm(total=BLOCKS * STEPS, unit="step") as bar, hc.Server("sim") as server:

        @hc.service  # no result: posted, so no lane waits for the bar
        def progress(n: hc.u32) -> None:
            bar.update(n)

        server.register(progress)
        kernels = hc.sim.Module(KERNEL, [progress])
        server.attach(kernels)
        kernels.launch("simulate", BLOCKS, 32, STEPS)
        server.wait()
    print(f"{bar.n} of {bar.total} steps")


if __name__ == "__main__":
    main()
