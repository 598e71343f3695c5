// Lanes that end by a failure which the host puts into words: `hostcall-device`'s `failure`, over `Process::failed`.
#pragma once

HOSTCALL_SERVICE(Process__failed, "fn([u32; 3], [u32; 3], u64, u32, [u64; 3], u32, [u8; 128], [u8; 96])",
                 "fn ( [ u32 ; 3 ] , [ u32 ; 3 ] , u64 , u32 , [ u64 ; 3 ] , u32 , [ u8 ; 128 ] , [ u8 ; 96 ] )", void,
                 ::hostcall::array<::hostcall::u32, 3>, ::hostcall::array<::hostcall::u32, 3>, ::hostcall::u64, ::hostcall::u32,
                 ::hostcall::array<::hostcall::u64, 3>, ::hostcall::u32, ::hostcall::array<::hostcall::u8, 128>,
                 ::hostcall::array<::hostcall::u8, 96>)

/// Gives a call's value, or ends the lane with a report of the failure.
#define HOSTCALL_OR_ABORT(spoken, ...) (::hostcall::or_abort((__VA_ARGS__), spoken, __FILE__, __LINE__))

namespace hostcall {
namespace wire {

HC_DEVICE_INLINE u32 text_length(const char* text) {
    u32 len = 0;
    while (text[len] != 0) len++;
    return len;
}

/// Posted by the first of the lanes that fail together in this way: none of them goes on, so none waits for the host.
[[noreturn]] HC_COLD inline void report(u32 cause, u64 a, u64 b, const char* what, const char* file, u32 line) {
    constexpr u32 head = 3 + 3 + 2 + 1 + 6;
    const u32 number = machine::load_number(&__HOSTCALL__Process__failed);
    const lanes group = group_at(site_of(&__HOSTCALL__Process__failed), cause << 16 ^ line);
    // A host that does not know the service cannot be told.
    if (group.leads() && number != 0) {
        const coordinates id = machine::group_id(), local = machine::local_id();
        u32 units[head + HOSTCALL_SITE_UNITS] = {id.x, id.y, id.z, local.x, local.y, local.z,
                                                 (u32)group.mask, (u32)((u64)group.mask >> 32), cause,
                                                 (u32)a, (u32)(a >> 32), (u32)b, (u32)(b >> 32), 0, 0, line};
        u8* bytes = (u8*)(units + head + 1);
        // Of a text that is too long the start travels, of a file's name the end.
        copy_tail(bytes, (const u8*)what, least(text_length(what), HOSTCALL_WHAT_BYTES));
        const u32 name = text_length(file), cut = name > HOSTCALL_FILE_BYTES ? name - HOSTCALL_FILE_BYTES : 0;
        copy_tail(bytes + HOSTCALL_WHAT_BYTES, (const u8*)file + cut, name - cut);
        const lanes alone = group.alone();
        held held;
        if (port_client::acquire(alone, true, held) == HOSTCALL_STATUS_OK) {
            constexpr u32 count = head + HOSTCALL_SITE_UNITS;
            // If the host is gone nobody can be told.
            (void)port_client::send_long(alone, held, number, 0, count, [&units](u32 i) { return i < count ? units[i] : 0; });
            port_client::release(alone, held);
        }
    }
    machine::exit_lane();
}

}  // namespace wire

/// Gives the value, or ends the lane: the host's report says that the call `spoken` failed, why, and where it is
/// declared.
template <class T>
HC_DEVICE_INLINE T or_abort(const answer<T>& answer, const char* spoken, const char* file, u32 line) {
    if (!answer.ok()) wire::report(HOSTCALL_CAUSE_CALL, (u64)answer.status, answer.detail, spoken, file, line);
    return answer.value;
}
HC_DEVICE_INLINE void or_abort(const answer<void>& answer, const char* spoken, const char* file, u32 line) {
    if (!answer.ok()) wire::report(HOSTCALL_CAUSE_CALL, (u64)answer.status, answer.detail, spoken, file, line);
}

/// Ends the lane with a text, which the host's report shows.
[[noreturn]] HC_DEVICE_INLINE void abort(const char* text, const char* file = HC_CALLER_FILE, u32 line = HC_CALLER_LINE) {
    wire::report(HOSTCALL_CAUSE_TEXT, wire::text_length(text), 0, text, file, line);
}

}  // namespace hostcall
