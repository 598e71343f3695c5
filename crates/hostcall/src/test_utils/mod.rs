//! A mock device: drives a port buffer from ordinary threads, through the real client half of the state machine.
//!
//! [`MockDevice`] is the device's side of one in-process [`PortBuffer`]. [`MockDevice::wave`] gives a wave of one lane,
//! which calls on the thread that has it; [`MockDevice::run_wave`] runs a wave of several lanes, one thread each, with
//! real collectives. [`MockDevice::raw`] gives the bare words instead, for clients that do not keep to the protocol.

mod arch;
mod image;
mod raw;
mod rpc;
mod sweeper;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hostcall_abi::codec::{Fixed, VarHead};
use hostcall_abi::port::{Client, Group, Held};
use hostcall_abi::word::unpack;
use hostcall_abi::{CallError, Flags, ReplyHead, Status};

use crate::server::BufferHandle;
use crate::service::{Definition, Service};
pub use crate::serving::threads::Turns;
use crate::wire::PortBuffer;

pub use arch::{Lanes, MockArch};
pub use image::MemoryImage;
pub use raw::RawPorts;
pub use rpc::{RpcClient, RpcPort, RpcShape};
pub use sweeper::Sweeper;

/// Words of request areas that this thread has loaded. Only with the feature `count-loads`.
#[cfg(feature = "count-loads")]
pub fn words_loaded() -> u64 {
    crate::wire::LOADED.get()
}

/// The built-in service that takes pieces of texts, without a console: what would be written is dropped. At most
/// `texts` unfinished texts of `bytes` bytes are kept.
pub fn pieces_service(texts: usize, bytes: usize) -> Service {
    crate::builtin::pieces_alone(texts, bytes)
}

/// The device's side of an in-process port buffer. Holds the buffer's memory, as an attached program does.
#[derive(Clone, Debug)]
pub struct MockDevice {
    buffer: BufferHandle,
    next_wave: Arc<AtomicU32>,
}

/// One lane's reply: the whole payload, or why there is none.
pub type LaneResult = Result<Vec<u32>, CallError>;

impl MockDevice {
    /// The device's side of a served buffer, which must have been made by [`PortBuffer::in_process`].
    pub fn new(buffer: BufferHandle) -> Self {
        Self { buffer, next_wave: Arc::new(AtomicU32::new(0)) }
    }

    /// The buffer's memory.
    pub fn memory(&self) -> &PortBuffer {
        &self.buffer.0.memory
    }

    /// Whether the server is about to leave the buffer, or has left it.
    pub fn is_being_left(&self) -> bool {
        self.buffer.0.ending() != Status::OK
    }

    /// The buffer.
    pub fn buffer(&self) -> &BufferHandle {
        &self.buffer
    }

    /// A wave of one lane, lane `lane` of it. Each wave starts looking for ports at another place.
    pub fn wave(&self, lane: u32) -> MockWave {
        self.wave_of(Arc::new(Lanes::new(1 << lane)), lane)
    }

    fn wave_of(&self, lanes: Arc<Lanes>, lane: u32) -> MockWave {
        // Pairs with nothing: a number for hashing.
        let number = self.next_wave.fetch_add(1, Ordering::Relaxed);
        let first = number.wrapping_mul(7) % self.memory().geometry().ports;
        MockWave { buffer: self.buffer.clone(), first, lanes, lane, launch: number + 1 }
    }

    /// Runs `kernel` on each lane of `mask`, each on a thread of its own, and returns what they return, by lane number.
    pub fn run_wave<T: Send>(&self, mask: u64, kernel: impl Fn(&MockWave) -> T + Sync) -> Vec<T> {
        let leader = self.wave_of(Arc::new(Lanes::new(mask)), mask.trailing_zeros());
        let kernel = &kernel;
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..64)
                .filter(|lane| mask >> lane & 1 == 1)
                .map(|lane| {
                    let wave = MockWave { lane, ..leader.clone() };
                    scope.spawn(move || kernel(&wave))
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        })
    }

    /// The bare words of the buffer.
    pub fn raw(&self) -> RawPorts {
        RawPorts::new(self.buffer.clone())
    }
}

/// One lane of a wave, as a kernel has it.
#[derive(Clone, Debug)]
pub struct MockWave {
    buffer: BufferHandle,
    first: u32,
    lanes: Arc<Lanes>,
    lane: u32,
    /// Of each wave its own.
    launch: u32,
}

impl MockWave {
    /// This lane's number.
    pub fn lane(&self) -> u32 {
        self.lane
    }

    /// Starts looking for ports at this one.
    #[must_use]
    pub fn at_port(mut self, port: u32) -> Self {
        self.first = port;
        self
    }

    /// The client half of the state machine, as this lane runs it.
    pub fn client(&self) -> Client<MockArch<'_>> {
        Client(MockArch::new(&self.buffer.0.memory, &self.lanes, self.lane, self.first, self.launch))
    }

    /// The lanes that call together.
    pub fn group(&self) -> Group {
        Group::new(self.lanes.mask(), self.lane)
    }

    /// Calls service `number` with this lane's payload, together with the wave's other lanes (which pass as many
    /// units).
    ///
    /// # Errors
    /// As the call ended.
    pub fn call(&self, number: u16, units: &[u32]) -> LaneResult {
        self.call_with(number, Flags::default(), units)
    }

    /// A call with further flags.
    ///
    /// # Errors
    /// As the call ended.
    pub fn call_with(&self, number: u16, flags: Flags, units: &[u32]) -> LaneResult {
        let (client, group) = (self.client(), self.group());
        let mut held = client.acquire(&group, true).map_err(failed)?;
        let result = self.call_held(&mut held, number, flags, units);
        client.release(&group, held);
        result
    }

    /// A call through a port that the wave holds.
    ///
    /// # Errors
    /// As the call ended.
    pub fn call_held(&self, held: &mut Held, number: u16, flags: Flags, units: &[u32]) -> LaneResult {
        match self.client().send(&self.group(), held, number, flags.and(Flags::REPLY), units.len() as u32, unit_of(units)) {
            Status::OK => self.receive(held, 0),
            status => Err(failed(status)),
        }
    }

    /// Waits for this lane's reply to the last message, until [`MockArch`]'s clock shows `deadline_ns` (0: for ever).
    ///
    /// # Errors
    /// As the call ended, or [`CallError::Timeout`].
    pub fn receive(&self, held: &mut Held, deadline_ns: u64) -> LaneResult {
        let (client, group) = (self.client(), self.group());
        let reply = client.receive::<1>(&group, held, deadline_ns);
        let dwords = usize::from(reply.head.dwords);
        let mut words = reply.words.to_vec();
        words.extend((1..ReplyHead::words(dwords as u32)).map(|index| client.reply_word(&group, held, index)));
        let payload: Vec<u32> = (1..=dwords as u32).map(|i| unpack(i, |j| words[j as usize])).collect();
        if reply.head.status == Status::OK {
            return Ok(payload);
        }
        Err(CallError::from_status(reply.head.status, payload.first().copied().unwrap_or(0)))
    }

    /// Posts this lane's payload to service `number`, together with the wave's other lanes.
    ///
    /// # Errors
    /// When it could not be sent.
    pub fn post(&self, number: u16, flags: Flags, units: &[u32]) -> Result<(), CallError> {
        let (client, group) = (self.client(), self.group());
        let mut held = client.acquire(&group, true).map_err(failed)?;
        let status = client.send(&group, &mut held, number, flags, units.len() as u32, unit_of(units));
        client.release(&group, held);
        if status == Status::OK { Ok(()) } else { Err(failed(status)) }
    }

    /// Calls a service of fixed-size arguments and result.
    ///
    /// # Errors
    /// As the call ended.
    ///
    /// # Panics
    /// When the reply is no `R`.
    pub fn call_fixed<A: Fixed, R: Fixed>(&self, number: u16, arguments: &A) -> Result<R, CallError> {
        let mut units = vec![0; A::DWORDS];
        arguments.put(&mut units);
        Ok(R::get(&self.call(number, &units)?).expect("the reply is of the service's type"))
    }

    /// Calls a service that takes strings or slices, all of them with the message: `fixed` holds the fixed arguments
    /// and the lengths.
    ///
    /// # Errors
    /// As the call ended.
    pub fn call_var(&self, number: u16, fixed: &[u32], bytes: &[u8]) -> LaneResult {
        self.call(number, &var_units(VarHead::INLINE, fixed, bytes))
    }

    /// Puts bytes into the staging area, `at` bytes from its start.
    ///
    /// # Panics
    /// When they do not fit.
    pub fn stage(&self, at: usize, bytes: &[u8]) {
        let area = self.buffer.0.memory.staging().area();
        assert_eq!(area.part(at, bytes.len()).map(|region| region.copy_from(bytes)), Some(bytes.len()), "bytes fit into the staging area");
    }

    /// Bytes of the staging area, from `at` on.
    ///
    /// # Panics
    /// When there are fewer.
    pub fn staged(&self, at: usize, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        let area = self.buffer.0.memory.staging().area();
        assert_eq!(area.part(at, len).map(|region| region.copy_to(&mut bytes)), Some(len), "bytes lie inside the staging area");
        bytes
    }
}

/// What each serving thread of a server has done.
pub fn turns(server: &crate::Server) -> Vec<Turns> {
    server.parts.core.turns_so_far()
}

/// Whether a server's threads look for calls all the time, because they know of a reason.
pub fn is_armed(server: &crate::Server) -> bool {
    server.parts.core.wake.is_armed()
}

/// The payload of a call that takes strings or slices.
pub fn var_units(offset: u32, fixed: &[u32], bytes: &[u8]) -> Vec<u32> {
    let mut units = vec![offset, bytes.len() as u32];
    units.extend(fixed);
    if offset == VarHead::INLINE {
        for chunk in bytes.chunks(4) {
            let mut unit = [0; 4];
            unit[..chunk.len()].copy_from_slice(chunk);
            units.push(u32::from_ne_bytes(unit));
        }
    }
    units
}

fn failed(status: Status) -> CallError {
    CallError::from_status(status, 0)
}

fn unit_of(units: &[u32]) -> impl Fn(u32) -> u32 {
    |i| units.get(i as usize).copied().unwrap_or(0)
}

/// A service of fixed-size arguments `A` and result `R`, as the macro makes it.
pub fn fixed_service<A: Fixed + 'static, R: Fixed + 'static>(name: &'static str, f: impl Fn(A) -> R + Send + Sync + 'static) -> Service {
    Service::typed(definition::<A>(name, Some(R::DWORDS)), move |arguments| Ok(f(arguments)))
}

/// A posted service of fixed-size arguments `A`, as the macro makes it.
pub fn posted_service<A: Fixed + 'static>(name: &'static str, f: impl Fn(A) + Send + Sync + 'static) -> Service {
    Service::typed(definition::<A>(name, None), move |arguments| {
        f(arguments);
        Ok(())
    })
}

/// The definition of a service of fixed-size arguments `A`.
pub fn definition<A: Fixed>(name: &'static str, reply_dwords: Option<usize>) -> Definition {
    Definition { name: name.into(), signature: 0, text: "".into(), takes_var: false, units: A::DWORDS, reply_dwords }
}

/// The definition of a service that takes strings or slices; `units` counts its fixed arguments and one for each string
/// or slice.
pub fn var_definition(name: &'static str, units: usize) -> Definition {
    Definition { name: name.into(), signature: 0, text: "".into(), takes_var: true, units: VarHead::DWORDS + units, reply_dwords: Some(0) }
}
