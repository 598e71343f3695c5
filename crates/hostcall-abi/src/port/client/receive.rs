//! Waiting for replies, and reading them.

use super::{CLOSED_CHECK, Client, Held, Reply};
use crate::header::ReplyHead;
use crate::port::{Arch, Group, PortState};
use crate::status::Status;
use crate::word::Word;

/// Attempts after which a waiting group stops reading every lane's words each time and lets its leader poll one word
/// alone: over the bus, and in the device's own memory. (Under loom, where each attempt multiplies the executions, at
/// once.)
const EAGER_ATTEMPTS: [u32; 2] = if cfg!(loom) { [1, 1] } else { [24, 96] };

impl<A: Arch> Client<A> {
    /// Whether every lane's reply to the last message is there. For the whole group.
    #[inline(always)]
    pub fn ready(self, group: &Group, held: &Held) -> bool {
        let tag = self.0.load_reply(held.port, self.reply_place(group, 0)).tag();
        self.0.ballot(group.mask, tag != held.tag().payload()) == 0
    }

    /// Where word `j` of the calling lane's reply lies.
    #[inline(always)]
    fn reply_place(self, group: &Group, j: u32) -> usize {
        ReplyHead::place(group.count, group.rank, j, self.0.lone_stride()) as usize
    }

    /// Waits for the replies to the last message and reads each lane's first `N` words, at least 1.
    ///
    /// `N` words of each lane must fit into the reply area ([`ReplyHead::area`]), however short the replies are: all of
    /// them are read.
    ///
    /// `deadline_ns` is a time of [`Lanes::now_ns`](crate::lanes::Lanes::now_ns), 0 for none. If it passes, or the
    /// server closes the buffer, the reply's status says so, and the port is left *abandoned*: released as it is, its
    /// next owner waits for the late reply.
    #[inline(always)]
    pub fn receive<const N: usize>(self, group: &Group, held: &mut Held, deadline_ns: u64) -> Reply<N> {
        self.0.before_first_poll(group.count);
        self.receive_late(group, held, deadline_ns)
    }

    /// As [`Client::receive`], of a request that was sent some time ago: looks at once.
    #[inline(always)]
    pub fn receive_late<const N: usize>(self, group: &Group, held: &mut Held, deadline_ns: u64) -> Reply<N> {
        self.await_reply(group, group, held, deadline_ns)
    }

    /// As [`Client::receive`], of a message that one lane sent with the help of all ([`Client::send_together`]): every
    /// lane of the group reads its reply.
    #[inline(always)]
    pub fn receive_together<const N: usize>(self, group: &Group, held: &mut Held) -> Reply<N> {
        self.0.before_first_poll(1);
        self.await_reply(group, &group.alone(), held, 0)
    }

    /// Waits for the reply to what `asked` sent; `group` are those who wait.
    #[inline(always)]
    fn await_reply<const N: usize>(self, group: &Group, asked: &Group, held: &mut Held, deadline_ns: u64) -> Reply<N> {
        const { assert!(N >= 1) };
        let arch = self.0;
        let want = held.tag().payload();
        let eager = EAGER_ATTEMPTS[arch.has_window() as usize];
        let mut words = [Word::default(); N];
        let mut attempt = 0u32;
        loop {
            for (j, word) in words.iter_mut().enumerate() {
                *word = arch.load_reply(held.port, self.reply_place(asked, j as u32));
            }
            let head = ReplyHead::decode(words[0].0[0]);
            let mut missing = words[0].tag() != want;
            for (j, word) in words.iter().enumerate().skip(1) {
                // (No `&&`: without branches this is a few instructions, and each of them is on the way of every
                // reply.)
                missing |= ReplyHead::reaches(head.dwords as u32, j as u32) & (word.tag() != want);
            }
            // A lane alone asks nobody.
            let there = if group.count == 1 { !missing } else { arch.ballot(group.mask, missing) == 0 };
            if there {
                held.state = PortState::new(held.tag(), 0, false);
                return Reply { head, words };
            }
            attempt += 1;
            if attempt >= eager {
                let status = self.wait_slowly(group.mask, asked.count, *held, attempt, deadline_ns);
                if status != Status::OK {
                    return Reply::without(status);
                }
            }
            arch.pause(attempt);
        }
    }

    /// The leader polls one word alone until it is there (or a while has passed), looking at the clock
    /// and at the server's `closed` word now and then. `asked` is the number of lanes that the message is of.
    #[cold]
    #[inline(never)]
    fn wait_slowly(self, mask: u64, asked: u32, held: Held, attempt: u32, deadline_ns: u64) -> Status {
        let group = Group::new(mask, self.0.lane());
        let arch = self.0;
        let want = held.tag().payload();
        let mut verdict = 0;
        if group.leads() {
            let mut tries = attempt;
            loop {
                if arch.load_reply(held.port, 0).tag() == want {
                    // The leader's reply is there; others' may take longer: look at all of them again.
                    break;
                }
                tries += 1;
                if tries.is_multiple_of(CLOSED_CHECK) {
                    // Nothing orders our ring with that of the port's last owner, so the host may be left with
                    // the older one.
                    arch.ring(held.port, held.tag());
                    verdict = self.check_closed();
                    if verdict != 0 {
                        break;
                    }
                }
                if deadline_ns != 0 && arch.now_ns() >= deadline_ns {
                    verdict = Status::TIMEOUT.0 as u32;
                    break;
                }
                arch.pause(tries);
            }
            if verdict == 0 && attempt.is_multiple_of(CLOSED_CHECK) {
                // Lanes other than the leader's are late.
                verdict = self.check_closed();
                if deadline_ns != 0 && arch.now_ns() >= deadline_ns {
                    verdict = Status::TIMEOUT.0 as u32;
                }
            }
        }
        let mut verdict = arch.broadcast(group.mask, verdict, group.leader);
        if verdict != 0 {
            // The server answers everything it has before it closes: one last look decides.
            let at = ReplyHead::place(asked, group.rank, 0, arch.lone_stride()) as usize;
            let missing = arch.load_reply(held.port, at).tag() != want;
            if arch.ballot(group.mask, missing) == 0 {
                verdict = 0;
            }
        }
        Status(verdict as u16)
    }

    /// Reads the words of the calling lane's reply from `index` on that are below `end`, at most `N`, waiting for them.
    /// `end` is at most the length that the reply's head gave.
    ///
    /// All are asked for before one of them is looked at: over the bus they take the time of one.
    ///
    /// Before the group sends again over the same port, its lanes must have met
    /// ([`Lanes::sync`](crate::lanes::Lanes::sync)): a message without payload is complete with its leader's word, and
    /// its replies overwrite these.
    #[inline(always)]
    pub fn reply_words<const N: usize>(self, group: &Group, held: &Held, index: u32, end: u32) -> [Word; N] {
        let want = held.tag().payload();
        let mut attempt = 0u32;
        loop {
            let mut words = [Word::default(); N];
            for (j, word) in (index..end).zip(words.iter_mut()) {
                *word = self.0.load_reply(held.port, self.reply_place(group, j));
            }
            let missing = (index..end).zip(&words).fold(false, |missing, (_, word)| missing | (word.tag() != want));
            // The server writes all of a message's replies in one go, so this is at most a matter of the bus.
            if !missing {
                return words;
            }
            attempt += 1;
            self.0.pause(attempt);
        }
    }

    /// Reads word `index` of the calling lane's reply: [`Client::reply_words`] for one.
    #[inline(always)]
    pub fn reply_word(self, group: &Group, held: &Held, index: u32) -> Word {
        let [word] = self.reply_words(group, held, index, index + 1);
        word
    }
}
