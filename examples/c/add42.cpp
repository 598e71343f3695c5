// The same in C++. Usage: add42 KERNEL
#include <hostcall.hpp>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace host = hostcall::host;

int main(int argc, char **argv) try {
  std::ifstream file(argc == 2 ? argv[1] : "", std::ios::binary);
  const std::vector<char> image{std::istreambuf_iterator<char>(file), {}};

  const host::device device("sim");
  host::server server(device);
  // `cargo hostcall bindgen --lang cpp-host` makes this typed: server.on(Host::add42, [](float x) { return x + 42; }).
  server.keep(HC_DEFINITION("Host__add42", "fn(f32) -> f32"), [](host::message calls) {
    for (std::uint32_t i = 0; i < calls.size(); ++i) {
      float x;
      std::memcpy(&x, calls.arguments(i), sizeof x);
      x += 42;
      std::memcpy(calls.results(i), &x, sizeof x);
    }
  });
  server.keep(HC_DEFINITION("Host__log", "fn(&str)"), [](host::message calls) {
    for (std::uint32_t i = 0; i < calls.size(); ++i) {
      if (const auto text = calls.text(i, 0)) std::printf("the kernel says: %.*s\n", static_cast<int>(text->size()), text->data());
    }
  });

  host::program program(device, image.data(), image.size());
  const auto attached = server.attach(program);
  float y[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  host::memory memory(device, sizeof y);
  memory.write(y, sizeof y);
  program.launch("demo", host::shape(1, 8), memory.address(), std::uint64_t{8});
  server.wait();
  memory.read(y, sizeof y);
  for (const float value : y) std::printf("%g ", static_cast<double>(value));
  std::printf("\n");
  server.stop();
} catch (const host::error &error) {
  std::fprintf(stderr, "%s: %s\n", hc_status_string(error.status()), error.what());
  return 1;
}
