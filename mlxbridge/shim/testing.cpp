// For tests only.
#include "internal.hpp"

#include <mlx/scheduler.h>

using namespace fulmen;

extern "C" {

int fmlx_test_abort(char** error, const fmlx_stream* stream) {
  return guard(error, [&] {
    // A stream's thread passes on std::exception only; anything else ends the
    // process from there.
    mx::scheduler::enqueue(stream->value, [] { throw "abort asked for by a test"; });
  });
}

void fmlx_test_nothing(void) {}

} // extern "C"
