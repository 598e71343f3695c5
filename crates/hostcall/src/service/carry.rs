//! A batch as data, and replies that come as data: see [`crate::detached`].

use hostcall_abi::{CallError, ReplyHead, Status};

use super::arguments::Var;
use super::batch::Batch;
use super::call::{put_head, put_status};
use super::deferred::DeferredBatch;
use super::failure::Failure;
use super::lanes::{Facts, bits_of};
use super::out::OutsIn;
use crate::detached::{Message, Note, Replies};

impl DeferredBatch {
    /// The calls that have no answer yet, as data. A lane whose arguments cannot be decoded is failed, and left out;
    /// `None` if that leaves nobody.
    ///
    /// [`answer`](DeferredBatch::answer) takes the replies to it. Lanes must not be answered in other ways in between.
    pub fn detach(&mut self) -> Option<Message> {
        let stride = self.stride();
        let mut batch = self.batch();
        batch.fail_undecodable();
        let message = batch.to_message(stride);
        (message.mask != 0).then_some(message)
    }

    /// Answers the calls with the replies to what [`detach`](DeferredBatch::detach) gave. Nothing of them is trusted: a
    /// reply that cannot be one of the service fails its lane as [`CallError::Malformed`]. What the replies note goes
    /// to the host's report.
    pub fn answer(mut self, replies: &Replies) {
        self.batch().take_replies(replies);
    }
}

impl Batch<'_> {
    fn left(&self) -> impl Iterator<Item = u32> + use<> {
        let left = self.answers.progress.left;
        (0..64).filter(move |rank| left >> rank & 1 == 1)
    }

    fn fail_undecodable(&mut self) {
        for rank in self.left() {
            if let Err(error) = self.answers.facts.variable_part(rank) {
                self.answers.fail(rank, &Failure::Decode(error));
            }
        }
    }

    fn to_message(&self, stride: usize) -> Message {
        let Facts { service, payload, post, port, outs, .. } = self.answers.facts;
        let takes_var = service.shape.takes_var;
        let staged = takes_var && !post && payload.staged.is_some();
        // A message that has come apart from its port may go further.
        let image = staged || outs == OutsIn::Image;
        let mut message = Message { port, post, image, ..Message::default() };
        let lanes = self.left().count();
        message.units.reserve_exact(lanes * service.shape.units);
        // Bytes from the start of each lane's staged bytes to the end of their slot.
        let mut regions = Vec::new();
        for rank in self.left() {
            message.mask |= 1 << self.lane(rank as usize);
            message.units.extend_from_slice(&payload.lane(rank)[..service.shape.units]);
            if !takes_var {
                continue;
            }
            match self.answers.facts.variable_part(rank) {
                Ok(Var::Copied(bytes)) => message.bytes.extend_from_slice(bytes),
                Ok(Var::Staged { rest, bytes }) => {
                    regions.push(rest.len());
                    if let Some(region) = rest.part(0, bytes) {
                        region.append_to(&mut message.bytes);
                    }
                }
                // Such lanes have been failed.
                Err(_) => {}
            }
            message.ends.push(message.bytes.len() as u32);
        }
        let mut room = stride - 1;
        if staged {
            room += 1 + largest_region(regions).div_ceil(4);
        }
        message.room = room.try_into().unwrap_or(u16::MAX);
        message
    }

    fn take_replies(&mut self, replies: &Replies) {
        let Facts { service, report, post, .. } = self.answers.facts;
        for Note { code, message, lanes } in &replies.notes {
            for _ in 0..(*lanes).clamp(1, 64) {
                match code {
                    Some(code) => report.handler_failed(service.name(), *code, message),
                    None => report.handler_panicked(service.name(), message, || std::backtrace::Backtrace::disabled().into()),
                }
            }
        }
        let malformed = Failure::Status(CallError::Malformed);
        if replies.heads.len() != self.left().count() {
            return self.fail_rest(malformed);
        }
        if self.take_all(replies) {
            return;
        }
        let mut at = 0;
        for (rank, &ReplyHead { status, dwords }) in self.left().zip(&replies.heads) {
            let payload = replies.units.get(at..at + usize::from(dwords));
            at += usize::from(dwords);
            let put = match (status, payload) {
                (Status::OK, Some(payload)) => self.put_reply(rank, payload),
                (status, Some(payload)) if status.name().is_some() && status != Status::KERNEL_ENDED => {
                    let detail = payload.first().copied().unwrap_or(0);
                    if post && replies.notes.is_empty() {
                        // No lane learns of it.
                        self.answers.fail(rank, &Failure::Status(CallError::from_status(status, detail)));
                    } else {
                        put_status(self.answers.stream(rank), status, detail);
                        self.answers.done(rank);
                    }
                    Some(())
                }
                _ => None,
            };
            if put.is_none() {
                self.answers.fail(rank, &malformed);
            }
        }
    }

    /// Takes replies that are results of all lanes, of the length that the service's have. Whether they are.
    fn take_all(&mut self, replies: &Replies) -> bool {
        let Facts { service, post, lanes, .. } = self.answers.facts;
        let units = service.definition.reply_dwords.unwrap_or(0);
        let result = ReplyHead { status: Status::OK, dwords: units as u16 };
        let all = self.answers.progress.left == bits_of(0, lanes) && self.len() == lanes as usize;
        let fit = units < self.answers.stride && replies.units.len() == lanes as usize * units;
        let taken = all && fit && !post && !service.shape.takes_var && replies.heads.iter().all(|&head| head == result);
        if taken {
            self.reply_all(|mut rows| rows.copy_from(&replies.units));
        }
        taken
    }

    /// A lane's result, if it can be one.
    fn put_reply(&mut self, rank: u32, payload: &[u32]) -> Option<()> {
        let facts = self.answers.facts;
        let result = facts.service.definition.reply_dwords.unwrap_or(0);
        let mut units = payload;
        let exact = facts.post || !facts.service.shape.takes_var;
        if exact && payload.len() != result || payload.len() < result {
            return None;
        }
        if !exact
            && payload.len() > result
            && let Ok(Var::Staged { rest, .. }) = facts.variable_part(rank)
        {
            // The last unit says how many `&mut [T]` arguments there are.
            let (&outs, before) = payload.split_last()?;
            let lengths = result.checked_add(outs as usize)?;
            let image = before.get(lengths..)?;
            units = &before[..lengths];
            if units.len() >= self.answers.stride {
                return None;
            }
            let bytes = hostcall_abi::codec::bytes(image);
            // The last argument may be short of its last unit, and a region is as long as its slot allows.
            let fits = bytes.len().min(rest.len());
            if bytes.len() > fits.next_multiple_of(4) {
                return None;
            }
            rest.part(0, fits)?.copy_from(bytes);
        }
        if units.len() >= self.answers.stride {
            return None;
        }
        let stream = self.answers.stream(rank);
        stream[1..=units.len()].copy_from_slice(units);
        put_head(stream, Status::OK, units.len());
        self.answers.done(rank);
        Some(())
    }
}

/// The longest of regions that follow one another to the end of a slot, each given by how far from that end it begins.
fn largest_region(mut starts: Vec<usize>) -> usize {
    starts.sort_unstable();
    let mut before = 0;
    starts.into_iter().map(|start| start - std::mem::replace(&mut before, start)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::largest_region;

    #[test]
    fn a_region_ends_where_the_next_one_begins() {
        assert_eq!(largest_region(vec![4096]), 4096);
        assert_eq!(largest_region(vec![4096, 4000, 900]), 3100);
        assert_eq!(largest_region(vec![]), 0);
    }
}
