//! The driver's errors as errors of this crate, each with the data and the remedy.

use super::context::Loss;
use super::driver::{Driver, Failed, MINIMUM, OpenError, Status, version_text};
use crate::backend::KernelInfo;
use crate::device::DeviceKind;
use crate::error::{Error, is_missing};
use crate::queue::Launch;

const KIND: DeviceKind = DeviceKind::Cuda;

fn unavailable(reason: String) -> Error {
    Error::Unavailable { kind: KIND, reason, absent: false }
}

fn absent(reason: String) -> Error {
    Error::Unavailable { kind: KIND, reason, absent: true }
}

/// There is no driver to call.
pub(super) fn no_driver(error: &OpenError) -> Error {
    unavailable(match error {
        OpenError::NoLibrary(text) if is_missing("libcuda.so.1", text) => {
            return absent(format!(
                "no libcuda.so.1 found ({text}); install the NVIDIA driver (in a container: run it with the NVIDIA container toolkit, `--gpus all`)"
            ));
        }
        OpenError::NoLibrary(text) => format!("libcuda.so.1 cannot be opened ({text}); reinstall the NVIDIA driver, 550 or later"),
        OpenError::NoSymbol(symbol) => {
            format!("the CUDA driver library lacks `{symbol}`; it is broken or a stub: reinstall the NVIDIA driver, 550 or later")
        }
        OpenError::TooOld(version) => format!(
            "the NVIDIA driver supports CUDA {}, and CUDA {} is needed (PTX ISA 8.4); install driver 550 or later",
            version_text(*version),
            version_text(MINIMUM)
        ),
        OpenError::Init(Failed { call, status }) => match *status {
            Status::NO_DEVICE => return no_gpu(),
            Status::SYSTEM_DRIVER_MISMATCH => "the NVIDIA driver's kernel module and its libcuda are of different versions; reboot, or \
                 reinstall the driver (in a container: restart it)"
                .into(),
            // The driver's own names need an initialised driver; the number is what NVIDIA's table of CUresult lists.
            Status(code) => format!("{call} failed with CUresult {code}; see whether `nvidia-smi` works and what `dmesg` says"),
        },
    })
}

/// The driver works and sees no GPU.
pub(super) fn no_gpu() -> Error {
    absent(
        "the CUDA driver found no GPU; see `nvidia-smi`, the variable CUDA_VISIBLE_DEVICES, and in a container whether it was started with `--gpus`"
            .into(),
    )
}

/// No context is current on this thread.
pub(super) fn no_context() -> Error {
    unavailable("no CUDA context is current on this thread: make one first (`cudaFree(0)`, `cuCtxSetCurrent`), or pass it".into())
}

pub(super) fn no_device(ordinal: u32, count: u32) -> Error {
    Error::NoDevice { kind: KIND, ordinal, count }
}

/// A call that failed, with the driver's own words.
pub(super) fn call(driver: &Driver, failed: &Failed) -> Error {
    let (name, text) = driver.describe(failed.status);
    Error::Backend { call: failed.call, code: i64::from(failed.status.0), text: format!("{name}: {text}") }
}

/// A device's context cannot be made.
pub(super) fn opening(driver: &Driver, device: &str, failed: &Failed) -> Error {
    let (name, text) = driver.describe(failed.status);
    match failed.status {
        Status::DEVICE_UNAVAILABLE => unavailable(format!(
            "{device} is used exclusively by another process ({name}); end that, or set the compute mode with `nvidia-smi -c DEFAULT`"
        )),
        Status::OUT_OF_MEMORY => unavailable(format!("{device} has no memory left for a context ({name}); `nvidia-smi` shows who uses it")),
        status if status.is_sticky() => Error::DeviceLost {
            device: device.into(),
            reason: format!("its context cannot be made again ({name}: {text}): restart the process"),
        },
        _ => call(driver, failed),
    }
}

pub(super) fn lost(device: &str, loss: &Loss) -> Error {
    let Loss { call, status, name, text } = loss;
    let why = match *status {
        Status::LAUNCH_TIMEOUT => "; a GPU with a display ends kernels that run for seconds: use one without, or shorter kernels",
        _ => "",
    };
    // On whichever GPU it was: CUDA does not tell.
    let reason = format!("{call} said {name} ({text}){why}; a fault on one GPU takes all GPUs of its process: restart the process");
    Error::DeviceLost { device: device.into(), reason }
}

pub(super) fn closed(device: &str) -> Error {
    let reason = "its context was destroyed by a reset, and this was made before it; make it anew from the device that the reset returned";
    Error::DeviceLost { device: device.into(), reason: reason.into() }
}

pub(super) fn in_host_function(device: &str) -> Error {
    Error::Backend {
        call: "completion",
        code: 0,
        text: format!("{device} was called from a completion; CUDA allows no call there: hand the work to a thread"),
    }
}

/// Something that waits for a device, on a thread for which one may be waiting.
pub(super) fn would_wait(device: &str, what: &str) -> Error {
    // CUDA_ERROR_NOT_PERMITTED.
    let text = format!(
        "{device}: {what} may wait for the device, and the device may wait for this thread, which runs a function of a queue or answers a kernel; \
         hand it to another thread, or do it before"
    );
    Error::Backend { call: "a call that waits", code: 800, text }
}

pub(super) fn not_ours(device: &str) -> Error {
    Error::Reset { device: device.into(), reason: "its context was made elsewhere; whoever made it has to destroy it".into() }
}

pub(super) fn in_use(device: &str, borrowers: usize, blocks: usize, streams: usize) -> Error {
    let reason = format!(
        "{blocks} blocks of host memory allocated on it, {borrowers} devices made from its raw or cudarc context and {streams} streams by addresses \
         (of the Offload API) are still in use, and would be left with nothing behind them; drop them first"
    );
    Error::Reset { device: device.into(), reason }
}

pub(super) fn reset(driver: &Driver, device: &str, failed: &Failed) -> Error {
    let (name, text) = driver.describe(failed.status);
    Error::Reset { device: device.into(), reason: format!("{} said {name} ({text}); restart the process", failed.call) }
}

pub(super) fn out_of_memory(device: &str, asked: usize, available: usize) -> Error {
    Error::OutOfMemory { device: device.into(), asked: asked as u64, available: available as u64 }
}

pub(super) fn out_of_host_memory(asked: usize, driver: &Driver, status: Status) -> Error {
    let (name, _) = driver.describe(status);
    let free = std::fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| text.lines().find_map(|line| line.strip_prefix("MemAvailable:").map(|rest| rest.trim().to_owned())));
    let free = free.map(|kb| format!(", the system has {kb} available")).unwrap_or_default();
    Error::OutOfHostMemory {
        asked: asked as u64,
        reason: format!("{name}{free}; pinned memory is limited by RAM, by the container's limits, and under WSL2 to a part of RAM"),
    }
}

/// The driver refused the shape of a launch, or the kernel does not fit in it.
pub(super) fn launch(kernel: &str, launch: &Launch, info: &KernelInfo, driver: &Driver, failed: &Failed) -> Error {
    let (name, _) = driver.describe(failed.status);
    let Launch { groups, group_size, dynamic_shared } = launch;
    let KernelInfo { max_group_size, registers, shared_bytes, .. } = info;
    Error::Launch {
        kernel: kernel.into(),
        reason: format!(
            "{name} for {groups:?} workgroups of {group_size:?} threads with {dynamic_shared} bytes of dynamic shared memory; the kernel uses \
             {registers} registers a thread and {shared_bytes} bytes of shared memory, so a workgroup can have {max_group_size} threads"
        ),
    }
}

/// An image was not loaded. `log` is what the driver's compiler and linker said.
pub(super) fn load(program: &str, arch: &str, device: &str, driver: &Driver, failed: &Failed, log: Option<String>) -> Error {
    let (name, text) = driver.describe(failed.status);
    let remedy = match failed.status {
        Status::NO_BINARY_FOR_GPU => format!("the image is not for this GPU; build it for {device}"),
        Status::UNSUPPORTED_PTX_VERSION => {
            format!(
                "the PTX is newer than the driver (CUDA {}); update the driver, or build with an older `-C target-feature=+ptxNN`",
                version_text(driver.version)
            )
        }
        Status::JIT_COMPILER_NOT_FOUND => "libnvidia-ptxjitcompiler.so.1 is missing; install the whole driver, or build a cubin".into(),
        Status::INVALID_PTX => "the PTX does not compile; the log says where".into(),
        Status::INVALID_IMAGE => "the image is damaged or no NVIDIA image; build it again".into(),
        Status::OUT_OF_MEMORY => "not enough device memory for its code and globals".into(),
        _ => text,
    };
    Error::Load {
        program: program.into(),
        reason: format!("{} of the {arch} image on {device} failed with {name}: {remedy}", failed.call),
        log,
    }
}

/// What cannot be part of a graph.
pub(super) fn capturing(what: &str) -> Error {
    Error::Capture(format!("{what} cannot be recorded in a graph; end the capture first"))
}

pub(super) fn not_capturing() -> Error {
    Error::Capture("the queue records no graph; begin the capture first".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_old_a_driver_names_both_versions_and_the_remedy() {
        let text = no_driver(&OpenError::TooOld(12020)).to_string();
        assert_eq!(text, "the NVIDIA driver supports CUDA 12.2, and CUDA 12.4 is needed (PTX ISA 8.4); install driver 550 or later");
    }

    #[test]
    fn a_driver_that_is_there_and_does_not_work_is_not_absent() {
        let absent = |error: &OpenError| match no_driver(error) {
            Error::Unavailable { absent, .. } => absent,
            other => panic!("{other}"),
        };
        let text = |text: &str| OpenError::NoLibrary(text.to_owned());
        assert!(absent(&text("libcuda.so.1: cannot open shared object file: No such file or directory")));
        assert!(absent(&OpenError::Init(Failed { call: "cuInit", status: Status::NO_DEVICE })));
        for broken in [
            text("libcuda.so.1: invalid ELF header"),
            // What it needs is not there.
            text("libnvidia-ptxjitcompiler.so.1: cannot open shared object file: No such file or directory"),
            OpenError::NoSymbol("cuInit"),
            OpenError::TooOld(12020),
            OpenError::Init(Failed { call: "cuInit", status: Status::SYSTEM_DRIVER_MISMATCH }),
        ] {
            assert!(!absent(&broken), "{broken:?}");
        }
    }

    #[test]
    fn a_driver_without_a_gpu_points_at_what_hides_gpus() {
        let error = no_driver(&OpenError::Init(Failed { call: "cuInit", status: Status::NO_DEVICE }));
        assert!(error.to_string().contains("CUDA_VISIBLE_DEVICES"), "{error}");
    }

    #[test]
    fn an_unknown_failure_of_cu_init_keeps_its_number() {
        let error = no_driver(&OpenError::Init(Failed { call: "cuInit", status: Status(4711) }));
        assert!(error.to_string().contains("4711"), "{error}");
    }
}
