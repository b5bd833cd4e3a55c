// C interface to the part of MLX that Fulmen's worker uses.
//
// Grammar: handles are opaque and come in pairs X_new / X_free; results go to
// out-parameters, which come first; the return value is an fmlx_status. When it
// is not FMLX_OK and `error` is not NULL, *error is set to a text that the
// caller releases with fmlx_error_free; the other out-parameters are untouched.
// The text travels with the call because a caller may be on another thread by
// the time it asks. X_free takes NULL. No C++ exception leaves this interface.
//
// Shapes are int64_t so that a caller's lengths are judged here, before they
// are narrowed to the 32 bits that MLX uses.
#ifndef FULMEN_MLX_H
#define FULMEN_MLX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What went wrong, for callers that act on it. Codes are never reused.
typedef enum fmlx_status {
  FMLX_OK = 0,
  FMLX_ERR_MLX = 1,         // MLX threw; the text is MLX's own
  FMLX_ERR_SHAPE = 2,       // negative, too long, too many dimensions
  FMLX_ERR_DTYPE = 3,       // not a dtype, or one that the operation lacks
  FMLX_ERR_MEMORY = 4,      // larger than the device or the memory limit allows
  FMLX_ERR_ARGUMENT = 5,    // any other argument outside its range
  FMLX_ERR_UNSUPPORTED = 6, // this build or machine cannot do it
} fmlx_status;

// Element types; the numbers are this interface's own.
typedef enum fmlx_dtype {
  FMLX_BOOL = 0,
  FMLX_UINT8 = 1,
  FMLX_UINT16 = 2,
  FMLX_UINT32 = 3,
  FMLX_UINT64 = 4,
  FMLX_INT8 = 5,
  FMLX_INT16 = 6,
  FMLX_INT32 = 7,
  FMLX_INT64 = 8,
  FMLX_FLOAT16 = 9,
  FMLX_FLOAT32 = 10,
  FMLX_FLOAT64 = 11,
  FMLX_BFLOAT16 = 12,
  FMLX_COMPLEX64 = 13,
} fmlx_dtype;

typedef enum fmlx_device { FMLX_CPU = 0, FMLX_GPU = 1 } fmlx_device;

// Most dimensions an array may have.
#define FMLX_MAX_NDIM 16

typedef struct fmlx_array fmlx_array;
typedef struct fmlx_stream fmlx_stream;
typedef struct fmlx_group fmlx_group;

void fmlx_error_free(char* error);

// Array, stream and group handles that are alive in this process. For tests.
int64_t fmlx_live_handles(void);

// ---- build and devices ----

// MLX's version; a static string.
const char* fmlx_version(void);
// The C++ compiler that built this interface; a static string.
const char* fmlx_compiler(void);
bool fmlx_has_metal(void);
bool fmlx_has_cuda(void);

// The BLAS that cblas_sgemm is bound to in this process. Texts that cannot be
// known are empty, threads is 0 then.
typedef struct fmlx_blas {
  char library[1024];
  char config[256];
  int32_t threads;
} fmlx_blas;
int fmlx_blas_bound(fmlx_blas* out, char** error);

int fmlx_device_count(int* out, char** error, int device);
int fmlx_device_default(int* device, int* index, char** error);

// Bit masks for fmlx_device_info.known.
enum {
  FMLX_KNOWN_MEMORY = 1,
  FMLX_KNOWN_FREE = 2,
  FMLX_KNOWN_BUFFER = 4,
  FMLX_KNOWN_WORKING_SET = 8,
};
typedef struct fmlx_device_info {
  char name[256];
  char architecture[256];
  uint64_t memory_bytes;
  uint64_t free_bytes;
  uint64_t max_buffer_bytes;
  uint64_t working_set_bytes;
  uint32_t known; // which of the numbers above are known
} fmlx_device_info;
int fmlx_device_query(fmlx_device_info* out, char** error, int device,
                      int index);

// ---- memory, in bytes, for the whole process ----

int fmlx_memory_active(uint64_t* out, char** error);
int fmlx_memory_peak(uint64_t* out, char** error);
int fmlx_memory_cache(uint64_t* out, char** error);
int fmlx_memory_reset_peak(char** error);
int fmlx_memory_clear_cache(char** error);
// The previous value is returned.
int fmlx_memory_set_limit(uint64_t* previous, char** error, uint64_t bytes);

// ---- streams ----

// A stream that any thread may use, one at a time. MLX keeps the queue behind
// it until the process ends; freeing the handle frees the handle only.
int fmlx_stream_new(fmlx_stream** out, char** error, int device, int index);
void fmlx_stream_free(fmlx_stream* stream);
int fmlx_stream_synchronize(char** error, fmlx_stream* stream);
// How many streams MLX has made in this process. For tests.
int fmlx_stream_count(int* out, char** error);

// ---- arrays ----

// Copies nbytes of row-major data.
int fmlx_array_new(fmlx_array** out, char** error, const void* data,
                   uint64_t nbytes, const int64_t* shape, int ndim, int dtype);
void fmlx_array_free(fmlx_array* array);
void fmlx_array_free_many(fmlx_array** arrays, size_t count);

typedef struct fmlx_array_info {
  int64_t shape[FMLX_MAX_NDIM];
  uint64_t size;
  int32_t ndim;
  int32_t dtype;
} fmlx_array_info;
void fmlx_array_query(fmlx_array_info* out, const fmlx_array* array);

// Evaluates the array if needed and copies it, row-major, to dst. nbytes must be
// the array's size in bytes.
int fmlx_array_read(void* dst, uint64_t nbytes, char** error,
                    fmlx_array* array);

// Computes the arrays and waits for them.
int fmlx_eval(char** error, fmlx_array* const* arrays, size_t count);
int fmlx_eval_one(char** error, fmlx_array* array);
// Starts to compute the arrays.
int fmlx_async_eval(char** error, fmlx_array* const* arrays, size_t count);

// ---- operations: lazy, on the given stream ----

int fmlx_full(fmlx_array** out, char** error, const int64_t* shape, int ndim,
              double value, int dtype, const fmlx_stream* stream);
int fmlx_normal(fmlx_array** out, char** error, const int64_t* shape, int ndim,
                int dtype, double mean, double deviation, uint64_t seed,
                const fmlx_stream* stream);
int fmlx_astype(fmlx_array** out, char** error, const fmlx_array* a, int dtype,
                const fmlx_stream* stream);
// One dimension may be -1: it is what is left over.
int fmlx_reshape(fmlx_array** out, char** error, const fmlx_array* a,
                 const int64_t* shape, int ndim, const fmlx_stream* stream);
typedef enum fmlx_binary {
  FMLX_ADD = 0,
  FMLX_MATMUL = 1,
} fmlx_binary;
int fmlx_combine(fmlx_array** out, char** error, int operation,
                 const fmlx_array* a, const fmlx_array* b,
                 const fmlx_stream* stream);
// naxes 0 means all axes.
int fmlx_sum(fmlx_array** out, char** error, const fmlx_array* a,
             const int64_t* axes, int naxes, bool keepdims,
             const fmlx_stream* stream);

// ---- distributed ----

bool fmlx_distributed_available(const char* backend);
int fmlx_group_new(fmlx_group** out, char** error, const char* backend,
                   bool strict);
// Waits for the group's work, then leaves the group. Work that never ends, as
// after the death of a peer under JACCL, is waited for without limit.
void fmlx_group_free(fmlx_group* group);
int fmlx_group_rank(const fmlx_group* group);
int fmlx_group_size(const fmlx_group* group);

typedef enum fmlx_collective {
  FMLX_ALL_SUM = 0,
  FMLX_ALL_MAX = 1,
  FMLX_ALL_GATHER = 2,
} fmlx_collective;
int fmlx_collect(fmlx_array** out, char** error, int collective,
                 const fmlx_array* a, fmlx_group* group,
                 const fmlx_stream* stream);
int fmlx_send(fmlx_array** out, char** error, const fmlx_array* a,
              int destination, fmlx_group* group, const fmlx_stream* stream);
int fmlx_recv(fmlx_array** out, char** error, const int64_t* shape, int ndim,
              int dtype, int source, fmlx_group* group,
              const fmlx_stream* stream);
// Returns when every rank of the group has come to it.
int fmlx_barrier(char** error, fmlx_group* group);

// ---- for tests ----

// Lets the stream's own thread end the process, as a fault inside MLX would.
int fmlx_test_abort(char** error, const fmlx_stream* stream);
// Does nothing; measures the cost of a call.
void fmlx_test_nothing(void);

#ifdef __cplusplus
}
#endif

#endif
