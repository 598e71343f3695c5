// A host in C++. Usage: suite KERNELS.
#include "check.h"
#include "behaviours.hpp"
#include "definitions.h"

#include <hostcall.hpp>

#include <atomic>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace host = hostcall::host;

namespace {

constexpr std::size_t lanes = 64;
const void *image;
std::size_t image_size;

// What the kernels have in common.
struct world {
  host::device device{which()};
  host::server server{device};
  host::program program{device, image, image_size};
  host::memory memory{device, 65536};

  template <class T>
  std::vector<T> run(const char *kernel, std::vector<T> values) {
    memory.write(values.data(), values.size() * sizeof(T));
    const auto attached = server.attach(program);
    program.launch(kernel, host::shape(lanes / 32, 32), memory.address(), std::uint64_t{values.size()});
    server.wait();
    memory.read(values.data(), values.size() * sizeof(T));
    return values;
  }
};

void must_be_added(const std::vector<float> &y) {
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == static_cast<float>(i) + 42);
}

std::vector<float> numbers() {
  std::vector<float> y(lanes);
  for (std::size_t i = 0; i < lanes; ++i) y[i] = static_cast<float>(i);
  return y;
}

void add42(host::message m) {
  for (std::uint32_t i = 0; i < m.size(); ++i) {
    float x;
    std::memcpy(&x, m.arguments(i), sizeof x);
    x += 42;
    std::memcpy(m.results(i), &x, sizeof x);
  }
}

void calls() {
  world w;
  for (const auto where : {host::run::inline_, host::run::blocking}) {
    const auto service = w.server.on(Typed__add42_definition, add42, where);
    CHECK(service.number() != 0);
    must_be_added(w.run("add42", numbers()));
  }
  CHECK(w.server.stats().find("\"Typed__log\"") == std::string::npos);
  const bool simulated = std::strncmp(which(), "sim", 3) == 0;
  CHECK((w.device.describe().find("\"kind\":\"simulator\"") != std::string::npos) == simulated);
  w.server.stop();
}

// Every shape, by definitions that `cargo hostcall bindgen --lang cpp-host` makes.
void generated() {
  using services::Typed;
  world w;
  std::atomic<std::size_t> nothings{0};
  w.server.keep(Typed::nothing, [&nothings] { ++nothings; });
  w.server.keep(Typed::add42, [](float x) { return x + 42; });
  w.server.keep(Typed::sum, [](std::uint64_t a, std::uint64_t b) { return a + b; });
  w.server.keep(Typed::scale, [](std::int32_t a, double b) { return a * b; });
  w.server.keep(Typed::swap, [](std::uint32_t a, std::uint32_t b) { return std::tuple(b, a); });
  w.server.keep(Typed::mixed, [](std::uint8_t a) { return std::tuple(a, -std::int64_t{a}, a % 2 == 1, U'\u00df'); });
  w.server.keep(Typed::lookup, [](std::uint64_t key) { return key % 3 == 0 ? std::optional(key * key) : std::nullopt; });
  w.server.keep(Typed::large, [](services::Large value) {
    ++value.seed;
    for (auto &each : value.values) each += 31;
    return value;
  });
  for (const auto right : w.run("shapes", std::vector<std::uint32_t>(lanes))) CHECK(right == 255);
  CHECK(nothings == lanes);
}

void generated_strings_and_slices() {
  using services::Typed;
  world w;
  w.server.keep(Typed::measure, [](std::string_view text, host::view<const std::uint32_t> numbers) {
    std::uint64_t sum = 0;
    for (const auto number : numbers) sum += number;
    return std::tuple(static_cast<std::uint32_t>(text.size()), sum);
  });
  for (const auto result : w.run("texts", std::vector<std::uint64_t>(lanes))) CHECK(result == 1);
  w.server.keep(Typed::fill, [](std::uint32_t block, host::out<std::uint8_t> out) -> host::result<std::uint32_t, services::Refused> {
    if (block % 2 == 1) return host::err{services::Refused{block}};
    for (auto &byte : out) byte = static_cast<std::uint8_t>(block);
    return static_cast<std::uint32_t>(out.size());
  });
  const auto filled = w.run("fills", std::vector<std::uint64_t>(lanes));
  for (std::size_t i = 0; i < lanes; ++i) CHECK(filled[i] == (i % 2 == 1 ? 2u : 1u));
  // A lane fails by a value, by an exception, and not at all.
  w.server.keep(Typed::picky, [](std::uint32_t value) -> host::answer<std::uint32_t> {
    if (value % 3 == 1) return host::failure(value, "by a value");
    if (value % 3 == 2) throw host::failure(value, "by an exception");
    return value;
  });
  std::vector<std::uint64_t> picky(lanes);
  try {
    w.run("picky", picky);
    CHECK(false);
  } catch (const host::error &error) {
    CHECK(error.status() == HC_KERNEL_FAILED && std::string(error.what()).find("by a") != std::string::npos);
  }
  w.memory.read(picky.data(), picky.size() * sizeof(std::uint64_t));
  for (std::size_t i = 0; i < lanes; ++i) CHECK(picky[i] == (i % 3 == 0 ? i : RESULT(HANDLER_FAILED, i)));
}

void deferred() {
  world w;
  std::vector<std::thread> threads;
  const auto service = w.server.on_deferred(Typed__add42_definition, [&threads, guard = std::make_shared<std::atomic_flag>()](host::deferred m) {
    while (guard->test_and_set()) {
    }
    threads.emplace_back([m = std::move(m)]() mutable {
      add42(m.message());
      m.complete();
    });
    guard->clear();
  });
  must_be_added(w.run("add42", numbers()));
  for (auto &thread : threads) thread.join();
}

void dropped_messages_fail() {
  world w;
  const auto service = w.server.on_deferred(Typed__picky_definition, [](host::deferred) {});
  try {
    w.run("picky", std::vector<std::uint64_t>(lanes));
    CHECK(false);
  } catch (const host::error &error) {
    CHECK(error.status() == HC_KERNEL_FAILED && std::string(error.what()).find("dropped the message") != std::string::npos);
  }
}

void exceptions_fail_lanes() {
  world w;
  const auto failing = [&w](auto handler, const char *text, std::uint32_t code) {
    const auto service = w.server.on(Typed__picky_definition, handler);
    std::vector<std::uint64_t> results(lanes);
    try {
      w.run("picky", results);
      CHECK(false);
    } catch (const host::error &error) {
      CHECK(error.status() == HC_KERNEL_FAILED && std::string(error.what()).find(text) != std::string::npos);
    }
    CHECK(w.server.report().find(text) != std::string::npos);
    w.memory.read(results.data(), results.size() * sizeof(std::uint64_t));
    for (const auto result : results) CHECK(result == RESULT(HANDLER_FAILED, code));
  };
  failing([](host::message) { throw std::runtime_error("a runtime error"); }, "a runtime error", 0);
  failing([](host::message) { throw host::failure(7, "a failure"); }, "a failure", 7);
  failing([](host::message) { throw 3; }, "no std::exception", 0);
  failing([](host::message m) { m.text(0, 0); }, "has no string or slice 0", 0);
}

void strings_and_slices() {
  world w;
  w.server.keep(Typed__measure_definition, [](host::message m) {
    for (std::uint32_t i = 0; i < m.size(); ++i) {
      const auto text = m.text(i, 0);
      const auto values = m.in<std::uint32_t>(i, 1);
      if (!text || !values) continue;
      std::uint64_t sum = 0;
      for (const auto value : *values) sum += value;
      m.results(i)[0] = static_cast<std::uint32_t>(text->size());
      std::memcpy(m.results(i) + 1, &sum, sizeof sum);
    }
  });
  for (const auto result : w.run("texts", std::vector<std::uint64_t>(lanes))) CHECK(result == 1);
  w.server.keep(Typed__fill_definition, [](host::message m) {
    for (std::uint32_t i = 0; i < m.size(); ++i) {
      const auto block = m.arguments(i)[2];
      const auto out = m.out<unsigned char>(i, 0);
      if (!out) continue;
      for (auto &byte : *out) byte = static_cast<unsigned char>(block);
      m.results(i)[0] = block % 2;
      m.results(i)[1] = block % 2 == 1 ? block : static_cast<std::uint32_t>(out->size());
      m.returned(i, 0, out->size());
    }
  });
  const auto results = w.run("fills", std::vector<std::uint64_t>(lanes));
  for (std::size_t i = 0; i < lanes; ++i) CHECK(results[i] == (i % 2 == 1 ? 2u : 1u));
}

void errors() {
  try {
    host::device toaster("toaster");
    CHECK(false);
  } catch (const host::error &error) {
    CHECK(error.status() == HC_INVALID && std::string(error.what()).find("toaster") != std::string::npos);
  }
  world w;
  const host::launch announced(w.server);
  try {
    w.program.launch("no such kernel", host::shape(1, 1));
    CHECK(false);
  } catch (const host::error &error) {
    CHECK(error.status() == HC_NOT_FOUND);
  }
}

void a_child_is_refused() {
  world w;
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(60);
    try {
      w.server.wait();
      _exit(1);
    } catch (const host::error &error) {
      _exit(error.status() == HC_FORKED && std::string(error.what()).find("forked") != std::string::npos ? 0 : 2);
    }
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  w.server.wait();
}

}  // namespace

int main(int argc, char **argv) {
  CHECK(argc == 2);
  image = file_of(argv[1], &image_size);
  const struct {
    const char *name;
    void (*run)();
  } parts[] = {
      {"calls", calls},
      {"generated", generated},
      {"generated strings and slices", generated_strings_and_slices},
      {"deferred", deferred},
      {"dropped messages fail", dropped_messages_fail},
      {"exceptions fail lanes", exceptions_fail_lanes},
      {"strings and slices", strings_and_slices},
      {"errors", errors},
      {"a child is refused", a_child_is_refused},
  };
  for (const auto &part : parts) {
    part.run();
    std::printf("ok %s\n", part.name);
    std::fflush(stdout);
  }
}
