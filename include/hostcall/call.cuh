// What stubs call: arguments of any kind, packed by their types.
#pragma once

namespace hostcall {
namespace wire {

// The parts of a call that are strings and slices.
template <class T>
HC_DEVICE_INLINE void gather(const T&, part*, u32&, part*, u32&) {}
HC_DEVICE_INLINE void gather(const str& text, part* ins, u32& in, part*, u32&) { ins[in++] = {(u8*)text.data, text.len}; }
template <class T>
HC_DEVICE_INLINE void gather(const slice<T>& slice, part* ins, u32& in, part*, u32&) {
    ins[in++] = {(u8*)slice.data, slice.len * sizeof(T)};
}
template <class T>
HC_DEVICE_INLINE void gather(const slice_mut<T>& slice, part*, u32&, part* outs, u32& out) {
    outs[out++] = {(u8*)slice.data, slice.len * sizeof(T)};
}

// Tells who wants to know how many elements came back.
template <class T>
HC_DEVICE_INLINE void tell(const T&, const u32*, u32&) {}
template <class T>
HC_DEVICE_INLINE void tell(const slice_mut<T>& slice, const u32* returned, u32& out) {
    const u32 bytes = returned[out++];
    if (slice.returned != nullptr) *slice.returned = bytes / (u32)sizeof(T);
}

/// A call or post that carries strings or slices, made by `perform`.
template <class R, class Called, class Perform, class... Args>
HC_DEVICE_INLINE answer<R> call_var(const Called& called, bool post, const Perform& perform, const Args&... args) {
    using all = codec::arguments<Args...>;
    static_assert(codec::fixed<R>::units <= HOSTCALL_VAR_MOST_RESULT, "the result of a service with string or slice arguments is at most 256 bytes");
    const u32 number = number_of(called);
    if (number == 0) return no_answer<R>(HOSTCALL_STATUS_UNKNOWN_SERVICE, 0);
    u32 fixed[all::room];
    all::put(fixed, args...);
    part ins[all::ins + 1], outs[all::outs + 1];
    u32 result[codec::fixed<R>::units + 1], returned[all::outs + 1] = {}, in = 0, out = 0;
    (gather(args, ins, in, outs, out), ...);
    var_call call{number, post, fixed, all::units, ins, in, outs, out, result, codec::fixed<R>::units, returned};
    const outcome end = perform(call);
    out = 0;
    (tell(args, returned, out), ...);
    if (!end.ok()) return no_answer<R>(end.status(), end.detail());
    return decoded<R>(result);
}

/// Each lane's own.
template <class R, class Called, class... Args>
HC_DEVICE_INLINE answer<R> call_var_each(const Called& called, bool post, const Args&... args) {
    return call_var<R>(called, post, [site = site_of(called)](var_call& call) { return perform(site, call); }, args...);
}

/// One for all lanes that run converged here.
template <class R, class... Args>
HC_DEVICE_INLINE answer<R> call_var_together(u64 site, const service_word* word, bool post, const Args&... args) {
    const auto together = [site](var_call& call) { return perform_together(group_at(site, call.number).mask, call); };
    return call_var<R>(word, post, together, args...);
}

}  // namespace wire

/// Calls a service and waits for its result.
template <class R, class Called, class... Args>
HC_DEVICE_INLINE answer<R> call(const Called& called, const Args&... args) {
    using all = codec::arguments<Args...>;
    if constexpr (all::var) {
        return wire::call_var_each<R>(called, false, args...);
    } else {
        u32 units[all::room];
        all::put(units, args...);
        return wire::call_fixed<R, all::units>(called, units);
    }
}

/// Sends a message that nobody waits for.
template <class Called, class... Args>
HC_DEVICE_INLINE answer<void> post(const Called& called, const Args&... args) {
    using all = codec::arguments<Args...>;
    static_assert(all::outs == 0, "bytes can only come back to a call that is waited for");
    if constexpr (all::var) {
        return wire::call_var_each<void>(called, true, args...);
    } else {
        u32 units[all::room];
        all::put(units, args...);
        return wire::post_fixed<all::units>(called, units);
    }
}

/// One call for all lanes that run converged at `here`, with the first lane's arguments, whose slices are filled; each
/// gets the result.
template <class R, class... Args>
HC_DEVICE_INLINE answer<R> call_together(place here, const service_word* word, const Args&... args) {
    using all = codec::arguments<Args...>;
    if constexpr (all::var) {
        return wire::call_var_together<R>(here.site(), word, false, args...);
    } else {
        u32 units[all::room];
        all::put(units, args...);
        return wire::call_fixed_together<R, all::units>(here.site(), word, units);
    }
}

/// One message for all lanes that run converged at `here`: the first lane's.
template <class... Args>
HC_DEVICE_INLINE answer<void> post_together(place here, const service_word* word, const Args&... args) {
    using all = codec::arguments<Args...>;
    static_assert(all::outs == 0, "bytes can only come back to a call that is waited for");
    if constexpr (all::var) {
        return wire::call_var_together<void>(here.site(), word, true, args...);
    } else {
        u32 units[all::room];
        all::put(units, args...);
        return wire::post_fixed_together<all::units>(here.site(), word, units);
    }
}

/// As `call_together`, over a port that the wave holds.
template <class R, class... Args>
HC_DEVICE_INLINE answer<R> call_together_on(port& port, const service_word* word, const Args&... args) {
    using all = codec::arguments<Args...>;
    static_assert(!all::var, "over a held port arguments are of fixed sizes");
    u32 units[all::room];
    all::put(units, args...);
    return port.template call_together<R, all::units>(word, units);
}

/// As `post_together`, over a port that the wave holds.
template <class... Args>
HC_DEVICE_INLINE answer<void> post_together_on(port& port, const service_word* word, const Args&... args) {
    using all = codec::arguments<Args...>;
    static_assert(!all::var, "over a held port arguments are of fixed sizes");
    u32 units[all::room];
    all::put(units, args...);
    return port.template post_together<all::units>(word, units);
}

/// As `call`, over a port that the wave holds.
template <class R, class... Args>
HC_DEVICE_INLINE answer<R> call_on(port& port, const service_word* word, const Args&... args) {
    using all = codec::arguments<Args...>;
    static_assert(!all::var, "over a held port arguments are of fixed sizes");
    u32 units[all::room];
    all::put(units, args...);
    return port.template call<R, all::units>(word, units);
}

/// As `post`, over a port that the wave holds.
template <class... Args>
HC_DEVICE_INLINE answer<void> post_on(port& port, const service_word* word, const Args&... args) {
    using all = codec::arguments<Args...>;
    static_assert(!all::var, "over a held port arguments are of fixed sizes");
    u32 units[all::room];
    all::put(units, args...);
    return port.template post<all::units>(word, units);
}

/// Starts a call whose result is fetched later.
template <class R, class... Args>
HC_DEVICE_INLINE pending<R> start(const service_word* word, const Args&... args) {
    using all = codec::arguments<Args...>;
    static_assert(!all::var, "the arguments of a call that is started are of fixed sizes");
    u32 units[all::room];
    all::put(units, args...);
    return pending<R>::template start<all::units>(word, units);
}

}  // namespace hostcall
