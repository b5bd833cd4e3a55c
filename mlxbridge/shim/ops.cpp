// The lazy operations. Each names its stream: MLX's default streams belong to
// threads, and a caller's calls may come from any of them.
#include "internal.hpp"

#include <limits>
#include <numeric>
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
                            static_cast<float>(deviation), mx::random::key(seed),
                            stream->value),
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

int fmlx_combine(fmlx_array** out, char** error, int operation,
                 const fmlx_array* a, const fmlx_array* b,
                 const fmlx_stream* stream) {
  return guard(error, [&] {
    auto run = [&] {
      switch (operation) {
        case FMLX_ADD:
          return mx::add(a->value, b->value, stream->value);
        case FMLX_MATMUL:
          require_operands_fit(a->value, b->value, stream->limit());
          return mx::matmul(a->value, b->value, stream->value);
      }
      throw Refusal(FMLX_ERR_ARGUMENT, "not an operation on two arrays");
    };
    give(out, run(), stream->limit());
  });
}

int fmlx_sum(fmlx_array** out, char** error, const fmlx_array* a,
             const int64_t* axes, int naxes, bool keepdims,
             const fmlx_stream* stream) {
  return guard(error, [&] {
    auto along = axes_of(axes, naxes);
    if (naxes == 0) {
      along.resize(a->value.ndim());
      std::iota(along.begin(), along.end(), 0);
    }
    give(out, mx::sum(a->value, along, keepdims, stream->value),
         stream->limit());
  });
}

} // extern "C"
