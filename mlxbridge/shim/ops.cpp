// The lazy operations. Each names its stream: MLX's default streams belong to
// threads, and a caller's calls may come from any of them.
#include "internal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <mlx/ops.h>
#include <mlx/random.h>
#include <mlx/utils.h>

using namespace fulmen;

namespace {

std::vector<int> axes_of(const int64_t* axes, int count) {
  if (count < 0 || count > FMLX_MAX_NDIM) {
    throw Refusal(FMLX_ERR_ARGUMENT, "too many axes");
  }
  std::vector<int> list(count);
  for (int i = 0; i < count; i++) {
    list[i] = narrow(axes[i], "axis");
  }
  return list;
}

mx::Shape bounds_of(const int64_t* values, int count, const char* what) {
  mx::Shape bounds(count, 0);
  for (int i = 0; i < count; i++) {
    bounds[i] = narrow(values[i], what);
  }
  return bounds;
}

// A matmul may copy an operand that is broadcast over the batch, so the copies
// have to fit as well as the result.
void require_operands_fit(const mx::array& a, const mx::array& b,
                          uint64_t limit) {
  if (a.ndim() < 2 || b.ndim() < 2 || (a.ndim() == 2 && b.ndim() == 2)) {
    return;
  }
  mx::Shape a_batch(a.shape().begin(), a.shape().end() - 2);
  mx::Shape b_batch(b.shape().begin(), b.shape().end() - 2);
  auto batch = mx::broadcast_shapes(a_batch, b_batch);
  for (const auto* operand : {&a, &b}) {
    auto whole = batch;
    whole.push_back(operand->shape(-2));
    whole.push_back(operand->shape(-1));
    require_fits(whole, operand->dtype(), limit);
  }
}

} // namespace

extern "C" {

int fmlx_full(fmlx_array** out, char** error, const int64_t* dims, int ndim,
              double value, int dtype, const fmlx_stream* stream) {
  return guard(error, [&] {
    auto type = dtype_of(dtype);
    auto shape = shape_of(dims, ndim);
    require_fits(shape, type, stream->limit());
    require_representable(value, type, "value");
    auto scalar = type == mx::complex64
                      ? mx::array(std::complex<float>(value), type)
                      : mx::array(value, type);
    give(out, mx::full(std::move(shape), scalar, type, stream->value),
         stream->limit());
  });
}

int fmlx_arange(fmlx_array** out, char** error, double start, double stop,
                double step, int dtype, const fmlx_stream* stream) {
  return guard(error, [&] {
    auto type = dtype_of(dtype);
    if (type == mx::bool_ || type == mx::complex64) {
      throw Refusal(FMLX_ERR_DTYPE, "arange has no bool and no complex numbers");
    }
    if (!std::isfinite(start) || !std::isfinite(stop) || !std::isfinite(step) ||
        step == 0) {
      throw Refusal(FMLX_ERR_ARGUMENT,
                    "arange needs finite bounds and a step other than 0");
    }
    double count = std::ceil((stop - start) / step);
    if (!(count <= std::numeric_limits<int32_t>::max())) {
      throw Refusal(FMLX_ERR_SHAPE, "arange would have more than 2147483647 "
                                    "elements");
    }
    if (count > 0) {
      require_fits(mx::Shape{static_cast<mx::ShapeElem>(count)}, type,
                   stream->limit());
      require_representable(start, type, "start");
      require_representable(start + step * (count - 1), type, "last element");
    }
    if (count == 1) {
      // MLX converts the second element, too, which need not be representable.
      give(out, mx::full(mx::Shape{1}, mx::array(start, type), type, stream->value),
           stream->limit());
      return;
    }
    give(out, mx::arange(start, stop, step, type, stream->value),
         stream->limit());
  });
}

int fmlx_normal(fmlx_array** out, char** error, const int64_t* dims, int ndim,
                int dtype, double mean, double deviation, uint64_t seed,
                const fmlx_stream* stream) {
  return guard(error, [&] {
    auto type = dtype_of(dtype);
    auto shape = shape_of(dims, ndim);
    // MLX draws in float32 whatever the dtype.
    require_fits(shape, mx::float32, stream->limit());
    give(out,
         mx::random::normal(shape, type, static_cast<float>(mean),
                            static_cast<float>(deviation),
                            mx::random::key(seed), stream->value),
         stream->limit());
  });
}

int fmlx_uniform(fmlx_array** out, char** error, const int64_t* dims, int ndim,
                 int dtype, double low, double high, uint64_t seed,
                 const fmlx_stream* stream) {
  return guard(error, [&] {
    auto type = dtype_of(dtype);
    auto shape = shape_of(dims, ndim);
    require_fits(shape, mx::float32, stream->limit());
    give(out,
         mx::random::uniform(mx::array(static_cast<float>(low)),
                             mx::array(static_cast<float>(high)), shape, type,
                             mx::random::key(seed), stream->value),
         stream->limit());
  });
}

int fmlx_astype(fmlx_array** out, char** error, const fmlx_array* a, int dtype,
                const fmlx_stream* stream) {
  return guard(error, [&] {
    give(out, mx::astype(a->value, dtype_of(dtype), stream->value),
         stream->limit());
  });
}

int fmlx_reshape(fmlx_array** out, char** error, const fmlx_array* a,
                 const int64_t* dims, int ndim, const fmlx_stream* stream) {
  return guard(error, [&] {
    int64_t known[FMLX_MAX_NDIM];
    int open = -1;
    for (int i = 0; i < ndim && i < FMLX_MAX_NDIM; i++) {
      known[i] = dims[i];
      if (dims[i] == -1 && open < 0) {
        open = i;
        known[i] = 1;
      }
    }
    auto shape = shape_of(known, ndim);
    // Also without data: MLX multiplies the dimensions before it compares.
    require_fits(shape, a->value.dtype(),
                 std::numeric_limits<uint64_t>::max());
    if (open >= 0) {
      shape[open] = -1;
    }
    give(out, mx::reshape(a->value, std::move(shape), stream->value),
         stream->limit());
  });
}

int fmlx_slice(fmlx_array** out, char** error, const fmlx_array* a,
               const int64_t* start, const int64_t* stop, const int64_t* step,
               int ndim, const fmlx_stream* stream) {
  return guard(error, [&] {
    if (ndim < 0 || static_cast<size_t>(ndim) != a->value.ndim()) {
      throw Refusal(FMLX_ERR_SHAPE,
                    "a slice needs bounds for each of the array's " +
                        std::to_string(a->value.ndim()) + " dimensions");
    }
    for (int i = 0; i < ndim; i++) {
      if (step[i] == 0) {
        throw Refusal(FMLX_ERR_ARGUMENT, "a slice's step is 0");
      }
    }
    auto steps = bounds_of(step, ndim, "step");
    for (int i = 0; i < ndim; i++) {
      // MLX rounds up by adding the step, which overflows for a large one. A
      // step as long as the dimension already takes one element at most.
      int32_t length = std::max(a->value.shape(i), 1);
      steps[i] = std::clamp(steps[i], -length, length);
    }
    give(out,
         mx::slice(a->value, bounds_of(start, ndim, "start"),
                   bounds_of(stop, ndim, "stop"), std::move(steps),
                   stream->value),
         stream->limit());
  });
}

int fmlx_matmul(fmlx_array** out, char** error, const fmlx_array* a,
                const fmlx_array* b, const fmlx_stream* stream) {
  return guard(error, [&] {
    require_operands_fit(a->value, b->value, stream->limit());
    give(out, mx::matmul(a->value, b->value, stream->value), stream->limit());
  });
}

int fmlx_add(fmlx_array** out, char** error, const fmlx_array* a,
             const fmlx_array* b, const fmlx_stream* stream) {
  return guard(error, [&] {
    give(out, mx::add(a->value, b->value, stream->value), stream->limit());
  });
}

int fmlx_multiply(fmlx_array** out, char** error, const fmlx_array* a,
                  const fmlx_array* b, const fmlx_stream* stream) {
  return guard(error, [&] {
    give(out, mx::multiply(a->value, b->value, stream->value),
         stream->limit());
  });
}

int fmlx_sum(fmlx_array** out, char** error, const fmlx_array* a,
             const int64_t* axes, int naxes, bool keepdims,
             const fmlx_stream* stream) {
  return guard(error, [&] {
    give(out,
         naxes == 0
             ? mx::sum(a->value, keepdims, stream->value)
             : mx::sum(a->value, axes_of(axes, naxes), keepdims, stream->value),
         stream->limit());
  });
}

int fmlx_max(fmlx_array** out, char** error, const fmlx_array* a,
             const int64_t* axes, int naxes, bool keepdims,
             const fmlx_stream* stream) {
  return guard(error, [&] {
    give(out,
         naxes == 0
             ? mx::max(a->value, keepdims, stream->value)
             : mx::max(a->value, axes_of(axes, naxes), keepdims, stream->value),
         stream->limit());
  });
}

} // extern "C"
