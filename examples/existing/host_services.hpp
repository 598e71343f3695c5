// Made by `cargo hostcall bindgen --lang cpp-host`. Do not edit.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <hostcall_typed.hpp>

namespace services {

/// Answered on the host, called on the device.
struct Host {
    struct hc_function_add42 : ::hostcall::host::function<float, float> {
        static const hc_definition &definition() {
            static const hc_definition hc_made = {sizeof(hc_definition), "Host__add42", UINT64_C(0xd7f282fff761096d), "fn(f32) -> f32", 0, 1, 1, 0, nullptr};
            return hc_made;
        }
    };
    /// `x + 42`.
    ///
    /// Handlers are `float (*)(float x)`.
    static constexpr hc_function_add42 add42{};

    struct hc_function_log : ::hostcall::host::function<void, std::string_view> {
        static const hc_definition &definition() {
            static const hc_variable hc_variables[] = {{HC_TEXT, 2, 1}};
            static const hc_definition hc_made = {sizeof(hc_definition), "Host__log", UINT64_C(0xc37440676a55a4f6), "fn(&str)", 1, 3, HC_POSTED, 1, hc_variables};
            return hc_made;
        }
    };
    /// Something to write down. Nobody waits for it.
    ///
    /// Handlers are `void (*)(std::string_view message)`.
    static constexpr hc_function_log log{};
};

} // namespace services
