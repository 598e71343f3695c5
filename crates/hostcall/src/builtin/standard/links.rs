//! Names: links of both kinds, and renaming.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::sync::Arc;

use super::super::context::{Context, answer};
use super::super::errno::Fault;
use super::super::opening::{at, at_both, parent_of_new};
use super::super::{define, errno, renaming};
use crate::policy::{Place, Policy};
use crate::service::Service;

/// The most bytes of a link's text, as Linux has it.
const TEXT: usize = 4095;

/// Makes a symbolic link. Its text leads wherever it says, and nobody follows it out of the grants.
fn symlink(text: &[u8], place: Place) -> Result<(), Fault> {
    if text.is_empty() {
        return Err(errno::ENOENT.into());
    }
    if text.contains(&0) {
        return Err(errno::EINVAL.into());
    }
    if text.len() > TEXT {
        return Err(errno::ENAMETOOLONG.into());
    }
    let (dir, name) = parent_of_new(&place.writable()?)?;
    Ok(dir.symlink_contents(OsStr::from_bytes(text), name)?)
}

fn read_link(policy: &Policy, path: &[u8], into: &mut [u8]) -> Result<usize, u32> {
    let text = at(&policy.mounts, path, false, |Place { dir, path, .. }| Ok(dir.read_link_contents(&path)?))?;
    let text = text.into_os_string().into_vec();
    let fits = text.len().min(into.len());
    into[..fits].copy_from_slice(&text[..fits]);
    Ok(text.len())
}

pub(super) fn services(context: &Context, policy: &Arc<Policy>) -> Vec<Service> {
    let p = policy.clone();
    let link = context.blocking(&define::std_files::link(|_, _, _| Err(0)), move |call| {
        let (old, new) = (call.slice::<u8>()?, call.slice::<u8>()?);
        let follow = call.fixed()?;
        answer(call, at_both(&p.mounts, old, follow, new, |old, new| renaming::link(old, new, follow)))
    });
    let p = policy.clone();
    let symlink = context.blocking(&define::std_files::symlink(|_, _| Err(0)), move |call| {
        let (text, new) = (call.slice::<u8>()?, call.slice::<u8>()?);
        answer(call, at(&p.mounts, new, false, |place| symlink(text, place)))
    });
    let p = policy.clone();
    let read_link = context.blocking(&define::std_files::read_link(|_, _| Err(0)), move |call| {
        let path = call.slice::<u8>()?;
        let into = call.out::<u8>()?;
        let result = read_link(&p, path, into);
        let fits = result.map_or(0, |all| all.min(into.len()));
        call.reply(&result.map(|all| all as u32), &[&into[..fits]]);
        Ok(())
    });
    let p = policy.clone();
    let rename = context.blocking(&define::std_files::rename(|_, _, _| Err(0)), move |call| {
        let (from, to) = (call.slice::<u8>()?, call.slice::<u8>()?);
        let flags = call.fixed()?;
        answer(call, at_both(&p.mounts, from, false, to, |from, to| renaming::rename(from, to, flags)))
    });
    vec![link, symlink, read_link, rename]
}
