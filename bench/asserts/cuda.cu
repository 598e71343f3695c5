#include <cassert>
#define SELECT select_cuda
#define CHECK(condition) assert(condition)
#include "select.cuh"
