//! The parts of a recording, as bytes and as text; see [`super`] for what they mean.

use std::io;

use hostcall_abi::stream::header::MAX_STREAM;
use hostcall_abi::stream::site::MAX_SITE;
use hostcall_abi::stream::{MAX_UNITS, Policy};
use serde::{Deserialize, Serialize};

use crate::counts::{StreamCounts, Summary};
use crate::dispatch::{Dispatch, Shape};
use crate::name::Name;
use crate::schema::{Field, Schema};
use crate::sites::{Level, Site};

pub(super) const MAGIC: [u8; 8] = *b"HCSTREAM";
pub(super) const VERSION: u32 = 3;
/// Bytes of the file's head.
pub(super) const FILE_HEAD: usize = 24;
/// Bytes of a frame's head.
pub(super) const FRAME_HEAD: usize = 32;
/// The longest contents of a frame.
pub(super) const MAX_FRAME: u64 = 16 << 20;
/// The longest text of a frame and of the file's head.
pub(super) const MAX_TEXT: u64 = 4 << 20;
/// The longest text of all programs of a file together.
pub(super) const MAX_PROGRAMS: u64 = 64 << 20;
/// Rings of a file.
pub(super) const MAX_RINGS: u32 = 1 << 16;
/// The flag of messages that were found by a search.
pub(super) const AFTER_GAP: u32 = 1;
/// Bits of a launch's number in a message.
pub(super) const LAUNCH: u32 = 0x3ff;
/// Dispatches of a file that a reader keeps, and what it refuses more than: of each ring and number one.
pub(super) const MAX_DISPATCHES: usize = 1 << 22;

/// What a frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum Kind {
    Program = 1,
    Data = 2,
    Counters = 3,
    End = 4,
    Dispatch = 5,
}

impl Kind {
    pub(super) fn new(number: u16) -> Option<Self> {
        [Self::Program, Self::Data, Self::Counters, Self::End, Self::Dispatch].into_iter().find(|kind| *kind as u16 == number)
    }
}

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameHead {
    pub(super) kind: u16,
    pub(super) ring: u16,
    pub(super) flags: u32,
    pub(super) position: u64,
    pub(super) bytes: u64,
    /// Of the contents.
    pub(super) checksum: u32,
}

impl FrameHead {
    pub(super) fn encode(&self) -> [u8; FRAME_HEAD] {
        let mut head = [0; FRAME_HEAD];
        head[..2].copy_from_slice(&self.kind.to_le_bytes());
        head[2..4].copy_from_slice(&self.ring.to_le_bytes());
        head[4..8].copy_from_slice(&self.flags.to_le_bytes());
        head[8..16].copy_from_slice(&self.position.to_le_bytes());
        head[16..24].copy_from_slice(&self.bytes.to_le_bytes());
        head[24..28].copy_from_slice(&self.checksum.to_le_bytes());
        seal(&mut head);
        head
    }

    /// `None`: its checksum is another.
    pub(super) fn decode(head: &[u8; FRAME_HEAD]) -> Option<Self> {
        is_sealed(head).then(|| Self {
            kind: u16::from_le_bytes([head[0], head[1]]),
            ring: u16::from_le_bytes([head[2], head[3]]),
            flags: number(head, 4),
            position: long(head, 8),
            bytes: long(head, 16),
            checksum: number(head, 24),
        })
    }
}

/// A frame of JSON.
pub(super) fn text_frame(kind: Kind, text: &[u8]) -> Vec<u8> {
    let head = FrameHead { kind: kind as u16, ring: 0, flags: 0, position: 0, bytes: text.len() as u64, checksum: crc32c::crc32c(text) };
    [&head.encode(), text].concat()
}

/// The head of the file and its text.
pub(super) fn file_head() -> Vec<u8> {
    let text = serde_json::to_vec(&FileText { hostcall: env!("CARGO_PKG_VERSION").into() }).expect("a string is JSON");
    let mut head = [0; FILE_HEAD];
    head[..8].copy_from_slice(&MAGIC);
    head[8..12].copy_from_slice(&VERSION.to_le_bytes());
    head[12..16].copy_from_slice(&(text.len() as u32).to_le_bytes());
    head[16..20].copy_from_slice(&crc32c::crc32c(&text).to_le_bytes());
    seal(&mut head);
    [&head, &*text].concat()
}

/// Puts the checksum of what is before it into the last four bytes.
fn seal(head: &mut [u8]) {
    let (contents, checksum) = head.split_last_chunk_mut::<4>().expect("a head");
    *checksum = crc32c::crc32c(contents).to_le_bytes();
}

pub(super) fn is_sealed(head: &[u8]) -> bool {
    head.split_last_chunk::<4>().is_some_and(|(contents, checksum)| crc32c::crc32c(contents) == u32::from_le_bytes(*checksum))
}

pub(super) fn number(head: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*head[at..].first_chunk().expect("inside the head"))
}

fn long(head: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*head[at..].first_chunk().expect("inside the head"))
}

/// The text behind the file's head.
#[derive(Serialize, Deserialize)]
pub(super) struct FileText {
    pub(super) hostcall: Name,
}

/// A device of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Device {
    /// Its number among those of its kind.
    pub number: u32,
    /// What it calls itself.
    pub name: Name,
    /// What drives it: `sim`, `cuda` or `hsa`.
    pub kind: Name,
}

impl Device {
    pub(crate) fn of(info: &offload::DeviceInfo) -> Self {
        let kind = match info.kind {
            offload::DeviceKind::Sim => "sim".into(),
            offload::DeviceKind::Cuda => "cuda".into(),
            offload::DeviceKind::Hsa => "hsa".into(),
            other => other.to_string().into(),
        };
        Self { number: info.ordinal, name: Name::from(&info.name), kind }
    }
}

/// A program whose messages are in a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Program {
    /// Its name.
    pub name: Name,
    /// Where it ran.
    pub device: Device,
    /// Lanes of a wave: 32 or 64.
    pub wave_size: u32,
    /// The number of its first ring in the recording.
    pub first_ring: u32,
    /// How many rings it had.
    pub rings: u32,
    /// Its streams, with their numbers in message headers.
    pub streams: Vec<(u32, Schema)>,
    /// The places in its source that messages name, with their numbers.
    pub sites: Vec<(u32, Site)>,
}

#[derive(Serialize, Deserialize)]
struct ProgramText {
    name: Name,
    device: Device,
    wave_size: u32,
    first_ring: u32,
    rings: u32,
    streams: Vec<StreamText>,
    /// Files before them have none.
    #[serde(default)]
    sites: Vec<SiteText>,
}

#[derive(Serialize, Deserialize)]
struct SiteText {
    number: u32,
    file: Name,
    line: u32,
    column: u32,
    module: Name,
    /// 0: it is no line of a log.
    level: u32,
    text: String,
}

#[derive(Serialize, Deserialize)]
struct StreamText {
    number: u32,
    name: Name,
    signature: String,
    bytes: u32,
    policy: String,
    fields: Vec<FieldText>,
}

#[derive(Serialize, Deserialize)]
struct FieldText {
    name: Name,
    #[serde(rename = "type")]
    ty: Name,
    offset: u32,
    bytes: u32,
}

impl Program {
    pub(super) fn to_text(&self) -> Vec<u8> {
        let field = |field: &Field| {
            let Field { name, ty, offset, bytes } = field.clone();
            FieldText { name, ty, offset, bytes }
        };
        let stream = |(number, schema): &(u32, Schema)| StreamText {
            number: *number,
            name: schema.name.clone(),
            signature: format!("{:016x}", schema.signature),
            bytes: schema.bytes,
            policy: schema.policy.name().into(),
            fields: schema.fields.iter().map(field).collect(),
        };
        let site = |(number, site): (u32, Site)| {
            // Its kernel is that of messages, which have it.
            let Site { file, line, column, module, level, text, kernel: _ } = site;
            SiteText { number, file, line, column, module, level: level.map_or(0, |level| level as u32), text }
        };
        let Self { name, device, wave_size, first_ring, rings, streams, sites } = self.clone();
        let (streams, sites) = (streams.iter().map(stream).collect(), sites.into_iter().map(site).collect());
        let text = ProgramText { name, device, wave_size, first_ring, rings, streams, sites };
        serde_json::to_vec(&text).expect("numbers, strings and lists are JSON")
    }

    /// The program, if it makes sense; else what does not.
    pub(super) fn of_text(text: &[u8]) -> Result<Self, String> {
        let ProgramText { name, device, wave_size, first_ring, rings, streams, sites } =
            serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if wave_size != 32 && wave_size != 64 {
            return Err(format!("waves of {wave_size} lanes, and there are those of 32 and of 64"));
        }
        if first_ring.checked_add(rings).is_none_or(|end| end > MAX_RINGS) {
            return Err(format!("{rings} rings from number {first_ring} on, and there are {MAX_RINGS} numbers"));
        }
        let streams = streams.into_iter().map(StreamText::parse).collect::<Result<_, _>>()?;
        let site = |SiteText { number, file, line, column, module, level, text }| {
            if number == 0 || number > MAX_SITE || level > 5 {
                return Err(format!("site {number} of level {level}, and there are sites 1 to {MAX_SITE} and levels 0 to 5"));
            }
            Ok((number, Site { file, line, column, module, level: Level::new(level), text, kernel: Name::default() }))
        };
        let sites = sites.into_iter().map(site).collect::<Result<_, _>>()?;
        Ok(Self { name, device, wave_size, first_ring, rings, streams, sites })
    }
}

impl StreamText {
    fn parse(self) -> Result<(u32, Schema), String> {
        let Self { number, name, signature, bytes, policy, fields } = self;
        let wrong = |what: String| Err(format!("stream `{name}`: {what}"));
        if number == 0 || number > MAX_STREAM {
            return wrong(format!("number {number}, and there are 1 to {MAX_STREAM}"));
        }
        let Ok(signature) = u64::from_str_radix(&signature, 16) else { return wrong(format!("signature `{signature}` is no 16 digits")) };
        let Some(policy) = Policy::ALL.into_iter().find(|known| known.name() == policy) else { return wrong(format!("policy `{policy}`")) };
        if !bytes.is_multiple_of(4) || bytes > 4 * MAX_UNITS {
            return wrong(format!("values of {bytes} bytes"));
        }
        let mut covered = 0u32;
        for field in &fields {
            if field.offset != covered || field.bytes > bytes - covered {
                let FieldText { name, offset, bytes, .. } = field;
                return wrong(format!("field `{name}` has {bytes} bytes at {offset}, behind {covered} bytes"));
            }
            covered += field.bytes;
        }
        if covered != bytes {
            return wrong(format!("its fields have {covered} bytes of {bytes}"));
        }
        let field = |FieldText { name, ty, offset, bytes }| Field { name, ty, offset, bytes };
        let fields: Vec<_> = fields.into_iter().map(field).collect();
        if bytes == 0 && !Schema::is_long(&fields) {
            return Err(format!("stream `{name}`: values of 0 bytes, which are neither bytes nor text"));
        }
        Ok((number, Schema { name, signature, bytes, policy, fields }))
    }
}

#[derive(Serialize, Deserialize)]
struct DispatchText {
    number: Option<u64>,
    kernel: Option<String>,
    /// Files before it say nothing, and so do those that do not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shape: Option<ShapeText>,
}

#[derive(Serialize, Deserialize)]
struct ShapeText {
    groups: [u32; 3],
    group_size: [u32; 3],
}

/// A frame that says which launch the messages of a ring with these bits are of from here on. A multiple of four bytes.
pub(super) fn dispatch_frame(ring: u16, bits: u32, dispatch: Dispatch) -> Vec<u8> {
    let shape = dispatch.shape.map(|Shape { groups, group_size }| ShapeText { groups, group_size });
    let text = DispatchText { number: dispatch.number, kernel: dispatch.kernel.map(str::to_owned), shape };
    let mut text = serde_json::to_vec(&text).expect("a number and a string are JSON");
    text.resize(text.len().next_multiple_of(4), b' ');
    let (kind, checksum) = (Kind::Dispatch as u16, crc32c::crc32c(&text));
    let head = FrameHead { kind, ring, flags: bits, position: 0, bytes: text.len() as u64, checksum };
    [&head.encode(), &*text].concat()
}

pub(super) fn dispatch_of_text(text: &[u8]) -> io::Result<Dispatch> {
    let DispatchText { number, kernel, shape } = serde_json::from_slice(text)?;
    let shape = shape.map(|ShapeText { groups, group_size }| Shape { groups, group_size });
    if let Some(shape) = shape.filter(|shape| shape.groups.contains(&0) || shape.group_size.contains(&0)) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a shape of {shape}, and no side of one is 0")));
    }
    Ok(Dispatch::new(number, kernel.as_deref()).with_shape(shape))
}

#[derive(Serialize, Deserialize)]
struct CountersText {
    streams: Vec<StreamCountsText>,
    torn: u64,
    malformed: u64,
    handler_panics: u64,
    end_unknown: bool,
}

#[derive(Serialize, Deserialize)]
struct StreamCountsText {
    name: Name,
    messages: u64,
    values: u64,
    dropped: u64,
    waited: u64,
    /// Files before it say nothing.
    #[serde(default)]
    filtered: u64,
    /// As above.
    #[serde(default)]
    overwritten: u64,
    /// As above.
    #[serde(default)]
    unhandled: u64,
}

pub(super) fn counters_to_text(summary: &Summary) -> Vec<u8> {
    let stream = |counts: &StreamCounts| {
        let StreamCounts { name, messages, values, dropped, waited, filtered, overwritten, unhandled } = counts.clone();
        StreamCountsText { name, messages, values, dropped, waited, filtered, overwritten, unhandled }
    };
    let Summary { torn, malformed, handler_panics, end_unknown, .. } = *summary;
    let text = CountersText { streams: summary.streams.iter().map(stream).collect(), torn, malformed, handler_panics, end_unknown };
    serde_json::to_vec(&text).expect("numbers, strings and lists are JSON")
}

pub(super) fn counters_of_text(text: &[u8]) -> io::Result<Summary> {
    let CountersText { streams, torn, malformed, handler_panics, end_unknown } = serde_json::from_slice(text)?;
    let stream = |counts| {
        let StreamCountsText { name, messages, values, dropped, waited, filtered, overwritten, unhandled } = counts;
        StreamCounts { name, messages, values, dropped, waited, filtered, overwritten, unhandled }
    };
    Ok(Summary { streams: streams.into_iter().map(stream).collect(), torn, malformed, handler_panics, end_unknown, ..Summary::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Program {
        let field = |name: &str, ty: &str, offset, bytes| Field { name: name.into(), ty: ty.into(), offset, bytes };
        let fields = vec![field("step", "u32", 0, 4), field("rest", "[u8; 8]", 4, 8)];
        let schema = Schema { name: "Loss".into(), signature: u64::MAX - 7, bytes: 12, policy: Policy::Drop, fields };
        let device = Device { number: 1, name: "a \"device\"".into(), kind: "sim".into() };
        let site = |level, text: &str| Site {
            file: "a.rs".into(),
            line: 7,
            column: 9,
            module: "a::b".into(),
            level,
            text: text.into(),
            kernel: "".into(),
        };
        let sites = vec![(1, site(None, "")), (65535, site(Some(Level::Warn), "\"{0:}\""))];
        let note = Schema { name: "Note".into(), signature: 3, bytes: 0, policy: Policy::Block, fields: vec![field("value", "str", 0, 0)] };
        Program { name: "p".into(), device, wave_size: 64, first_ring: 3, rings: 4, streams: vec![(7, schema), (8, note)], sites }
    }

    #[test]
    fn a_program_comes_back_from_its_text() {
        assert_eq!(Program::of_text(&program().to_text()), Ok(program()));
    }

    #[test]
    fn a_program_that_makes_no_sense_is_refused_by_what_is_wrong() {
        let text = String::from_utf8(program().to_text()).expect("text");
        for (from, to, says) in [
            ("\"wave_size\":64", "\"wave_size\":63", "waves of 63 lanes"),
            ("\"rings\":4", "\"rings\":4294967295", "rings from number 3"),
            ("\"number\":7", "\"number\":4096", "stream `Loss`: number 4096"),
            ("\"number\":65535", "\"number\":65536", "site 65536"),
            ("\"level\":2", "\"level\":6", "of level 6"),
            ("\"number\":7", "\"number\":0", "stream `Loss`: number 0"),
            ("\"signature\":\"f", "\"signature\":\"g", "signature `gff"),
            ("\"policy\":\"drop\"", "\"policy\":\"drip\"", "policy `drip`"),
            ("\"bytes\":12", "\"bytes\":13", "values of 13 bytes"),
            ("\"bytes\":12", "\"bytes\":128", "values of 128 bytes"),
            ("\"bytes\":12", "\"bytes\":16", "its fields have 12 bytes of 16"),
            ("\"bytes\":12", "\"bytes\":0", "field `step` has 4 bytes at 0, behind 0 bytes"),
            ("\"type\":\"str\"", "\"type\":\"string\"", "stream `Note`: values of 0 bytes"),
            ("\"name\":\"value\"", "\"name\":\"values\"", "stream `Note`: values of 0 bytes"),
            ("\"offset\":4", "\"offset\":8", "field `rest` has 8 bytes at 8, behind 4 bytes"),
            ("\"bytes\":8", "\"bytes\":4294967295", "field `rest` has 4294967295 bytes"),
            ("\"step\"", "7", "invalid type"),
        ] {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text, "{from} is in it");
            let error = Program::of_text(changed.as_bytes()).expect_err(to);
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn heads_have_the_sizes_and_places_that_the_description_says() {
        let head = FrameHead { kind: 2, ring: 0x0304, flags: 1, position: 0x0102_0304_0506_0708, bytes: 64, checksum: 0xaabb_ccdd };
        let bytes = head.encode();
        assert_eq!(&bytes[..28], b"\x02\0\x04\x03\x01\0\0\0\x08\x07\x06\x05\x04\x03\x02\x01\x40\0\0\0\0\0\0\0\xdd\xcc\xbb\xaa");
        assert_eq!(FrameHead::decode(&bytes), Some(head));
        let file = file_head();
        assert_eq!(&file[..12], b"HCSTREAM\x03\0\0\0");
        assert_eq!(number(&file, 12) as usize, file.len() - FILE_HEAD);
        // RFC 3720's example: 32 bytes of zeros.
        assert_eq!(crc32c::crc32c(&[0; 32]), 0x8a91_36aa);
    }

    #[test]
    fn dispatches_come_back_from_their_frames() {
        let shape = Some(Shape { groups: [u32::MAX, 2, 3], group_size: [4, 5, 6] });
        let known = Dispatch { number: Some(u64::MAX), kernel: Some("a \"kernel\""), shape };
        for dispatch in [known, Dispatch::default(), Dispatch { shape, ..Dispatch::default() }] {
            let frame = dispatch_frame(7, 1023, dispatch);
            let head = FrameHead::decode(frame.first_chunk().expect("a head")).expect("sealed");
            assert_eq!((head.kind, head.ring, head.flags, head.bytes as usize % 4), (5, 7, 1023, 0));
            assert_eq!(dispatch_of_text(&frame[FRAME_HEAD..]).expect("a dispatch"), dispatch);
        }
    }

    #[test]
    fn a_launch_of_a_file_before_shapes_has_none_and_one_without_a_side_is_refused() {
        let of = |text: &str| dispatch_of_text(text.as_bytes());
        assert_eq!(of(r#"{"number":7,"kernel":null}  "#).expect("a dispatch"), Dispatch { number: Some(7), ..Dispatch::default() });
        for (shape, says) in [
            (r#"{"groups":[1,0,1],"group_size":[1,1,1]}"#, "no side of one is 0"),
            (r#"{"groups":[1,1,1],"group_size":[1,1,0]}"#, "no side of one is 0"),
            (r#"{"groups":[1,1,1]}"#, "missing field `group_size`"),
            (r#"{"groups":[1,1],"group_size":[1,1,1]}"#, "invalid length 2"),
        ] {
            let error = of(&format!(r#"{{"number":7,"kernel":null,"shape":{shape}}}"#)).expect_err(shape).to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn counters_come_back_from_their_text() {
        let streams = vec![StreamCounts {
            name: "Loss".into(),
            messages: 1,
            values: 2,
            dropped: 3,
            waited: 4,
            filtered: 5,
            overwritten: 6,
            unhandled: 9,
        }];
        let summary = Summary { streams, torn: 6, malformed: 7, handler_panics: 8, end_unknown: true, ..Summary::default() };
        assert_eq!(counters_of_text(&counters_to_text(&summary)).expect("counters"), summary);
    }
}
