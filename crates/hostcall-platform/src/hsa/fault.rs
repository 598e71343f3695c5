//! The runtime's errors as errors of this crate, each with the data and the remedy.

use super::context::Context;
use super::discover::DiscoverError;
use super::runtime::{DriverState, Failed, LIBRARY, LIBRARY_VARIABLE, OpenError, Runtime};
use super::sys::{EVENT_MEMORY_FAULT, hsa_amd_event_t, hsa_status_t};
use crate::device::DeviceKind;
use crate::error::{Error, is_missing};

const KIND: DeviceKind = DeviceKind::Hsa;

fn unavailable(reason: String) -> Error {
    Error::Unavailable { kind: KIND, reason, absent: false }
}

fn absent(reason: String) -> Error {
    Error::Unavailable { kind: KIND, reason, absent: true }
}

/// There is no runtime to call.
pub(super) fn no_runtime(error: &OpenError) -> Error {
    unavailable(match error {
        OpenError::NoLibrary { library, text } if library == LIBRARY && is_missing(library, text) => {
            return absent(format!("no {LIBRARY} found ({text}); install ROCm's runtime (Debian, Ubuntu: `apt-get install libhsa-runtime64-1`)"));
        }
        OpenError::NoLibrary { library, text } if library == LIBRARY => {
            format!("{LIBRARY} cannot be opened ({text}); reinstall ROCm's runtime (Debian, Ubuntu: `apt-get install --reinstall libhsa-runtime64-1`)")
        }
        OpenError::NoLibrary { library, text } => {
            format!("{LIBRARY_VARIABLE} names {library}, which cannot be opened ({text}); correct the variable, or unset it")
        }
        OpenError::NoSymbol { library, symbol } => {
            format!("{library} lacks `{symbol}`; it is no HSA runtime, or older than ROCm 5: install a newer one")
        }
        OpenError::Init { failed, driver } => return init(failed, driver),
        OpenError::Forked => {
            "this process was forked after the HSA runtime had been opened, which it does not survive; open devices after the fork, or `exec`"
                .into()
        }
    })
}

fn init(Failed { call, status }: &Failed, driver: &DriverState) -> Error {
    let device = DriverState::DEVICE;
    unavailable(match driver {
        DriverState::Absent => {
            return absent(format!(
                "the HSA runtime finds no AMD GPU: there is no {device}; load the kernel module `amdgpu` (in a container: pass `--device={device} --device=/dev/dri`)"
            ));
        }
        DriverState::Closed(text) => format!(
            "the HSA runtime cannot open {device} ({text}); add this user to the group that owns it (`render` or `video`), and log in again"
        ),
        DriverState::Usable => format!("{call} failed with status {:#x}; see what `rocminfo` and `dmesg` say", status.0),
    })
}

/// The runtime works and sees no GPU.
pub(super) fn no_gpu() -> Error {
    absent(
        "the HSA runtime found no GPU that it knows; see `rocminfo`, the variable ROCR_VISIBLE_DEVICES, and whether the runtime is new enough for \
         the GPU (docs/guide/amd.md)"
            .into(),
    )
}

pub(super) fn no_device(ordinal: u32, count: u32) -> Error {
    Error::NoDevice { kind: KIND, ordinal, count }
}

/// A call that failed, with the runtime's own words.
pub(super) fn call(runtime: &Runtime, failed: &Failed) -> Error {
    let Failed { call, status: hsa_status_t(code) } = *failed;
    Error::Backend { call, code: i64::from(code), text: runtime.describe(failed.status) }
}

/// What is known of an agent is not enough to use it.
pub(super) fn discover(runtime: &Runtime, ordinal: u32, error: &DiscoverError) -> Error {
    match error {
        DiscoverError::Call(failed) => call(runtime, failed),
        DiscoverError::NoPool(what) => {
            unavailable(format!("HSA device {ordinal} offers no {what}; it cannot run kernels that call the host"))
        }
        DiscoverError::NoCpu => unavailable("the HSA runtime lists no CPU agent; see `rocminfo`".into()),
    }
}

/// The device is lost; what happened first.
pub(super) fn lost(device: &str, what: &str) -> Error {
    let reason = format!("{what}; make a new device with `Device::reset`, or restart the process");
    Error::DeviceLost { device: device.into(), reason }
}

/// What a system event says.
pub(super) fn event(event: &hsa_amd_event_t) -> String {
    if event.kind != EVENT_MEMORY_FAULT {
        return format!("the driver reported an event of kind {} (a reset, or a hardware error); `dmesg` may say more", event.kind);
    }
    const REASONS: [(u32, &str); 8] = [
        (1 << 0, "there is no memory"),
        (1 << 1, "the memory cannot be written"),
        (1 << 2, "the memory holds no code"),
        (1 << 3, "the memory is the host's alone"),
        (1 << 4, "an uncorrectable error of device memory"),
        (1 << 5, "the address is not exact"),
        (1 << 6, "an uncorrectable error of on-chip memory"),
        (1 << 31, "the memory system hung"),
    ];
    let reasons: Vec<&str> = REASONS.iter().filter(|(bit, _)| event.reasons & bit != 0).map(|(_, text)| *text).collect();
    let why = if reasons.is_empty() { format!("reasons {:#x}", event.reasons) } else { reasons.join(", ") };
    format!("a kernel accessed address {:#x}: {why}", event.virtual_address)
}

/// What the runtime says of a queue that failed.
pub(super) fn queue(runtime: &Runtime, status: hsa_status_t) -> String {
    match status {
        hsa_status_t::EXCEPTION => "a kernel trapped (a panic in a kernel without a server, an abort, a failed assertion)".into(),
        hsa_status_t::ILLEGAL_INSTRUCTION => "a kernel executed an illegal instruction".into(),
        hsa_status_t::MEMORY_APERTURE_VIOLATION => "a kernel accessed an address outside of every kind of memory".into(),
        hsa_status_t::MEMORY_FAULT => "a kernel accessed memory that is not there, or not its own".into(),
        hsa_status_t::OUT_OF_RESOURCES => "the device has not so much memory for stacks; lower them with `offload::hsa::set_stack`".into(),
        _ => format!("a queue failed: {} ({:#x})", runtime.describe(status), status.0),
    }
}

pub(super) fn in_completion(device: &str) -> Error {
    Error::Backend {
        call: "completion",
        code: 0,
        text: format!("{device} was called from a completion, on the thread that all completions run on; hand the work to another thread"),
    }
}

/// A copy that cannot be done beside running kernels.
pub(super) fn no_engine(device: &str) -> Error {
    Error::Backend {
        call: "copy",
        code: 0,
        text: format!(
            "{device} copies by kernels (HSA_ENABLE_SDMA=0), the host does not reach this memory, and kernels are running, which may wait for this \
             thread; wait for them first, or leave HSA_ENABLE_SDMA unset"
        ),
    }
}

/// A copy's signal became negative.
pub(super) fn copy_failed(device: &str, value: i64) -> Error {
    Error::Backend { call: "hsa_amd_memory_async_copy", code: value, text: format!("a copy on {device} failed after it had been started") }
}

pub(super) fn out_of_memory(device: &str, asked: usize, available: usize) -> Error {
    Error::OutOfMemory { device: device.into(), asked: asked as u64, available: available as u64 }
}

pub(super) fn out_of_host_memory(asked: usize, runtime: &Runtime, status: hsa_status_t) -> Error {
    let reason = format!("{}; pinned memory is limited by RAM and by the container's limits (`ulimit -l`)", runtime.describe(status));
    Error::OutOfHostMemory { asked: asked as u64, reason }
}

pub(super) fn launch(kernel: &str, reason: String) -> Error {
    Error::Launch { kernel: kernel.into(), reason }
}

fn load_error(program: &str, reason: String) -> Error {
    Error::Load { program: program.into(), reason, log: None }
}

/// An image that is no file of code.
pub(super) fn no_code(program: &str, arch: &str, why: &str) -> Error {
    load_error(program, format!("the {arch} image is no code object: {why}; build it again"))
}

/// An image was not loaded.
pub(super) fn load(context: &Context, program: &str, arch: &str, version: Option<u32>, failed: &Failed) -> Error {
    let Failed { call, status } = failed;
    let words = context.runtime.describe(*status);
    let remedy = match *status {
        hsa_status_t::INCOMPATIBLE_ARGUMENTS => {
            format!(
                "the image is for another processor or other settings than {} ({}); build it for this one",
                context.info.arch,
                context.found.isas.join(", ")
            )
        }
        hsa_status_t::INVALID_CODE_OBJECT => match version {
            Some(version @ 6..) => {
                format!(
                    "it is of code object version {version}, which needs ROCm 6.1 or later; update the runtime, or build for `amdgpu:gfx…`, not for a generic target"
                )
            }
            Some(version) => format!("it is of code object version {version}, which this runtime may be too old for; update it"),
            None => "it is damaged, or no code of AMD's; build it again".into(),
        },
        hsa_status_t::OUT_OF_RESOURCES => "not enough device memory for its code and globals".into(),
        _ => "build it again, or update the runtime".into(),
    };
    load_error(program, format!("{call} of the {arch} image on {} failed with {words} ({:#x}): {remedy}", context.name, status.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_without_a_usable_kernel_driver_says_which_of_both_is_wrong() {
        let text = |driver| {
            let failed = Failed { call: "hsa_init", status: hsa_status_t::OUT_OF_RESOURCES };
            no_runtime(&OpenError::Init { failed, driver }).to_string()
        };
        assert!(text(DriverState::Absent).contains("there is no /dev/kfd; load the kernel module"));
        assert!(text(DriverState::Closed("Permission denied".into())).contains("(Permission denied); add this user to the group"));
        let other = text(DriverState::Usable);
        assert!(other.contains("hsa_init failed with status 0x1008") && other.contains("rocminfo"), "{other}");
    }

    #[test]
    fn a_library_that_the_variable_names_is_not_asked_to_be_installed() {
        let text = no_runtime(&OpenError::NoLibrary { library: "/x.so".into(), text: "no such file".into() }).to_string();
        assert_eq!(text, "HOSTCALL_HSA_LIBRARY names /x.so, which cannot be opened (no such file); correct the variable, or unset it");
    }

    #[test]
    fn a_memory_fault_is_told_with_its_address_and_reasons() {
        let fault = |kind, reasons| event(&hsa_amd_event_t { kind, agent: Default::default(), virtual_address: 0xdead_b000, reasons });
        assert_eq!(fault(0, 0b11), "a kernel accessed address 0xdeadb000: there is no memory, the memory cannot be written");
        assert_eq!(fault(0, 0), "a kernel accessed address 0xdeadb000: reasons 0x0");
        assert!(fault(7, 1).contains("kind 7"));
    }
}
