#define KERNEL plain
#define CHECK(condition) static_cast<void>(0)
#include "select.cuh"
