// Every value of `rows.h`, which Rust has encoded, through typed handlers and back.
#include "library.h"

#include <string>

#include "echo.hpp"
#include "rows.h"

using hostcall::host::answer;
using hostcall::host::failure;
using services::Echo;

// Serves the rows with a handler that returns what it gets, and compares the units that come back.
#define ECHO(NAME)                                                                                                        \
  do {                                                                                                                    \
    static std::uint32_t results[NAME##_COUNT][NAME##_UNITS];                                                             \
    std::memset(results, 0xff, sizeof(results));                                                                          \
    const hc_lanes lanes = message_of(NAME##_COUNT, &NAME##_rows[0][0], NAME##_UNITS, &results[0][0], NAME##_UNITS);      \
    unsigned calls = 0;                                                                                                   \
    auto handler = [&](auto x) {                                                                                          \
      calls++;                                                                                                            \
      return x;                                                                                                           \
    };                                                                                                                    \
    Echo::NAME.serve(handler, hostcall::host::message(&lanes, nullptr));                                                  \
    CHECK(calls == NAME##_COUNT && std::memcmp(results, NAME##_rows, sizeof(results)) == 0);                              \
    CHECK(Echo::NAME.definition().units == NAME##_UNITS && Echo::NAME.definition().reply_units == NAME##_UNITS);          \
    CHECK(library.malformed == 0 && library.failed == 0);                                                                 \
  } while (0)

// The arguments of the first row of a function.
#define FIRST(NAME)                                                        \
  first = message_of(1, &NAME##_rows[0][0], NAME##_UNITS, nullptr, 0);     \
  const auto NAME = std::get<0>(Echo::NAME.arguments(hostcall::host::message(&first, nullptr), 0).value())

// Units that are no value: no call is made.
#define BAD(NAME)                                                                                                          \
  do {                                                                                                                     \
    static std::uint32_t results[NAME##_BAD_COUNT][NAME##_UNITS];                                                          \
    const hc_lanes lanes = message_of(NAME##_BAD_COUNT, &NAME##_bad[0][0], NAME##_UNITS, &results[0][0], NAME##_UNITS);    \
    unsigned calls = 0;                                                                                                    \
    auto handler = [&](auto x) {                                                                                           \
      calls++;                                                                                                             \
      return x;                                                                                                            \
    };                                                                                                                     \
    library.malformed = 0;                                                                                                 \
    Echo::NAME.serve(handler, hostcall::host::message(&lanes, nullptr));                                                   \
    CHECK(calls == 0 && library.malformed == NAME##_BAD_COUNT);                                                            \
    library.malformed = 0;                                                                                                 \
  } while (0)

// What `server.on` does with a message.
template <class D, class F>
void served(D, F handler, const hc_lanes &lanes) {
  D::serve(handler, hostcall::host::message(&lanes, nullptr));
}

int main() {
  ECHO(alone);
  ECHO(wide);
  ECHO(small);
  ECHO(truth);
  ECHO(pair);
  ECHO(numbers);
  ECHO(letters);
  ECHO(bytes);
  ECHO(maybe);
  ECHO(same);
  ECHO(either);
  ECHO(nothing);

  hc_lanes first;
  FIRST(numbers);
  CHECK(numbers == std::make_tuple(std::uint8_t{200}, std::int16_t{-300}, 4000000000u, INT64_MIN, 1.5f, -0.1));
  FIRST(letters);
  CHECK(letters == std::make_tuple(true, U'\u00df'));
  FIRST(maybe);
  CHECK(maybe && std::get<0>(*maybe) == 7 && std::get<1>(*maybe) == std::uint64_t{1} << 40);
  FIRST(same);
  CHECK(same && same.value() == 5);
  FIRST(either);
  CHECK(!either && either.error() == std::make_tuple(UINT64_MAX, true));
  FIRST(nothing);
  CHECK(nothing.ok());
  FIRST(pair);
  CHECK(pair.wide == 2.5 && pair.small[2] == 3 && pair.new_ == 65535);

  BAD(truth);
  BAD(letters);
  BAD(maybe);
  BAD(either);

  // Strings and slices.
  std::uint32_t result[2];
  hc_lanes lanes = message_of(1, &mixed_rows[0][0], mixed_UNITS, result, 2);
  std::string said;
  served(
      Echo::mixed,
      [&](std::uint8_t a, std::string_view text, hostcall::host::view<const std::uint32_t> numbers, hostcall::host::out<std::uint16_t> back,
          std::optional<std::uint64_t> b) {
        said = text;
        std::uint64_t sum = a + text.size() + b.value_or(0);
        for (std::uint32_t number : numbers) sum += number;
        back[0] = a;
        back[1] = static_cast<std::uint16_t>(back.size());
        back.returned(2);
        return sum;
      },
      lanes);
  CHECK(said == library.text && library.back[0] == 9 && library.back[1] == 4 && library.returned == 4);
  CHECK(std::memcmp(result, mixed_result, sizeof(result)) == 0);
  CHECK(Echo::mixed.definition().signature == mixed_SIGNATURE && Echo::mixed.definition().variables[1].kind == HC_IN);

  // Failures are a lane's own: a handler may return one, or throw.
  static std::uint32_t answers[alone_COUNT];
  hc_lanes all = message_of(alone_COUNT, &alone_rows[0][0], 1, answers, 1);
  served(Echo::alone, [](float) -> answer<float> { return failure{17, "not today"}; }, all);
  CHECK(library.failed == alone_COUNT && library.code == 17);
  served(Echo::alone, [](float x) -> answer<float> { return x; }, all);
  CHECK(library.failed == alone_COUNT && std::memcmp(answers, alone_rows, sizeof(answers)) == 0);
  library.failed = 0;
  served(Echo::alone, [](float) -> float { throw failure{18, "thrown"}; }, all);
  CHECK(library.failed == alone_COUNT && library.code == 18);
  served(Echo::alone, [](float) -> float { throw std::runtime_error("thrown"); }, all);
  CHECK(library.failed == 2 * alone_COUNT && library.code == 0);
  served(Echo::alone, [](float) -> float { throw 3; }, all);
  CHECK(library.failed == 3 * alone_COUNT);
  // An error of the service's own is a result.
  hc_lanes of_same = message_of(1, &same_rows[1][0], same_UNITS, result, same_UNITS);
  served(Echo::same, [](hostcall::host::result<std::uint32_t, std::uint32_t>) -> hostcall::host::result<std::uint32_t, std::uint32_t> {
    return hostcall::host::err{6u};
  }, of_same);
  CHECK(result[0] == 1 && result[1] == 6);

  // Posts, and calls without a value.
  std::uint64_t sum = 0;
  hc_lanes posts = message_of(1, &post_rows[0][0], post_UNITS, nullptr, 0);
  served(Echo::post, [&](std::uint64_t x) { sum += x; }, posts);
  served(Echo::wait, [&](std::uint64_t x) -> answer<void> {
    sum += x;
    return {};
  }, posts);
  CHECK(sum == 2 * post_VALUE && library.failed == 3 * alone_COUNT);
  served(Echo::wait, [&](std::uint64_t) -> answer<void> { return failure{19, "no"}; }, posts);
  CHECK(library.code == 19);
  CHECK(Echo::post.definition().reply_units == HC_POSTED && Echo::wait.definition().reply_units == 0);
  return 0;
}
