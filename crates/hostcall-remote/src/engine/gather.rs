//! Messages that wait become a request.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use hostcall::Failure;

use super::asked::Asked;
use super::{Engine, Waiting};
use crate::wire::RequestWriter;

impl Engine {
    /// Makes a request of what waits, whose answer may come from now on; `None`: nothing waits.
    pub(super) fn begin(&self) -> Option<(u64, Bytes)> {
        let (gathered, body) = self.gather();
        if gathered.is_empty() {
            return None;
        }
        // Relaxed: each number once.
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let span = self.span(gathered.len(), &body);
        let asked = Asked::new(gathered, span, &self.options);
        self.open().asked.insert(number, asked);
        Some((number, body))
    }

    pub(super) fn span(&self, messages: usize, body: &Bytes) -> tracing::Span {
        tracing::debug_span!("remote_call", service = %self.definition.name, messages, bytes = body.len(), worker = tracing::field::Empty)
    }

    /// As many messages as fit into a request, and the request.
    pub(super) fn gather(&self) -> (Vec<Waiting>, Bytes) {
        let most = self.link.transport.most_bytes();
        let mut queue = std::mem::take(&mut self.open().queue);
        let (mut gathered, mut request) = (Vec::with_capacity(queue.len()), RequestWriter::new(&self.definition));
        while let Some(mut waiting) = queue.pop_front() {
            if waiting.message.is_none() {
                waiting.message = waiting.batch.detach();
                let Some(message) = &waiting.message else { continue };
                self.counts.messages.add(1);
                self.counts.calls.add(message.lanes() as usize);
            }
            let Some(message) = &waiting.message else { continue };
            if RequestWriter::alone(message) > most {
                self.counts.too_large.add(1);
                waiting.fail(Failure::TooLarge { max: most.try_into().unwrap_or(u32::MAX) });
                continue;
            }
            if gathered.is_empty() {
                request.expect_like(message, 1 + queue.len(), most);
            }
            if !request.has_room_for(message, most) {
                queue.push_front(waiting);
                break;
            }
            request.push(message);
            gathered.push(waiting);
        }
        if !queue.is_empty() {
            let mut open = self.open();
            queue.append(&mut open.queue);
            open.queue = queue;
            drop(open);
            self.wake.notify_one();
        }
        let body = request.finish();
        if !gathered.is_empty() {
            self.counts.requests.add(1);
            self.counts.bytes_out.add(body.len());
        }
        (gathered, body)
    }
}
