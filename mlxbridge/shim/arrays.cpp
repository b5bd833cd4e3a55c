// Arrays: from memory, to memory, their description, and their evaluation.
#include "internal.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <vector>

#include <mlx/allocator.h>
#include <mlx/primitives.h>
#include <mlx/transforms.h>

using namespace fulmen;

namespace {

// Copies a strided array to row-major memory. The innermost dimension runs in a
// plain loop; the others count like an odometer.
template <class Word>
void copy_strided(Word* dst, const Word* src, const mx::array& a) {
  const auto& shape = a.shape();
  const auto& strides = a.strides();
  int last = static_cast<int>(shape.size()) - 1;
  int64_t index[FMLX_MAX_NDIM] = {};
  const Word* row = src;
  for (;;) {
    for (int64_t i = 0; i < shape[last]; i++) {
      *dst++ = row[i * strides[last]];
    }
    int dim = last - 1;
    for (; dim >= 0; dim--) {
      row += strides[dim];
      if (++index[dim] < shape[dim]) {
        break;
      }
      row -= strides[dim] * shape[dim];
      index[dim] = 0;
    }
    if (dim < 0) {
      return;
    }
  }
}

void copy_out(void* dst, const mx::array& a) {
  const char* src = a.data<char>();
  if (src == nullptr) {
    throw Refusal(FMLX_ERR_MEMORY, "MLX could not allocate the array");
  }
  if (a.flags().row_contiguous || a.size() == 1) {
    std::memcpy(dst, src, a.nbytes());
    return;
  }
  switch (a.itemsize()) {
    case 1:
      return copy_strided(static_cast<uint8_t*>(dst),
                          reinterpret_cast<const uint8_t*>(src), a);
    case 2:
      return copy_strided(static_cast<uint16_t*>(dst),
                          reinterpret_cast<const uint16_t*>(src), a);
    case 4:
      return copy_strided(static_cast<uint32_t*>(dst),
                          reinterpret_cast<const uint32_t*>(src), a);
    default:
      return copy_strided(static_cast<uint64_t*>(dst),
                          reinterpret_cast<const uint64_t*>(src), a);
  }
}

std::vector<mx::array> values(fmlx_array* const* arrays, size_t count) {
  std::vector<mx::array> list;
  list.reserve(count);
  for (size_t i = 0; i < count; i++) {
    list.push_back(arrays[i]->value);
  }
  return list;
}

void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// How to wait for an array that is being computed. A small operation ends within
// the time that it takes to put a thread to sleep and wake it again, so it pays to
// look for 50 us first: an addition of 16 elements on two cores took 16 us instead
// of 51. Where the cores are overloaded the looking keeps the work itself from
// running (50 us instead of 20), and with large operations it is for nothing; so
// looking in vain makes the next waits go to sleep at once, up to 1023 of them.
// The counts are hints: threads that race for them only make a worse guess.
struct Patience {
  std::atomic<int> skips{0}; // after the next time in vain, roughly
  std::atomic<int> left{0};  // waits that will not look
};

Patience& patience() {
  static Patience shared;
  return shared;
}

void await(mx::array& a) {
  using clock = std::chrono::steady_clock;
  constexpr auto kLook = std::chrono::microseconds(50);
  constexpr int kMostSkips = 1023;
  constexpr auto relaxed = std::memory_order_relaxed;
  if (a.is_available()) {
    return;
  }
  auto& p = patience();
  if (int left = p.left.load(relaxed); left > 0) {
    p.left.store(left - 1, relaxed);
    a.wait();
    return;
  }
  auto end = clock::now() + kLook;
  while (!a.is_available()) {
    if (clock::now() > end) {
      int skips = std::min(p.skips.load(relaxed) * 2 + 1, kMostSkips);
      p.skips.store(skips, relaxed);
      p.left.store(skips, relaxed);
      a.wait();
      return;
    }
    for (int i = 0; i < 16; i++) {
      pause_cpu();
    }
  }
  p.skips.store(p.skips.load(relaxed) / 2, relaxed);
}

void evaluate(fmlx_array* const* arrays, size_t count) {
  auto list = values(arrays, count);
  bool gpu = false;
  for (const auto& a : list) {
    gpu = gpu || (a.has_primitive() &&
                  a.primitive().device() == mx::Device::gpu);
  }
  if (gpu) {
    mx::eval(std::move(list));
  } else {
    mx::async_eval(std::move(list));
  }
  for (size_t i = 0; i < count; i++) {
    // Also marks it as available: later reads change nothing in it, so that
    // several threads may read it.
    await(arrays[i]->value);
  }
}

// Runs an evaluation, and remembers its failure in the arrays it was for: MLX
// tells an error once, and would hand out their memory as it is afterwards.
template <class Body>
int guard_evaluation(char** error, fmlx_array* const* arrays, size_t count,
                     Body&& body) {
  int status = guard(error, [&] {
    for (size_t i = 0; i < count; i++) {
      if (arrays[i]->failed) {
        throw std::runtime_error("the computation of the array has failed");
      }
    }
    body();
  });
  for (size_t i = 0; status != FMLX_OK && i < count; i++) {
    if (arrays[i]->value.status() == mx::array::Status::evaluated) {
      arrays[i]->failed = true;
    }
  }
  return status;
}

} // namespace

extern "C" {

int fmlx_array_new(fmlx_array** out, char** error, const void* data,
                   uint64_t nbytes, const int64_t* dims, int ndim, int dtype) {
  return guard(error, [&] {
    auto type = dtype_of(dtype);
    auto shape = shape_of(dims, ndim);
    require_fits(shape, type, byte_limit(mx::Device(mx::Device::cpu), 0));
    uint64_t size = type.size();
    for (auto dim : shape) {
      size *= static_cast<uint64_t>(dim);
    }
    if (size != nbytes) {
      throw Refusal(FMLX_ERR_SHAPE, std::to_string(nbytes) +
                                        " bytes of data for a shape of " +
                                        std::to_string(size) + " bytes");
    }
    auto memory = mx::allocator::malloc(nbytes);
    auto buffer = memory.buffer();
    if (nbytes > 0) {
      void* dst = buffer.raw_ptr();
      if (dst == nullptr) {
        throw Refusal(FMLX_ERR_MEMORY, "MLX could not allocate the array");
      }
      std::memcpy(dst, data, nbytes);
    }
    *out = new fmlx_array(mx::array(std::move(memory), std::move(shape), type));
  });
}

void fmlx_array_free(fmlx_array* array) {
  guard(nullptr, [&] { delete array; });
}

void fmlx_array_free_many(fmlx_array** arrays, size_t count) {
  // Newest first: a result goes before its inputs, so that no destructor has to
  // walk a graph.
  for (size_t i = count; i > 0; i--) {
    fmlx_array_free(arrays[i - 1]);
  }
}

void fmlx_array_query(fmlx_array_info* out, const fmlx_array* array) {
  const auto& a = array->value;
  out->ndim = static_cast<int32_t>(a.ndim());
  out->dtype = code_of(a.dtype());
  out->size = a.size();
  for (int i = 0; i < out->ndim && i < FMLX_MAX_NDIM; i++) {
    out->shape[i] = a.shape()[i];
  }
}

int fmlx_array_read(void* dst, uint64_t nbytes, char** error,
                    fmlx_array* array) {
  auto& a = array->value;
  if (a.nbytes() != nbytes) {
    return guard(error, [&] {
      throw Refusal(FMLX_ERR_SHAPE, "room for " + std::to_string(nbytes) +
                                        " bytes, the array has " +
                                        std::to_string(a.nbytes()));
    });
  }
  return guard_evaluation(error, &array, 1, [&] {
    evaluate(&array, 1);
    if (nbytes > 0) {
      copy_out(dst, a);
    }
  });
}

int fmlx_eval(char** error, fmlx_array* const* arrays, size_t count) {
  return guard_evaluation(error, arrays, count,
                          [&] { evaluate(arrays, count); });
}

int fmlx_eval_one(char** error, fmlx_array* array) {
  return fmlx_eval(error, &array, 1);
}

int fmlx_async_eval(char** error, fmlx_array* const* arrays, size_t count) {
  return guard_evaluation(error, arrays, count,
                          [&] { mx::async_eval(values(arrays, count)); });
}

} // extern "C"
