//! Names: links of both kinds, and renaming.

use std::sync::Arc;

use rustix::fs::RenameFlags;

use super::super::context::{Context, answer};
use super::super::{define, errno};
use crate::policy::Policy;
use crate::service::Service;

/// The most bytes of a link's text, as Linux has it.
const TEXT: usize = 4095;

fn symlink(policy: &Policy, text: &[u8], new: &[u8]) -> Result<(), u32> {
    match text {
        [] => Err(errno::ENOENT),
        _ if text.contains(&0) => Err(errno::EINVAL),
        _ if text.len() > TEXT => Err(errno::ENAMETOOLONG),
        _ => policy.mounts.entry(new, |entry| entry.make_link(text)),
    }
}

fn read_link(policy: &Policy, path: &[u8], into: &mut [u8]) -> Result<usize, u32> {
    let text = policy.mounts.at(path, false, |place| place.read_link())?;
    let fits = text.len().min(into.len());
    into[..fits].copy_from_slice(&text[..fits]);
    Ok(text.len())
}

/// Renames, with Linux's flags.
fn rename(policy: &Policy, from: &[u8], to: &[u8], flags: u32) -> Result<(), u32> {
    let allowed = RenameFlags::NOREPLACE | RenameFlags::EXCHANGE;
    let flags = RenameFlags::from_bits(flags).filter(|flags| allowed.contains(*flags) && *flags != allowed).ok_or(errno::EINVAL)?;
    policy.mounts.entries(from, to, |from, to| from.rename(to, flags))
}

pub(super) fn services(context: &Context, policy: &Arc<Policy>) -> Vec<Service> {
    let p = policy.clone();
    let link = context.blocking(define::std_files::definition::link(), move |call| {
        let (old, new) = (call.slice::<u8>()?, call.slice::<u8>()?);
        let follow = call.fixed()?;
        answer(call, p.mounts.link(old, new, follow))
    });
    let p = policy.clone();
    let symlink = context.blocking(define::std_files::definition::symlink(), move |call| {
        let (text, new) = (call.slice::<u8>()?, call.slice::<u8>()?);
        answer(call, symlink(&p, text, new))
    });
    let p = policy.clone();
    let read_link = context.blocking(define::std_files::definition::read_link(), move |call| {
        let path = call.slice::<u8>()?;
        let into = call.out::<u8>()?;
        let result = read_link(&p, path, into);
        let fits = result.map_or(0, |all| all.min(into.len()));
        call.reply(&result.map(|all| all as u32), &[&into[..fits]]);
        Ok(())
    });
    let p = policy.clone();
    let rename = context.blocking(define::std_files::definition::rename(), move |call| {
        let (from, to) = (call.slice::<u8>()?, call.slice::<u8>()?);
        let flags = call.fixed()?;
        answer(call, rename(&p, from, to, flags))
    });
    vec![link, symlink, read_link, rename]
}
