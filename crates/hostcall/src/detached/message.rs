//! What goes to where calls are handled, and what comes back.

use std::sync::Arc;

use hostcall_abi::{ReplyHead, Status};

use crate::record::Report;
use crate::service::closing::Closing;
use crate::service::definition::Definition;
use crate::service::lanes::{Copies, Facts, Payload};
use crate::service::out::OutsIn;
use crate::service::registry::Registered;
use crate::tenant::Tenant;

/// The calls of the lanes of one message, as data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// The port that it came through, where it came from.
    pub port: u32,
    /// The lanes that call, by number: at least one.
    pub mask: u64,
    /// Whether nobody waits for results.
    pub post: bool,
    /// Whether `&mut [T]` arguments come back as an image of a staged region. Only of a service with strings or slices
    /// that is not posted.
    pub image: bool,
    /// Units that each lane's reply has room for.
    pub room: u16,
    /// The fixed part of the arguments: for each lane as many units as the [definition](Definition::units) says.
    pub units: Vec<u32>,
    /// The strings and slices of all lanes, one lane's behind the other's; each string or slice begins at a multiple of
    /// 4 from where its lane's begin.
    pub bytes: Vec<u8>,
    /// Where each lane's end in `bytes`. Empty if the service takes no strings or slices.
    pub ends: Vec<u32>,
}

/// Why a [`Message`] is none of a service.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// No lane calls.
    #[error("no lane calls")]
    NoLanes,
    /// It is posted and the service answers, or the other way round.
    #[error("the message is {}, the service is {}", if *post { "posted" } else { "a call" }, if *post { "called" } else { "posted" })]
    Kind {
        /// Whether the message is posted.
        post: bool,
    },
    /// The fixed part of the arguments has another length.
    #[error("{found} units of arguments where there must be {wanted}")]
    Units {
        /// Units that are there.
        found: usize,
        /// Units that the lanes' arguments take.
        wanted: usize,
    },
    /// The strings and slices are not where the message says.
    #[error("the strings and slices of the lanes are not those that their arguments say")]
    Bytes,
    /// It wants an image of a staged region, and the service has none.
    #[error("an image of staged bytes of a service that has none")]
    Image,
}

hostcall_error::readable!(Invalid);

impl Message {
    /// How many lanes call.
    pub fn lanes(&self) -> u32 {
        self.mask.count_ones()
    }

    /// Whether it is a message of this service, whoever made it.
    ///
    /// # Errors
    /// Why it is not.
    pub fn check(&self, definition: &Definition) -> Result<(), Invalid> {
        let lanes = self.lanes() as usize;
        let (found, wanted) = (self.units.len(), lanes * definition.units);
        if lanes == 0 {
            Err(Invalid::NoLanes)
        } else if self.post != definition.reply_dwords.is_none() {
            Err(Invalid::Kind { post: self.post })
        } else if found != wanted {
            Err(Invalid::Units { found, wanted })
        } else if self.image && (self.post || !definition.takes_var) {
            Err(Invalid::Image)
        } else if !self.bytes_agree(definition) {
            Err(Invalid::Bytes)
        } else {
            Ok(())
        }
    }

    fn bytes_agree(&self, definition: &Definition) -> bool {
        if !definition.takes_var {
            return self.ends.is_empty() && self.bytes.is_empty();
        }
        let (mut start, lanes) = (0, self.lanes() as usize);
        let mut said = self.units.chunks_exact(definition.units.max(1)).map(|lane| lane.get(1).copied());
        self.ends.len() == lanes
            && self.ends.iter().all(|&end| {
                let bytes = end.checked_sub(start);
                start = end;
                bytes.is_some() && said.next().flatten() == bytes
            })
            && start as usize == self.bytes.len()
    }

    /// What is known of it, for handlers.
    pub(super) fn facts<'a>(
        &'a self,
        service: &'a Registered,
        tenant: &'a Arc<Tenant>,
        report: &'a Report,
        closing: &'a Closing,
    ) -> Facts<'a> {
        let units = service.shape.units;
        Facts {
            service,
            number: service.number,
            tenant,
            report,
            closing,
            port: self.port,
            mask: self.mask,
            lanes: self.lanes(),
            post: self.post,
            payload: Payload { units: &self.units, stride: units, lane_units: units, staged: None },
            copies: Copies { bytes: &self.bytes, ends: &self.ends },
            outs: if self.image { OutsIn::Image } else { OutsIn::Reply },
        }
    }

    /// Units that a lane's reply takes where its handler puts it, the head included.
    pub(super) fn stride(&self, service: &Registered) -> usize {
        let room = usize::from(self.room);
        if self.post { 1 } else { 1 + service.reply_stride.map_or(room, |stride| (stride - 1).min(room)) }
    }
}

/// The replies to a [`Message`], as data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replies {
    /// For each lane, in the order of the mask, how its call ended, and how many units it gets.
    pub heads: Vec<ReplyHead>,
    /// The units of all lanes, one lane's behind the other's.
    pub units: Vec<u32>,
    /// What the host that made the calls reports of them.
    pub notes: Vec<Note>,
}

/// What a host reports of calls that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// With which code the handler failed; `None`: it panicked.
    pub code: Option<u32>,
    /// What it said.
    pub message: String,
    /// Lanes whose calls ended so.
    pub lanes: u32,
}

impl Replies {
    /// The same for all lanes of a message: no result.
    pub fn of_status(lanes: u32, status: Status) -> Self {
        Self { heads: vec![ReplyHead { status, dwords: 0 }; lanes as usize], ..Self::default() }
    }

    /// Of streams as handlers fill them.
    pub(super) fn of_streams(streams: &[u32], stride: usize, lanes: u32, report: &Report) -> Self {
        let mut replies = Self { heads: Vec::with_capacity(lanes as usize), ..Self::default() };
        for stream in streams.chunks_exact(stride).take(lanes as usize) {
            let head = ReplyHead::decode(stream[0]);
            replies.units.extend_from_slice(&stream[1..=usize::from(head.dwords)]);
            replies.heads.push(head);
        }
        if replies.heads.iter().any(|head| head.status != Status::OK) {
            replies.notes = notes(report);
        }
        replies
    }
}

/// What a report has of failures.
pub(super) fn notes(report: &Report) -> Vec<Note> {
    let told = report.take();
    let lanes = |lanes: u64| lanes.try_into().unwrap_or(u32::MAX);
    let failed = told.handler_failures.into_iter();
    let failed = failed.map(|failure| Note { code: Some(failure.code), message: failure.message, lanes: lanes(failure.lanes) });
    let panicked = told.handler_panics.into_iter();
    failed.chain(panicked.map(|panic| Note { code: None, message: panic.message, lanes: lanes(panic.lanes) })).collect()
}
