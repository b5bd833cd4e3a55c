// Streams. MLX's ordinary streams belong to the thread that made them: their use
// from another throws. Only its "thread unsafe" kind may move between threads,
// which is what goroutines do; the caller sees to it that one thread at a time
// uses it. Evaluating on such a stream makes no default stream for the calling
// thread, so nothing has to be cleared when a thread ends.
#include "internal.hpp"

#include <variant>

using namespace fulmen;

namespace {

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

} // extern "C"
