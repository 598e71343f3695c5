//! The end of kernels: panics and exits go into the report, which ends the kernel's other calls.

use super::asserted::Asserted;
use super::context::Context;
use super::define;
use crate::record::DevicePanic;
use crate::service::Service;
use hostcall_abi::failure::{self, Cause, Failure};

pub(super) fn services(context: &Context) -> Vec<Service> {
    vec![
        // Neither is counted against the caps: a guest that used up its calls must still be able to say why it ends.
        context.uncounted(define::process::definition::panicked(), |call| {
            let (block, thread) = (call.fixed::<[u32; 3]>()?, call.fixed::<[u32; 3]>()?);
            let lanes = call.fixed::<u64>()?.count_ones();
            let [line, _] = call.fixed::<[u32; 2]>()?;
            let (file, message) = (call.slice::<u8>()?, call.slice::<u8>()?);
            call.report().device_panicked_with(|| {
                let (file, message) = (String::from_utf8_lossy(file).into_owned(), String::from_utf8_lossy(message));
                panic_of(message.into_owned(), file, line, (block, thread), lanes)
            });
            call.reply(&(), &[]);
            Ok(())
        }),
        context.uncounted(define::process::definition::failed(), |call| {
            let (block, thread) = (call.fixed::<[u32; 3]>()?, call.fixed::<[u32; 3]>()?);
            let lanes = call.fixed::<u64>()?.count_ones();
            let (cause, numbers) = (Cause(call.fixed()?), call.fixed()?);
            let line = call.fixed::<u32>()?;
            let what = call.fixed::<[u8; failure::WHAT_BYTES]>()?;
            let file = call.fixed::<[u8; failure::FILE_BYTES]>()?;
            call.report().device_panicked_with(|| {
                let message = Failure { cause, numbers, what: failure::text(&what) }.to_string();
                panic_of(message, failure::text(&file).to_owned(), line, (block, thread), lanes)
            });
            Ok(())
        }),
        context.uncounted(define::process::definition::asserted(), |call| {
            let [bx, by, bz, tx, ty, tz, low, high, line, bits] = call.fixed::<[u32; 10]>()?;
            let lanes = low.count_ones() + high.count_ones();
            let (file, condition) = (call.slice::<u8>()?, call.slice::<u8>()?);
            let (values, format) = (call.slice::<u32>()?, call.slice::<u8>()?);
            let texts = [call.slice::<u8>()?, call.slice::<u8>()?];
            let asserted = Asserted { bits, condition, function: call.slice::<u8>()?, values, format, texts };
            call.report().asserted((file, line, condition), lanes, || {
                let file = String::from_utf8_lossy(file).into_owned();
                panic_of(asserted.to_string(), file, line, ([bx, by, bz], [tx, ty, tz]), lanes)
            });
            Ok(())
        }),
        context.uncounted(define::process::definition::exit(), |call| {
            let code = call.fixed::<i32>()?;
            call.report().exited(code);
            call.reply(&(), &[]);
            Ok(())
        }),
        context.uncounted(define::process::definition::abort(), |call| {
            let (block, thread) = (call.fixed::<[u32; 3]>()?, call.fixed::<[u32; 3]>()?);
            call.report().device_panicked_with(|| panic_of("aborted".into(), String::new(), 0, (block, thread), 1));
            call.reply(&(), &[]);
            Ok(())
        }),
    ]
}

fn panic_of(message: String, file: String, line: u32, (block, thread): ([u32; 3], [u32; 3]), lanes: u32) -> DevicePanic {
    // The report knows the program.
    DevicePanic { program: String::new(), message, file, line, block, thread, lanes: lanes.into() }
}
