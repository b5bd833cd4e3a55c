package mlxbridge

/*
#include "fulmen_mlx.h"
*/
import "C"

// Zeros makes an array of zeros.
func (sc *Scope) Zeros(shape []int, dt Dtype) (*Array, error) { return sc.Full(shape, 0, dt) }

// Full makes an array with one value everywhere. The value must be in the range
// of the dtype; integers drop its fraction, and those above 2^53 are as exact as
// float64.
func (sc *Scope) Full(shape []int, value float64, dt Dtype) (*Array, error) {
	if err := sc.check("full"); err != nil {
		return nil, err
	}
	var h *C.fmlx_array
	var text *C.char
	d, n := dims(shape)
	rc := C.fmlx_full(&h, &text, d, n, C.double(value), C.int(dt), sc.stream.h)
	return sc.result("full", h, rc, text)
}

// Arange makes the numbers from start, in steps, up to but without stop. There
// are none if the step leads away from stop. Bool and Complex64 are ErrDtype.
func (sc *Scope) Arange(start, stop, step float64, dt Dtype) (*Array, error) {
	if err := sc.check("arange"); err != nil {
		return nil, err
	}
	var h *C.fmlx_array
	var text *C.char
	rc := C.fmlx_arange(&h, &text, C.double(start), C.double(stop), C.double(step), C.int(dt), sc.stream.h)
	return sc.result("arange", h, rc, text)
}

// Normal draws from a normal distribution. The same seed gives the same numbers.
// The dtype is a floating or complex one.
func (sc *Scope) Normal(shape []int, dt Dtype, mean, deviation float64, seed uint64) (*Array, error) {
	if err := sc.check("normal"); err != nil {
		return nil, err
	}
	var h *C.fmlx_array
	var text *C.char
	d, n := dims(shape)
	rc := C.fmlx_normal(&h, &text, d, n, C.int(dt), C.double(mean), C.double(deviation), C.uint64_t(seed), sc.stream.h)
	return sc.result("normal", h, rc, text)
}

// Uniform draws evenly from low up to but without high. The same seed gives the
// same numbers. The dtype is Float16, Float32 or BFloat16.
func (sc *Scope) Uniform(shape []int, dt Dtype, low, high float64, seed uint64) (*Array, error) {
	if err := sc.check("uniform"); err != nil {
		return nil, err
	}
	var h *C.fmlx_array
	var text *C.char
	d, n := dims(shape)
	rc := C.fmlx_uniform(&h, &text, d, n, C.int(dt), C.double(low), C.double(high), C.uint64_t(seed), sc.stream.h)
	return sc.result("uniform", h, rc, text)
}
