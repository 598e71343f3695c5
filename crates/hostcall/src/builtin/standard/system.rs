//! Standard input, entropy, the list of variables, and what error numbers mean.

use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::{Arc, OnceLock};

use super::super::context::Context;
use super::super::errno::check;
use super::super::opening::umask;
use super::super::{define, errno};
use super::input::Source;
use crate::policy::Policy;
use crate::service::{Failure, HandlerResult, Invocation, RawOut, Service};

/// Fills with random bytes from the system's generator.
fn entropy(into: &mut [u8]) -> std::io::Result<()> {
    static SOURCE: OnceLock<File> = OnceLock::new();
    let source = match SOURCE.get() {
        Some(source) => source,
        None => {
            let opened = File::open("/dev/urandom")?;
            SOURCE.get_or_init(|| opened)
        }
    };
    (&mut &*source).read_exact(into)
}

/// What the system calls an error, without the number that std adds.
fn error_text(errno: u32) -> String {
    let number = errno.cast_signed();
    let mut text = std::io::Error::from_raw_os_error(number).to_string();
    if let Some(stem) = text.strip_suffix(&format!(" (os error {number})")) {
        text.truncate(stem.len());
    }
    text
}

/// A granted variable, as the program's `environ` has it.
fn variable(policy: &Policy, index: u32) -> Option<Vec<u8>> {
    policy.variables.get(index as usize).map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat())
}

/// Answers with a text: its length, and as much of it as fits.
fn text(call: &mut Invocation<'_>, text: Option<&[u8]>) -> HandlerResult {
    let into = call.out::<u8>()?;
    let fits = text.map_or(0, |text| text.len().min(into.len()));
    into[..fits].copy_from_slice(&text.unwrap_or_default()[..fits]);
    call.reply(&text.map(|text| text.len() as u32), &[&into[..fits]]);
    Ok(())
}

pub(super) fn services(context: &Context, policy: &Arc<Policy>, input: &Arc<Source>) -> Vec<Service> {
    let (start, variables, policy, input) = (policy.mounts.start().to_vec(), policy.clone(), policy.clone(), input.clone());
    vec![
        context.adaptive(define::std_system::definition::stdin(), move |call| {
            let out = call.raw_out()?;
            let (into, mut scratch) = match out {
                RawOut::Staged(region) => (std::ptr::slice_from_raw_parts_mut(region.as_ptr(), region.len()), None),
                RawOut::Scratch(bytes) => (std::ptr::from_mut(bytes), Some(bytes)),
            };
            // SAFETY: the call's part of the staging area or its scratch, valid for writes during the call. Nothing
            // refers to the bytes meanwhile (`scratch` is used again only afterwards).
            let result = match unsafe { input.read_now(into) } {
                Some(read) => read,
                // Though it does not wait for input: what another process reads first, it would wait for.
                None if !call.may_block() => return Err(Failure::WouldBlock),
                // SAFETY: as above.
                None => unsafe { input.read(into) },
            };
            let result = result.map_err(|error| errno::of(&error.into()));
            let read = result.unwrap_or(0);
            let result = result.map(|read| read as u32);
            match scratch.take() {
                Some(bytes) => call.reply(&result, &[&bytes[..read]]),
                None => call.reply_in_place(&result, &[read]),
            }
            Ok(())
        }),
        context.inline(define::std_system::definition::entropy(), |call| {
            let into = call.out::<u8>()?;
            let result = check(entropy(into)).map(|()| into.len() as u32);
            call.reply(&result, &[&into[..]]);
            Ok(())
        }),
        context.inline(define::std_system::definition::variable(), move |call| {
            let index = call.fixed()?;
            text(call, variable(&variables, index).as_deref())
        }),
        context.inline(define::std_system::definition::rest(), move |call| {
            let (list, index, from) = (call.fixed::<u32>()?, call.fixed::<u32>()?, call.fixed::<u32>()?);
            let whole = match list {
                0 => policy.arguments.get(index as usize).map(|argument| argument.as_bytes().to_vec()),
                1 => variable(&policy, index),
                _ => None,
            };
            text(call, whole.as_deref().map(|whole| whole.get(from as usize..).unwrap_or_default()))
        }),
        context.inline(define::std_system::definition::error_text(), |call| {
            let errno = call.fixed::<u32>()?;
            let into = call.out::<u8>()?;
            let text = error_text(errno);
            let fits = text.len().min(into.len());
            into[..fits].copy_from_slice(&text.as_bytes()[..fits]);
            call.reply(&(text.len() as u32), &[&into[..fits]]);
            Ok(())
        }),
        context.inline(define::std_system::definition::identity(), |call| {
            let identity = [rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw(), umask()];
            call.reply(&identity, &[]);
            Ok(())
        }),
        context.inline(define::std_system::definition::start(), move |call| {
            let into = call.out::<u8>()?;
            let fits = start.len().min(into.len());
            into[..fits].copy_from_slice(&start[..fits]);
            call.reply(&(start.len() as u32), &[&into[..fits]]);
            Ok(())
        }),
    ]
}

#[cfg(test)]
mod tests {
    use super::error_text;

    #[test]
    fn an_errors_text_is_the_hosts_without_its_number() {
        assert_eq!(error_text(2), "No such file or directory");
        assert!(!error_text(u32::MAX).contains("os error"), "{}", error_text(u32::MAX));
    }
}
