
// Uses of the definitions of `odd/mod.rs`: a handler of each kind is instantiated.
#include <type_traits>

template <class D, class F>
void uses(D, F handler, const hc_lanes *lanes) {
  D::serve(handler, hostcall::host::message(lanes, nullptr));
}

void use(const hc_lanes *lanes);
void use(const hc_lanes *lanes) {
  uses(Odd::nothing, [] {}, lanes);
  uses(Odd::barrier, [] {}, lanes);
  uses(Odd::numbers, [](auto... all) { return static_cast<hc_i128>(sizeof...(all)); }, lanes);
  uses(Odd::checked, [](bool yes, char32_t letter) { return std::make_tuple(yes, letter); }, lanes);
  uses(Odd::units, [](auto, auto, std::uint32_t) { return std::optional<hostcall::host::unit>(); }, lanes);
  uses(Odd::results, [](auto a, auto) -> hostcall::host::result<Wide, std::uint32_t> {
    if (a) return Wide{};
    return hostcall::host::err{7u};
  }, lanes);
  uses(Odd::structs, [](Wide, Id, std::array<float, 3>, Packed packed, Aligned, Loss) { return packed; }, lanes);
  uses(Odd::slices, [](std::string_view text, auto, auto, auto rows, auto wide, auto out, std::uint16_t) {
    wide[0].class_ = rows[0][3] > 0;
    out.returned(1);
    return std::optional<std::uint64_t>(text.size());
  }, lanes);
  uses(Odd::operator_, [](std::string_view, std::uint32_t) { return true; }, lanes);
  uses(Odd::Odd_, [](std::uint32_t x) { return x; }, lanes);
  uses(Shouting::post, [](std::uint32_t) {}, lanes);
}
static_assert(std::is_same_v<decltype(Odd::numbers)::result_type, hc_i128>, "");
