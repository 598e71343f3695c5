//! An operation on candle's tensors whose kernel calls the host for every element, on candle's stream and in candle's
//! memory.
//!
//! `cargo run --release` in this folder, on a machine with an NVIDIA GPU, CUDA's toolkit (candle builds its kernels
//! with it) and the device toolchain (`cargo hostcall setup`).

use std::error::Error;

use add42_services::host;
use candle_core::cuda_backend::WrapErr;
use candle_core::cuda_backend::cudarc::driver::{CudaFunction, LaunchConfig, PushKernelArg};
use candle_core::{CpuStorage, CudaDevice, CudaStorage, DType, Device, InplaceOp1, Layout, Result, Tensor};
use hostcall::{Program, Queue, Server};

/// `x + 42`, which only the host knows.
struct Add42 {
    kernel: CudaFunction,
    queue: Queue,
    server: Server,
}

impl Add42 {
    /// Loads the kernel where candle keeps its own, and starts the host's half.
    fn new(candle: &CudaDevice) -> std::result::Result<Add42, Box<dyn Error>> {
        let bundle = hostcall::include_program!("add42");
        // candle takes PTX, which is the image that is text.
        let mut texts = bundle.images.iter().filter_map(|image| std::str::from_utf8(&image.bytes).ok());
        let ptx = texts.next().ok_or("no PTX was built for NVIDIA GPUs")?;
        let kernel = candle.get_or_load_custom_func("demo", "add42", ptx)?.into_cuda_function();

        let stream = candle.cuda_stream();
        let device = hostcall::Device::from_cudarc(stream.context())?;
        let queue = Queue::from_cudarc(&device, &stream)?;
        let server = Server::builder(&device)
            .service(host::add42(|x| x + 42.0))
            .service(host::log(|message: &str| println!("the kernel says: {message}")))
            .start()?;
        server.attach(&Program::from_cudarc(&device, "add42", &kernel)?)?;
        Ok(Add42 { kernel, queue, server })
    }
}

impl InplaceOp1 for Add42 {
    fn name(&self) -> &'static str {
        "add42"
    }

    fn cpu_fwd(&self, _storage: &mut CpuStorage, _layout: &Layout) -> Result<()> {
        candle_core::bail!("this tensor is not on a GPU: `to_device` moves it there")
    }

    fn cuda_fwd(&self, storage: &mut CudaStorage, layout: &Layout) -> Result<()> {
        let Some((start, end)) = layout.contiguous_offsets() else {
            candle_core::bail!("add42 wants a contiguous tensor: `contiguous` makes one")
        };
        let stream = storage.device.cuda_stream();
        let mut elements = storage.as_cuda_slice_mut::<f32>()?.slice_mut(start..end);
        let len = elements.len() as u64;
        let shape = LaunchConfig::for_num_elems(u32::try_from(len).map_err(candle_core::Error::wrap)?);
        // `track` has the server awake while the kernel runs; a slice is two parameters.
        let launched = self.queue.track(|| {
            // SAFETY: the kernel takes one slice of `f32`, and this is one. It is used on candle's stream only, behind
            // what wrote it and before what reads it.
            unsafe { stream.launch_builder(&self.kernel).arg(&mut elements).arg(&len).launch(shape) }
        });
        launched.map_err(candle_core::Error::wrap)?.w()?;
        // Failures of calls, panics of the kernel and of handlers are errors of the operation.
        self.server.wait(&self.queue).map_err(candle_core::Error::wrap)
    }
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    // candle panics where there is no driver. This says what is missing.
    if let Err(why) = hostcall::Device::cuda(0) {
        println!("skipped: {why}");
        return Ok(());
    }
    let device = Device::new_cuda(0)?;
    let add42 = Add42::new(device.as_cuda_device()?)?;
    let tensor = Tensor::arange(0f32, 8.0, &device)?.reshape((2, 4))?;
    tensor.inplace_op1(&add42)?;
    let doubled = (&tensor * 2.0)?;
    println!("{tensor}\n{doubled}");
    let expected: Vec<f32> = (0..8).map(|i| (i as f32 + 42.0) * 2.0).collect();
    assert_eq!(doubled.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>()?, expected);
    Ok(())
}
