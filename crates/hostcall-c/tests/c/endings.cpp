// A host in C++ whose kernel calls for as long as it is answered, and which ends all the same: what it made goes in the
// order in which C++ has it, or, with `stop`, after the server has been stopped. Usage: endings KERNELS (leave|stop).
#include "check.h"
#include "behaviours.hpp"
#include "definitions.h"

#include <hostcall.hpp>

#include <atomic>
#include <chrono>
#include <string_view>
#include <thread>

namespace host = hostcall::host;

int main(int argc, char **argv) {
  CHECK(argc == 3);
  std::size_t size;
  const void *image = file_of(argv[1], &size);
  {
    std::atomic<int> ticks{0};
    host::device device{which()};
    host::program program{device, image, size};
    host::memory memory{device, 65536};
    host::server server{device};
    server.keep(services::Tally::tick, [&ticks](std::uint32_t) -> std::uint64_t { return static_cast<std::uint64_t>(++ticks); });
    const auto attached = server.attach(program);
    program.launch("calls_until_refused", host::shape(2, 32), memory.address(), std::uint64_t{128});
    while (ticks == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(hc_wait_timeout(server.get(), nullptr, 10000000) == HC_TIMEOUT);
    if (std::string_view(argv[2]) == "stop") server.stop();
  }
  std::printf("ended\n");
  std::fflush(stdout);
}
