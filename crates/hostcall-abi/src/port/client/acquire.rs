//! Taking a port and giving it back.

use super::{Client, Held};
use crate::port::{Arch, Group, PortState};
use crate::status::Status;

/// "No port" among port numbers.
const NO_PORT: u32 = u32::MAX;

/// Ports, the last ones, that are not taken: the very last, if the port is to be kept.
const fn not_kept(wait: bool) -> u32 {
    !wait as u32
}

impl<A: Arch> Client<A> {
    /// Takes a port: the first free one from the wave's own on.
    ///
    /// # Errors
    /// The status with which the server closed the buffer; [`Status::SERVER_GONE`] if the program is attached to none;
    /// with `wait` false [`Status::BUSY`] if no port was free.
    ///
    /// `wait` says what for. **True**: for one message. If no port is free the group waits for one. Until it has given
    /// the port back, it waits for the server and for nobody else: not for another port, nor for a staging slot.
    /// **False**: to keep it, for as long as the caller likes. Nobody waits for a port to keep, and the buffer's last
    /// port is never kept. So one port at least is held by somebody who waits for the server only, and who waits for a
    /// port gets one, whatever it and others keep.
    #[inline(always)]
    pub fn acquire(self, group: &Group, wait: bool) -> Result<Held, Status> {
        let arch = self.0;
        let mut port = NO_PORT;
        let mut state = if arch.ports() == 0 { Status::SERVER_GONE } else { Status::BUSY }.0 as u32;
        if group.leads() && arch.ports() > not_kept(wait) {
            port = arch.first_port();
            if !wait && port + 1 == arch.ports() {
                port = 0;
            }
            // Two independent accesses to the device's memory: they cost the time of one.
            let closed = arch.known_closed();
            let word = arch.lock_port(port);
            state = PortState::of(word).0;
            if closed != 0 || PortState(state).locked() || PortState(state).abandoned() || PortState::launch_of(word) != arch.launch() {
                (port, state) = self.acquire_other(port, word, closed, wait);
            }
        }
        let port = arch.broadcast(group.mask, port, group.leader);
        let state = arch.broadcast(group.mask, state, group.leader);
        if port == NO_PORT { Err(Status(state as u16)) } else { Ok(Held { port, state: PortState(state) }) }
    }

    /// The wave's own port, whose word was `word`, is held, abandoned or new to the launch, or the buffer is `closed`:
    /// looks at all ports, one after another, round and round. Gives a port and its state, or none and why.
    #[cold]
    #[inline(never)]
    fn acquire_other(self, first: u32, word: u64, mut closed: u32, wait: bool) -> (u32, u32) {
        let arch = self.0;
        let ports = arch.ports() - not_kept(wait);
        let mut port = first;
        let mut state = self.up_to_date(port, word, closed);
        let mut attempt = 0u32;
        loop {
            if !state.locked() {
                // The end first, before anything that reads over the bus: once it is known, all that calls must learn
                // of it at once.
                if closed == 0 && (!state.abandoned() || self.answered(port, state)) {
                    return (port, state.0);
                }
                // Closed, or the host still works on a call that was given up. Who took this port now would wait for
                // that handler, however long it takes: as good as held. (Of no launch: who takes it next compares it
                // with the mark.)
                arch.unlock_port(port, state.word(0));
            }
            if closed != 0 {
                return (NO_PORT, closed);
            }
            port += 1;
            if port == ports {
                port = 0;
            }
            if port == first {
                // No port is free. Whoever holds the last one waits for the server only, so it will come free, unless
                // the buffer is closed.
                if !wait {
                    return (NO_PORT, Status::BUSY.0 as u32);
                }
                let closed = self.check_closed();
                if closed != 0 {
                    return (NO_PORT, closed);
                }
                attempt += 1;
                arch.pause_for_waves(attempt);
            }
            closed = arch.known_closed();
            state = self.up_to_date(port, arch.lock_port(port), closed);
        }
    }

    /// The state of a port with this word. The first owner of a launch compares it with what the host has seen.
    /// If the buffer is `closed` or the port held there is nothing to compare.
    #[inline(always)]
    fn up_to_date(self, port: u32, word: u64, closed: u32) -> PortState {
        let (arch, state) = (self.0, PortState::of(word));
        if closed != 0 || state.locked() || PortState::launch_of(word) == arch.launch() {
            return state;
        }
        state.caught_up_with(arch.mark(port), arch.request_words())
    }

    /// Why something other than a port that the server lends was not to be had: the status with which it closed the
    /// buffer, if that is known.
    #[cold]
    pub fn known_end(self) -> Status {
        match self.0.known_closed() {
            0 => Status::BUSY,
            status => Status(status as u16),
        }
    }

    /// Whether the last message of a port, abandoned by an earlier owner, has been answered. If not, rings for it:
    /// nobody else waits for it who would.
    #[cold]
    #[inline(never)]
    fn answered(self, port: u32, state: PortState) -> bool {
        let answered = self.0.load_reply(port, 0).tag() == state.tag().payload();
        if !answered {
            self.0.ring(port, state.tag());
        }
        answered
    }

    /// Gives a port back.
    #[inline(always)]
    pub fn release(self, group: &Group, held: Held) {
        // Every lane has read what it wanted before the next owner may cause the words to change.
        self.0.sync(group.mask);
        if group.leads() {
            self.0.unlock_port(held.port, held.state.word(self.0.launch()));
        }
    }
}
