// hostcall for hosts in C++17: the handles of hostcall.h as classes, and handlers that may throw.
//
// A function that fails throws `error`. A handler that throws fails its calls: an exception `failure` by its code and
// message, others by code 0 and what(). Everything is in `hostcall::host`, so that this can be included beside the
// device header.
#ifndef HOSTCALL_HPP
#define HOSTCALL_HPP

#include <hostcall.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace hostcall::host {

// A function of the library failed; what() names the remedy.
class error : public std::runtime_error {
 public:
  error(hc_status status, const char *text) : std::runtime_error(text), status_(status) {}
  hc_status status() const noexcept { return status_; }

 private:
  hc_status status_;
};

// Throws what the thread's last function said.
inline void check(hc_status status) {
  if (status != HC_OK) throw error(status, hc_last_error());
}

// Why a lane's call has no result: the lane sees the code, the host's report the message. Can be returned and thrown.
struct failure : std::exception {
  failure(std::uint32_t lane_code, std::string text) : code(lane_code), message(std::move(text)) {}
  const char *what() const noexcept override { return message.c_str(); }

  std::uint32_t code;
  std::string message;
};

// A lane's result, or why there is none: what a typed handler may return.
template <class T>
class answer {
 public:
  answer(T value) : value_(std::move(value)) {}
  answer(failure why) : error_(std::move(why)) {}
  explicit operator bool() const noexcept { return value_.has_value(); }
  T &value() & { return *value_; }
  const T &value() const & { return *value_; }
  T &&value() && { return *std::move(value_); }
  const failure &error() const { return *error_; }

 private:
  std::optional<T> value_;
  std::optional<failure> error_;
};

template <>
class answer<void> {
 public:
  answer() = default;
  answer(failure why) : error_(std::move(why)) {}
  explicit operator bool() const noexcept { return !error_.has_value(); }
  const failure &error() const { return *error_; }

 private:
  std::optional<failure> error_;
};

// Elements that belong to somebody else. (std::span is C++20's.)
template <class T>
class view {
 public:
  constexpr view() = default;
  constexpr view(T *first, std::size_t count) : data_(first), size_(count) {}
  constexpr T *data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T *begin() const noexcept { return data_; }
  constexpr T *end() const noexcept { return data_ + size_; }
  constexpr T &operator[](std::size_t i) const { return data_[i]; }

 private:
  T *data_ = nullptr;
  std::size_t size_ = 0;
};

// The calls that lanes of one wave make together, in a handler: lanes count from 0 to size() - 1.
class message {
 public:
  message(const hc_lanes *lanes, hc_call *call) : lanes_(lanes), call_(call) {}

  std::uint32_t size() const noexcept { return lanes_->count; }
  // Nobody waits: there are no results.
  bool posted() const noexcept { return lanes_->posted != 0; }
  // The lanes' numbers in their wave, as bits.
  std::uint64_t mask() const noexcept { return lanes_->mask; }
  const std::uint32_t *arguments(std::uint32_t lane) const { return lanes_->arguments + lane * lanes_->argument_stride; }
  std::uint32_t *results(std::uint32_t lane) const { return lanes_->results + lane * lanes_->result_stride; }

  // A lane's `variable`-th string or slice. Nothing: the lane lies, and its call has been failed; go on with the next.
  std::optional<std::string_view> text(std::uint32_t lane, std::uint32_t variable) const {
    const void *bytes = nullptr;
    std::size_t count = 0;
    if (!there(hc_bytes_in(call_, lane, variable, &bytes, &count))) return std::nullopt;
    return std::string_view(static_cast<const char *>(bytes), count);
  }
  template <class T>
  std::optional<view<const T>> in(std::uint32_t lane, std::uint32_t variable) const {
    const void *bytes = nullptr;
    std::size_t count = 0;
    if (!there(hc_bytes_in(call_, lane, variable, &bytes, &count))) return std::nullopt;
    return view<const T>(static_cast<const T *>(bytes), count / sizeof(T));
  }
  // What goes back to the lane: zeros until they are written. All of it, unless `returned` says fewer bytes.
  template <class T>
  std::optional<view<T>> out(std::uint32_t lane, std::uint32_t variable) const {
    void *bytes = nullptr;
    std::size_t count = 0;
    if (!there(hc_bytes_out(call_, lane, variable, &bytes, &count))) return std::nullopt;
    return view<T>(static_cast<T *>(bytes), count / sizeof(T));
  }
  void returned(std::uint32_t lane, std::uint32_t variable, std::size_t bytes) const {
    there(hc_bytes_returned(call_, lane, variable, bytes));
  }

  void fail(std::uint32_t lane, const failure &why) const { check(hc_fail(call_, lane, why.code, why.message.c_str())); }
  void fail_all(const failure &why) const { fail(HC_ALL_LANES, why); }
  void refuse(std::uint32_t lane, std::uint32_t code) const { check(hc_refuse(call_, lane, code)); }
  void malformed(std::uint32_t lane) const { check(hc_malformed(call_, lane)); }

 private:
  static bool there(hc_status status) {
    if (status == HC_MALFORMED) return false;
    check(status);
    return true;
  }

  const hc_lanes *lanes_;
  hc_call *call_;
};

// A message that its handler keeps: complete() answers it, from any thread. Without that its calls fail.
class deferred {
 public:
  deferred(const hc_lanes *lanes, hc_call *call) noexcept : lanes_(lanes), call_(call) {}
  deferred(deferred &&other) noexcept : lanes_(other.lanes_), call_(std::exchange(other.call_, nullptr)) {}
  deferred &operator=(deferred &&other) noexcept {
    std::swap(lanes_, other.lanes_);
    std::swap(call_, other.call_);
    return *this;
  }
  ~deferred() {
    if (call_ == nullptr) return;
    if (lanes_->posted == 0) hc_fail(call_, HC_ALL_LANES, 0, "the handler dropped the message unanswered");
    hc_complete(call_);
  }

  host::message message() const noexcept { return host::message(lanes_, call_); }
  void complete() { check(hc_complete(std::exchange(call_, nullptr))); }

 private:
  const hc_lanes *lanes_;
  hc_call *call_;
};

namespace detail {

// Fails all lanes by the exception that is being handled.
inline void fail_by_exception(hc_call *call) noexcept {
  try {
    throw;
  } catch (const failure &why) {
    hc_fail(call, HC_ALL_LANES, why.code, why.message.c_str());
  } catch (const std::exception &what) {
    hc_fail(call, HC_ALL_LANES, 0, what.what());
  } catch (...) {
    hc_fail(call, HC_ALL_LANES, 0, "the handler threw something that is no std::exception");
  }
}

template <class F>
void handle(void *user, const hc_lanes *lanes, hc_call *call) noexcept {
  try {
    (*static_cast<F *>(user))(message(lanes, call));
  } catch (...) {
    fail_by_exception(call);
  }
}

// What it throws nobody gets: the message is the handler's, and its end fails what has no answer.
template <class F>
void handle_deferred(void *user, const hc_lanes *lanes, hc_call *call) noexcept {
  try {
    (*static_cast<F *>(user))(deferred(lanes, call));
  } catch (...) {
  }
}

template <class F>
void drop(void *user) noexcept {
  delete static_cast<F *>(user);
}

// A typed definition with its handler: D::serve calls it for each lane.
template <class D, class F>
struct typed {
  F handler;
  void operator()(message m) { D::serve(handler, m); }
};

template <class H, void (*End)(H **)>
struct ender {
  void operator()(H *handle) const noexcept { End(&handle); }
};

inline void stop(hc_server **server) noexcept { hc_server_stop(server); }

// A text of two calls.
template <class Ask>
std::string text(Ask ask) {
  std::string text;
  for (;;) {
    std::size_t bytes = 0;
    check(ask(nullptr, &bytes));
    text.resize(bytes);
    const hc_status status = ask(text.data(), &bytes);
    // It may have grown in between.
    if (status == HC_TOO_SMALL) continue;
    check(status);
    text.resize(bytes - 1);
    return text;
  }
}

}  // namespace detail

// Where a handler runs.
enum class run : hc_run { inline_ = HC_INLINE, blocking = HC_BLOCKING };

// A registered service; its end unregisters it.
class service {
 public:
  explicit service(hc_service *handle) noexcept : handle_(handle) {}
  std::uint32_t number() const {
    std::uint32_t number = 0;
    check(hc_service_number(handle_.get(), &number));
    return number;
  }
  hc_callee callee() const {
    hc_callee callee{};
    check(hc_service_callee(handle_.get(), &callee));
    return callee;
  }

 private:
  std::unique_ptr<hc_service, detail::ender<hc_service, hc_unregister>> handle_;
};

// A program that is attached; its end detaches it.
class attachment {
 public:
  explicit attachment(hc_attachment *handle) noexcept : handle_(handle) {}
  hc_attachment *get() const noexcept { return handle_.get(); }

 private:
  std::unique_ptr<hc_attachment, detail::ender<hc_attachment, hc_detach>> handle_;
};

class device {
 public:
  // "sim", "cuda:0", …
  explicit device(const char *which) { check(open(hc_device_open, which)); }
  // The GPU of the CUDA context that is current on this thread, or of the one given.
  static device from_cuda_context(void *cu_context = nullptr) { return device(nullptr, cu_context); }

  std::string describe() const {
    return detail::text([this](char *json, std::size_t *bytes) { return hc_device_describe(get(), json, bytes); });
  }
  hc_device *get() const noexcept { return handle_.get(); }

 private:
  device(std::nullptr_t, void *cu_context) { check(open(hc_device_from_cuda_context, cu_context)); }

  template <class Open, class What>
  hc_status open(Open function, What what) {
    hc_device *made = nullptr;
    const hc_status status = function(what, &made);
    handle_.reset(made);
    return status;
  }

  std::unique_ptr<hc_device, detail::ender<hc_device, hc_device_destroy>> handle_;
};

// Device memory, for programs without CUDA.
class memory {
 public:
  memory(const device &on, std::size_t bytes) {
    hc_memory *made = nullptr;
    check(hc_memory_alloc(on.get(), bytes, &made));
    handle_.reset(made);
  }
  std::uint64_t address() const {
    std::uint64_t address = 0;
    check(hc_memory_address(handle_.get(), &address));
    return address;
  }
  void write(const void *from, std::size_t bytes, std::size_t offset = 0) { check(hc_memory_write(handle_.get(), offset, from, bytes)); }
  void read(void *to, std::size_t bytes, std::size_t offset = 0) const { check(hc_memory_read(handle_.get(), offset, to, bytes)); }

 private:
  std::unique_ptr<hc_memory, detail::ender<hc_memory, hc_memory_free>> handle_;
};

// A program that this library loads, for programs without CUDA.
class program {
 public:
  program(const device &on, const void *bytes, std::size_t count) {
    hc_program *made = nullptr;
    check(hc_program_load(on.get(), bytes, count, &made));
    handle_.reset(made);
  }
  // Starts a kernel; its arguments are passed as their bytes.
  template <class... A>
  void launch(const char *kernel, const hc_shape &shape, const A &...arguments) {
    static_assert((std::is_trivially_copyable_v<A> && ...), "arguments of kernels are their bytes");
    // One more than there may be, because an array has at least one.
    const hc_argument list[] = {{&arguments, sizeof(A)}..., {nullptr, 0}};
    check(hc_launch(handle_.get(), kernel, &shape, list, sizeof...(A), nullptr));
  }
  hc_program *get() const noexcept { return handle_.get(); }

 private:
  std::unique_ptr<hc_program, detail::ender<hc_program, hc_program_unload>> handle_;
};

// `groups` workgroups of `group_size` threads.
inline hc_shape shape(std::uint32_t groups, std::uint32_t group_size) {
  hc_shape shape{};
  shape.size = sizeof shape;
  shape.groups[0] = groups;
  shape.group_size[0] = group_size;
  return shape;
}

// Threads that answer. Ending it stops it; stop() throws what no wait has told.
class server {
 public:
  explicit server(const device &on, const hc_server_options *options = nullptr, const std::vector<hc_grant> &grants = {}) {
    hc_server *made = nullptr;
    check(hc_server_start(on.get(), options, grants.data(), grants.size(), &made));
    handle_.reset(made);
  }

  // A handler of whole messages, `void(message)`, registered until the result ends.
  template <class F>
  service on(const hc_definition &definition, F &&handler, run where = run::inline_) {
    hc_service *made = nullptr;
    add(definition, std::forward<F>(handler), where, &made);
    return service(made);
  }
  // The same, until the server stops.
  template <class F>
  void keep(const hc_definition &definition, F &&handler, run where = run::inline_) {
    add(definition, std::forward<F>(handler), where, nullptr);
  }
  // A handler that keeps messages, `void(deferred)`.
  template <class F>
  service on_deferred(const hc_definition &definition, F &&handler) {
    using H = std::decay_t<F>;
    hc_service *made = nullptr;
    auto user = std::make_unique<H>(std::forward<F>(handler));
    check(hc_register(get(), &definition, HC_DEFERRED, detail::handle_deferred<H>, user.release(), detail::drop<H>, &made));
    return service(made);
  }
  // A typed definition (`cargo hostcall bindgen --lang cpp-host`) and a handler of one lane's call: `float(float)`,
  // `answer<float>(float)`, …
  template <class D, class F, class = decltype(D::definition())>
  service on(D, F &&handler, run where = run::inline_) {
    return on(D::definition(), detail::typed<D, std::decay_t<F>>{std::forward<F>(handler)}, where);
  }
  template <class D, class F, class = decltype(D::definition())>
  void keep(D, F &&handler, run where = run::inline_) {
    keep(D::definition(), detail::typed<D, std::decay_t<F>>{std::forward<F>(handler)}, where);
  }

  attachment attach(const program &to) { return attached(hc_attach_program, to.get()); }
  attachment attach_cuda_module(void *cu_module, const char *name) { return attached(hc_attach_cuda_module, cu_module, name); }
  attachment attach_cuda_library(void *cu_library, const char *name) { return attached(hc_attach_cuda_library, cu_library, name); }
  attachment attach_cuda_function(const void *cu_function, const char *name) {
    return attached(hc_attach_cuda_function, cu_function, name);
  }

  // Waits for a stream and all calls; throws `error` with HC_KERNEL_FAILED and the report.
  void wait(void *cu_stream = nullptr) { check(hc_wait(get(), cu_stream)); }
  std::string report() const {
    return detail::text([this](char *text, std::size_t *bytes) { return hc_report(get(), text, bytes); });
  }
  std::string stats() const {
    return detail::text([this](char *json, std::size_t *bytes) { return hc_stats(get(), json, bytes); });
  }
  void stop() {
    hc_server *handle = handle_.release();
    check(hc_server_stop(&handle));
  }
  hc_server *get() const noexcept { return handle_.get(); }

 private:
  template <class F>
  void add(const hc_definition &definition, F &&handler, run where, hc_service **out) {
    using H = std::decay_t<F>;
    auto user = std::make_unique<H>(std::forward<F>(handler));
    const hc_run mode = static_cast<hc_run>(where);
    check(hc_register(get(), &definition, mode, detail::handle<H>, user.release(), detail::drop<H>, out));
  }
  template <class Attach, class... What>
  attachment attached(Attach function, What... what) {
    hc_attachment *made = nullptr;
    check(function(get(), what..., &made));
    return attachment(made);
  }

  std::unique_ptr<hc_server, detail::ender<hc_server, detail::stop>> handle_;
};

#ifdef CUDART_VERSION
// The module of a kernel, `attach_cuda_kernel(server, demo, "mine")`: for programs that launch by `<<<…>>>`. It is
// there where cuda_runtime.h has been included before, as nvcc does.
template <class... P>
attachment attach_cuda_kernel(server &to, void (*kernel)(P...), const char *name) {
  cudaFunction_t function = nullptr;
  const cudaError_t result = cudaGetFuncBySymbol(&function, reinterpret_cast<const void *>(kernel));
  if (result != cudaSuccess) throw error(HC_DEVICE, cudaGetErrorString(result));
  return to.attach_cuda_function(function, name);
}
#endif

// A launch by other means than this library's, announced from here until its end: its first call is answered at once.
// It need not be announced.
class launch {
 public:
  explicit launch(const server &by) : server_(by.get()) { check(hc_launch_begin(server_)); }
  launch(const launch &) = delete;
  launch &operator=(const launch &) = delete;
  ~launch() { hc_launch_end(server_); }

 private:
  hc_server *server_;
};

}  // namespace hostcall::host

#endif
