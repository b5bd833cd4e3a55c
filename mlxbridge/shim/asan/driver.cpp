// Calls every function of the C interface but fmlx_test_abort, also where it
// fails, so that a run under the address, leak and undefined-behaviour sanitizers
// sees all of the shim. Usage: driver [ring | leak]. With "ring" it joins the ring
// of the environment; with "leak" it leaves an array behind, to show that this
// would be seen.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <mlx/ops.h>

#include "../internal.hpp"

namespace {

int checks = 0;

void check(bool good, const char* what, int line) {
  checks++;
  if (!good) {
    std::fprintf(stderr, "line %d: %s\n", line, what);
    std::exit(1);
  }
}
#define CHECK(condition) check((condition), #condition, __LINE__)

// A call that must succeed.
#define GOOD(call) check_status((call), FMLX_OK, error, #call, __LINE__)
// A call that must fail with a status and a text.
#define BAD(status, call) check_status((call), (status), error, #call, __LINE__)

void check_status(int got, int want, char*& error, const char* what, int line) {
  if (got != want) {
    std::fprintf(stderr, "line %d: %s: status %d, not %d: %s\n", line, what, got,
                 want, error != nullptr ? error : "");
    std::exit(1);
  }
  check((got == FMLX_OK) == (error == nullptr), "an error has a text", line);
  fmlx_error_free(error);
  error = nullptr;
}

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

void devices() {
  char* error = nullptr;
  CHECK(std::strlen(fmlx_version()) > 0);
  CHECK(std::strlen(fmlx_compiler()) > 0);
  fmlx_has_metal();
  fmlx_has_cuda();
  fmlx_test_nothing();
  fmlx_blas blas;
  GOOD(fmlx_blas_bound(&blas, &error));
  int count = 0;
  GOOD(fmlx_device_count(&count, &error, FMLX_CPU));
  CHECK(count == 1);
  GOOD(fmlx_device_count(&count, &error, FMLX_GPU));
  int device, index;
  GOOD(fmlx_device_default(&device, &index, &error));
  fmlx_device_info info;
  GOOD(fmlx_device_query(&info, &error, device, index));
  CHECK(std::strlen(info.name) > 0);
  BAD(FMLX_ERR_UNSUPPORTED, fmlx_device_query(&info, &error, FMLX_CPU, 7));
  BAD(FMLX_ERR_ARGUMENT, fmlx_device_query(&info, &error, 5, 0));

  uint64_t bytes;
  GOOD(fmlx_memory_active(&bytes, &error));
  GOOD(fmlx_memory_peak(&bytes, &error));
  GOOD(fmlx_memory_cache(&bytes, &error));
  GOOD(fmlx_memory_reset_peak(&error));
  GOOD(fmlx_memory_clear_cache(&error));
  GOOD(fmlx_memory_set_limit(&bytes, &error, 1 << 30));
  GOOD(fmlx_memory_set_limit(&bytes, &error, bytes));
}

void arrays(fmlx_stream* stream) {
  char* error = nullptr;
  std::vector<fmlx_array*> all;
  auto keep = [&](fmlx_array* a) {
    all.push_back(a);
    return a;
  };
  fmlx_array* a = nullptr;
  const float data[6] = {1, 2, 3, 4, 5, 6};
  const int64_t two_three[] = {2, 3}, three_two[] = {3, -1}, four[] = {4};
  const int64_t negative[] = {-1}, long_one[] = {kMost + 1};
  const int64_t huge[] = {kMost, kMost, kMost}, nothing[] = {0, 3};

  GOOD(fmlx_array_new(&a, &error, data, sizeof data, two_three, 2, FMLX_FLOAT32));
  fmlx_array* x = keep(a);
  GOOD(fmlx_array_new(&a, &error, nullptr, 0, nothing, 2, FMLX_INT8));
  fmlx_array* empty = keep(a);
  GOOD(fmlx_array_new(&a, &error, data, 4, nullptr, 0, FMLX_FLOAT32));
  keep(a);
  BAD(FMLX_ERR_SHAPE, fmlx_array_new(&a, &error, data, 4, four, 1, FMLX_FLOAT32));
  BAD(FMLX_ERR_SHAPE, fmlx_array_new(&a, &error, data, 4, negative, 1, FMLX_INT8));
  BAD(FMLX_ERR_SHAPE, fmlx_array_new(&a, &error, data, 4, four, 17, FMLX_INT8));
  BAD(FMLX_ERR_MEMORY, fmlx_array_new(&a, &error, data, 4, huge, 2, FMLX_INT8));
  BAD(FMLX_ERR_DTYPE, fmlx_array_new(&a, &error, data, 4, four, 1, 99));
  CHECK(fmlx_array_new(&a, nullptr, data, 4, four, 1, 99) == FMLX_ERR_DTYPE);

  for (int dtype = FMLX_BOOL; dtype <= FMLX_COMPLEX64; dtype++) {
    GOOD(fmlx_full(&a, &error, two_three, 2, 1, dtype, stream));
    fmlx_array* b = keep(a);
    GOOD(fmlx_combine(&a, &error, FMLX_ADD, b, b, stream));
    keep(a);
    GOOD(fmlx_sum(&a, &error, a, nullptr, 0, false, stream));
    fmlx_array* total = keep(a);
    const int64_t axis[] = {-1};
    GOOD(fmlx_sum(&a, &error, b, axis, 1, true, stream));
    keep(a);
    GOOD(fmlx_astype(&a, &error, total, FMLX_FLOAT32, stream));
    keep(a);
    float value = 0;
    GOOD(fmlx_array_read(&value, sizeof value, &error, a));
    CHECK(value == (dtype == FMLX_BOOL ? 6 : 12));
  }

  // Every element size, from a reversed view.
  const int32_t count[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const int64_t grid[] = {2, 2, 3};
  GOOD(fmlx_array_new(&a, &error, count, sizeof count, grid, 3, FMLX_INT32));
  fmlx_array* cube = keep(a);
  for (int dtype : {FMLX_INT8, FMLX_FLOAT16, FMLX_FLOAT32, FMLX_COMPLEX64}) {
    GOOD(fmlx_astype(&a, &error, cube, dtype, stream));
    keep(a);
    a = keep(new fmlx_array(mlx::core::slice(a->value, {-1, 1, -1}, {-9, -9, -9},
                                             {-1, -1, -2}, stream->value)));
    fmlx_array_info info;
    fmlx_array_query(&info, a);
    CHECK(info.ndim == 3 && info.shape[2] == 2 && info.size == 8);
    std::vector<char> out(8 * 8);
    uint64_t bytes = dtype == FMLX_INT8 ? 8 : dtype == FMLX_FLOAT16 ? 16
                     : dtype == FMLX_FLOAT32 ? 32 : 64;
    GOOD(fmlx_array_read(out.data(), bytes, &error, a));
    BAD(FMLX_ERR_SHAPE, fmlx_array_read(out.data(), bytes - 1, &error, a));
    if (dtype == FMLX_INT8) {
      const char want[] = {11, 9, 8, 6, 5, 3, 2, 0};
      CHECK(std::memcmp(out.data(), want, sizeof want) == 0);
    }
  }
  GOOD(fmlx_array_read(nullptr, 0, &error, empty));

  GOOD(fmlx_reshape(&a, &error, x, three_two, 2, stream));
  fmlx_array* y = keep(a);
  GOOD(fmlx_combine(&a, &error, FMLX_MATMUL, x, y, stream));
  fmlx_array* product = keep(a);
  float values[4];
  GOOD(fmlx_async_eval(&error, all.data(), all.size()));
  GOOD(fmlx_eval(&error, all.data(), all.size()));
  GOOD(fmlx_eval_one(&error, product));
  GOOD(fmlx_array_read(values, sizeof values, &error, product));
  CHECK(values[0] == 22 && values[3] == 64);
  GOOD(fmlx_normal(&a, &error, two_three, 2, FMLX_FLOAT16, 1, 2, 7, stream));
  GOOD(fmlx_eval_one(&error, keep(a)));

  // Refusals, ours and MLX's.
  const double nan = std::nan("");
  BAD(FMLX_ERR_SHAPE, fmlx_full(&a, &error, long_one, 1, 0, FMLX_INT8, stream));
  BAD(FMLX_ERR_SHAPE, fmlx_full(&a, &error, huge, 3, 0, FMLX_INT8, stream));
  BAD(FMLX_ERR_ARGUMENT, fmlx_full(&a, &error, four, 1, -1, FMLX_UINT8, stream));
  BAD(FMLX_ERR_ARGUMENT, fmlx_full(&a, &error, four, 1, nan, FMLX_INT64, stream));
  BAD(FMLX_ERR_MLX, fmlx_normal(&a, &error, four, 1, FMLX_INT8, 0, 1, 1, stream));
  BAD(FMLX_ERR_DTYPE, fmlx_astype(&a, &error, x, -1, stream));
  BAD(FMLX_ERR_MLX, fmlx_reshape(&a, &error, x, four, 1, stream));
  BAD(FMLX_ERR_MLX, fmlx_combine(&a, &error, FMLX_MATMUL, x, x, stream));
  BAD(FMLX_ERR_MLX, fmlx_combine(&a, &error, FMLX_ADD, x, y, stream));
  BAD(FMLX_ERR_ARGUMENT, fmlx_combine(&a, &error, 99, x, x, stream));
  BAD(FMLX_ERR_MLX, fmlx_sum(&a, &error, x, four, 1, false, stream));
  BAD(FMLX_ERR_ARGUMENT, fmlx_sum(&a, &error, x, four, 17, false, stream));
  const int64_t far[] = {int64_t{1} << 40};
  BAD(FMLX_ERR_ARGUMENT, fmlx_sum(&a, &error, x, far, 1, false, stream));

  GOOD(fmlx_stream_synchronize(&error, stream));
  fmlx_array_free(all.back());
  all.back() = nullptr; // what was freed alone is skipped
  fmlx_array_free_many(all.data(), all.size());
  fmlx_array_free(nullptr);
}

void group(fmlx_stream* stream, bool ring) {
  char* error = nullptr;
  CHECK(fmlx_distributed_available("ring"));
  CHECK(!fmlx_distributed_available("smoke signals"));
  fmlx_group* group = nullptr;
  BAD(FMLX_ERR_UNSUPPORTED, fmlx_group_new(&group, &error, "smoke signals", false));
  if (!ring) {
    BAD(FMLX_ERR_MLX, fmlx_group_new(&group, &error, "ring", true));
  }
  GOOD(fmlx_group_new(&group, &error, "ring", ring));
  int rank = fmlx_group_rank(group), size = fmlx_group_size(group);
  CHECK(ring ? size > 1 : size == 1);

  const int64_t shape[] = {6}, negative[] = {-6};
  fmlx_array *a = nullptr, *b = nullptr;
  GOOD(fmlx_full(&a, &error, shape, 1, rank + 1, FMLX_FLOAT32, stream));
  for (int collective = FMLX_ALL_SUM; collective <= FMLX_ALL_GATHER; collective++) {
    GOOD(fmlx_collect(&b, &error, collective, a, group, stream));
    std::vector<float> out(collective == FMLX_ALL_GATHER ? 6 * size : 6);
    GOOD(fmlx_array_read(out.data(), out.size() * 4, &error, b));
    float want = collective == FMLX_ALL_SUM   ? size * (size + 1) / 2
                 : collective == FMLX_ALL_MAX ? size
                                              : 1; // of the first rank
    CHECK(out[0] == want);
    fmlx_array_free(b);
  }
  BAD(FMLX_ERR_ARGUMENT, fmlx_collect(&b, &error, 99, a, group, stream));
  BAD(FMLX_ERR_ARGUMENT, fmlx_send(&b, &error, a, rank, group, stream));
  BAD(FMLX_ERR_MLX, fmlx_send(&b, &error, a, size + 1, group, stream));
  BAD(FMLX_ERR_SHAPE, fmlx_recv(&b, &error, negative, 1, FMLX_INT8, 1, group, stream));
  BAD(FMLX_ERR_ARGUMENT, fmlx_recv(&b, &error, shape, 1, FMLX_INT8, rank, group, stream));
  BAD(FMLX_ERR_MLX, fmlx_recv(&b, &error, shape, 1, FMLX_INT8, size + 1, group, stream));
  if (ring) {
    GOOD(fmlx_send(&b, &error, a, (rank + 1) % size, group, stream));
    GOOD(fmlx_eval_one(&error, b));
    fmlx_array_free(b);
    int left = (rank + size - 1) % size;
    GOOD(fmlx_recv(&b, &error, shape, 1, FMLX_FLOAT32, left, group, stream));
    std::vector<float> out(6);
    GOOD(fmlx_array_read(out.data(), 24, &error, b));
    CHECK(out[5] == left + 1);
    fmlx_array_free(b);
  }
  GOOD(fmlx_barrier(&error, group));
  fmlx_array_free(a);
  fmlx_group_free(group);
  fmlx_group_free(nullptr);
}

} // namespace

int main(int argc, char** argv) {
  char* error = nullptr;
  bool ring = argc > 1 && std::string(argv[1]) == "ring";
  fmlx_stream* stream = nullptr;
  BAD(FMLX_ERR_UNSUPPORTED, fmlx_stream_new(&stream, &error, FMLX_CPU, 3));
  GOOD(fmlx_stream_new(&stream, &error, FMLX_CPU, 0));
  int count = 0;
  GOOD(fmlx_stream_count(&count, &error));
  CHECK(count == 1);
  if (argc > 1 && std::string(argv[1]) == "leak") {
    fmlx_array* lost = nullptr;
    GOOD(fmlx_full(&lost, &error, nullptr, 0, 1, FMLX_INT8, stream));
    return 0;
  }
  if (!ring) {
    devices();
    arrays(stream);
  }
  group(stream, ring);
  fmlx_stream_free(stream);
  fmlx_stream_free(nullptr);
  CHECK(fmlx_live_handles() == 0);
  std::printf("%d checks\n", checks);
}
