
// Uses of the stubs of `odd/mod.rs`, so that their templates are instantiated.
HC_ON_DEVICE void use(hostcall::port& port, unsigned char* bytes, Wide* wides);
HC_ON_DEVICE void use(hostcall::port& port, unsigned char* bytes, Wide* wides) {
  Odd::nothing();
  Odd::barrier_on(port);
  Odd::checked(true, U'x');
  Odd::options({}, {}, {});
  auto pending = Odd::start_structs(wides[0], Id{1}, {}, Packed{1, 2.0}, Aligned{}, Loss{1, 0.5f});
  if (auto packed = pending.wait()) bytes[0] = static_cast<unsigned char>(packed.value.kind);
  Odd::slices("text", {bytes, 4}, {}, {}, {wides, 2}, {}, 3);
  Odd::type(1, 2, 3, 4, 5, 6, 7, 8, 9);
  Odd::operator_("this", 1);
  Odd::Odd_(1);
  Shouting::post(static_cast<unsigned>(Shouting::add(1.0f)));
}

#if defined(__CUDA__) || defined(__HIP__)
extern "C" __attribute__((global)) void kernel(unsigned char* bytes, Wide* wides, float* values) {
  values[0] = Shouting::add(values[0]);
  Odd::slices("text", {bytes, 4}, {}, {}, {wides, 2}, {}, 3);
  Odd::structs(wides[0], Id{1}, {}, Packed{1, 2.0}, Aligned{}, Loss{1, 0.5f});
}
#endif
