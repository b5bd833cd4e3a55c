// The checks between a caller's arguments and MLX. MLX's CPU allocator does not
// throw when memory is short: it hands out a null buffer, and a kernel writes to
// it. Sizes are therefore judged before anything is built.
#include "internal.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <mlx/memory.h>

namespace fulmen {

void report(char** error, const char* text) noexcept {
  if (error == nullptr) {
    return;
  }
  size_t length = std::strlen(text) + 1;
  char* copy = static_cast<char*>(std::malloc(length));
  if (copy != nullptr) {
    std::memcpy(copy, text, length);
  }
  *error = copy;
}

mx::Device device_of(int device, int index) {
  if (device != FMLX_CPU && device != FMLX_GPU) {
    throw Refusal(FMLX_ERR_ARGUMENT, "not a device type");
  }
  auto type = device == FMLX_CPU ? mx::Device::cpu : mx::Device::gpu;
  if (index < 0 || index >= mx::device_count(type)) {
    throw Refusal(FMLX_ERR_UNSUPPORTED,
                  std::string("no ") + (device == FMLX_CPU ? "cpu" : "gpu") +
                      " with index " + std::to_string(index));
  }
  return mx::Device(type, index);
}

mx::Dtype dtype_of(int dtype) {
  switch (dtype) {
    case FMLX_BOOL: return mx::bool_;
    case FMLX_UINT8: return mx::uint8;
    case FMLX_UINT16: return mx::uint16;
    case FMLX_UINT32: return mx::uint32;
    case FMLX_UINT64: return mx::uint64;
    case FMLX_INT8: return mx::int8;
    case FMLX_INT16: return mx::int16;
    case FMLX_INT32: return mx::int32;
    case FMLX_INT64: return mx::int64;
    case FMLX_FLOAT16: return mx::float16;
    case FMLX_FLOAT32: return mx::float32;
    case FMLX_FLOAT64: return mx::float64;
    case FMLX_BFLOAT16: return mx::bfloat16;
    case FMLX_COMPLEX64: return mx::complex64;
  }
  throw Refusal(FMLX_ERR_DTYPE, "not a dtype: " + std::to_string(dtype));
}

int code_of(mx::Dtype dtype) {
  switch (dtype.val()) {
    case mx::Dtype::Val::bool_: return FMLX_BOOL;
    case mx::Dtype::Val::uint8: return FMLX_UINT8;
    case mx::Dtype::Val::uint16: return FMLX_UINT16;
    case mx::Dtype::Val::uint32: return FMLX_UINT32;
    case mx::Dtype::Val::uint64: return FMLX_UINT64;
    case mx::Dtype::Val::int8: return FMLX_INT8;
    case mx::Dtype::Val::int16: return FMLX_INT16;
    case mx::Dtype::Val::int32: return FMLX_INT32;
    case mx::Dtype::Val::int64: return FMLX_INT64;
    case mx::Dtype::Val::float16: return FMLX_FLOAT16;
    case mx::Dtype::Val::float32: return FMLX_FLOAT32;
    case mx::Dtype::Val::float64: return FMLX_FLOAT64;
    case mx::Dtype::Val::bfloat16: return FMLX_BFLOAT16;
    case mx::Dtype::Val::complex64: return FMLX_COMPLEX64;
  }
  return -1;
}

// MLX takes its memory limit as advice; here it is the ceiling for one array,
// because above it the only alternatives are swap and the end of the process.
uint64_t byte_limit(const mx::Device& device, uint64_t largest_buffer) {
  uint64_t limit = mx::get_memory_limit();
  if (device == mx::Device::gpu && largest_buffer != 0 &&
      largest_buffer < limit) {
    return largest_buffer;
  }
  return limit;
}

mx::Shape shape_of(const int64_t* dims, int ndim) {
  if (ndim < 0 || ndim > FMLX_MAX_NDIM) {
    throw Refusal(FMLX_ERR_SHAPE, std::to_string(ndim) +
                                      " dimensions; 0 to " +
                                      std::to_string(FMLX_MAX_NDIM) +
                                      " are supported");
  }
  mx::Shape shape(ndim, 0);
  for (int i = 0; i < ndim; i++) {
    if (dims[i] < 0 || dims[i] > std::numeric_limits<mx::ShapeElem>::max()) {
      throw Refusal(FMLX_ERR_SHAPE, "dimension " + std::to_string(i) + " is " +
                                        std::to_string(dims[i]) +
                                        "; 0 to 2147483647 are supported");
    }
    shape[i] = static_cast<mx::ShapeElem>(dims[i]);
  }
  return shape;
}

void require_fits(const mx::Shape& shape, mx::Dtype dtype, uint64_t limit) {
  int64_t size = 1;
  int64_t span = dtype.size(); // the same with empty dimensions taken as 1
  for (auto dim : shape) {
    if (__builtin_mul_overflow(span, static_cast<int64_t>(dim > 0 ? dim : 1),
                               &span)) {
      throw Refusal(FMLX_ERR_SHAPE, "the shape's size does not fit 64 bits");
    }
    size *= dim; // at most the span, so it fits as well
  }
  uint64_t bytes = static_cast<uint64_t>(size) * dtype.size();
  if (bytes > limit) {
    throw Refusal(FMLX_ERR_MEMORY, "an array of " + std::to_string(bytes) +
                                       " bytes; the limit is " +
                                       std::to_string(limit));
  }
}

int32_t narrow(int64_t value, const char* what) {
  // The lowest value has no negative of its own in 32 bits.
  if (value <= std::numeric_limits<int32_t>::min() ||
      value > std::numeric_limits<int32_t>::max()) {
    throw Refusal(FMLX_ERR_ARGUMENT, std::string(what) + " " +
                                         std::to_string(value) +
                                         " does not fit 32 bits");
  }
  return static_cast<int32_t>(value);
}

void require_representable(double value, mx::Dtype dtype, const char* what) {
  double low = 0;
  double high = 0; // exclusive, so that it is exact for 64 bits
  switch (code_of(dtype)) {
    case FMLX_UINT8: high = 0x1p8; break;
    case FMLX_UINT16: high = 0x1p16; break;
    case FMLX_UINT32: high = 0x1p32; break;
    case FMLX_UINT64: high = 0x1p64; break;
    case FMLX_INT8: low = -0x1p7, high = 0x1p7; break;
    case FMLX_INT16: low = -0x1p15, high = 0x1p15; break;
    case FMLX_INT32: low = -0x1p31, high = 0x1p31; break;
    case FMLX_INT64: low = -0x1p63, high = 0x1p63; break;
    default: return; // bool and the floating types take every double
  }
  double whole = std::trunc(value);
  if (!(whole >= low && whole < high)) {
    throw Refusal(FMLX_ERR_ARGUMENT,
                  std::string(what) + " " + std::to_string(value) +
                      " is outside the range of the dtype");
  }
}

} // namespace fulmen

extern "C" {

void fmlx_error_free(char* error) { std::free(error); }

int64_t fmlx_live_handles(void) {
  return fulmen::Counted::live().load(std::memory_order_relaxed);
}

} // extern "C"
