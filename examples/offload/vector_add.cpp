// The same as vector_add.c, with destructors in the place of clean-up: vector_add IMAGE
#include <OffloadAPI.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace {

void must(ol_result_t result) {
    if (result != OL_SUCCESS)
        throw std::runtime_error("error " + std::to_string(result->Code) + ": " + result->Details);
}

template <auto Destroy> struct Destroyer {
    template <typename T> void operator()(T *handle) const { Destroy(handle); }
};
template <typename Handle, auto Destroy> using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroyer<Destroy>>;

struct Library {
    Library() { must(olInit(nullptr)); }
    ~Library() { olShutDown(); }
    Library(const Library &) = delete;
    Library &operator=(const Library &) = delete;
};

struct Search {
    const std::vector<char> &image;
    ol_device_handle_t device, host;
};

extern "C" bool look(ol_device_handle_t device, void *data) {
    auto &search = *static_cast<Search *>(data);
    ol_device_type_t type;
    bool valid = false;
    if (olGetDeviceInfo(device, OL_DEVICE_INFO_TYPE, sizeof type, &type) || olIsValidBinary(device, search.image.data(), search.image.size(), &valid))
        return true;
    if (type == OL_DEVICE_TYPE_HOST)
        search.host = device;
    if (valid && !search.device)
        search.device = device;
    return true;
}

int run(const char *path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> image{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    Library library;
    Search search{image, nullptr, nullptr};
    must(olIterateDevices(look, &search));
    if (!search.device)
        throw std::runtime_error(std::string("no device can load ") + path);

    ol_program_handle_t raw_program = nullptr;
    must(olCreateProgram(search.device, image.data(), image.size(), &raw_program));
    Owned<ol_program_handle_t, olDestroyProgram> program(raw_program);
    ol_queue_handle_t raw_queue = nullptr;
    must(olCreateQueue(search.device, &raw_queue));
    Owned<ol_queue_handle_t, olDestroyQueue> queue(raw_queue);
    ol_symbol_handle_t kernel = nullptr;
    must(olGetSymbol(program.get(), "vector_add", OL_SYMBOL_KIND_KERNEL, &kernel));

    constexpr std::uint32_t count = 1024;
    constexpr std::size_t bytes = count * sizeof(float);
    std::vector<float> a(count), b(count), sum(count);
    for (std::uint32_t i = 0; i < count; i++) {
        a[i] = static_cast<float>(i);
        b[i] = static_cast<float>(2 * i);
    }
    std::vector<Owned<void *, olMemFree>> memory;
    for (int i = 0; i < 3; i++) {
        void *address = nullptr;
        must(olMemAlloc(search.device, OL_ALLOC_TYPE_DEVICE, bytes, &address));
        memory.emplace_back(address);
    }
    must(olMemcpy(queue.get(), memory[0].get(), search.device, a.data(), search.host, bytes));
    must(olMemcpy(queue.get(), memory[1].get(), search.device, b.data(), search.host, bytes));
    void *addresses[] = {memory[0].get(), memory[1].get(), memory[2].get()};
    std::uint32_t elements = count;
    void *values[] = {&addresses[0], &addresses[1], &addresses[2], &elements};
    const std::size_t sizes[] = {sizeof(void *), sizeof(void *), sizeof(void *), sizeof elements};
    const ol_kernel_launch_size_args_t size{1, {count / 64, 1, 1}, {64, 1, 1}, 0};
    must(olLaunchKernel(queue.get(), search.device, kernel, &size, nullptr, 4, values, sizes));
    must(olMemcpy(queue.get(), sum.data(), search.host, addresses[2], search.device, bytes));
    must(olSyncQueue(queue.get()));

    std::uint32_t right = 0;
    for (std::uint32_t i = 0; i < count; i++)
        right += sum[i] == static_cast<float>(3 * i);
    std::cout << right << " sums are right\n";
    return right == count ? 0 : 1;
}

} // namespace

int main(int count, char **arguments) {
    if (count < 2) {
        std::cerr << "usage: " << arguments[0] << " IMAGE\n";
        return 2;
    }
    try {
        return run(arguments[1]);
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
