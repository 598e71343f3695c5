#include <cassert>
#define KERNEL cuda
#define CHECK(condition) assert(condition)
#include "select.cuh"
