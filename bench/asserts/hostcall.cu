#include <cassert>
#include "hostcall_assert.cuh"
#define KERNEL hostcall
#define CHECK(condition) assert(condition)
#include "select.cuh"
