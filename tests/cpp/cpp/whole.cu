// Words of 16 bytes between a kernel and the host, for the probe in `tests/whole.rs`.
#include "hostcall.cuh"

using hostcall::u32;
using hostcall::u64;

/// Each lane stores words of four equal parts, and counts the words of the host's whose parts differ. It ends when the
/// host has seen enough.
HOSTCALL_KERNEL(whole_words, u64 to_host, u64 from_host, u32* torn, u32 rounds, u64 n) {
    const u64 lane = hostcall::global_id();
    if (lane >= n) return;
    u32 differ = 0;
    for (u32 round = 1; round <= rounds; round++) {
        hostcall::machine::store_whole(to_host + lane * 16, {{round, round, round, round}});
        const hostcall_word word = hostcall::machine::load_whole(from_host + lane * 16);
        differ += word.at[0] != word.at[1] || word.at[0] != word.at[2] || word.at[0] != word.at[3] ? 1 : 0;
    }
    torn[lane] = differ;
}
