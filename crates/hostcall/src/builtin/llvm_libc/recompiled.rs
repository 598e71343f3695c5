//! The services by which programs call that were compiled with `include/hostcall_rpc.h` in the place of LLVM's `rpc.h`:
//! the same opcodes, served by the same functions.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use hostcall_abi::codec::Fixed;
use hostcall_abi::llvm_rpc::{PACKET_BYTES, PACKET_WORDS, opcode};

use super::super::context::Context;
use super::super::define;
use crate::policy::errno;
use crate::rpc::{Asked, Packet, Refused, Sessions};
use crate::service::{Failure, HandlerResult, Invocation, Service};
use crate::tenant::{Keeper, Number, Tenant};

/// The sessions of each program that has such calls.
#[derive(Default)]
pub(crate) struct Recompiled(RwLock<BTreeMap<Number, Arc<Sessions>>>);

impl Recompiled {
    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<Number, Arc<Sessions>>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<Number, Arc<Sessions>>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves a program from now on, unless it is served.
    pub(super) fn serve(&self, tenant: &Tenant, sessions: impl FnOnce() -> Arc<Sessions>) {
        self.write().entry(tenant.number()).or_insert_with(sessions);
    }

    fn of(&self, tenant: &Tenant) -> Result<Arc<Sessions>, Failure> {
        let none = || Failure::HandlerFailed { code: errno::ENOSYS, message: "its program was attached as one without such calls".into() };
        self.read().get(&tenant.number()).cloned().ok_or_else(none)
    }
}

impl Keeper for Recompiled {
    fn let_go(&self, tenant: &Tenant) {
        let sessions = self.write().remove(&tenant.number());
        // What they own is dropped without the lock.
        if let Some(sessions) = sessions {
            sessions.end();
        }
    }
}

/// The failure of a lane's call of an opcode.
#[cold]
fn failed(number: u32, why: &Refused) -> Failure {
    let code = match why {
        Refused::WouldBlock => return Failure::WouldBlock,
        Refused::Unknown(_) => errno::EBADF,
        Refused::Many(_) => errno::EDQUOT,
        Refused::Over | Refused::Waits => errno::EIO,
        Refused::Ended => errno::EPIPE,
    };
    let name = opcode::name(number).map_or_else(|| format!("opcode {number:#010x}"), str::to_owned);
    Failure::HandlerFailed { code, message: format!("{name}: {why}") }
}

/// What a call with these arguments asks for.
fn asked<'a>(call: &Invocation<'_>, session: u32, opcode: u32, parts: [&'a [u8]; 2], wants: bool) -> Asked<'a> {
    let place = (!call.is_post()).then(|| (call.port(), call.lane()));
    Asked { session, opcode, parts, wants, place, may_block: call.may_block() }
}

pub(in crate::builtin) fn services(context: &Context, programs: &Arc<Recompiled>) -> Vec<Service> {
    let [packets, pairs, exchanges, ends] = [(); 4].map(|()| programs.clone());
    // Opcodes count their calls themselves: each session is one.
    vec![
        context.uncounted(define::llvm_rpc::definition::packet(), move |call| packets_of::<8>(&packets, call)).blocking_if_needed(),
        context.uncounted(define::llvm_rpc::definition::pair(), move |call| packets_of::<16>(&pairs, call)).blocking_if_needed(),
        context.uncounted(define::llvm_rpc::definition::exchange(), move |call| exchange(&exchanges, call)).blocking_if_needed(),
        context.uncounted(define::llvm_rpc::definition::close(), move |call| close(&ends, call)).blocking_if_needed(),
    ]
}

/// So many words of whole packets there, and a packet back.
fn packets_of<const WORDS: usize>(programs: &Recompiled, call: &mut Invocation<'_>) -> HandlerResult
where
    [u64; WORDS]: Fixed,
{
    let (session, opcode) = (call.fixed::<u32>()?, call.fixed::<u32>()?);
    let sent = call.fixed::<[u64; WORDS]>()?.map(u64::to_ne_bytes);
    let bytes = sent.as_flattened();
    let mut answer: Packet = [0; PACKET_WORDS];
    let asked = asked(call, session, opcode, [bytes, &[]], true);
    let left = programs.of(call.tenant())?.exchange(&asked, PACKET_BYTES, |answers| {
        answer.iter_mut().zip(answers.chunks_exact(8)).for_each(|(word, bytes)| {
            *word = bytes.try_into().map_or(0, u64::from_ne_bytes);
        });
        PACKET_BYTES
    });
    let left = left.map_err(|why| failed(opcode, &why))?;
    call.reply(&(left, answer), &[]);
    Ok(())
}

/// What a lane has sent, and what it gets.
fn exchange(programs: &Recompiled, call: &mut Invocation<'_>) -> HandlerResult {
    let (session, opcode, wants) = (call.fixed::<u32>()?, call.fixed::<u32>()?, call.fixed::<bool>()?);
    let parts = [call.slice::<u8>()?, call.slice::<u8>()?];
    let (bytes, packets) = (call.out::<u8>()?, call.out::<u8>()?);
    let asked = asked(call, session, opcode, parts, wants);
    let room = bytes.len().next_multiple_of(PACKET_BYTES) + packets.len();
    let (mut first, mut second) = (0, 0);
    let left = programs.of(call.tenant())?.exchange(&asked, room, |answers| {
        // The rest of the last packet of which the lane wants a part is nothing.
        first = answers.len().min(bytes.len());
        bytes[..first].copy_from_slice(&answers[..first]);
        let behind = answers.get(first.next_multiple_of(PACKET_BYTES)..).unwrap_or_default();
        second = behind.len().min(packets.len()) / PACKET_BYTES * PACKET_BYTES;
        packets[..second].copy_from_slice(&behind[..second]);
        first.next_multiple_of(PACKET_BYTES) + second
    });
    let left = left.map_err(|why| failed(opcode, &why))?;
    call.reply(&left, &[&bytes[..first], &packets[..second]]);
    Ok(())
}

/// The last that a lane sends, and nobody waits for.
fn close(programs: &Recompiled, call: &mut Invocation<'_>) -> HandlerResult {
    let (session, opcode) = (call.fixed::<u32>()?, call.fixed::<u32>()?);
    let sent = call.slice::<u8>()?;
    // A post has no port for itself, by which a session would be found again that wants to block.
    if !call.may_block() {
        return Err(Failure::WouldBlock);
    }
    let asked = asked(call, session, opcode, [sent, &[]], false);
    programs.of(call.tenant())?.finish(&asked).map_err(|why| failed(opcode, &why))
}
