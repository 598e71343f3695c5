// Built-in services: text, time, the environment, files. The table is `hostcall_abi::services`; the host's policy
// decides what they allow.
#pragma once

HOSTCALL_SERVICE(Console__print, "fn(u32, &[u8]) -> ()", "fn ( u32 , & [ u8 ] ) - > ( )", void,
                 ::hostcall::u32, ::hostcall::slice<::hostcall::u8>)
HOSTCALL_SERVICE(Clock__system_time, "fn() -> (i64, u32)", "fn ( ) - > ( i64 , u32 )", ::hostcall::tuple<::hostcall::i64, ::hostcall::u32>)
HOSTCALL_SERVICE(Environment__arg_count, "fn() -> u32", "fn ( ) - > u32", ::hostcall::u32)
HOSTCALL_SERVICE(Environment__arg, "fn(u32, &mut [u8]) -> Option<u32>", "fn ( u32 , & mut [ u8 ] ) - > Option < u32 >",
                 ::hostcall::optional<::hostcall::u32>, ::hostcall::u32, ::hostcall::slice_mut<::hostcall::u8>)
HOSTCALL_SERVICE(Environment__var, "fn(&[u8], &mut [u8]) -> Option<u32>", "fn ( & [ u8 ] , & mut [ u8 ] ) - > Option < u32 >",
                 ::hostcall::optional<::hostcall::u32>, ::hostcall::slice<::hostcall::u8>, ::hostcall::slice_mut<::hostcall::u8>)
HOSTCALL_SERVICE(Files__open, "fn(&[u8], u32) -> Result<u64, u32>", "fn ( & [ u8 ] , u32 ) - > Result < u64 , u32 >",
                 ::hostcall::result<::hostcall::u64, ::hostcall::u32>, ::hostcall::slice<::hostcall::u8>, ::hostcall::u32)
HOSTCALL_SERVICE(Files__close, "fn(u64)", "fn ( u64 )", void, ::hostcall::u64)
HOSTCALL_SERVICE(Files__read_at, "fn(u64, u64, &mut [u8]) -> Result<u32, u32>", "fn ( u64 , u64 , & mut [ u8 ] ) - > Result < u32 , u32 >",
                 ::hostcall::result<::hostcall::u32, ::hostcall::u32>, ::hostcall::u64, ::hostcall::u64,
                 ::hostcall::slice_mut<::hostcall::u8>)
HOSTCALL_SERVICE(Files__write_at, "fn(u64, u64, &[u8]) -> Result<u32, u32>", "fn ( u64 , u64 , & [ u8 ] ) - > Result < u32 , u32 >",
                 ::hostcall::result<::hostcall::u32, ::hostcall::u32>, ::hostcall::u64, ::hostcall::u64, ::hostcall::slice<::hostcall::u8>)

namespace hostcall {

/// Bytes of a text or of other plain values.
HC_DEVICE_INLINE slice<u8> bytes(str text) { return {(const u8*)text.data, text.len}; }
template <class T>
HC_DEVICE_INLINE slice<u8> bytes(slice<T> values) {
    return {(const u8*)values.data, values.len * sizeof(T)};
}
template <class T>
HC_DEVICE_INLINE slice_mut<u8> bytes(slice_mut<T> values) {
    return {(u8*)values.data, values.len * sizeof(T)};
}

/// Writes a text to the host's standard output, whole; the lane goes on when the host has it.
HC_DEVICE_INLINE answer<void> print(str text) { return call<void>(&__HOSTCALL__Console__print, (u32)1, bytes(text)); }
/// The same to standard error.
HC_DEVICE_INLINE answer<void> print_error(str text) { return call<void>(&__HOSTCALL__Console__print, (u32)2, bytes(text)); }

/// Seconds and nanoseconds since the start of 1970, by the host's clock.
HC_DEVICE_INLINE answer<tuple<i64, u32>> system_time() { return call<tuple<i64, u32>>(&__HOSTCALL__Clock__system_time); }

/// How many arguments the host granted.
HC_DEVICE_INLINE answer<u32> arg_count() { return call<u32>(&__HOSTCALL__Environment__arg_count); }
/// Bytes of an argument, as many as fit of which are put into `value`.
HC_DEVICE_INLINE answer<optional<u32>> arg(u32 index, slice_mut<char> value) {
    return call<optional<u32>>(&__HOSTCALL__Environment__arg, index, bytes(value));
}
/// Bytes of a variable's value, as many as fit of which are put into `value`.
HC_DEVICE_INLINE answer<optional<u32>> var(str name, slice_mut<char> value) {
    return call<optional<u32>>(&__HOSTCALL__Environment__var, bytes(name), bytes(value));
}

/// A file of the host's, which one lane opened. Errors are Linux's numbers.
class file {
public:
    /// `options`: `HOSTCALL_OPEN_READ` and the like, together.
    HC_METHOD static file open(str path, u32 options) {
        return file(call<result<u64, u32>>(&__HOSTCALL__Files__open, bytes(path), options));
    }

    file(const file&) = delete;
    file& operator=(const file&) = delete;
    HC_METHOD ~file() { close(); }

    HC_METHOD explicit operator bool() const { return open_; }
    /// Why it is not open: how the call ended, and if that was well, the host's error.
    HC_METHOD hostcall::status status() const { return status_; }
    HC_METHOD u32 error() const { return error_; }

    /// Reads at `offset`: how many bytes, 0 at the end.
    HC_METHOD answer<result<u32, u32>> read_at(u64 offset, slice_mut<u8> into) const {
        return call<result<u32, u32>>(&__HOSTCALL__Files__read_at, handle_, offset, into);
    }
    /// Writes at `offset`: how many bytes.
    HC_METHOD answer<result<u32, u32>> write_at(u64 offset, slice<u8> from) const {
        return call<result<u32, u32>>(&__HOSTCALL__Files__write_at, handle_, offset, from);
    }
    /// Closes it, unless it is not open. Posted: nobody waits for it.
    HC_METHOD void close() {
        if (open_) (void)post(&__HOSTCALL__Files__close, handle_);
        open_ = false;
    }

private:
    u64 handle_;
    bool open_;
    hostcall::status status_;
    u32 error_;

    HC_METHOD explicit file(const answer<result<u64, u32>>& opened)
        : handle_(opened.value.value), open_(opened.ok() && opened.value.ok), status_(opened.status), error_(opened.value.error) {}
};

}  // namespace hostcall
