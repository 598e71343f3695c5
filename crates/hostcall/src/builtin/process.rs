//! The end of kernels: what panicked or exited goes into the report, which ends the kernel's other calls.

use super::{Context, define};
use crate::report::DevicePanic;
use crate::service::Service;
use hostcall_abi::{CallError, Status, failure};

pub(super) fn services(context: &Context) -> Vec<Service> {
    vec![
        // Neither is counted against the caps: a guest that used up its calls must still be able to say why it ends.
        context.uncounted(&define::process::panicked(|_, _, _, _, _, _| {}), |call| {
            let (block, thread) = (call.fixed::<[u32; 3]>()?, call.fixed::<[u32; 3]>()?);
            let lanes = call.fixed::<u64>()?.count_ones();
            let [line, _] = call.fixed::<[u32; 2]>()?;
            let file = String::from_utf8_lossy(call.slice::<u8>()?).into_owned();
            let message = String::from_utf8_lossy(call.slice::<u8>()?) + &*others(lanes);
            call.report().device_panicked(DevicePanic { message: message.into_owned(), file, line, block, thread });
            call.reply(&(), &[]);
            Ok(())
        }),
        context.uncounted(&define::process::failed(|_, _, _, _, _, _, _| {}), |call| {
            let (block, thread) = (call.fixed::<[u32; 3]>()?, call.fixed::<[u32; 3]>()?);
            let lanes = call.fixed::<u64>()?.count_ones();
            let [status, detail] = call.fixed::<[u32; 2]>()?;
            // Every number is a status, known or not; one above 16 bits is none that a device of ours sends.
            let error = CallError::from_status(Status(u16::try_from(status).unwrap_or(u16::MAX)), detail);
            let line = call.fixed::<u32>()?;
            let what = call.fixed::<[u8; failure::WHAT_BYTES]>()?;
            let file = call.fixed::<[u8; failure::FILE_BYTES]>()?;
            let message = format!("{}: {error}{}", failure::text(&what), others(lanes));
            call.report().device_panicked(DevicePanic { message, file: failure::text(&file).to_owned(), line, block, thread });
            Ok(())
        }),
        context.uncounted(&define::process::exit(|_| {}), |call| {
            let code = call.fixed::<i32>()?;
            call.report().exited(code);
            call.reply(&(), &[]);
            Ok(())
        }),
        context.uncounted(&define::process::abort(|_, _| {}), |call| {
            let (block, thread) = (call.fixed::<[u32; 3]>()?, call.fixed::<[u32; 3]>()?);
            call.report().device_panicked(DevicePanic { message: "aborted".into(), file: String::new(), line: 0, block, thread });
            call.reply(&(), &[]);
            Ok(())
        }),
    ]
}

/// What is added to the message of the first of `lanes` lanes.
fn others(lanes: u32) -> String {
    if lanes > 1 { format!(" (and {} more lanes of the wave at the same place)", lanes - 1) } else { String::new() }
}
