//! Asks a CUDA device which number it gives to a launch.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use offload::{Args, Device, Error, Image, ImageKind, Launch, Program, ProgramBundle, Queue};

/// The kernel's name.
pub(super) const KERNEL: &str = "hostcall_launch_number";

/// Writes `%gridid` and 1 more, so that 0 is nothing. The architecture is the oldest for which kernels are built.
const PTX: &str = ".version 6.3
.target sm_70
.address_size 64
.visible .entry hostcall_launch_number(.param .u64 answer)
{
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [answer];
    mov.u64 %rd2, %gridid;
    add.u64 %rd3, %rd2, 1;
    st.volatile.global.u64 [%rd1], %rd3;
    ret;
}
";

/// How long to wait for the answer. Kernels that the host does not know of may have all of the device.
const PATIENCE: Duration = Duration::from_millis(20);

/// The kernel, on one device.
#[derive(Debug)]
pub(super) struct Probe {
    program: Program,
    queue: Queue,
}

impl Probe {
    /// Compiles the kernel, which takes the driver some milliseconds.
    pub(super) fn new(device: &Device) -> Result<Self, Error> {
        let image = Image::new(ImageKind::Ptx, "sm_70", PTX.as_bytes());
        let program = device.load(&ProgramBundle::new("launch number", vec![image]))?;
        Ok(Self { program, queue: device.queue()? })
    }

    /// The queue in which it is launched, and nothing else.
    pub(super) fn queue(&self) -> u64 {
        self.queue.number()
    }

    /// Launches it: the device's number of this launch, if it says it in time.
    pub(super) fn ask(&self) -> Result<Option<u64>, Error> {
        let answer = self.queue.device().alloc_host::<u64>(1)?;
        answer.write(0, &[0])?;
        let kernel = self.program.kernel(KERNEL)?;
        // SAFETY: its parameter is the address of a u64 that the device may write. The memory is freed when no kernel
        // runs any more.
        unsafe { self.queue.launch(&kernel, Launch::linear(1, 1), Args::new().address(answer.address())) }?;
        // SAFETY: the memory has a word, which the kernel writes once, and this is all that reads it.
        let word = unsafe { AtomicU64::from_ptr(answer.as_ptr()) };
        let since = Instant::now();
        loop {
            // Relaxed: the number is all there is to say.
            match word.load(Ordering::Relaxed) {
                0 if since.elapsed() > PATIENCE => return Ok(None),
                0 => std::hint::spin_loop(),
                number => return Ok(Some(number - 1)),
            }
        }
    }
}
