// The build, the devices, their memory and streams, and the BLAS that this process is
// bound to. One file, since each costs the compiler all of MLX's headers.
#include "internal.hpp"

#include <cstring>
#include <string_view>
#include <variant>

#include <dlfcn.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

#include <mlx/backend/cuda/cuda.h>
#include <mlx/backend/metal/metal.h>
#include <mlx/memory.h>
#include <mlx/scheduler.h>
#include <mlx/version.h>

using namespace fulmen;

namespace {

template <size_t N>
void put(char (&field)[N], std::string_view text) {
  size_t length = text.copy(field, N - 1);
  field[length] = '\0';
}

// Bytes of physical memory, 0 when the system does not say.
uint64_t physical_memory() {
#ifdef __APPLE__
  uint64_t bytes = 0;
  size_t length = sizeof bytes;
  return sysctlbyname("hw.memsize", &bytes, &length, nullptr, 0) == 0 ? bytes
                                                                      : 0;
#else
  long pages = sysconf(_SC_PHYS_PAGES);
  long size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0
             ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(size)
             : 0;
#endif
}

void fill_number(fmlx_device_info* out, std::string_view key, uint64_t value) {
  if (key == "total_memory" || key == "memory_size") {
    out->memory_bytes = value;
    out->known |= FMLX_KNOWN_MEMORY;
  } else if (key == "free_memory") {
    out->free_bytes = value;
    out->known |= FMLX_KNOWN_FREE;
  } else if (key == "max_buffer_length") {
    out->max_buffer_bytes = value;
    out->known |= FMLX_KNOWN_BUFFER;
  } else if (key == "max_recommended_working_set_size") {
    out->working_set_bytes = value;
    out->known |= FMLX_KNOWN_WORKING_SET;
  }
}

uint64_t largest_buffer(const mx::Device& device) {
  if (device == mx::Device::cpu) {
    return 0;
  }
  const auto& info = mx::device_info(device);
  for (const char* key : {"max_buffer_length", "total_memory"}) {
    auto found = info.find(key);
    if (found != info.end()) {
      if (auto bytes = std::get_if<size_t>(&found->second)) {
        return *bytes;
      }
    }
  }
  return 0;
}

} // namespace

extern "C" {

const char* fmlx_version(void) { return mx::version(); }

const char* fmlx_compiler(void) {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "gcc " __VERSION__;
#else
  return "unknown";
#endif
}

bool fmlx_has_metal(void) {
  bool has = false;
  guard(nullptr, [&] { has = mx::metal::is_available(); });
  return has;
}

bool fmlx_has_cuda(void) {
  bool has = false;
  guard(nullptr, [&] { has = mx::cu::is_available(); });
  return has;
}

int fmlx_blas_bound(fmlx_blas* out, char** error) {
  return guard(error, [&] {
    std::memset(out, 0, sizeof *out);
    // What the loader finds first is what libmlx's calls go to, so a library
    // put before the wheel's shows here.
    void* gemm = dlsym(RTLD_DEFAULT, "cblas_sgemm");
    Dl_info info;
    if (gemm != nullptr && dladdr(gemm, &info) != 0 &&
        info.dli_fname != nullptr) {
      put(out->library, info.dli_fname);
    }
    if (auto config = reinterpret_cast<char* (*)()>(
            dlsym(RTLD_DEFAULT, "openblas_get_config"))) {
      put(out->config, config());
    }
    if (auto threads = reinterpret_cast<int (*)()>(
            dlsym(RTLD_DEFAULT, "openblas_get_num_threads"))) {
      out->threads = threads();
    }
  });
}

int fmlx_device_count(int* out, char** error, int device) {
  return guard(error, [&] {
    *out = mx::device_count(device == FMLX_GPU ? mx::Device::gpu
                                               : mx::Device::cpu);
  });
}

int fmlx_device_default(int* device, int* index, char** error) {
  return guard(error, [&] {
    const auto& chosen = mx::default_device();
    *device = chosen == mx::Device::gpu ? FMLX_GPU : FMLX_CPU;
    *index = chosen.index;
  });
}

int fmlx_device_query(fmlx_device_info* out, char** error, int device,
                      int index) {
  return guard(error, [&] {
    std::memset(out, 0, sizeof *out);
    for (const auto& [key, value] : mx::device_info(device_of(device, index))) {
      if (auto text = std::get_if<std::string>(&value)) {
        if (key == "device_name") {
          put(out->name, *text);
        } else if (key == "architecture") {
          put(out->architecture, *text);
        }
      } else if (auto number = std::get_if<size_t>(&value)) {
        fill_number(out, key, *number);
      }
    }
    uint64_t physical = physical_memory();
    if (device == FMLX_CPU && !(out->known & FMLX_KNOWN_MEMORY) &&
        physical != 0) {
      fill_number(out, "total_memory", physical);
    }
  });
}

// Memory: the counters and the limit are one set for the whole process.

int fmlx_memory_active(uint64_t* out, char** error) {
  return guard(error, [&] { *out = mx::get_active_memory(); });
}

int fmlx_memory_peak(uint64_t* out, char** error) {
  return guard(error, [&] { *out = mx::get_peak_memory(); });
}

int fmlx_memory_cache(uint64_t* out, char** error) {
  return guard(error, [&] { *out = mx::get_cache_memory(); });
}

int fmlx_memory_reset_peak(char** error) {
  return guard(error, [&] { mx::reset_peak_memory(); });
}

int fmlx_memory_clear_cache(char** error) {
  return guard(error, [&] { mx::clear_cache(); });
}

int fmlx_memory_set_limit(uint64_t* previous, char** error, uint64_t bytes) {
  return guard(error, [&] { *previous = mx::set_memory_limit(bytes); });
}

// Streams. MLX's ordinary streams belong to the thread that made them: their use
// from another throws. Only its "thread unsafe" kind may move between threads,
// which is what goroutines do; the caller sees to it that one thread at a time
// uses it. Evaluating on such a stream makes no default stream for the calling
// thread, so nothing has to be cleared when a thread ends.

int fmlx_stream_new(fmlx_stream** out, char** error, int device, int index) {
  return guard(error, [&] {
    auto chosen = device_of(device, index);
    *out = new fmlx_stream(mx::new_thread_unsafe_stream(chosen),
                           largest_buffer(chosen));
  });
}

void fmlx_stream_free(fmlx_stream* stream) { delete stream; }

int fmlx_stream_synchronize(char** error, fmlx_stream* stream) {
  return guard(error, [&] { mx::synchronize(stream->value); });
}

int fmlx_stream_count(int* out, char** error) {
  return guard(error,
               [&] { *out = static_cast<int>(mx::get_streams().size()); });
}

// For tests only.

int fmlx_test_abort(char** error, const fmlx_stream* stream) {
  return guard(error, [&] {
    // A stream's thread passes on std::exception only; anything else ends the
    // process from there.
    mx::scheduler::enqueue(stream->value, [] { throw "abort asked for by a test"; });
  });
}

void fmlx_test_nothing(void) {}

} // extern "C"
