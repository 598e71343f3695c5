// Kernels that fill AMD's packets. `tests/packets.rs` runs them.
#include "hostcall_packets.cuh"

using hostcall::u32;
using hostcall::u64;

namespace {

/// Numbers that look random, and are the same for the host.
HC_DEVICE_INLINE u64 mix(u64 value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
    return value ^ (value >> 31);
}

/// Whether a lane takes part in a call, as part of any mask.
HC_DEVICE_INLINE bool takes_part(u64 lane, u32 call) { return mix(lane << 16 | call) % 4 != 0 || call == 0; }

/// Sends up to six words of data, and checks what comes back: their sum, which the handler makes differ from lane to
/// lane, and their number.
HC_DEVICE_INLINE u32 exchange(void* buffer, bool mail, u32 service, u64 lane, u32 call) {
    u64 words[8] = {lane << 8 | call, mix(lane + call) % 7};
    u64 sum = words[0];
    for (u32 i = 0; i < 6; i++) {
        words[2 + i] = mix(lane * 64 + call * 8 + i);
        if (i < words[1]) sum += words[2 + i];
    }
    const auto got = mail ? hostcall_amd_mail(buffer, service, words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7])
                          : hostcall_amd_preview(buffer, service, words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7]);
    return got.refused == 0 && got.x == sum && got.y == words[1] ? 1 : 0;
}

}  // namespace

/// Each lane makes so many calls, or leaves some of them to others; what it counts is how many ended as they should.
HOSTCALL_KERNEL(exchanges, u64 buffer, u32 mail, u32 service, u32 calls, u32* right, u64 n) {
    const u64 lane = hostcall::global_id();
    if (lane >= n) return;
    u32 good = 0;
    for (u32 call = 0; call < calls; call++) {
        if (!takes_part(lane, call))
            good++;
        else if (mail != 0)
            good += exchange((void*)buffer, true, service, lane, call);
        else
            good += exchange((void*)buffer, false, service, lane, call);
    }
    right[lane] = good;
}

/// The first lane of each wave makes so many calls, as fast as it can.
HOSTCALL_KERNEL(rate, u64 buffer, u32 mail, u32 service, u32 calls, u32* right, u64 n) {
    const u64 lane = hostcall::global_id();
    if (lane >= n || hostcall::lane_id() != 0) return;
    u32 good = 0;
    for (u32 call = 0; call < calls; call++) {
        const auto got = mail != 0 ? hostcall_amd_mail((void*)buffer, service, call, 0, 0, 0, 0, 0, 0, 0)
                                   : hostcall_amd_preview((void*)buffer, service, call, 0, 0, 0, 0, 0, 0, 0);
        good += got.x == call + 1ull ? 1 : 0;
    }
    right[lane / hostcall::wave_size()] = good;
}

/// Adds one to a word of the host, so many times, as waves change a stack: the host adds meanwhile.
HOSTCALL_KERNEL(additions, u64* word, u32 times, u64 n) {
    if (hostcall::global_id() >= n) return;
    for (u32 i = 0; i < times; i++) {
        u64 now = hostcall::packets::memory::load(word);
        for (u64 was; (was = hostcall::packets::memory::exchange(word, now, now + 1)) != now; now = was) {
        }
    }
}
