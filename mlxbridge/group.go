package mlxbridge

/*
#include <stdlib.h>
#include <fulmen_mlx.h>
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// Available tells whether a communication backend can be used in this process:
// ring, jaccl, nccl, mpi, or any.
func Available(backend string) bool {
	name := C.CString(backend)
	defer C.free(unsafe.Pointer(name))
	return bool(C.fmlx_distributed_available(name))
}

// Group is a group of processes that communicate. Its collectives run on a stream
// of its own, on the CPU for ring, jaccl and mpi and on the GPU for nccl, in the
// order in which they are evaluated, which must be the same on every rank. Arrays
// of one Eval that do not depend on each other are computed in an order of MLX's
// own choice, so a Send and a Recv that a neighbour waits for get an Eval each.
//
// The order of the end: close the scopes with arrays of the group, or at least
// evaluate them, then close the group. Close waits for the group's work.
type Group struct {
	h          *C.fmlx_group
	rank, size int
}

// InitGroup joins the group that the environment describes (for ring MLX_RANK and
// MLX_HOSTFILE). It waits for the other ranks; how long is the backend's affair.
// If nothing is configured, strict makes that an error; otherwise the group has
// one rank. A backend that this machine does not have is ErrUnsupported either
// way. MLX keeps one group for each backend until the last group is closed:
// another InitGroup gives the same ranks. One goroutine at a time makes groups.
func InitGroup(backend string, strict bool) (*Group, error) {
	name := C.CString(backend)
	defer C.free(unsafe.Pointer(name))
	var h *C.fmlx_group
	var text *C.char
	if rc := C.fmlx_group_new(&h, &text, name, C.bool(strict)); rc != C.FMLX_OK {
		return nil, failure("init_group", rc, text)
	}
	return &Group{h: h, rank: int(C.fmlx_group_rank(h)), size: int(C.fmlx_group_size(h))}, nil
}

// Rank is this process's number in the group, from 0.
func (g *Group) Rank() int { return g.rank }

// Size is the number of processes in the group.
func (g *Group) Size() int { return g.size }

// Close waits for the group's work and leaves the group. Work that never ends is
// waited for without limit, so a process that gives up a group exits instead. A
// second Close does nothing.
func (g *Group) Close() {
	if g.h == nil {
		return
	}
	C.fmlx_group_free(g.h)
	g.h = nil
}

// AllSum is the sum of every rank's array, element by element.
func (sc *Scope) AllSum(g *Group, a *Array) (*Array, error) {
	return sc.collect("all_sum", C.FMLX_ALL_SUM, g, a)
}

// AllMax is the largest of every rank's elements.
func (sc *Scope) AllMax(g *Group, a *Array) (*Array, error) {
	return sc.collect("all_max", C.FMLX_ALL_MAX, g, a)
}

// AllGather is every rank's array along the first dimension, by rank. A scalar
// counts as one row.
func (sc *Scope) AllGather(g *Group, a *Array) (*Array, error) {
	return sc.collect("all_gather", C.FMLX_ALL_GATHER, g, a)
}

func (sc *Scope) collect(op string, code C.int, g *Group, a *Array) (*Array, error) {
	if err := sc.checkGroup(op, g, a); err != nil {
		return nil, err
	}
	var h *C.fmlx_array
	var text *C.char
	rc := C.fmlx_collect(&h, &text, code, a.handle(), g.h, sc.stream.h)
	runtime.KeepAlive(a)
	return sc.result(op, h, rc, text)
}

// Send sends an array to a rank; evaluating the result, which is the same array,
// does it. ring reaches the two neighbours only.
func (sc *Scope) Send(g *Group, a *Array, destination int) (*Array, error) {
	if err := sc.checkGroup("send", g, a); err != nil {
		return nil, err
	}
	var h *C.fmlx_array
	var text *C.char
	rc := C.fmlx_send(&h, &text, a.handle(), C.int(destination), g.h, sc.stream.h)
	runtime.KeepAlive(a)
	return sc.result("send", h, rc, text)
}

// Recv receives an array from a rank, which sends the same shape and dtype;
// evaluating the result does it. ring reaches the two neighbours only.
func (sc *Scope) Recv(g *Group, shape []int, dt Dtype, source int) (*Array, error) {
	if err := sc.checkGroup("recv", g); err != nil {
		return nil, err
	}
	var h *C.fmlx_array
	var text *C.char
	d, n := dims(shape)
	rc := C.fmlx_recv(&h, &text, d, n, C.int(dt), C.int(source), g.h, sc.stream.h)
	return sc.result("recv", h, rc, text)
}

// Barrier returns when every rank of the group has come to it.
func (sc *Scope) Barrier(g *Group) error {
	if err := sc.checkGroup("barrier", g); err != nil {
		return err
	}
	var text *C.char
	if rc := C.fmlx_barrier(&text, g.h); rc != C.FMLX_OK {
		return failure("barrier", rc, text)
	}
	return nil
}

func (sc *Scope) checkGroup(op string, g *Group, arrays ...*Array) error {
	if err := sc.check(op, arrays...); err != nil {
		return err
	}
	if g.h == nil {
		return closed(op, "the group")
	}
	return nil
}
