//! Messages for tests.

use hostcall_abi::Plain;
use hostcall_abi::codec::bytes;
use hostcall_abi::stream::{From, Kind};
use hostcall_stream::sink::{RawBatch, Sink};
use hostcall_stream::{Dispatch, Head, Header, Level, Message, Origin, Schema, Site, Sites};
use proptest::prelude::*;

/// [`Plain`] and [`Message`] of a struct, as `hostcall::stream` derives them.
macro_rules! message {
    ($name:ident, $called:literal, $signature:literal, { $($field:ident: $ty:ty),+ $(,)? }) => {
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[repr(C)]
        pub(crate) struct $name { $(pub(crate) $field: $ty),+ }
        // SAFETY: numbers, in the order of C; the assertion says that there is no padding.
        unsafe impl Plain for $name {}
        const _: () = assert!(size_of::<$name>() == 0 $(+ size_of::<$ty>())+);
        impl Message for $name {
            const NAME: &'static str = $called;
            const SIGNATURE: u64 = $signature;
            const FIELDS: &'static [hostcall_abi::stream::Field] = &[$(hostcall_abi::stream::Field {
                name: stringify!($field),
                ty: stringify!($ty),
                offset: core::mem::offset_of!($name, $field),
                bytes: size_of::<$ty>(),
            }),+];
            const POLICY: hostcall_stream::Policy = hostcall_stream::Policy::Block;
        }
    };
}

message!(Loss, "Loss", 11, { step: u32, value: f32 });
// The same name, and other fields.
message!(OtherLoss, "Loss", 12, { step: u64, value: f64 });
// Of every type, with names that origins have.
message!(All, "All", 13, {
    a: u64, b: i64, c: f64, time: u32, lane: i32, f: f32, g: u16, h: i16, i: u8, j: i8, bytes: [u8; 6], list: [i16; 3], nested: [[u16; 2]; 2], last: [u8; 2],
});

/// A message as it arrives.
#[derive(Clone, Debug)]
pub(crate) struct Sent<M> {
    pub(crate) head: Head,
    pub(crate) values: Vec<M>,
}

impl<M: Plain> Sent<M> {
    pub(crate) fn origins(&self) -> impl Iterator<Item = Origin> + '_ {
        let (header, device, after_gap) = (self.head.header(), self.head.device, self.head.after_gap());
        self.head.lanes().flat_map(move |lane| {
            let from = header.from;
            let origin = Origin {
                device,
                launch: from.launch,
                dispatch: Dispatch::default(),
                group: from.group,
                wave: from.wave,
                lane,
                sm: from.sm,
                time: header.time,
                site: header.site,
                weight: 1 << header.weight,
                after_gap,
            };
            std::iter::repeat_n(origin, header.values as usize)
        })
    }
}

/// A message of the lanes in `mask`.
pub(crate) fn sent<M: Message>(mask: u64, each: u32, from: From, time: Option<u64>, site: u32, value: impl FnMut() -> M) -> Sent<M> {
    let header = Header {
        stream: 1,
        granules: 1,
        kind: Kind::Rows,
        mask,
        wide: mask >> 32 != 0,
        site,
        weight: 0,
        user: 0,
        values: each,
        time,
        from,
    };
    let values = std::iter::repeat_with(value).take((mask.count_ones() * each) as usize).collect();
    Sent { head: Head::new(header, 0, false), values }
}

/// `count` messages of whole waves.
pub(crate) fn losses(count: u32) -> Vec<Sent<Loss>> {
    let mut step = 0;
    let mut next = move || {
        step += 1;
        Loss { step, value: step as f32 * 0.5 }
    };
    let of = |number: u32| From { group: u64::from(number / 4), wave: number % 4, sm: number % 7, launch: 1 };
    (0..count).map(|number| sent(u64::from(u32::MAX), 1, of(number), Some(u64::from(number) * 1000), 3, &mut next)).collect()
}

/// Any messages, some of two devices.
pub(crate) fn messages<M: Message + std::fmt::Debug>(value: impl Strategy<Value = M>) -> impl Strategy<Value = Vec<Sent<M>>> {
    let mask = prop_oneof![Just(u64::from(u32::MAX)), Just(u64::MAX), 1..=u64::MAX, (0..64u32).prop_map(|lane| 1 << lane)];
    let from = (0..1u64 << 47, 0..32u32, 0..1024u32, 0..1024u32).prop_map(|(group, wave, sm, launch)| From { group, wave, sm, launch });
    let rest = (proptest::option::of(0..1u64 << 57), 0..1u32 << 16, 1..3u32, 0..2u32, any::<bool>(), 0..16u32);
    let message = (mask, from, rest, prop::collection::vec(value, 128)).prop_map(|(mask, from, rest, values)| {
        let (time, site, each, device, after_gap, weight) = rest;
        let mut values = values.into_iter();
        let mut sent = sent(mask, each, from, time, site, || values.next().expect("enough"));
        let header = Header { weight, ..sent.head.header() };
        sent.head = Head::new(header, device, after_gap);
        sent
    });
    prop::collection::vec(message, 1..20)
}

/// Gives messages to a sink, `together` at a time, as a thread that reads rings does.
pub(crate) fn give<M: Message>(sink: &dyn Sink, messages: &[Sent<M>], together: usize) {
    let schema = Schema::of::<M>();
    assert!(sink.takes(&schema));
    let mut inlet = sink.inlet(&schema);
    for messages in messages.chunks(together) {
        let heads: Vec<Head> = messages.iter().map(|message| message.head).collect();
        let values: Vec<M> = messages.iter().flat_map(|message| message.values.iter().copied()).collect();
        inlet.take(&RawBatch::new(&heads, bytes(&values), schema.bytes));
    }
}

/// What [`give`] gave, of one device.
pub(crate) fn expected<M: Message>(messages: &[Sent<M>], device: u32) -> Vec<(Origin, M)> {
    let of_it = messages.iter().filter(|message| message.head.device == device);
    of_it.flat_map(|message| message.origins().zip(message.values.iter().copied()).collect::<Vec<_>>()).collect()
}

/// What a sink wrote.
pub(crate) fn read<M: Message>(path: &std::path::Path) -> Vec<(Origin, M)> {
    let mut all = Vec::new();
    for rows in hostcall_sinks::open::<M>(path).expect("files of the stream") {
        let rows = rows.expect("they are whole");
        all.extend(rows.origins.into_iter().zip(rows.values));
    }
    all
}

/// A place in the source.
pub(crate) fn place(text: &str) -> Site {
    Site {
        file: "src/model.rs".into(),
        line: 40 + text.len() as u32,
        column: 9,
        module: "model".into(),
        level: None,
        text: text.into(),
        kernel: "".into(),
    }
}

/// Two places: 3, which [`losses`] name, and a line of a log.
pub(crate) fn places() -> std::sync::Arc<Sites> {
    let sites = Sites::default();
    sites.insert(3, place("softmax \"é\""));
    sites.insert(9, Site { level: Some(Level::Warn), ..place("step {0:}") });
    sites.into()
}

/// The same as a sink's table says them.
pub(crate) fn as_read(sites: &Sites) -> std::collections::BTreeMap<u32, Site> {
    sites.all().into_iter().map(|(number, site)| (number, (*site).clone())).collect()
}

/// Paths of files below a directory, without it.
pub(crate) fn files(dir: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(next) = dirs.pop() {
        for entry in std::fs::read_dir(next).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { dirs.push(path) } else { found.push(path.strip_prefix(dir).expect("below").display().to_string()) }
        }
    }
    found.sort();
    found
}

/// Records three messages of a known place.
pub(crate) fn record(path: &std::path::Path) {
    use hostcall_stream::file::{Device, Program, Writer};
    let mut writer = Writer::new(std::fs::File::create(path).expect("a file")).expect("written");
    let mut program = Program::new("p", Device::new(0, "invented", "sim"), 1, vec![(1, Schema::of::<Loss>())]);
    program.sites = places().all().into_iter().map(|(number, site)| (number, (*site).clone())).collect();
    writer.program(program).expect("written");
    for message in losses(3) {
        writer.message(0, message.head.header(), bytes(&message.values)).expect("written");
    }
    writer.end().expect("written");
}
