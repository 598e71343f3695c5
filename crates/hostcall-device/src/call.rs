//! Calls: what the stubs of `#[service]` become.
//!
//! A call goes this way: the stub encodes its arguments into 32-bit units → [`group_at`] finds the lanes that call
//! together → [`Client::acquire`](hostcall_abi::port::Client::acquire) takes a port → `send` → `receive` → `release` →
//! the stub decodes its result. If the messages of all lanes do not fit, the lanes call in turns. [`crate::staging`]
//! has the calls with strings and slices.

use crate::arch::current as arch;
use crate::context::{Called, ServiceWord, client, descriptor, group_at, machine};
use crate::outcome::{Raw, check, decode, no_port};
use crate::pending::Started;
use hostcall_abi::codec::Fixed;
use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::{Group, Held};
use hostcall_abi::{CallError, Flags, Header, ReplyHead, Status};

/// A port that a wave keeps for several calls, which saves each call the taking of one.
///
/// All lanes that were converged when it was taken must make its calls together. Other calls may be made meanwhile: the
/// buffer's last port is never kept, so there is always one for them.
#[derive(Debug)]
pub struct Port {
    pub(crate) group: Group,
    pub(crate) held: Held,
}

impl Port {
    /// Takes a port for the lanes that run converged here.
    ///
    /// # Errors
    /// [`CallError::Busy`] when no port is free that may be kept: nobody waits for one, because those who keep the
    /// others could wait as well. The calls can be made without it. [`CallError::ServerGone`] if the program is
    /// attached to no server.
    #[inline(always)]
    #[track_caller]
    pub fn hold() -> Result<Self, CallError> {
        // Lanes that hold at different places hold different ports.
        let group = group_at(core::ptr::from_ref(core::panic::Location::caller()) as usize, 0);
        let held = match client().acquire(&group, false) {
            Ok(held) => held,
            // (Not by `map_err`, which makes it a value in memory.)
            Err(why) => return Err(no_port(why)),
        };
        Ok(Self { group, held })
    }
}

impl Drop for Port {
    #[inline(always)]
    fn drop(&mut self) {
        client().release(&self.group, self.held);
    }
}

/// Unit `index` of a payload, 0 behind it.
#[inline(always)]
pub(crate) fn unit_of(units: &[u32], index: u32) -> u32 {
    units.get(index as usize).copied().unwrap_or(0)
}

#[inline(always)]
fn exchange<const UNITS: usize, const REPLY_WORDS: usize>(
    group: &Group,
    held: &mut Held,
    number: u32,
    units: &[u32; UNITS],
) -> Raw<REPLY_WORDS> {
    let status = client().send(group, held, number as u16, Flags::REPLY, UNITS as u32, |i| unit_of(units, i));
    if status != Status::OK {
        return Raw::without(status);
    }
    client().receive::<REPLY_WORDS>(group, held, 0)
}

/// Whether a message of `units` units of each of `lanes` lanes fits into a port's areas, and replies of `reply_words`
/// words.
#[inline(always)]
pub(crate) fn fits(units: u32, reply_words: u32, lanes: u32) -> bool {
    let d = descriptor();
    let words = Header::words_for(units, lanes);
    // (First what keeps the products small.)
    words <= u32::from(u8::MAX)
        && reply_words <= d.reply_words
        && lanes * words < d.request_words
        && ReplyHead::area(lanes, reply_words, d.lone_stride) <= d.reply_words
}

/// The lanes of a call, in as many turns as it takes: all together if their messages fit into the port's areas, else as
/// many at a time as do.
struct Turns {
    all: Group,
    units: u32,
    reply_words: u32,
    /// Lanes whose turn is still to come.
    rest: u64,
}

impl Turns {
    #[inline(always)]
    fn new(all: Group, units: u32, reply_words: u32) -> Self {
        Self { all, units, reply_words, rest: all.mask }
    }

    /// Whose turn is next, and whether the calling lane is among them; no lane if not even one lane's message fits.
    #[inline(always)]
    fn next(&mut self) -> (Group, bool) {
        let Self { all, units, reply_words, .. } = *self;
        if fits(units, reply_words, all.count) {
            self.rest = 0;
            return (all, true);
        }
        let lane = machine().lane();
        // (Masked, so that the compiler knows how many bits a mask has.)
        let turn = Group::new(first_turn(self.rest, units, reply_words) & all.mask, lane);
        self.rest &= !turn.mask;
        (turn, turn.mask >> lane & 1 == 1)
    }

    /// After a turn: whether the calling lane may go on with what follows the call.
    #[inline(always)]
    fn done(&self, turn: &Group, mine: bool) -> bool {
        // No way back from a message to the next turn, where lanes need not go in step: a loop around the message would
        // keep its arguments in registers while it waits.
        if (mine && arch::INDEPENDENT_LANES) || turn.mask == 0 || self.rest == 0 {
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
fn first_turn(rest: u64, units: u32, reply_words: u32) -> u64 {
    let mut turn = rest;
    while turn != 0 && !fits(units, reply_words, turn.count_ones()) {
        turn &= !(1 << (u64::BITS - 1 - turn.leading_zeros()));
    }
    turn
}

/// Calls a service whose arguments and result have fixed sizes, and waits.
///
/// Where the calls of all lanes do not fit into one message, they call in turns.
///
/// # Errors
/// Whatever ended the call, see [`CallError`].
#[inline(always)]
pub fn call_fixed<R: Fixed, const UNITS: usize, const REPLY_WORDS: usize>(
    service: impl Called,
    units: &[u32; UNITS],
) -> Result<R, CallError> {
    let number = service.known()?;
    let mut reply = Raw::<REPLY_WORDS>::without(Status::TOO_LARGE);
    let mut turns = Turns::new(group_at(service.word().site(), number), UNITS as u32, REPLY_WORDS as u32);
    loop {
        let (group, mine) = turns.next();
        if mine {
            match client().acquire(&group, true) {
                Ok(mut held) => {
                    reply = exchange::<UNITS, REPLY_WORDS>(&group, &mut held, number, units);
                    client().release(&group, held);
                }
                Err(why) => reply.head.status = why,
            }
        }
        if turns.done(&group, mine) {
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
    let number = service.known()?;
    decode(&exchange::<UNITS, REPLY_WORDS>(&port.group, &mut port.held, number, units))
}

/// Sends a message that nobody waits for.
///
/// # Errors
/// What keeps it from being sent.
#[inline(always)]
pub fn post_fixed<const UNITS: usize>(service: impl Called, units: &[u32; UNITS]) -> Result<(), CallError> {
    let number = service.known()?;
    let mut status = Status::TOO_LARGE;
    let mut turns = Turns::new(group_at(service.word().site(), number), UNITS as u32, 1);
    loop {
        let (group, mine) = turns.next();
        if mine {
            match client().acquire(&group, true) {
                Ok(mut held) => {
                    status = client().send(&group, &mut held, number as u16, Flags::default(), UNITS as u32, |i| unit_of(units, i));
                    client().release(&group, held);
                }
                Err(why) => status = why,
            }
        }
        if turns.done(&group, mine) {
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
    let number = service.known()?;
    check(client().send(&port.group, &mut port.held, number as u16, Flags::default(), UNITS as u32, |i| unit_of(units, i)), 0)
}

/// Starts a call whose result is fetched later.
///
/// # Errors
/// [`CallError::Busy`] when no port is free that may be kept, as for [`Port::hold`]. [`CallError::TooLarge`] when the
/// calls of all lanes do not fit into one message.
#[inline(always)]
pub fn start_fixed<R: Fixed, const UNITS: usize, const REPLY_WORDS: usize>(
    service: &ServiceWord,
    units: &[u32; UNITS],
) -> Result<Started<R, REPLY_WORDS>, CallError> {
    let number = service.known()?;
    let group = group_at(service.site(), number);
    let mut held = match client().acquire(&group, false) {
        Ok(held) => held,
        // (Not by `map_err`, which makes it a value in memory.)
        Err(why) => return Err(no_port(why)),
    };
    let status = client().send(&group, &mut held, number as u16, Flags::REPLY, UNITS as u32, |i| unit_of(units, i));
    if status != Status::OK {
        client().release(&group, held);
        check(status, 0)?;
    }
    Ok(Started::new(group, held))
}
