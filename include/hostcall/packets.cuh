// A wave's part of AMD's packets, in both forms: stacks, which waves and the host change by atomic operations on the
// same words, and mailboxes, where each word has one writer.
#pragma once

namespace hostcall {
namespace packets {

/// Eight words of each of 64 lanes.
struct payload {
    u64 lanes[64][8];
};
static_assert(sizeof(payload) == 4096, "as AMD lays it out");

/// What a lane gets. `refused` is not 0 if no handler ran; `x` and `y` are then what the lane sent. Mailboxes do not
/// tell.
struct result {
    u64 x, y;
    u32 refused;
};

/// A buffer of stacks, in either form: AMD's library has the bits of an index at its end, ROCm's device libraries have
/// a mask.
struct stacks {
    struct header {
        u64 next, active_mask;
        u32 service, control;
    };
    header* headers;
    payload* payloads;
    u64 doorbell, free_stack, ready_stack;
    u32 index, index_high;
};
static_assert(sizeof(stacks::header) == 24 && sizeof(stacks) == 48, "as AMD lays it out");

/// A buffer of mailboxes.
struct mailboxes {
    struct header {
        u64 active_mask;
        u32 service;
    };
    u32 *device_phase, *host_phase, *occupied;
    header* headers;
    payload* payloads;
    u64 doorbell;
    u32 packets;
};
static_assert(sizeof(mailboxes::header) == 16 && sizeof(mailboxes) == 56, "as ROCm lays it out");

/// What the first lane of a call has.
HC_DEVICE_INLINE u32 of_first(const wire::lanes& lanes, u32 value) { return machine::broadcast(lanes.mask, value, machine::first_lane(lanes.mask)); }
HC_DEVICE_INLINE u64 of_first(const wire::lanes& lanes, u64 value) {
    const u32 low = of_first(lanes, (u32)value), high = of_first(lanes, (u32)(value >> 32));
    return low | (u64)high << 32;
}

HC_DEVICE_INLINE void send_words(u64* at, const u64 (&words)[8]) {
    HC_UNROLL
    for (u32 i = 0; i < 8; i++) memory::store(at + i, words[i]);
}

/// The packet of a tagged pointer.
HC_DEVICE_INLINE u64 packet_of(u64 pointer, u64 mask) { return pointer & mask; }

HC_DEVICE_INLINE u64 pop(stacks* buffer, u64 mask) {
    for (u32 attempt = 0;; attempt++) {
        const u64 top = memory::acquire(&buffer->free_stack);
        if (top != 0) {
            const u64 below = memory::load(&buffer->headers[packet_of(top, mask)].next);
            if (memory::exchange(&buffer->free_stack, top, below) == top) return top;
        }
        // Waves that met part: each waits longer than before.
        machine::pause(attempt);
    }
}

HC_DEVICE_INLINE void push(stacks* buffer, u64* stack, u64 pointer, u64 mask) {
    u64* const next = &buffer->headers[packet_of(pointer, mask)].next;
    u64 below = memory::load(stack);
    for (u32 attempt = 0;; attempt++) {
        memory::store(next, below);
        const u64 now = memory::exchange(stack, below, pointer);
        if (now == below) return;
        below = now;
        machine::pause(attempt);
    }
}

/// One call through stacks whose index has these bits.
HC_DEVICE_INLINE result call(stacks* buffer, u64 mask, u32 service, const u64 (&words)[8], place here) {
    const wire::lanes lanes = wire::group_at(here.site(), service);
    u64 held = 0;
    if (lanes.leads()) held = pop(buffer, mask);
    held = of_first(lanes, held);
    stacks::header* const header = &buffer->headers[packet_of(held, mask)];
    u64* const at = buffer->payloads[packet_of(held, mask)].lanes[machine::lane()];
    send_words(at, words);
    // All lanes' words are there before the packet is.
    machine::fence_system();
    machine::sync(lanes.mask);
    u32 control = 0;
    if (lanes.leads()) {
        memory::store(&header->service, service);
        memory::store(&header->active_mask, (u64)lanes.mask);
        // Ready, and the host is to say whether it refused: other clients wait until the word is 0.
        memory::store(&header->control, 1u | 8u);
        push(buffer, &buffer->ready_stack, held, mask);
        memory::ring(buffer->doorbell);
        // Pairs with the host's release when it answers.
        for (u32 attempt = 0; (control = memory::acquire(&header->control)) & 1u; attempt++) machine::pause(attempt);
    }
    machine::sync(lanes.mask);
    control = of_first(lanes, control);
    machine::fence_system();
    const result got = {memory::load(at), memory::load(at + 1), control & 2u};
    machine::sync(lanes.mask);
    if (lanes.leads()) {
        // The tag of packet 0 skips the value that means no packet.
        const u64 back = held + mask + 1;
        push(buffer, &buffer->free_stack, back != 0 ? back : mask + 1, mask);
    }
    return got;
}

/// Claims a packet that nobody holds. Waits as long as there is none.
HC_DEVICE_INLINE u32 claim(mailboxes* buffer) {
    const u32 packets = buffer->packets;
    u32 packet = (u32)(wave_index() % packets);
    for (u32 attempt = 0;; attempt++) {
        const u32 bit = 1u << packet % 32;
        if (!(memory::claim(&buffer->occupied[packet / 32], bit) & bit)) return packet;
        packet = packet + 1 < packets ? packet + 1 : 0;
        machine::pause(attempt / packets);
    }
}

/// One call through a mailbox.
HC_DEVICE_INLINE result call(mailboxes* buffer, u32 service, const u64 (&words)[8], place here) {
    const wire::lanes lanes = wire::group_at(here.site(), service);
    u32 packet = 0;
    if (lanes.leads()) packet = claim(buffer);
    packet = of_first(lanes, packet);
    u64* const at = buffer->payloads[packet].lanes[machine::lane()];
    send_words(at, words);
    machine::fence_system();
    machine::sync(lanes.mask);
    if (lanes.leads()) {
        memory::store(&buffer->headers[packet].service, service);
        memory::store(&buffer->headers[packet].active_mask, (u64)lanes.mask);
        // Only who holds the packet writes this word.
        const u32 asked = memory::load(&buffer->device_phase[packet]) ^ 1u;
        memory::release(&buffer->device_phase[packet], asked);
        memory::ring(buffer->doorbell);
        // Pairs with the host's release when it answers.
        for (u32 attempt = 0; memory::acquire(&buffer->host_phase[packet]) != asked; attempt++) machine::pause(attempt);
    }
    machine::sync(lanes.mask);
    machine::fence_system();
    const result got = {memory::load(at), memory::load(at + 1), 0};
    machine::sync(lanes.mask);
    if (lanes.leads()) memory::unclaim(&buffer->occupied[packet / 32], 1u << packet % 32);
    return got;
}

}  // namespace packets
}  // namespace hostcall

/// A call through stacks, as `amd_hostcall_initialize_buffer` lays them out: each lane that runs sends eight words and
/// gets two. For GPUs whose atomic operations on the host's memory are atomic for the host as well.
HC_DEVICE_INLINE hostcall::packets::result hostcall_amd_preview(void* buffer, hostcall::u32 service, hostcall::u64 a0, hostcall::u64 a1,
                                                         hostcall::u64 a2, hostcall::u64 a3, hostcall::u64 a4, hostcall::u64 a5,
                                                         hostcall::u64 a6, hostcall::u64 a7,
                                                         hostcall::place here = hostcall::place::current()) {
    auto* const at = (hostcall::packets::stacks*)buffer;
    const hostcall::u64 words[8] = {a0, a1, a2, a3, a4, a5, a6, a7};
    return hostcall::packets::call(at, ((hostcall::u64)1 << at->index) - 1, service, words, here);
}

/// The same through a mailbox, as `hostcall_amd_initialize_form` lays it out. For every GPU.
HC_DEVICE_INLINE hostcall::packets::result hostcall_amd_mail(void* buffer, hostcall::u32 service, hostcall::u64 a0, hostcall::u64 a1,
                                                      hostcall::u64 a2, hostcall::u64 a3, hostcall::u64 a4, hostcall::u64 a5,
                                                      hostcall::u64 a6, hostcall::u64 a7,
                                                      hostcall::place here = hostcall::place::current()) {
    const hostcall::u64 words[8] = {a0, a1, a2, a3, a4, a5, a6, a7};
    return hostcall::packets::call((hostcall::packets::mailboxes*)buffer, service, words, here);
}
