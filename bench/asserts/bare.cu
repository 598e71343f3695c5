// The least that a check can do: what any other costs on top of this is its own.
#define KERNEL bare
#define CHECK(condition) (condition) ? static_cast<void>(0) : __trap()
#include "select.cuh"
