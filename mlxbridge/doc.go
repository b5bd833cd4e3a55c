// Package mlxbridge is a small Go binding to MLX's C++ interface, for the worker
// process. It owns the Go view of devices, memory counters, streams, arrays,
// the operations a worker needs, and groups of processes. It imports nothing of
// the daemon, and the daemon does not import it: a fault inside MLX ends the
// process it happens in.
//
// # Lifetime
//
// Every Array belongs to a Scope and is freed when the scope is closed. A
// forgotten scope is closed after the garbage collector finds it; arrays keep
// their scope reachable. Using an array after that is ErrClosed, never a crash.
//
// # Laziness
//
// Operations, collectives included, only build a graph. Eval computes it and
// waits, AsyncEval starts to compute it, ToSlice and Item evaluate what they
// read. Arguments are judged when an operation is built. What fails while it is
// computed is reported by the Eval or Synchronize that waits for it.
//
// # Threads
//
// MLX 0.32.4 ties ordinary streams, default streams and the default random state
// to the thread that made them, and goroutines move between threads. So every
// operation here names its stream, a Stream is of MLX's kind that any thread may
// use, and random numbers take a seed. Evaluating on such a stream makes no
// hidden per-thread stream.
//
// A Stream, with the scopes on it and the arrays made in them, is used by one
// goroutine at a time. Different streams may be used at the same time. An array
// that Eval has computed may be read by several goroutines and be an input on
// another stream; one that is not computed yet may not leave its goroutine.
//
// # Limits
//
// Shapes have at most 16 dimensions of 0 to 2147483647 each, and no array may be
// larger than MLX's memory limit (80 % of physical memory unless SetMemoryLimit
// says otherwise) or, on a GPU, than the largest buffer. The limit is for each
// array; how much is alive in all is the caller's affair, and MLX on CPUs does
// not survive an allocation that fails.
package mlxbridge
