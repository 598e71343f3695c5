//! Calls: what the stubs of `#[service]` become.
//!
//! The corridor: a stub encodes its arguments into 32-bit units → [`group_at`] finds the lanes that call
//! together → [`Client::acquire`](hostcall_abi::port::Client::acquire) takes a port → `send` → `receive` → `release` → the stub decodes its result. Where the messages of
//! all lanes do not fit, parts of them call one after another. Strings and slices go [another way](crate::staging).

use crate::arch::current as arch;
use crate::context::{ServiceWord, client, descriptor, group_at, machine};
use crate::pending::Pending;
use hostcall_abi::codec::Fixed;
use hostcall_abi::port::{Arch, Group, Held};
use hostcall_abi::word::WORD_DWORDS;
use hostcall_abi::{CallError, Flags, ReplyHead, Status, Word};

/// A port that a wave keeps for several calls, which saves each call the taking of one.
///
/// All lanes that were converged when it was taken must make its calls together.
#[derive(Debug)]
pub struct Port {
    group: Group,
    held: Held,
}

impl Port {
    /// Takes a port for the lanes that run converged here.
    ///
    /// # Errors
    /// [`CallError::ServerGone`] if the program is attached to no server.
    #[inline(always)]
    #[track_caller]
    pub fn hold() -> Result<Self, CallError> {
        // Lanes that hold at different places hold different ports.
        let group = group_at(core::ptr::from_ref(core::panic::Location::caller()) as usize, 0);
        let held = client().acquire(&group, true).ok_or_else(no_port)?;
        Ok(Self { group, held })
    }
}

impl Drop for Port {
    #[inline(always)]
    fn drop(&mut self) {
        client().release(&self.group, self.held);
    }
}

/// Payload word `j` of a message whose units are `units`.
#[inline(always)]
pub(crate) fn payload_word(units: &[u32], j: u32) -> [u32; 3] {
    let at = (j * WORD_DWORDS) as usize;
    core::array::from_fn(|k| if at + k < units.len() { units[at + k] } else { 0 })
}

/// Words per lane of `units` units.
#[inline(always)]
pub(crate) const fn words_of(units: usize) -> u32 {
    units.div_ceil(WORD_DWORDS as usize) as u32
}

/// How a call ended, as the rare paths pass it on: a status, and the first unit of what came with it, in one register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome(u64);

impl Outcome {
    pub(crate) const OK: Self = Self(0);

    #[inline(always)]
    pub(crate) fn new(status: Status, detail: u32) -> Self {
        if status == Status::OK { Self::OK } else { Self(u64::from(status.0) | u64::from(detail) << 32) }
    }

    /// That of a call which got no port.
    #[cold]
    #[inline(never)]
    pub(crate) fn no_port() -> Self {
        Self::new(client().why_no_port(), 0)
    }

    #[inline(always)]
    pub(crate) fn status(self) -> Status {
        Status(self.0 as u16)
    }

    #[inline(always)]
    pub(crate) fn detail(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline(always)]
    pub(crate) fn result(self) -> Result<(), CallError> {
        check(self.status(), self.detail())
    }
}

/// Makes a result of a status and the first unit of what came with it.
#[inline(always)]
pub(crate) fn check(status: Status, detail: u32) -> Result<(), CallError> {
    if status == Status::OK { Ok(()) } else { Err(failed(status, detail)) }
}

/// The error of a call that is over, its port given back. Ends the lane instead if the kernel is being ended.
#[cold]
#[inline(never)]
fn failed(status: Status, detail: u32) -> CallError {
    if status == Status::KERNEL_ENDED {
        crate::process::end_lane();
    }
    match (status, detail) {
        // The client itself says so, and gives no limit.
        (Status::TOO_LARGE, 0) => CallError::TooLarge { max: client().largest(1).max(descriptor().slot_bytes) },
        _ => CallError::from_status(status, detail),
    }
}

/// The error for a call that got no port.
#[cold]
#[inline(always)]
pub(crate) fn no_port() -> CallError {
    let outcome = Outcome::no_port();
    failed(outcome.status(), outcome.detail())
}

/// A reply to a call with a result of a fixed size, still as it came.
pub(crate) type Raw<const REPLY_WORDS: usize> = hostcall_abi::port::Reply<REPLY_WORDS>;

/// What stands for the reply to a call that got none.
#[inline(always)]
fn unanswered<const REPLY_WORDS: usize>(status: Status) -> Raw<REPLY_WORDS> {
    Raw { head: ReplyHead { status, dwords: 0 }, words: [Word::default(); REPLY_WORDS] }
}

/// Decodes a reply.
#[inline(always)]
pub(crate) fn decode<R: Fixed, const REPLY_WORDS: usize>(reply: &Raw<REPLY_WORDS>) -> Result<R, CallError> {
    let units = reply.words.map(|word| word.data);
    let units = units.as_flattened();
    check(reply.head.status, units[1])?;
    R::get(&units[1..]).map_err(|_| CallError::Malformed)
}

#[inline(always)]
fn exchange<const UNITS: usize, const REPLY_WORDS: usize>(
    group: &Group,
    held: &mut Held,
    number: u32,
    units: &[u32; UNITS],
) -> Raw<REPLY_WORDS> {
    let status = client().send(group, held, number as u16, Flags::REPLY, words_of(UNITS), |j| payload_word(units, j));
    if status != Status::OK {
        return unanswered(status);
    }
    client().receive::<REPLY_WORDS>(group, held, 0)
}

/// The lanes of a call, in as many parts as it takes: all together if their messages fit into the port's areas, else as many at a time as do.
struct Parts {
    all: Group,
    words: u32,
    reply_words: u32,
    /// Lanes whose part is still to come.
    rest: u64,
}

impl Parts {
    #[inline(always)]
    fn new(all: Group, words: u32, reply_words: u32) -> Self {
        Self { all, words, reply_words, rest: all.mask }
    }

    /// The next part, and whether the calling lane is in it; no lane if not even one lane's message fits.
    #[inline(always)]
    fn next(&mut self) -> (Group, bool) {
        let d = descriptor();
        let Self { all, words, reply_words, .. } = *self;
        if all.count * words < d.request_words && ReplyHead::stride(all.count) * reply_words <= d.reply_words {
            self.rest = 0;
            return (all, true);
        }
        let lane = machine().lane();
        // (Masked, so that the compiler knows how many bits a mask has.)
        let part = Group::new(first_part(self.rest, words, reply_words) & all.mask, lane);
        self.rest &= !part.mask;
        (part, part.mask >> lane & 1 == 1)
    }

    /// After a part: whether the calling lane may go on with what follows the call.
    #[inline(always)]
    fn done(&self, part: &Group, mine: bool) -> bool {
        // No way back from a message to the next part, where lanes need not go in step: a loop around the message would keep its arguments in
        // registers while it waits.
        if (mine && arch::INDEPENDENT_LANES) || part.mask == 0 || self.rest == 0 {
            return true;
        }
        if !arch::INDEPENDENT_LANES {
            machine().sync(self.all.mask);
        }
        false
    }
}

/// As many of the first lanes of `rest` as fit into one message; none if not even one does.
#[cold]
#[inline(never)]
fn first_part(mut rest: u64, words: u32, reply_words: u32) -> u64 {
    let d = descriptor();
    // One lane alone takes more room for its reply than a share.
    if ReplyHead::stride(1) * reply_words > d.reply_words || words > u32::from(u8::MAX) {
        return 0;
    }
    let requests = (d.request_words - 1).checked_div(words).unwrap_or(u32::MAX);
    let most = requests.min(d.reply_words.checked_div(reply_words).unwrap_or(0));
    let mut part = 0;
    for _ in 0..most.min(u64::BITS) {
        part |= rest & rest.wrapping_neg();
        rest &= rest.wrapping_sub(1);
    }
    part
}

/// Calls a service whose arguments and result have fixed sizes, and waits.
///
/// Where the calls of all lanes do not fit into one message, part of the lanes call after another.
///
/// # Errors
/// Whatever ended the call, see [`CallError`].
#[inline(always)]
pub fn call_fixed<R: Fixed, const UNITS: usize, const REPLY_WORDS: usize>(
    service: &ServiceWord,
    units: &[u32; UNITS],
) -> Result<R, CallError> {
    let number = service.number();
    if number == 0 {
        return Err(CallError::UnknownService);
    }
    let mut reply = unanswered::<REPLY_WORDS>(Status::TOO_LARGE);
    let mut parts = Parts::new(group_at(service.site(), number), words_of(UNITS), REPLY_WORDS as u32);
    loop {
        let (group, mine) = parts.next();
        if mine {
            match client().acquire(&group, true) {
                Some(mut held) => {
                    reply = exchange::<UNITS, REPLY_WORDS>(&group, &mut held, number, units);
                    client().release(&group, held);
                }
                None => reply.head.status = Outcome::no_port().status(),
            }
        }
        if parts.done(&group, mine) {
            return decode(&reply);
        }
    }
}

/// As [`call_fixed`], over a port that the wave holds.
///
/// # Errors
/// Whatever ended the call.
#[inline(always)]
pub fn call_fixed_on<R: Fixed, const UNITS: usize, const REPLY_WORDS: usize>(
    port: &mut Port,
    service: &ServiceWord,
    units: &[u32; UNITS],
) -> Result<R, CallError> {
    let number = service.number();
    if number == 0 {
        return Err(CallError::UnknownService);
    }
    decode(&exchange::<UNITS, REPLY_WORDS>(&port.group, &mut port.held, number, units))
}

/// Sends a message that nobody waits for.
///
/// # Errors
/// What keeps it from being sent.
#[inline(always)]
pub fn post_fixed<const UNITS: usize>(service: &ServiceWord, units: &[u32; UNITS]) -> Result<(), CallError> {
    let number = service.number();
    if number == 0 {
        return Err(CallError::UnknownService);
    }
    let mut status = Status::TOO_LARGE;
    let mut parts = Parts::new(group_at(service.site(), number), words_of(UNITS), 1);
    loop {
        let (group, mine) = parts.next();
        if mine {
            match client().acquire(&group, true) {
                Some(mut held) => {
                    status = client().send(&group, &mut held, number as u16, Flags::default(), words_of(UNITS), |j| payload_word(units, j));
                    client().release(&group, held);
                }
                None => status = Outcome::no_port().status(),
            }
        }
        if parts.done(&group, mine) {
            return check(status, 0);
        }
    }
}

/// As [`post_fixed`], over a port that the wave holds.
///
/// # Errors
/// What keeps it from being sent.
#[inline(always)]
pub fn post_fixed_on<const UNITS: usize>(port: &mut Port, service: &ServiceWord, units: &[u32; UNITS]) -> Result<(), CallError> {
    let number = service.number();
    if number == 0 {
        return Err(CallError::UnknownService);
    }
    check(client().send(&port.group, &mut port.held, number as u16, Flags::default(), words_of(UNITS), |j| payload_word(units, j)), 0)
}

/// Starts a call whose result is fetched later.
///
/// # Errors
/// [`CallError::Busy`] when no port is free: a wave that waited for one while it holds others could wait
/// for itself. [`CallError::TooLarge`] when the calls of all lanes do not fit into one message.
#[inline(always)]
pub fn start_fixed<R: Fixed, const UNITS: usize, const REPLY_WORDS: usize>(
    service: &ServiceWord,
    units: &[u32; UNITS],
) -> Result<Pending<R, REPLY_WORDS>, CallError> {
    let number = service.number();
    if number == 0 {
        return Err(CallError::UnknownService);
    }
    let group = group_at(service.site(), number);
    let Some(mut held) = client().acquire(&group, false) else { return Err(no_port()) };
    let status = client().send(&group, &mut held, number as u16, Flags::REPLY, words_of(UNITS), |j| payload_word(units, j));
    if status != Status::OK {
        client().release(&group, held);
        check(status, 0)?;
    }
    Ok(Pending::new(group, held))
}
