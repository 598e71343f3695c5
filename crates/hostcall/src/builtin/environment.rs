//! Arguments and variables, as far as they were granted.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use super::context::Context;
use super::define;
use crate::policy::Policy;
use crate::service::Invocation;
use crate::service::{HandlerResult, Service};

/// Answers with a text: its length, and as much of it as fits.
fn answer(call: &mut Invocation<'_>, text: Option<&OsStr>) -> HandlerResult {
    let room = call.out::<u8>()?;
    let text = text.map(OsStr::as_bytes);
    let fits = text.map_or(0, |text| text.len().min(room.len()));
    room[..fits].copy_from_slice(&text.unwrap_or_default()[..fits]);
    call.reply(&text.map(|text| text.len() as u32), &[&room[..fits]]);
    Ok(())
}

pub(super) fn services(context: &Context, policy: &Arc<Policy>) -> Vec<Service> {
    let (count, arguments, variables) = (policy.clone(), policy.clone(), policy.clone());
    vec![
        context.inline(define::environment::definition::arg_count(), move |call| {
            call.reply(&(count.arguments.len() as u32), &[]);
            Ok(())
        }),
        context.inline(define::environment::definition::arg(), move |call| {
            let index = call.fixed::<u32>()?;
            answer(call, arguments.arguments.get(index as usize).map(OsString::as_os_str))
        }),
        context.inline(define::environment::definition::var(), move |call| {
            let name = OsStr::from_bytes(call.slice()?);
            answer(call, variables.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str()))
        }),
    ]
}
