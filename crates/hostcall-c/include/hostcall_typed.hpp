// Typed services over hostcall.hpp: what `cargo hostcall bindgen --lang cpp-host` writes is made of these templates.
//
// A generated function is a type with `function<R, A...>` as its base. `server.on(Host::add42, [](float x) { return x +
// 42; })` calls its `serve`, which decodes each lane's arguments, calls the handler, and encodes what it returns.
// Handlers run on threads of the library, several at a time.
//
// | Rust | here |
// |---|---|
// | numbers, `bool`, `char` | `std::uint32_t`, …, `float`, `double`, `bool`, `char32_t`; `hc_u128`, `hc_i128` |
// | `[T; N]`, tuples, `Option<T>` | `std::array<T, N>`, `std::tuple<…>`, `std::optional<T>` |
// | `Result<T, E>` | `result<T, E>` |
// | `()` | `unit`; as a result `void` |
// | structs under `#[derive(Plain)]` | the same struct, for which `is_plain` is specialised |
// | `&str`, `&[T]`, `&mut [T]` | `std::string_view`, `view<const T>`, `out<T>` |
#ifndef HOSTCALL_TYPED_HPP
#define HOSTCALL_TYPED_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <hostcall.hpp>

namespace hostcall::host {

// ---- Types
// ----------------------------------------------------------------------------------------------------

// `()` where a type is needed.
struct unit {
  friend constexpr bool operator==(unit, unit) { return true; }
  friend constexpr bool operator!=(unit, unit) { return false; }
};

// An error on its way into a `result`: `return err{refused};`
template <class E>
struct err {
  E error;
};
template <class E>
err(E) -> err<E>;

// Rust's `Result<T, E>`: a value or an error, which are told apart even where both are of one type.
template <class T, class E>
class result {
 public:
  // A value of `T()`.
  constexpr result() = default;
  constexpr result(T value) : either_(std::in_place_index<0>, std::move(value)) {}
  template <class F, class = std::enable_if_t<std::is_convertible_v<F, E>>>
  constexpr result(err<F> given) : either_(std::in_place_index<1>, std::move(given.error)) {}

  // Whether it is the value.
  constexpr bool ok() const { return either_.index() == 0; }
  constexpr explicit operator bool() const { return ok(); }
  // What it is. It throws `std::bad_variant_access` if it is the other.
  constexpr const T &value() const { return std::get<0>(either_); }
  constexpr const E &error() const { return std::get<1>(either_); }

 private:
  std::variant<T, E> either_;
};

// A lane's `&mut [T]`: elements that are zero, and come back to the lane.
template <class T>
class out {
 public:
  out() = default;
  out(message of, std::uint32_t lane, std::uint32_t variable, view<T> elements)
      : of_(of), lane_(lane), variable_(variable), elements_(elements) {}

  T *data() const { return elements_->data(); }
  std::size_t size() const { return elements_->size(); }
  T *begin() const { return data(); }
  T *end() const { return data() + size(); }
  T &operator[](std::size_t i) const { return data()[i]; }
  // Only the first `count` elements come back.
  void returned(std::size_t count) const { of_->returned(lane_, variable_, count * sizeof(T)); }

 private:
  std::optional<message> of_;
  std::uint32_t lane_ = 0;
  std::uint32_t variable_ = 0;
  std::optional<view<T>> elements_;
};

// ---- Units
// ----------------------------------------------------------------------------------------------------

// Types that are their bytes. Structs say so by a specialisation, which bindgen writes.
template <class T>
struct is_plain
    : std::bool_constant<(std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char16_t> && !std::is_same_v<T, char32_t> &&
                          !std::is_same_v<T, wchar_t>) ||
                         std::is_same_v<T, float> || std::is_same_v<T, double>> {};
#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;
template <>
struct is_plain<u128> : std::true_type {};
template <>
struct is_plain<i128> : std::true_type {};
#endif
template <class T, std::size_t N>
struct is_plain<std::array<T, N>> : std::bool_constant<is_plain<T>::value && sizeof(std::array<T, N>) == N * sizeof(T)> {};

// How a value lies in 32-bit units, as Rust's `hostcall_abi::codec::Fixed` puts it: `units` of them, `get` (whether
// they are a value) and `put` (into zeros).
template <class T, class = void>
struct codec;

template <class T>
struct codec<T, std::enable_if_t<is_plain<T>::value>> {
  static_assert(std::is_trivially_copyable_v<T>, "a plain type is its bytes");
  static constexpr std::size_t units = (sizeof(T) + 3) / 4;
  static bool get(const std::uint32_t *from, T &to) {
    std::memcpy(&to, from, sizeof(T));
    return true;
  }
  static void put(std::uint32_t *to, const T &from) { std::memcpy(to, &from, sizeof(T)); }
};

template <>
struct codec<unit> {
  static constexpr std::size_t units = 0;
  static bool get(const std::uint32_t *, unit &) { return true; }
  static void put(std::uint32_t *, unit) {}
};

template <>
struct codec<bool> {
  static constexpr std::size_t units = 1;
  static bool get(const std::uint32_t *from, bool &to) {
    to = *from != 0;
    return *from <= 1;
  }
  static void put(std::uint32_t *to, bool from) { *to = from ? 1 : 0; }
};

template <>
struct codec<char32_t> {
  static constexpr std::size_t units = 1;
  static bool get(const std::uint32_t *from, char32_t &to) {
    to = static_cast<char32_t>(*from);
    return *from <= 0x10ffff && (*from < 0xd800 || *from > 0xdfff);
  }
  static void put(std::uint32_t *to, char32_t from) { *to = static_cast<std::uint32_t>(from); }
};

template <class... T>
struct codec<std::tuple<T...>> {
  static constexpr std::size_t units = (std::size_t{0} + ... + codec<T>::units);
  static bool get(const std::uint32_t *from, std::tuple<T...> &to) {
    return std::apply([&](T &...part) { return (... && codec<T>::get(std::exchange(from, from + codec<T>::units), part)); }, to);
  }
  static void put(std::uint32_t *to, const std::tuple<T...> &from) {
    std::apply([&](const T &...part) { (codec<T>::put(std::exchange(to, to + codec<T>::units), part), ...); }, from);
  }
};

template <class T>
struct codec<std::optional<T>> {
  static constexpr std::size_t units = 1 + codec<T>::units;
  static bool get(const std::uint32_t *from, std::optional<T> &to) {
    to.reset();
    return *from == 0 || (*from == 1 && codec<T>::get(from + 1, to.emplace()));
  }
  static void put(std::uint32_t *to, const std::optional<T> &from) {
    *to = from ? 1 : 0;
    if (from) codec<T>::put(to + 1, *from);
  }
};

template <class T, class E>
struct codec<result<T, E>> {
  static constexpr std::size_t units = 1 + (codec<T>::units > codec<E>::units ? codec<T>::units : codec<E>::units);
  static bool get(const std::uint32_t *from, result<T, E> &to) {
    if (*from == 0) {
      T value{};
      const bool is_value = codec<T>::get(from + 1, value);
      to = result<T, E>(std::move(value));
      return is_value;
    }
    E error{};
    const bool is_error = *from == 1 && codec<E>::get(from + 1, error);
    to = result<T, E>(err<E>{std::move(error)});
    return is_error;
  }
  static void put(std::uint32_t *to, const result<T, E> &from) {
    *to = from.ok() ? 0 : 1;
    if (from.ok()) {
      codec<T>::put(to + 1, from.value());
    } else {
      codec<E>::put(to + 1, from.error());
    }
  }
};

// ---- Arguments
// ----------------------------------------------------------------------------------------------------

// Where an argument is found: `unit` of the lane's row, and string or slice number `variable`.
struct place {
  std::size_t unit;
  std::uint32_t variable;
};

// How an argument is read. By value:
template <class A>
struct parameter {
  static constexpr std::size_t units = codec<A>::units;
  static constexpr std::uint32_t variables = 0;
  // Whether it is one. If not, the lane has been failed.
  static bool get(const message &of, std::uint32_t lane, place at, A &to) {
    if (codec<A>::get(of.arguments(lane) + at.unit, to)) return true;
    of.malformed(lane);
    return false;
  }
};

template <>
struct parameter<std::string_view> {
  static constexpr std::size_t units = 1;
  static constexpr std::uint32_t variables = 1;
  static bool get(const message &of, std::uint32_t lane, place at, std::string_view &to) {
    const auto found = of.text(lane, at.variable);
    if (found) to = *found;
    return found.has_value();
  }
};

template <class T>
struct parameter<view<const T>> {
  static constexpr std::size_t units = 1;
  static constexpr std::uint32_t variables = 1;
  static bool get(const message &of, std::uint32_t lane, place at, view<const T> &to) {
    const auto found = of.template in<T>(lane, at.variable);
    if (found) to = *found;
    return found.has_value();
  }
};

template <class T>
struct parameter<out<T>> {
  static constexpr std::size_t units = 1;
  static constexpr std::uint32_t variables = 1;
  static bool get(const message &of, std::uint32_t lane, place at, out<T> &to) {
    const auto found = of.template out<T>(lane, at.variable);
    if (found) to = out<T>(of, lane, at.variable, *found);
    return found.has_value();
  }
};

// ---- Functions
// ----------------------------------------------------------------------------------------------------

// What a generated function is made of: its result, `void` if there is none, and its arguments.
template <class R, class... A>
struct function {
  using result_type = R;
  using arguments_type = std::tuple<A...>;

  // A lane's arguments. None: they are no values, and the lane has been failed. For handlers of whole messages, and
  // deferred ones.
  static std::optional<arguments_type> arguments(const message &of, std::uint32_t lane) {
    std::optional<arguments_type> all(std::in_place);
    // Rows of calls with strings or slices begin with two units of the wire's own.
    place at{(std::uint32_t{0} + ... + parameter<A>::variables) > 0 ? std::size_t{2} : std::size_t{0}, 0};
    const auto next = [&at](std::size_t units, std::uint32_t variables) {
      return std::exchange(at, place{at.unit + units, at.variable + variables});
    };
    const bool all_are =
        std::apply([&](A &...to) { return (... && parameter<A>::get(of, lane, next(parameter<A>::units, parameter<A>::variables), to)); }, *all);
    if (!all_are) all.reset();
    static_cast<void>(next);
    return all;
  }

  // Writes a lane's result.
  template <class T = R>
  static void answer_lane(const message &of, std::uint32_t lane, const T &value) {
    static_assert(std::is_same_v<T, R>, "the function's own type of result");
    std::uint32_t *to = of.results(lane);
    std::memset(to, 0, codec<T>::units * sizeof(std::uint32_t));
    codec<T>::put(to, value);
  }

  // Calls `handler` with the arguments of each lane, and answers it. What a call throws fails its lane only: a
  // `failure` by its code, others by 0.
  template <class F>
  static void serve(F &handler, message of) {
    for (std::uint32_t lane = 0; lane < of.size(); lane++) {
      auto given = arguments(of, lane);
      if (!given) continue;
      try {
        one(handler, of, lane, std::move(*given));
      } catch (const failure &thrown) {
        of.fail(lane, thrown);
      } catch (const std::exception &thrown) {
        of.fail(lane, failure{0, thrown.what()});
      } catch (...) {
        of.fail(lane, failure{0, "the handler has thrown something that is no std::exception"});
      }
    }
  }

 private:
  template <class F>
  static void one(F &handler, const message &of, std::uint32_t lane, arguments_type given) {
    using Given = decltype(std::apply(handler, std::move(given)));
    if constexpr (std::is_void_v<R> && !std::is_same_v<Given, answer<void>>) {
      // Whatever it returns is nobody's.
      static_cast<void>(std::apply(handler, std::move(given)));
    } else {
      static_assert(std::is_convertible_v<Given, answer<R>> || std::is_convertible_v<Given, R>,
                    "the handler returns something else than the service's definition says");
      if constexpr (std::is_same_v<Given, answer<R>>) {
        write(of, lane, std::apply(handler, std::move(given)));
      } else if constexpr (std::is_convertible_v<Given, R>) {
        answer_lane<R>(of, lane, std::apply(handler, std::move(given)));
      } else {
        write(of, lane, answer<R>(std::apply(handler, std::move(given))));
      }
    }
  }

  static void write(const message &of, std::uint32_t lane, const answer<R> &answered) {
    if (!answered) {
      of.fail(lane, answered.error());
      return;
    }
    if constexpr (!std::is_void_v<R>) answer_lane<R>(of, lane, answered.value());
  }
};

}  // namespace hostcall::host

#endif
