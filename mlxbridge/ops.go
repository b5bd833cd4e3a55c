package mlxbridge

/*
#include "fulmen_mlx.h"
*/
import "C"

import (
	"runtime"
	"slices"
)

// AsType converts the elements. What does not fit an integer type is undefined,
// but no crash.
func (sc *Scope) AsType(a *Array, dt Dtype) (*Array, error) {
	if err := sc.check("astype", a); err != nil {
		return nil, err
	}
	var h *C.fmlx_array
	var text *C.char
	rc := C.fmlx_astype(&h, &text, a.handle(), C.int(dt), sc.stream.h)
	runtime.KeepAlive(a)
	return sc.result("astype", h, rc, text)
}

// Reshape gives the elements, in row-major order, another shape of the same size.
// One dimension may be -1: it is what is left over.
func (sc *Scope) Reshape(a *Array, shape []int) (*Array, error) {
	if err := sc.check("reshape", a); err != nil {
		return nil, err
	}
	var h *C.fmlx_array
	var text *C.char
	d, n := dims(shape)
	rc := C.fmlx_reshape(&h, &text, a.handle(), d, n, sc.stream.h)
	runtime.KeepAlive(a)
	return sc.result("reshape", h, rc, text)
}

// Slice takes the elements from start up to but without stop, in steps, of each
// dimension. A nil step means 1 everywhere. Negative starts and stops count from
// the end, those outside are moved to the border; a negative step goes backwards,
// and then a stop of -n-1 or less includes the first of n.
func (sc *Scope) Slice(a *Array, start, stop, step []int) (*Array, error) {
	if err := sc.check("slice", a); err != nil {
		return nil, err
	}
	if step == nil {
		step = slices.Repeat([]int{1}, len(start))
	}
	if len(stop) != len(start) || len(step) != len(start) {
		return nil, &Error{Op: "slice", Message: "start, stop and step differ in length", kind: ErrShape}
	}
	var h *C.fmlx_array
	var text *C.char
	first, n := dims(start)
	last, _ := dims(stop)
	every, _ := dims(step)
	rc := C.fmlx_slice(&h, &text, a.handle(), first, last, every, n, sc.stream.h)
	runtime.KeepAlive(a)
	return sc.result("slice", h, rc, text)
}

// MatMul is the matrix product over the last two dimensions; the others are
// broadcast. The result has the common floating type of both.
func (sc *Scope) MatMul(a, b *Array) (*Array, error) {
	if err := sc.check("matmul", a, b); err != nil {
		return nil, err
	}
	var h *C.fmlx_array
	var text *C.char
	rc := C.fmlx_matmul(&h, &text, a.handle(), b.handle(), sc.stream.h)
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	return sc.result("matmul", h, rc, text)
}

// Add is the sum, element by element, with broadcasting and MLX's type promotion.
func (sc *Scope) Add(a, b *Array) (*Array, error) {
	if err := sc.check("add", a, b); err != nil {
		return nil, err
	}
	var h *C.fmlx_array
	var text *C.char
	rc := C.fmlx_add(&h, &text, a.handle(), b.handle(), sc.stream.h)
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	return sc.result("add", h, rc, text)
}

// Multiply is the product, element by element, with broadcasting and MLX's type
// promotion.
func (sc *Scope) Multiply(a, b *Array) (*Array, error) {
	if err := sc.check("multiply", a, b); err != nil {
		return nil, err
	}
	var h *C.fmlx_array
	var text *C.char
	rc := C.fmlx_multiply(&h, &text, a.handle(), b.handle(), sc.stream.h)
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	return sc.result("multiply", h, rc, text)
}

// Sum adds along the axes, or along all if none is named; negative axes count
// from the end. keepdims leaves the axes in with length 1. Bool and the 8- and
// 16-bit integers are summed in 32 bits.
func (sc *Scope) Sum(a *Array, keepdims bool, axes ...int) (*Array, error) {
	if err := sc.check("sum", a); err != nil {
		return nil, err
	}
	var h *C.fmlx_array
	var text *C.char
	d, n := dims(axes)
	rc := C.fmlx_sum(&h, &text, a.handle(), d, n, C.bool(keepdims), sc.stream.h)
	runtime.KeepAlive(a)
	return sc.result("sum", h, rc, text)
}

// Max is the largest element along the axes, or of all if none is named. An axis
// of length 0 has none, which is ErrMLX.
func (sc *Scope) Max(a *Array, keepdims bool, axes ...int) (*Array, error) {
	if err := sc.check("max", a); err != nil {
		return nil, err
	}
	var h *C.fmlx_array
	var text *C.char
	d, n := dims(axes)
	rc := C.fmlx_max(&h, &text, a.handle(), d, n, C.bool(keepdims), sc.stream.h)
	runtime.KeepAlive(a)
	return sc.result("max", h, rc, text)
}
