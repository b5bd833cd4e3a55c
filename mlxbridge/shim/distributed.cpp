// Groups of processes and what they do together.
//
// A collective's task holds a bare pointer to its group, so a group may go only
// after its work. Each group therefore has a stream of its own for its
// collectives, which fixes their order on every rank, and waits for that stream
// before it goes.
#include "internal.hpp"

#include <limits>
#include <string_view>
#include <typeinfo>

#include <pthread.h>
#include <signal.h>

#include <mlx/distributed/distributed.h>
#include <mlx/distributed/distributed_impl.h>
#include <mlx/distributed/ops.h>
#include <mlx/transforms.h>

using namespace fulmen;

namespace {

namespace dist = mx::distributed;

// Groups that are alive. MLX keeps every group it has made in a cache, sockets
// open; the last group to go empties it.
std::atomic<int>& groups() {
  static std::atomic<int> count{0};
  return count;
}

// MLX puts a stand-in of one rank where nothing is configured.
bool is_stand_in(const dist::Group& group) {
  const auto& impl = *group.raw_group();
  return std::string_view(typeid(impl).name()).find("EmptyGroup") !=
         std::string_view::npos;
}

mx::Device communication_device(const dist::Group& group) {
  const auto& impl = *group.raw_group();
  bool gpu = std::string_view(typeid(impl).name()).find("NCCL") !=
             std::string_view::npos;
  return mx::Device(gpu ? mx::Device::gpu : mx::Device::cpu);
}

// Keeps SIGPIPE from this thread and from the threads that are made meanwhile.
// The ring's threads write to sockets without asking for EPIPE; in a Go process
// the signal would end it as soon as a peer has gone, instead of the collective
// failing.
class PipesBlocked {
 public:
  PipesBlocked() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pending_before_ = pending();
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~PipesBlocked() {
    if (!pending_before_ && pending()) {
      int signal;
      sigwait(&pipe_, &signal);
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  PipesBlocked(const PipesBlocked&) = delete;
  PipesBlocked& operator=(const PipesBlocked&) = delete;

 private:
  static bool pending() {
    sigset_t set;
    sigpending(&set);
    return sigismember(&set, SIGPIPE) == 1;
  }
  sigset_t pipe_;
  sigset_t before_;
  bool pending_before_;
};

} // namespace

struct fmlx_group : fulmen::Counted {
  explicit fmlx_group(dist::Group value)
      : value(std::move(value)),
        stream(mx::new_thread_unsafe_stream(communication_device(this->value))),
        rank(this->value.rank()), size(this->value.size()) {
    groups().fetch_add(1);
  }
  ~fmlx_group() {
    if (groups().fetch_sub(1) == 1) {
      guard(nullptr, [] { dist::clear_backends(); });
    }
  }
  dist::Group value;
  mx::Stream stream;
  int rank;
  int size;
};

extern "C" {

bool fmlx_distributed_available(const char* backend) {
  bool available = false;
  guard(nullptr, [&] { available = dist::is_available(std::string(backend)); });
  return available;
}

int fmlx_group_new(fmlx_group** out, char** error, const char* backend,
                   bool strict) {
  return guard(error, [&] {
    std::string name(backend);
    // MLX gives a stand-in for a backend it does not have unless it is told to
    // be strict, and JACCL's init without its library ends the process.
    if (!dist::is_available(name)) {
      throw Refusal(FMLX_ERR_UNSUPPORTED,
                    "this machine has no distributed backend " + name);
    }
    PipesBlocked blocked;
    auto group = dist::init(strict, name);
    if (strict && is_stand_in(group)) {
      throw Refusal(FMLX_ERR_MLX, "the backend " + name + " is not configured");
    }
    *out = new fmlx_group(std::move(group));
  });
}

void fmlx_group_free(fmlx_group* group) {
  if (group == nullptr) {
    return;
  }
  guard(nullptr, [&] { mx::synchronize(group->stream); });
  guard(nullptr, [&] { delete group; });
}

int fmlx_group_rank(const fmlx_group* group) { return group->rank; }

int fmlx_group_size(const fmlx_group* group) { return group->size; }

int fmlx_collect(fmlx_array** out, char** error, int collective,
                 const fmlx_array* a, fmlx_group* group,
                 const fmlx_stream* stream) {
  return guard(error, [&] {
    const auto& x = a->value;
    auto run = [&] {
      switch (collective) {
        case FMLX_ALL_SUM:
          return dist::all_sum(x, group->value, group->stream);
        case FMLX_ALL_MAX:
          return dist::all_max(x, group->value, group->stream);
        case FMLX_ALL_GATHER:
          if (x.ndim() > 0 &&
              static_cast<int64_t>(x.shape(0)) * group->size >
                  std::numeric_limits<int32_t>::max()) {
            throw Refusal(FMLX_ERR_SHAPE, "the gathered dimension would be "
                                          "longer than 2147483647");
          }
          return dist::all_gather(x, group->value, group->stream);
      }
      throw Refusal(FMLX_ERR_ARGUMENT, "not a collective");
    };
    give(out, run(), stream->limit());
  });
}

int fmlx_send(fmlx_array** out, char** error, const fmlx_array* a,
              int destination, fmlx_group* group, const fmlx_stream* stream) {
  return guard(error, [&] {
    if (destination == group->rank) {
      throw Refusal(FMLX_ERR_ARGUMENT, "a rank cannot send to itself");
    }
    give(out, dist::send(a->value, destination, group->value, group->stream),
         stream->limit());
  });
}

int fmlx_recv(fmlx_array** out, char** error, const int64_t* dims, int ndim,
              int dtype, int source, fmlx_group* group,
              const fmlx_stream* stream) {
  return guard(error, [&] {
    auto type = dtype_of(dtype);
    auto shape = shape_of(dims, ndim);
    require_fits(shape, type, stream->limit());
    if (source == group->rank) {
      throw Refusal(FMLX_ERR_ARGUMENT, "a rank cannot receive from itself");
    }
    give(out,
         dist::recv(std::move(shape), type, source, group->value,
                    group->stream),
         stream->limit());
  });
}

int fmlx_barrier(char** error, fmlx_group* group) {
  return guard(error, [&] {
    // MLX has no barrier: a sum that needs a word of everybody is one.
    mx::eval(dist::all_sum(mx::array(1), group->value, group->stream));
  });
}

} // extern "C"
