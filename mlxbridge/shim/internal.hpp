// What the shim's files share: the handles, the guard around every body, and
// the checks that keep a bad argument from reaching MLX.
#pragma once

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include <mlx/array.h>
#include <mlx/device.h>
#include <mlx/stream.h>

#include "fulmen_mlx.h"

namespace fulmen {

namespace mx = mlx::core;

// A refusal by the shim itself, with its status code.
class Refusal : public std::runtime_error {
 public:
  Refusal(fmlx_status status, const std::string& text)
      : std::runtime_error(text), status_(status) {}
  fmlx_status status() const { return status_; }

 private:
  fmlx_status status_;
};

// Gives the caller a copy of the text; error may be NULL.
void report(char** error, const char* text) noexcept;

// Runs a body so that nothing it throws leaves the C interface.
template <class Body>
int guard(char** error, Body&& body) noexcept {
  try {
    body();
    return FMLX_OK;
  } catch (const Refusal& e) {
    report(error, e.what());
    return e.status();
  } catch (const std::exception& e) {
    report(error, e.what());
    return FMLX_ERR_MLX;
  } catch (...) {
    report(error, "MLX threw something that is not a std::exception");
    return FMLX_ERR_MLX;
  }
}

// Counts handles that are alive, so that a test can see a leak.
class Counted {
 public:
  Counted() { live().fetch_add(1, std::memory_order_relaxed); }
  ~Counted() { live().fetch_sub(1, std::memory_order_relaxed); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  static std::atomic<int64_t>& live() {
    static std::atomic<int64_t> count{0};
    return count;
  }
};

mx::Device device_of(int device, int index);
mx::Dtype dtype_of(int dtype);
int code_of(mx::Dtype dtype);

// The most bytes one array may have on the device, see limits.cpp.
uint64_t byte_limit(const mx::Device& device, uint64_t largest_buffer);

// A shape of MLX's from a caller's: every dimension from 0 to 2^31-1.
mx::Shape shape_of(const int64_t* dims, int ndim);
// Refuses a shape whose data would be larger than limit bytes, or whose strides
// would not fit 64 bits.
void require_fits(const mx::Shape& shape, mx::Dtype dtype, uint64_t limit);
int32_t narrow(int64_t value, const char* what);

// Refuses a number that the dtype cannot hold: converting it would be undefined.
void require_representable(double value, mx::Dtype dtype, const char* what);

} // namespace fulmen

struct fmlx_array : fulmen::Counted {
  explicit fmlx_array(mlx::core::array&& value) : value(std::move(value)) {}
  mlx::core::array value;
  bool failed = false; // its computation was started and did not succeed
};

struct fmlx_stream : fulmen::Counted {
  fmlx_stream(mlx::core::Stream value, uint64_t largest_buffer)
      : value(value), largest_buffer(largest_buffer) {}
  uint64_t limit() const {
    return fulmen::byte_limit(value.device, largest_buffer);
  }
  mlx::core::Stream value;
  uint64_t largest_buffer; // bytes; 0 when the device does not say
};

namespace fulmen {

// Hands an operation's result out, unless it is too large ever to be computed.
inline void give(fmlx_array** out, mx::array&& value, uint64_t limit) {
  require_fits(value.shape(), value.dtype(), limit);
  *out = new fmlx_array(std::move(value));
}

} // namespace fulmen
