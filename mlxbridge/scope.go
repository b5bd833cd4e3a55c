package mlxbridge

/*
#include <fulmen_mlx.h>
*/
import "C"

import "runtime"

// Scope owns the arrays that its methods make, and frees them when it is closed.
// Its operations run on its stream. It is used by one goroutine at a time.
type Scope struct {
	stream *Stream
	held   *holdings
	net    runtime.Cleanup
	slab   []Array // room for the next arrays
}

// holdings are a scope's handles. They are apart from the scope so that the
// cleanup, which must not keep the scope alive, can reach them.
type holdings struct {
	handles []*C.fmlx_array // nil where an array was freed
	vacant  []int           // indexes of the nils
}

// free frees all handles, in one call.
func (h *holdings) free() {
	if len(h.handles) > 0 {
		C.fmlx_array_free_many(&h.handles[0], C.size_t(len(h.handles)))
	}
	h.handles, h.vacant = nil, nil
}

// slabSize is how many arrays a scope makes room for at once: one allocation of
// Go's for so many operations.
const slabSize = 16

// NewScope makes a scope whose operations run on the stream.
func NewScope(s *Stream) *Scope {
	sc := &Scope{stream: s, held: &holdings{}}
	sc.net = runtime.AddCleanup(sc, (*holdings).free, sc.held)
	return sc
}

// Close frees the scope's arrays. Further use of them, or of the scope, is
// ErrClosed; further calls of Close do nothing. Work that was started goes on
// and keeps the memory it needs.
func (sc *Scope) Close() {
	if sc.held == nil {
		return
	}
	sc.net.Stop()
	sc.held.free()
	sc.held = nil
	sc.slab = nil
}

// hold takes a handle in and returns its place.
func (h *holdings) hold(handle *C.fmlx_array) int {
	if n := len(h.vacant); n > 0 {
		slot := h.vacant[n-1]
		h.vacant = h.vacant[:n-1]
		h.handles[slot] = handle
		return slot
	}
	h.handles = append(h.handles, handle)
	return len(h.handles) - 1
}

// vacate lets a handle go without freeing it.
func (h *holdings) vacate(slot int) {
	h.handles[slot] = nil
	h.vacant = append(h.vacant, slot)
}

// check returns an error if the scope or one of the arrays is closed.
func (sc *Scope) check(op string, arrays ...*Array) error {
	if sc.held == nil {
		return closed(op, "the scope")
	}
	for _, a := range arrays {
		if a == nil || a.handle() == nil {
			return closed(op, "an array")
		}
	}
	return nil
}

// result makes the array of a call that returned status.
func (sc *Scope) result(op string, handle *C.fmlx_array, status C.int, text *C.char) (*Array, error) {
	if status != C.FMLX_OK {
		return nil, failure(op, status, text)
	}
	if len(sc.slab) == 0 {
		sc.slab = make([]Array, slabSize)
	}
	a := &sc.slab[0]
	sc.slab = sc.slab[1:]
	a.scope = sc
	a.slot = sc.held.hold(handle)
	return a, nil
}
