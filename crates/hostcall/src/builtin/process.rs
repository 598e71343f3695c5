//! The end of kernels: panics and exits go into the report, which ends the kernel's other calls.

use super::context::Context;
use super::define;
use crate::record::DevicePanic;
use crate::service::Service;
use hostcall_abi::failure::{self, Cause, Failure};

pub(super) fn services(context: &Context) -> Vec<Service> {
    vec![
        // Neither is counted against the caps: a guest that used up its calls must still be able to say why it ends.
        context.uncounted(&define::process::panicked(|_, _, _, _, _, _| {}), |call| {
            let (block, thread) = (call.fixed::<[u32; 3]>()?, call.fixed::<[u32; 3]>()?);
            let lanes = call.fixed::<u64>()?.count_ones();
            let [line, _] = call.fixed::<[u32; 2]>()?;
            let (file, message) = (call.slice::<u8>()?, call.slice::<u8>()?);
            call.report().device_panicked_with(|| {
                let (file, message) = (String::from_utf8_lossy(file).into_owned(), String::from_utf8_lossy(message));
                panic_of(format!("{message}{}", others(lanes)), file, line, block, thread)
            });
            call.reply(&(), &[]);
            Ok(())
        }),
        context.uncounted(&define::process::failed(|_, _, _, _, _, _, _, _| {}), |call| {
            let (block, thread) = (call.fixed::<[u32; 3]>()?, call.fixed::<[u32; 3]>()?);
            let lanes = call.fixed::<u64>()?.count_ones();
            let (cause, numbers) = (Cause(call.fixed()?), call.fixed()?);
            let line = call.fixed::<u32>()?;
            let what = call.fixed::<[u8; failure::WHAT_BYTES]>()?;
            let file = call.fixed::<[u8; failure::FILE_BYTES]>()?;
            call.report().device_panicked_with(|| {
                let message = format!("{}{}", Failure { cause, numbers, what: failure::text(&what) }, others(lanes));
                panic_of(message, failure::text(&file).to_owned(), line, block, thread)
            });
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
            call.report().device_panicked_with(|| panic_of("aborted".into(), String::new(), 0, block, thread));
            call.reply(&(), &[]);
            Ok(())
        }),
    ]
}

fn panic_of(message: String, file: String, line: u32, block: [u32; 3], thread: [u32; 3]) -> DevicePanic {
    // The report knows the program.
    DevicePanic { program: String::new(), message, file, line, block, thread }
}

/// What is added to the message of the first of `lanes` lanes.
fn others(lanes: u32) -> String {
    if lanes > 1 { format!(" (and {} more lanes of the wave at the same place)", lanes - 1) } else { String::new() }
}
