"""What a kernel sends becomes a data frame of pandas: ``pip install pandas pyarrow``."""

import pandas as pd  # type: ignore[import-untyped]

import hostcall as hc


@hc.stream
class Loss:
    step: hc.u32
    value: hc.f32


KERNEL = """
HOSTCALL_KERNEL(train, unsigned steps) {
    const float scale = 1.0f + hostcall::group_id().x;
    for (unsigned step = 0; step < steps; step++) hostcall::send(Loss{step, scale / (step + 1)});
}
"""


def main() -> None:
    with hc.Server("sim") as server:
        streams = server.streams()
        kernels = hc.sim.Module(KERNEL, [Loss])
        server.attach(kernels)
        kernels.launch("train", 4, 32, 100)
        server.wait()
        frame = pd.DataFrame.from_arrow(streams[Loss])
    by_block = frame.pivot_table(index="step", columns="workgroup", values="value")
    print(by_block.head(3))
    print(f"{len(frame)} rows, the last loss of block 3 is {by_block.loc[99, 3]:.2f}")


if __name__ == "__main__":
    main()
