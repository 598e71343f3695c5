//! Sessions of clients that were recompiled over our own wire: what they exchange is [recorded](super::recorded).
//!
//! A session that waits for more than a call has brought is kept under a number, which the reply says and the lane's
//! next call names. Each lane has a session of its own. The number proves nothing: it is looked up among those of the
//! calling program.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::exchange::{Session, TURN};
use super::port::Quota;
use super::recorded::{CURRENT, Recorded, Transcript};
use super::session::{Serves, Turned, turn};
use crate::tenant::{Claim, Thing};

/// What is counted of a session that waits, beside its own memory and what it has sent.
const KEEPING: usize = 256;

/// What a lane's call asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// The number of a session that waits for this, or 0.
    pub(crate) session: u32,
    pub(crate) opcode: u32,
    /// What the lane sends, in parts.
    pub(crate) parts: [&'a [u8]; 2],
    /// Whether it wants an answer.
    pub(crate) wants: bool,
    /// The call's port and lane, which have no other call until this one is answered. Of a post, behind which others
    /// may come at once, nothing.
    pub(crate) place: Option<(u32, u32)>,
    /// Whether this thread may block.
    pub(crate) may_block: bool,
}

/// Why a lane gets nothing.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    /// It is to be asked again on a thread that may block.
    #[error("it would block")]
    WouldBlock,
    #[error("it has no session {0}")]
    Unknown(u32),
    #[error("its lanes have more sessions open, or more bytes on their way, than a program may have: {0} bytes")]
    Many(u64),
    #[error("the client waits for an answer, and the opcode's session has sent all of its answers")]
    Over,
    #[error("the client waits for an answer, and the opcode's session waits for more of the client's")]
    Waits,
    #[error("the program has ended")]
    Ended,
}

/// A session that waits for the lane's next call.
struct Kept {
    /// `None`: it has ended, and the lane has not had all answers.
    session: Option<Session>,
    answers: Vec<u8>,
    _claim: Option<Claim>,
}

/// A call that goes on on another thread.
struct Away {
    asked: (u32, u32),
    session: Session,
    transcript: Box<Transcript>,
}

/// What a call goes on with.
enum Begun {
    /// A session that is still to begin.
    New,
    /// One that has waited; `None`: that has ended.
    Kept(Option<Session>),
}

#[derive(Default)]
struct Table {
    last: u32,
    kept: HashMap<u32, Kept>,
    away: HashMap<(u32, u32), Away>,
    has_ended: bool,
}

/// The recorded sessions of one program.
pub(crate) struct Sessions {
    serves: Box<dyn Serves>,
    quota: Quota,
    table: Mutex<Table>,
}

impl Sessions {
    /// Of a program which may keep so much.
    pub(crate) fn new(serves: impl Serves + 'static, quota: Quota) -> Arc<Self> {
        Arc::new(Self { serves: Box::new(serves), quota, table: Mutex::default() })
    }

    /// Held for a look at it.
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session that a call goes on with, and what they exchange.
    fn begin(&self, asked: &Asked<'_>, room: usize) -> Result<(Begun, Box<Transcript>), Refused> {
        // Most calls begin a session on a serving thread, and need no look at the table.
        if let (true, Some(place)) = (asked.may_block, asked.place) {
            let away = self.table().away.remove(&place);
            // (One of another opcode is of a call that nobody came back for.)
            if let Some(Away { session, transcript, .. }) = away.filter(|away| away.asked == (asked.session, asked.opcode)) {
                return Ok((Begun::Kept(Some(session)), transcript));
            }
        }
        if asked.session == 0 {
            return Ok((Begun::New, Transcript::new(&asked.parts, Vec::new(), room)));
        }
        let kept = self.table().kept.remove(&asked.session);
        let Kept { session, answers, .. } = kept.ok_or(Refused::Unknown(asked.session))?;
        Ok((Begun::Kept(session), Transcript::new(&asked.parts, answers, room)))
    }

    /// A turn of a session.
    fn turn(&self, begun: Begun, opcode: u32, transcript: Box<Transcript>, may_block: bool) -> (Turned, Box<Transcript>) {
        // A session may be polled inside of another one, whose handler waits for something that this thread then does.
        let (outer, outer_turn) = (CURRENT.replace(transcript), TURN.get());
        let turned = turn(may_block, || match begun {
            Begun::New => self.serves.session(Recorded.into(), opcode),
            Begun::Kept(session) => session,
        });
        TURN.set(outer_turn);
        (turned, CURRENT.replace(outer))
    }

    /// Hands what a lane has sent to its session, and gives the lane its answers, as many bytes as it has `room` for:
    /// the number of its session, 0 if that is over.
    pub(crate) fn exchange(&self, asked: &Asked<'_>, room: usize, give: impl FnOnce(&[u8]) -> usize) -> Result<u32, Refused> {
        let (begun, transcript) = self.begin(asked, room)?;
        let (turned, mut transcript) = self.turn(begun, asked.opcode, transcript, asked.may_block);
        let session = match turned {
            Turned::Over => None,
            Turned::WantsToBlock(session) => {
                // (On a thread that may block, none wants to.)
                if let Some(place) = asked.place {
                    let away = Away { asked: (asked.session, asked.opcode), session, transcript };
                    let stale = self.table().away.insert(place, away);
                    drop(stale);
                }
                return Err(Refused::WouldBlock);
            }
            Turned::Waits(session) => Some(session),
        };
        if asked.wants && transcript.answers.is_empty() {
            if self.serves.knows(asked.opcode) {
                return Err(if session.is_some() { Refused::Waits } else { Refused::Over });
            }
            // Whoever waits for what nobody serves gets zeros.
            transcript.answers.resize(room, 0);
        }
        let given = give(&transcript.answers).min(transcript.answers.len());
        transcript.answers.drain(..given);
        if session.is_none() && transcript.answers.is_empty() {
            transcript.recycle();
            return Ok(0);
        }
        self.keep(asked.session, Kept { session, answers: transcript.answers, _claim: None })
    }

    /// Keeps what is left of a session, under its number if it has one.
    fn keep(&self, number: u32, mut kept: Kept) -> Result<u32, Refused> {
        let bytes = kept.session.as_ref().map_or(0, |session| size_of_val(&**session)) + kept.answers.capacity() + KEEPING;
        let claim = Claim::of(self.quota.tenant.clone(), Thing::Byte, bytes as u64, self.quota.most);
        kept._claim = Some(claim.ok_or(Refused::Many(self.quota.most))?);
        let mut table = self.table();
        if table.has_ended {
            return Err(Refused::Ended);
        }
        let mut number = number;
        while number == 0 || table.kept.contains_key(&number) {
            table.last = table.last.wrapping_add(1);
            number = table.last;
        }
        table.kept.insert(number, kept);
        Ok(number)
    }

    /// Hands what a lane has sent last to its session, which ends. On a thread that may block.
    pub(crate) fn finish(&self, asked: &Asked<'_>) -> Result<(), Refused> {
        if asked.parts.iter().all(|part| part.is_empty()) {
            let kept = self.table().kept.remove(&asked.session).ok_or(Refused::Unknown(asked.session))?;
            drop(kept);
            return Ok(());
        }
        let (begun, transcript) = self.begin(asked, 0)?;
        let (_, transcript) = self.turn(begun, asked.opcode, transcript, true);
        transcript.recycle();
        Ok(())
    }

    /// The program has ended: nothing is kept for it any more.
    pub(crate) fn end(&self) {
        let mut table = self.table();
        table.has_ended = true;
        let kept = (std::mem::take(&mut table.kept), std::mem::take(&mut table.away));
        // What sessions own is dropped without the lock.
        drop(table);
        drop(kept);
        self.serves.end();
    }
}

#[cfg(test)]
mod tests {
    use hostcall_abi::llvm_rpc::PACKET_BYTES;

    use super::super::port::{Port, on_the_pool};
    use super::super::recorded::AHEAD;
    use super::*;
    use crate::tenant::Tenant;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Sends what it gets, the first word one more each time. Opcode 1 does so once, 2 until a packet begins with 0,
    /// and 3 on a thread that may block; 4 sends as many packets as it is told; 5 takes bytes, and says how many; 6 is
    /// over at once.
    struct Echo {
        begun: Arc<AtomicU32>,
        tenant: Arc<Tenant>,
    }

    impl Serves for Echo {
        fn session(&self, mut port: Port, opcode: u32) -> Option<Session> {
            self.begun.fetch_add(1, Ordering::Relaxed);
            if opcode == 6 {
                return port.at_once(|mut port| async move { port.answer(|_, packet| packet.map(|word| word + 1)).await });
            }
            let quota = Quota { tenant: self.tenant.clone(), most: 1 << 16 };
            Some(Box::pin(async move {
                match opcode {
                    4 => {
                        port.receive().await;
                        for number in 0..port.packet(0)[0] {
                            port.send_word(|_| number).await;
                        }
                    }
                    5 => {
                        let bytes = port.receive_bytes(&quota).await;
                        port.send_word(|_| bytes[0].whole().map_or(u64::MAX, |bytes| bytes.len() as u64)).await;
                    }
                    _ => loop {
                        port.receive().await;
                        let mut packet = port.packet(0);
                        if opcode == 3 {
                            on_the_pool().await;
                        }
                        if opcode == 2 && packet[0] == 0 {
                            return;
                        }
                        packet[0] += 1;
                        port.send(|_| packet).await;
                        if opcode != 2 {
                            return;
                        }
                    },
                }
            }))
        }

        fn knows(&self, opcode: u32) -> bool {
            opcode < 100
        }

        fn end(&self) {}
    }

    struct Client {
        sessions: Arc<Sessions>,
        begun: Arc<AtomicU32>,
        tenant: Arc<Tenant>,
    }

    impl Client {
        fn new(most: u64) -> Self {
            let (tenant, begun) = (Tenant::new(), Arc::<AtomicU32>::default());
            let echo = Echo { begun: begun.clone(), tenant: tenant.clone() };
            Self { sessions: Sessions::new(echo, Quota { tenant: tenant.clone(), most }), begun, tenant }
        }

        /// What comes for these words, of packets, with so much room.
        fn ask(&self, asked: &Asked<'_>, words: &[u64], room: usize) -> Result<(u32, Vec<u64>), Refused> {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
            let mut came = Vec::new();
            let give = |answers: &[u8]| {
                let given = answers.len().min(room);
                came.extend(answers[..given].chunks(8).map(|bytes| u64::from_ne_bytes(bytes.try_into().unwrap())));
                given
            };
            let session = self.sessions.exchange(&Asked { parts: [&bytes, &[]], ..*asked }, room, give)?;
            Ok((session, came))
        }
    }

    fn asks(session: u32, opcode: u32) -> Asked<'static> {
        Asked { session, opcode, parts: [&[], &[]], wants: true, place: Some((0, 0)), may_block: false }
    }

    #[test]
    fn a_session_is_over_with_its_reply_or_waits_under_its_number() {
        let client = Client::new(1 << 20);
        assert_eq!(client.ask(&asks(0, 1), &[7, 8], 64).unwrap(), (0, vec![8, 8, 0, 0, 0, 0, 0, 0]));
        let (number, came) = client.ask(&asks(0, 2), &[1], 64).unwrap();
        assert!(number != 0 && came[0] == 2);
        let (other, _) = client.ask(&asks(0, 2), &[1], 64).unwrap();
        assert_ne!(number, other);
        assert_eq!(client.ask(&asks(number, 2), &[5], 64).unwrap().0, number);
        assert!(client.tenant.has(Thing::Byte) > 0);
        assert_eq!(client.ask(&Asked { wants: false, ..asks(number, 2) }, &[0], 64).unwrap(), (0, vec![]));
        assert_eq!(client.ask(&asks(number, 2), &[1], 64), Err(Refused::Unknown(number)));
        client.sessions.finish(&asks(other, 2)).unwrap();
        assert_eq!(client.sessions.finish(&asks(other, 2)), Err(Refused::Unknown(other)));
        assert_eq!((client.tenant.has(Thing::Byte), client.begun.load(Ordering::Relaxed)), (0, 3));
    }

    #[test]
    fn a_session_that_would_block_goes_on_where_it_stopped_on_a_thread_that_may() {
        let client = Client::new(1 << 20);
        assert_eq!(client.ask(&asks(0, 3), &[7], 64), Err(Refused::WouldBlock));
        assert_eq!(client.ask(&Asked { place: Some((0, 1)), ..asks(0, 3) }, &[9], 64), Err(Refused::WouldBlock));
        let again = |place| Asked { place: Some(place), may_block: true, ..asks(0, 3) };
        // What was sent is there already.
        assert_eq!(client.ask(&again((0, 1)), &[], 64).unwrap().1[0], 10);
        assert_eq!(client.ask(&again((0, 0)), &[], 64).unwrap().1[0], 8);
        assert_eq!(client.begun.load(Ordering::Relaxed), 2);
        // Nobody came back for the first of these two: the place has the later one's.
        assert_eq!(client.ask(&asks(0, 3), &[7], 64), Err(Refused::WouldBlock));
        assert_eq!(client.ask(&asks(0, 3), &[30], 64), Err(Refused::WouldBlock));
        assert_eq!(client.ask(&again((0, 0)), &[], 64).unwrap().1[0], 31);
    }

    #[test]
    fn answers_come_as_far_as_there_is_room_and_a_session_sends_no_more_than_that_ahead() {
        let client = Client::new(1 << 20);
        let (mut session, mut came) = client.ask(&asks(0, 4), &[1000], 128).unwrap();
        while session != 0 {
            let kept = client.sessions.table().kept[&session].answers.len();
            assert!(kept <= AHEAD + 2 * PACKET_BYTES, "{kept}");
            let (next, more) = client.ask(&asks(session, 4), &[], 640).unwrap();
            came.extend(more);
            session = next;
        }
        assert_eq!(came.chunks(8).map(|packet| packet[0]).collect::<Vec<_>>(), (0..1000).collect::<Vec<_>>());
        assert_eq!(client.tenant.has(Thing::Byte), 0);
    }

    #[test]
    fn what_is_over_at_once_waits_for_a_client_that_has_sent_nothing() {
        let client = Client::new(1 << 20);
        assert_eq!(client.ask(&asks(0, 6), &[7], 64).unwrap(), (0, vec![8, 1, 1, 1, 1, 1, 1, 1]));
        assert_eq!(client.ask(&asks(0, 6), &[], 64), Err(Refused::Waits));
        let (number, came) = client.ask(&Asked { wants: false, ..asks(0, 6) }, &[], 64).unwrap();
        assert!(number != 0 && came.is_empty());
        assert_eq!(client.ask(&asks(number, 6), &[8], 64).unwrap(), (0, vec![9, 1, 1, 1, 1, 1, 1, 1]));
    }

    #[test]
    fn a_client_that_waits_for_nothing_is_told_so() {
        let client = Client::new(1 << 20);
        assert_eq!(client.ask(&asks(0, 1), &[], 64), Err(Refused::Waits));
        assert_eq!(client.ask(&asks(0, 4), &[0], 64), Err(Refused::Over));
        assert_eq!(client.ask(&asks(0, 100), &[], 64).unwrap().1, [0; 8], "nobody serves it");
        let (waits, _) = client.ask(&asks(0, 2), &[1], 64).unwrap();
        client.sessions.end();
        assert_eq!(client.ask(&asks(waits, 2), &[1], 64), Err(Refused::Unknown(waits)));
        assert_eq!(client.ask(&asks(0, 2), &[1], 64), Err(Refused::Ended));
        assert_eq!(client.tenant.has(Thing::Byte), 0);
    }

    #[test]
    fn sessions_that_wait_are_as_few_as_their_bytes_may_be() {
        let client = Client::new(4096);
        let opened = (0..100).map_while(|_| client.ask(&asks(0, 2), &[1], 64).ok()).count();
        assert!((2..20).contains(&opened), "{opened}");
        assert_eq!(client.ask(&asks(0, 2), &[1], 64), Err(Refused::Many(4096)));
        assert_eq!(client.ask(&asks(0, 1), &[1], 64).unwrap().0, 0, "one that does not wait");
        assert!(client.tenant.has(Thing::Byte) <= 4096);
    }

    #[test]
    fn bytes_come_in_parts_of_any_length_and_sizes_are_believed_as_far_as_they_come() {
        let client = Client::new(1 << 20);
        let string = [3u8; 200];
        for size in [0, 1, 55, 56, 57, 120, 200] {
            let head = (size as u64).to_ne_bytes();
            let asked = Asked { parts: [&head, &string[..size]], ..asks(0, 5) };
            let mut word = 0;
            let left = client.sessions.exchange(&asked, 64, |answers| {
                word = u64::from_ne_bytes(answers[..8].try_into().unwrap());
                64
            });
            assert_eq!((left.unwrap(), word), (0, size as u64));
        }
        // More than comes, at once or at all.
        let (head, more) = (u64::MAX.to_ne_bytes(), [0; 56]);
        let mut left = client.sessions.exchange(&Asked { wants: false, parts: [&head, &more], ..asks(0, 5) }, 64, |_| 0).unwrap();
        for _ in 0..2000 {
            left = client.sessions.exchange(&Asked { wants: false, parts: [&[1; 6400], &[]], ..asks(left, 5) }, 64, |_| 0).unwrap();
        }
        assert!(client.tenant.has(Thing::Byte) < 1 << 16);
        client.sessions.finish(&asks(left, 5)).unwrap();
        assert_eq!(client.tenant.has(Thing::Byte), 0);
    }
}
