// MLX's memory counters and limits, which are one set for the whole process.
#include "internal.hpp"

#include <mlx/backend/metal/metal.h>
#include <mlx/memory.h>

using namespace fulmen;

extern "C" {

int fmlx_memory_active(uint64_t* out, char** error) {
  return guard(error, [&] { *out = mx::get_active_memory(); });
}

int fmlx_memory_peak(uint64_t* out, char** error) {
  return guard(error, [&] { *out = mx::get_peak_memory(); });
}

int fmlx_memory_cache(uint64_t* out, char** error) {
  return guard(error, [&] { *out = mx::get_cache_memory(); });
}

int fmlx_memory_limit(uint64_t* out, char** error) {
  return guard(error, [&] { *out = mx::get_memory_limit(); });
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

int fmlx_memory_set_cache_limit(uint64_t* previous, char** error,
                                uint64_t bytes) {
  return guard(error, [&] { *previous = mx::set_cache_limit(bytes); });
}

int fmlx_memory_set_wired_limit(uint64_t* previous, char** error,
                                uint64_t bytes) {
  return guard(error, [&] {
    // Elsewhere MLX accepts the call and does nothing.
    if (!mx::metal::is_available()) {
      throw Refusal(FMLX_ERR_UNSUPPORTED, "wired memory needs Metal");
    }
    *previous = mx::set_wired_limit(bytes);
  });
}

} // extern "C"
