//! What being able to call costs a kernel that does not.
//!
//! Two kernels scale a vector; one of them also has a call that it never makes. Registers and stack are what the driver
//! says of the loaded kernels; code is measured in the image itself, if that is machine code.

use object::{Object, ObjectSection, ObjectSymbol};
use offload::{DeviceKind, ImageKind, ProgramBundle};

use super::error::Error;
use super::rig::{self, Rig};

const WITHOUT: &str = "unused_without";
const WITH: &str = "unused_with";

/// Lines for the table.
pub(super) fn lines(rig: &Rig) -> Result<Vec<String>, Error> {
    let mut lines = Vec::new();
    let mut line = |what: &str, without: u64, with: u64| {
        lines.push(format!("unused.{what}: {without} in a kernel without calls, {with} in the same with a call that it never makes"));
    };
    if !rig.is_sim() {
        let info = |kernel: &str| Ok::<_, Error>(*rig.program.kernel(kernel)?.info());
        let (without, with) = (info(WITHOUT)?, info(WITH)?);
        line("registers", without.registers.into(), with.registers.into());
        line("stack_bytes", without.local_bytes.into(), with.local_bytes.into());
        line("shared_bytes", without.shared_bytes.into(), with.shared_bytes.into());
    }
    let info = rig.device.info();
    match (code_bytes(&rig::images(), info.kind, &info.arch, WITHOUT), code_bytes(&rig::images(), info.kind, &info.arch, WITH)) {
        (Some(without), Some(with)) => line("code_bytes", without, with),
        _ => lines.push(format!(
            "unused.code_bytes: not measured: this build has no machine code for {0}; HOSTCALL_TARGETS=sim,nvptx,cubin:{0} builds it",
            info.arch
        )),
    }
    Ok(lines)
}

/// Bytes of the kernel's machine code in the bundle's image for this device.
fn code_bytes(bundle: &ProgramBundle, kind: DeviceKind, arch: &str, kernel: &str) -> Option<u64> {
    let image = bundle.images.iter().find(|image| match kind {
        DeviceKind::Sim => image.kind == ImageKind::Sim,
        DeviceKind::Cuda => image.kind == ImageKind::Cubin && image.arch == arch,
        _ => false,
    })?;
    let file = object::File::parse(&*image.bytes).ok()?;
    if kind == DeviceKind::Sim {
        let entry = format!("{}{kernel}", hostcall_abi::sim::KERNEL_ENTRY_PREFIX);
        return file.dynamic_symbols().find(|symbol| symbol.name() == Ok(&entry)).map(|symbol| symbol.size());
    }
    // In a cubin each kernel, with the functions it calls, is a section of its own.
    file.section_by_name(&format!(".text.{kernel}")).map(|section| section.size())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_is_never_made_is_code_in_the_simulators_image() {
        let size = |kernel| code_bytes(&rig::images(), DeviceKind::Sim, "", kernel).expect("the image has the kernel");
        assert!(size(WITHOUT) > 0);
        assert!(size(WITH) > size(WITHOUT));
    }

    #[test]
    fn a_device_without_machine_code_has_no_code_bytes() {
        assert_eq!(code_bytes(&rig::images(), DeviceKind::Cuda, "sm_0", WITH), None);
        assert_eq!(code_bytes(&rig::images(), DeviceKind::Sim, "", "no_such_kernel"), None);
    }
}
