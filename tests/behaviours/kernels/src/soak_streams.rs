//! The soak of streams: messages of five streams from all waves, of lanes in every constellation. Belongs to
//! `tests/behaviours/src/bin/soak/streams.rs`.

use behaviours_services::soaked::{Note, STREAMS, Soaked};
use behaviours_services::{Big, Numbered, Patient, Sampled, Tiny, mix};
use hostcall::prelude::*;
use hostcall::stream::Sent;
use hostcall::wave::{self, Converged};

/// Notes what became of a message of `group`, all of whose lanes call: of `values` values of each, whose digests add up
/// to `sum`.
#[inline(always)]
fn note(group: &Converged, outcome: Sent, values: u64, sum: u64, note: &mut Note) {
    let (sent, dropped) = (group.ballot(outcome == Sent::Sent), group.ballot(outcome == Sent::Dropped));
    match outcome {
        Sent::Sent => {
            note.sent += values;
            note.sum = note.sum.wrapping_add(sum);
        }
        Sent::Dropped | Sent::Filtered | Sent::Off => note.unsent += values,
        Sent::Closed | Sent::TooLarge => note.strange += values,
    }
    messages(group, outcome, sent, dropped, note);
}

/// The same for a message of one lane's value, that of the first which is wanted.
#[inline(always)]
fn note_once(group: &Converged, outcome: Sent, digest: u64, note: &mut Note) {
    let (sent, dropped) = (group.ballot(outcome == Sent::Sent), group.ballot(outcome == Sent::Dropped));
    if sent.trailing_zeros() == wave::lane_id() {
        note.sent += 1;
        note.sum = note.sum.wrapping_add(digest);
    }
    match outcome {
        Sent::Closed | Sent::TooLarge => note.strange += 1,
        _ => note.unsent += u64::from(sent == 0 && group.leads()),
    }
    messages(group, outcome, sent, dropped, note);
}

/// What became of the message, noted by one lane.
#[inline(always)]
fn messages(group: &Converged, outcome: Sent, sent: u64, dropped: u64, note: &mut Note) {
    if group.leads() {
        note.dropped += u64::from(dropped != 0);
        note.filtered += u64::from(sent | dropped == 0 && outcome == Sent::Filtered);
    }
}

/// Sends a value of each lane in `mask`.
macro_rules! one {
    ($message:ident, $mask:expr, $lane:expr, $number:expr, $notes:expr) => {
        if $mask >> wave::lane_id() & 1 != 0 {
            let group = Converged::here();
            let value = <$message as Soaked>::of($lane, $number);
            let outcome = value.send();
            note(&group, outcome, 1, value.digest(), &mut $notes[$message::INDEX]);
        }
    };
}

/// Sends three values of each lane, at once.
macro_rules! three {
    ($message:ident, $lane:expr, $number:expr, $notes:expr) => {{
        let group = Converged::here();
        let values = [0, 1, 2].map(|k| <$message as Soaked>::of($lane, $number + k));
        let outcome = $message::send_each(&values);
        let sum = values.iter().fold(0u64, |sum, value| sum.wrapping_add(value.digest()));
        note(&group, outcome, 3, sum, &mut $notes[$message::INDEX]);
    }};
}

/// Sends a value of one lane for all.
macro_rules! once {
    ($message:ident, $lane:expr, $number:expr, $notes:expr) => {{
        let group = Converged::here();
        let value = <$message as Soaked>::of($lane, $number);
        let outcome = $message::once_per_wave(|| value);
        note_once(&group, outcome, value.digest(), &mut $notes[$message::INDEX]);
    }};
}

/// `messages` messages of each wave, chosen by `seed` and `launch`. `notes`: for each lane one for each stream, to
/// which it adds.
#[kernel]
pub fn soak_streams(seed: u64, launch: u32, messages: u32, notes: &mut [[u64; 6]]) {
    let lane = global_id();
    let mut all = [Note::default(); STREAMS];
    let wave = Converged::here();
    for n in 0..messages {
        // All lanes of a wave send the same kind of message.
        let draw = mix(seed ^ u64::from(launch) << 40 ^ (wave::wave_index() as u64) << 20 ^ u64::from(n));
        let (id, number) = (lane as u32, (launch * messages + n) * 4);
        let mask = match draw >> 60 {
            0..10 => u64::MAX,
            10..13 => mix(draw) | 1,
            _ => 1 << (draw >> 8) % u64::from(wave::wave_size()),
        };
        match (draw >> 32) % 16 {
            0..4 => one!(Numbered, mask, id, number, all),
            4..6 => one!(Patient, mask, id, number, all),
            6..8 => one!(Sampled, mask, id, number, all),
            8..10 => one!(Tiny, mask, id, number, all),
            10 => one!(Big, mask, id, number, all),
            11 => three!(Numbered, id, number, all),
            12 => three!(Tiny, id, number, all),
            13 => once!(Patient, id, number, all),
            14 => once!(Sampled, id, number, all),
            _ => once!(Big, id, number, all),
        }
        // Those that sent nothing wait for the others: what parts of a wave sent is noted by parts of it.
        wave.sync();
    }
    for (k, note) in all.iter_mut().enumerate() {
        if let Some(written) = notes.get_mut(lane * STREAMS + k) {
            note.add(written);
            *written = note.words();
        }
    }
}
