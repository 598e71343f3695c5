#include <cassert>
#include "hostcall_assert.cuh"
#define SELECT select_hostcall
#define CHECK(condition) assert(condition)
#include "select.cuh"
