// Made by `cargo hostcall bindgen --lang cuda`. Do not edit.
#pragma once
#include <hostcall.cuh>

HOSTCALL_SERVICE(Host__add42, "fn(f32) -> f32", "fn ( f32 ) - > f32", ::hostcall::f32, ::hostcall::f32)
static_assert(::hostcall::codec::signature<::hostcall::f32, ::hostcall::f32>("fn ( f32 ) - > f32") == 0xd7f282fff761096dull, "Host::add42: as in Rust");
HOSTCALL_SERVICE(Host__log, "fn(&str)", "fn ( & str )", void, ::hostcall::str)
static_assert(::hostcall::codec::signature<void, ::hostcall::str>("fn ( & str )") == 0xc37440676a55a4f6ull, "Host::log: as in Rust");

/// Answered on the host, called on the device.
struct Host {
    /// `x + 42`.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f32> add42(::hostcall::f32 x) {
        return HOSTCALL_FINISH("Host::add42", ::hostcall::call<::hostcall::f32>(&__HOSTCALL__Host__add42, x));
    }
    /// As `add42`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f32> add42_by(::hostcall::callee hc_callee, ::hostcall::f32 x) {
        return HOSTCALL_FINISH("Host::add42", ::hostcall::call<::hostcall::f32>(::hostcall::given(&__HOSTCALL__Host__add42, 0xd7f282fff761096dull, hc_callee), x));
    }
    /// One `add42` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f32> add42_together(::hostcall::f32 x, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Host::add42", ::hostcall::call_together<::hostcall::f32>(hc_here, &__HOSTCALL__Host__add42, x));
    }
    /// As `add42`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f32> add42_on(::hostcall::port& hc_port, ::hostcall::f32 x) {
        return HOSTCALL_FINISH("Host::add42", ::hostcall::call_on<::hostcall::f32>(hc_port, &__HOSTCALL__Host__add42, x));
    }
    /// As `add42_together`, over a port that the wave holds.
    static HOSTCALL_STUB ::hostcall::returned<::hostcall::f32> add42_together_on(::hostcall::port& hc_port, ::hostcall::f32 x) {
        return HOSTCALL_FINISH("Host::add42", ::hostcall::call_together_on<::hostcall::f32>(hc_port, &__HOSTCALL__Host__add42, x));
    }
    /// Starts `add42`, to wait for its result later.
    static HOSTCALL_STUB ::hostcall::pending<::hostcall::f32> start_add42(::hostcall::f32 x) {
        return ::hostcall::start<::hostcall::f32>(&__HOSTCALL__Host__add42, x);
    }

    /// Something to write down. Nobody waits for it.
    static HOSTCALL_STUB ::hostcall::returned<void> log(::hostcall::str message) {
        return HOSTCALL_FINISH("Host::log", ::hostcall::post(&__HOSTCALL__Host__log, message));
    }
    /// As `log`, by the service that the host passed to the kernel as a value.
    static HOSTCALL_STUB ::hostcall::returned<void> log_by(::hostcall::callee hc_callee, ::hostcall::str message) {
        return HOSTCALL_FINISH("Host::log", ::hostcall::post(::hostcall::given(&__HOSTCALL__Host__log, 0xc37440676a55a4f6ull, hc_callee), message));
    }
    /// One `log` for all lanes that run converged here, with the first lane's arguments.
    static HOSTCALL_STUB ::hostcall::returned<void> log_together(::hostcall::str message, ::hostcall::place hc_here = ::hostcall::place::current()) {
        return HOSTCALL_FINISH("Host::log", ::hostcall::post_together(hc_here, &__HOSTCALL__Host__log, message));
    }
};
