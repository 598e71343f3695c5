//! `include/hostcall_abi.h`: the numbers of the wire for C and C++, printed from `hostcall-abi`'s own constants and
//! functions.

use std::fmt::{self, Write};
use std::mem::offset_of;

use anyhow::{Result, bail};
use hostcall_abi::codec::VarHead;
use hostcall_abi::descriptor::{Callee, Control, Element, FirstPoll, KernelParams};
use hostcall_abi::failure::{Cause, FILE_BYTES, SITE_UNITS, WHAT_BYTES};
use hostcall_abi::port::PortState;
use hostcall_abi::services::{check, open, printf};
use hostcall_abi::sim::{FOR_WAVES, LaneInfo, SIM_VERSION, SimOps};
use hostcall_abi::stream::header::Kind;
use hostcall_abi::stream::message::{SCHEMA_HEAD, word};
use hostcall_abi::stream::rings::{Counters, STRIDE};
use hostcall_abi::stream::{self, Bounds, Gate, Policy, Rings};
use hostcall_abi::tick::Tick;
use hostcall_abi::word::WORD_BYTES;
use hostcall_abi::{ABI_VERSION, Descriptor, Flags, Geometry, Header, Status, Tag, Word};
use xshell::Shell;

/// The file.
const FILE: &str = "include/hostcall_abi.h";

/// Writes the file, or, to check, fails if it is not what it should be.
pub(crate) fn run(sh: &Shell, check: bool) -> Result<()> {
    let text = header();
    if sh.read_file(FILE).is_ok_and(|there| there == text) {
        return Ok(());
    }
    if check {
        bail!("{FILE} is not what `hostcall-abi` says; run `cargo xtask generate`");
    }
    Ok(sh.write_file(FILE, text)?)
}

/// What the file says.
pub(crate) fn header() -> String {
    let mut out = String::from(TOP);
    // Writing to a string does not fail.
    let _ = constants(&mut out).and_then(|()| structs(&mut out));
    out.push_str(BOTTOM);
    out
}

const TOP: &str = "\
/* The numbers of hostcall's wire. Printed from the crate `hostcall-abi` by `cargo xtask abi-header`: do not edit. */
#ifndef HOSTCALL_ABI_H
#define HOSTCALL_ABI_H

#if defined(__cplusplus)
#define HOSTCALL_ABI_ASSERT(condition) static_assert(condition, \"as in hostcall-abi\")
#else
#define HOSTCALL_ABI_ASSERT(condition) _Static_assert(condition, \"as in hostcall-abi\")
#endif

#if defined(__CUDACC_RTC__) && (__CUDACC_VER_MAJOR__ < 13 || (__CUDACC_VER_MAJOR__ == 13 && __CUDACC_VER_MINOR__ < 5))
/* Older versions of NVRTC lack it. This is what their front end has instead. */
#define __builtin_offsetof(type, member) ((unsigned long long)__INTADDR__(&((type*)0)->member))
#endif

";

const BOTTOM: &str = "
#endif
";

/// The state of a port with one part of it set, by which the part's place is known.
const fn position_shift() -> u32 {
    PortState::new(Tag::new(0), 1, false).0.trailing_zeros()
}

fn lone_flag() -> u32 {
    let lone = Header { service: 0, words: 0, flags: Flags::default(), mask: 1 }.encode_lone(0, [0, 0], Tag::new(0));
    lone.0[0] >> 24
}

fn constants(out: &mut String) -> fmt::Result {
    let numbers: [(&str, u64); 83] = [
        ("ABI_VERSION", ABI_VERSION.into()),
        ("WORD_BYTES", WORD_BYTES.into()),
        ("TAG_MASK", Tag::new(u16::MAX).seq().into()),
        ("TAG_HEADER", Tag::new(0).header().into()),
        ("SCRUB_PERIOD", Tag::SCRUB_PERIOD.into()),
        ("FLAG_REPLY", Flags::REPLY.0.into()),
        ("FLAG_STAGED", Flags::STAGED.0.into()),
        ("FLAG_LONE", lone_flag().into()),
        ("LONE_UNITS", Header::LONE_UNITS.into()),
        ("VAR_INLINE", VarHead::INLINE.into()),
        ("VAR_UNITS", VarHead::DWORDS as u64),
        ("VAR_MOST_RESULT", VarHead::MOST_RESULT as u64),
        ("PAGE", Geometry::PAGE as u64),
        ("STATE_LOCKED", PortState::LOCKED.into()),
        ("STATE_TAG_SHIFT", PortState::new(Tag::new(1), 0, false).0.trailing_zeros().into()),
        ("STATE_UNACKED", PortState::new(Tag::new(0), 0, true).0.into()),
        ("STATE_POSITION_SHIFT", position_shift().into()),
        ("KERNEL_PARAMS_MAX", KernelParams::MAX as u64),
        ("ELEMENT_KIND_SHIFT", Element::KIND_SHIFT.into()),
        ("ELEMENT_UNSIGNED", Element::UNSIGNED.into()),
        ("ELEMENT_SIGNED", Element::SIGNED.into()),
        ("ELEMENT_FLOAT", Element::FLOAT.into()),
        ("ELEMENT_VALUE", Element::VALUE.into()),
        ("WHAT_BYTES", WHAT_BYTES as u64),
        ("FILE_BYTES", FILE_BYTES as u64),
        ("SITE_UNITS", SITE_UNITS as u64),
        ("CAUSE_CALL", Cause::CALL.0.into()),
        ("CAUSE_INDEX", Cause::INDEX.0.into()),
        ("CAUSE_RANGE", Cause::RANGE.0.into()),
        ("CAUSE_LENGTHS", Cause::LENGTHS.0.into()),
        ("CAUSE_DIVISION", Cause::DIVISION.0.into()),
        ("CAUSE_REMAINDER", Cause::REMAINDER.0.into()),
        ("CAUSE_NONE", Cause::NONE.0.into()),
        ("CAUSE_TEXT", Cause::TEXT.0.into()),
        ("PRINTF_SIZE_SHIFT", printf::SIZE_SHIFT.into()),
        ("PRINTF_SIGNED", printf::SIGNED.into()),
        ("PRINTF_UNSIGNED", printf::UNSIGNED.into()),
        ("PRINTF_FLOAT", printf::FLOAT.into()),
        ("PRINTF_POINTER", printf::POINTER.into()),
        ("PRINTF_TEXT", printf::TEXT.into()),
        ("PRINTF_CHAR", printf::CHAR.into()),
        ("PRINTF_NULL", printf::NULL.into()),
        ("PRINTF_TEXTS", printf::TEXTS as u64),
        ("CHECK_SIDES", check::SIDES.into()),
        ("CHECK_FIRST_OF", check::FIRST_OF.into()),
        ("CHECK_GOES_ON", check::GOES_ON.into()),
        ("CHECK_OTHER", check::OTHER.into()),
        ("CHECK_BOOL", check::BOOL.into()),
        ("CHECK_TEXTS", check::TEXTS as u64),
        ("OPEN_READ", open::READ.into()),
        ("OPEN_WRITE", open::WRITE.into()),
        ("OPEN_APPEND", open::APPEND.into()),
        ("OPEN_TRUNCATE", open::TRUNCATE.into()),
        ("OPEN_CREATE", open::CREATE.into()),
        ("OPEN_CREATE_NEW", open::CREATE_NEW.into()),
        ("FIRST_POLL_CLOCKS", FirstPoll::DEFAULT.clocks.into()),
        ("FIRST_POLL_PER_LANE", FirstPoll::DEFAULT.per_lane.into()),
        ("TICK_NANOS", Tick::DEFAULT.nanos.into()),
        ("TICK_FRACTION", Tick::DEFAULT.fraction.into()),
        ("STREAM_GRANULE", stream::GRANULE.into()),
        ("STREAM_GRANULE_LOG2", stream::GRANULE.ilog2().into()),
        ("STREAM_MAX_UNITS", stream::MAX_UNITS.into()),
        ("STREAM_MAX", stream::header::MAX_STREAM.into()),
        ("STREAM_HEADER_UNITS", stream::header::UNITS.into()),
        ("STREAM_MAX_GRANULES", stream::header::MAX_GRANULES.into()),
        ("STREAM_KIND_ROWS", Kind::Rows as u64),
        ("STREAM_KIND_BYTES", Kind::Bytes as u64),
        ("STREAM_QUAD_BYTES", stream::bytes::QUAD_BYTES.into()),
        ("STREAM_POLICY_SHIFT", word::of(0, Policy::Drop).trailing_zeros().into()),
        ("STREAM_UNTIMED", word::UNTIMED.into()),
        ("STREAM_LIVE", word::LIVE.into()),
        ("STREAM_MAX_RATE_LOG2", Gate::MAX_RATE_LOG2.into()),
        ("STREAM_MAX_SPAN", stream::bounds::MOST.into()),
        ("STREAM_MAX_WEIGHT_LOG2", stream::header::MAX_WEIGHT_LOG2.into()),
        ("STREAM_STRIDE", STRIDE as u64),
        // By which waves are spread over rings: that of wave 1, of as many rings as there can be, and numbers.
        ("STREAM_SPREAD", Rings::ring_of(32, 1).into()),
        ("STREAM_COUNTERS_BYTES", size_of::<Counters>() as u64),
        ("STREAM_DROPPED", offset_of!(Counters, dropped) as u64),
        ("STREAM_WAITED", offset_of!(Counters, waited) as u64),
        ("STREAM_FILTERED", offset_of!(Counters, filtered) as u64),
        ("STREAM_SCHEMA_HEAD", SCHEMA_HEAD as u64),
        ("SIM_VERSION", SIM_VERSION.into()),
        ("SIM_FOR_WAVES", FOR_WAVES.into()),
    ];
    for (name, number) in numbers {
        writeln!(out, "#define HOSTCALL_{name} {number}u")?;
    }
    out.push('\n');
    let named = (0..=u16::MAX).filter_map(|number| Some((Status(number).name()?, number)));
    for (name, number) in named {
        writeln!(out, "#define HOSTCALL_STATUS_{name} {number}u")?;
    }
    writeln!(out, "#define HOSTCALL_STATUSES(X) \\")?;
    let all: Vec<_> =
        (0..=u16::MAX).filter_map(|number| Some(format!("    X({}, {number})", Status(number).name()?.to_lowercase()))).collect();
    writeln!(out, "{}", all.join(" \\\n"))
}

/// A field: its name, its type in C, and where it is.
type Field = (&'static str, &'static str, usize);

/// Fields of a Rust struct under their C types.
macro_rules! fields {
    ($type:ty: $($field:ident $c:literal),+ $(,)?) => { [$((stringify!($field), $c, offset_of!($type, $field))),+] };
}

fn structs(out: &mut String) -> fmt::Result {
    const U32: &str = "unsigned int";
    let descriptor = fields!(Descriptor:
        states "unsigned long long", doorbells "unsigned long long", requests "unsigned long long", replies "unsigned long long",
        ports "unsigned int", request_words "unsigned int", reply_words "unsigned int", lone_stride "unsigned int",
        control "unsigned long long", staging "unsigned long long", slot_locks "unsigned long long",
        slots "unsigned int", slot_bytes "unsigned int",
        heap "unsigned long long", heap_bytes "unsigned long long", closed "unsigned long long", seed "unsigned long long",
        first_poll "struct hostcall_first_poll", window "unsigned int", marks "unsigned int",
    );
    let first_poll = fields!(FirstPoll: clocks "unsigned int", per_lane "unsigned int");
    let tick = fields!(Tick: nanos "unsigned int", fraction "unsigned int");
    let lane_info = fields!(LaneInfo:
        lane "unsigned int", wave_size "unsigned int", wave "unsigned int", sm "unsigned int",
        group "unsigned int[3]", groups "unsigned int[3]", local "unsigned int[3]", local_size "unsigned int[3]", launch "unsigned int",
    );
    let rings = fields!(Rings:
        data "unsigned long long", stride "unsigned long long", states "unsigned long long", credit "unsigned long long",
        control "unsigned long long", counters "unsigned long long", ring_log2 "unsigned int", rings_log2 "unsigned int",
        gates "unsigned long long",
    );
    let gate = fields!(Gate:
        lanes "unsigned long long", first "unsigned int", groups "unsigned int", rate_log2 "unsigned int", shut "unsigned int",
        patience "unsigned int", bounded "unsigned int",
    );
    let bounds = fields!(Bounds:
        first_x "unsigned int", last_x "unsigned int", group_y "unsigned int", group_z "unsigned int",
        lane_x "unsigned int", lane_y "unsigned int", lane_z "unsigned int", waves "unsigned int",
    );
    let params: [Field; 2] = [
        ("count", U32, offset_of!(KernelParams, count)),
        ("sizes", "unsigned int[HOSTCALL_KERNEL_PARAMS_MAX]", offset_of!(KernelParams, sizes)),
    ];
    write_struct(
        out,
        "A word of the wire: 14 bytes of payload and a 2-byte tag.",
        "word",
        16,
        size_of::<Word>(),
        &[("at", "unsigned int[4]", 0)],
    )?;
    write_struct(out, "When a waiting lane first looks.", "first_poll", 4, size_of::<FirstPoll>(), &first_poll)?;
    write_struct(out, "What the host writes into a program: `__hostcall_device`.", "descriptor", 64, size_of::<Descriptor>(), &descriptor)?;
    write_struct(out, "Where the rings of streams are: `__hostcall_rings`.", "rings", 64, size_of::<Rings>(), &rings)?;
    write_struct(out, "Which messages of a stream are wanted.", "gate", 32, size_of::<Gate>(), &gate)?;
    write_struct(
        out,
        "From which places messages of a stream are wanted: a span is first | last << 16.",
        "bounds",
        32,
        size_of::<Bounds>(),
        &bounds,
    )?;
    write_struct(out, "Nanoseconds of a tick: `__hostcall_tick`.", "tick", 4, size_of::<Tick>(), &tick)?;
    write_struct(out, "A kernel's parameters: `__HOSTCALL_KERNEL__…`.", "kernel_params", 4, size_of::<KernelParams>(), &params)?;
    write_struct(out, "Where a lane of the simulator is.", "lane_info", 4, size_of::<LaneInfo>(), &lane_info)?;
    writeln!(out, "\n/* Offset of the word in the control line that says that the server is gone. */")?;
    writeln!(out, "#define HOSTCALL_CONTROL_CLOSED {}u", offset_of!(Control, closed))?;
    writeln!(out, "/* A service as a value: number, and the low half of its signature. */")?;
    writeln!(out, "#define HOSTCALL_CALLEE_BYTES {}u", size_of::<Callee>())?;
    writeln!(out, "\n/* The simulator's operations, pointers to functions, and where they lie in its table. */")?;
    let ops = fields!(SimOps:
        lane_info "", active_mask "", ballot "", shuffle "", sync_wave "", sync_group "", pause "", clock_ns "", group_scratch "",
        exit_lane "", trap "", lane_word "", wake_patient "", group_memory "", space "",
    );
    for (name, _, at) in ops {
        writeln!(out, "#define HOSTCALL_SIM_OP_{} {at}u", name.to_uppercase())?;
    }
    writeln!(out, "#define HOSTCALL_SIM_OPS_BYTES {}u", size_of::<SimOps>())
}

fn write_struct(out: &mut String, about: &str, name: &str, align: usize, size: usize, fields: &[Field]) -> fmt::Result {
    writeln!(out, "\n/* {about} */")?;
    writeln!(out, "struct hostcall_{name} {{")?;
    for (i, (field, ty, _)) in fields.iter().enumerate() {
        let (ty, array) = ty.split_once('[').map_or((*ty, String::new()), |(ty, count)| (ty, format!("[{count}")));
        // The first field of a struct that is aligned more than its fields carries the alignment, which C and C++ both
        // know.
        let aligned = if i == 0 && align > 8 { format!("__attribute__((aligned({align}))) ") } else { String::new() };
        writeln!(out, "    {aligned}{ty} {field}{array};")?;
    }
    writeln!(out, "}};")?;
    writeln!(out, "HOSTCALL_ABI_ASSERT(sizeof(struct hostcall_{name}) == {size});")?;
    for (field, _, at) in fields {
        writeln!(out, "HOSTCALL_ABI_ASSERT(__builtin_offsetof(struct hostcall_{name}, {field}) == {at});")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_header_is_what_the_crate_says() {
        let there = std::fs::read_to_string(crate::root().join(FILE)).expect("the header is there");
        assert!(there == header(), "{FILE} is not what `hostcall-abi` says; run `cargo xtask generate`");
    }

    #[test]
    fn a_callee_is_two_words() {
        assert_eq!((size_of::<Callee>(), align_of::<Callee>()), (8, 4));
    }
}
