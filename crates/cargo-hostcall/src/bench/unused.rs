//! What being able to call costs a kernel that does not.

use super::error::Error;
use super::rig::Rig;

/// Lines for the table.
pub(super) fn lines(rig: &Rig) -> Result<Vec<String>, Error> {
    if rig.is_sim() {
        return Ok(vec!["the simulator counts neither registers nor code".into()]);
    }
    let info = |kernel: &str| Ok::<_, Error>(*rig.program.kernel(kernel)?.info());
    let (without, with) = (info("unused_without")?, info("unused_with")?);
    let line = |what: &str, without: u32, with: u32| {
        format!("unused.{what}: {without} without a call in the kernel, {with} with one that is never made")
    };
    Ok(vec![
        line("registers", without.registers, with.registers),
        line("local_bytes", without.local_bytes, with.local_bytes),
        line("shared_bytes", without.shared_bytes, with.shared_bytes),
    ])
}
