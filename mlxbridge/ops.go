package mlxbridge

/*
#include <fulmen_mlx.h>
*/
import "C"

import "runtime"

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

// MatMul is the matrix product over the last two dimensions; the others are
// broadcast. The result has the common floating type of both.
func (sc *Scope) MatMul(a, b *Array) (*Array, error) {
	return sc.combine("matmul", C.FMLX_MATMUL, a, b)
}

// Add is the sum, element by element, with broadcasting and MLX's type promotion.
func (sc *Scope) Add(a, b *Array) (*Array, error) { return sc.combine("add", C.FMLX_ADD, a, b) }

func (sc *Scope) combine(op string, code C.int, a, b *Array) (*Array, error) {
	if err := sc.check(op, a, b); err != nil {
		return nil, err
	}
	var h *C.fmlx_array
	var text *C.char
	rc := C.fmlx_combine(&h, &text, code, a.handle(), b.handle(), sc.stream.h)
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	return sc.result(op, h, rc, text)
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
