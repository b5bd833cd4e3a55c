package mlxbridge

/*
#include "fulmen_mlx.h"
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Element is a Go type that an array's elements can be copied from and to.
type Element interface {
	bool | uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 |
		F16 | float32 | float64 | BF16 | complex64
}

// DtypeOf is the Dtype of arrays of T.
func DtypeOf[T Element]() Dtype {
	var zero T
	switch any(zero).(type) {
	case bool:
		return Bool
	case uint8:
		return Uint8
	case uint16:
		return Uint16
	case uint32:
		return Uint32
	case uint64:
		return Uint64
	case int8:
		return Int8
	case int16:
		return Int16
	case int32:
		return Int32
	case int64:
		return Int64
	case F16:
		return Float16
	case float32:
		return Float32
	case float64:
		return Float64
	case BF16:
		return BFloat16
	}
	return Complex64
}

// FromSlice makes an array of row-major data. The data is copied once, straight
// into MLX's memory; the slice is free afterwards. ErrShape if its length is not
// that of the shape.
func FromSlice[T Element](sc *Scope, data []T, shape []int) (*Array, error) {
	if err := sc.check("from_slice"); err != nil {
		return nil, err
	}
	var h *C.fmlx_array
	var text *C.char
	var zero T
	d, n := dims(shape)
	rc := C.fmlx_array_new(&h, &text, unsafe.Pointer(unsafe.SliceData(data)),
		C.uint64_t(uint64(len(data))*uint64(unsafe.Sizeof(zero))), d, n, C.int(DtypeOf[T]()))
	return sc.result("from_slice", h, rc, text)
}

// ToSlice evaluates the array if needed and returns its elements, row-major. T
// must be the Go type of its dtype.
func ToSlice[T Element](a *Array) ([]T, error) {
	if err := readable[T]("to_slice", a); err != nil {
		return nil, err
	}
	dst := make([]T, a.Size())
	if err := read("to_slice", dst, a); err != nil {
		return nil, err
	}
	return dst, nil
}

// CopyTo evaluates the array if needed and copies its elements to dst, row-major.
// dst must have the array's size, and T be the Go type of its dtype. The elements
// are copied once: in one block if they lie row-major in memory, element by
// element if the array is a strided view.
func CopyTo[T Element](dst []T, a *Array) error {
	if err := readable[T]("copy_to", a); err != nil {
		return err
	}
	return read("copy_to", dst, a)
}

// Item evaluates an array of one element if needed and returns the element.
func Item[T Element](a *Array) (T, error) {
	var one [1]T
	if err := readable[T]("item", a); err != nil {
		return one[0], err
	}
	err := read("item", one[:], a)
	return one[0], err
}

// readable returns an error if a is closed or not an array of T.
func readable[T Element](op string, a *Array) error {
	if a.handle() == nil {
		return closed(op, "the array")
	}
	if want := DtypeOf[T](); a.Dtype() != want {
		return &Error{Op: op, Message: fmt.Sprintf("an array of %v read as %v", a.Dtype(), want), kind: ErrDtype}
	}
	return nil
}

// read copies a's elements to dst.
func read[T Element](op string, dst []T, a *Array) error {
	var text *C.char
	var zero T
	rc := C.fmlx_array_read(unsafe.Pointer(unsafe.SliceData(dst)),
		C.uint64_t(uint64(len(dst))*uint64(unsafe.Sizeof(zero))), &text, a.handle())
	runtime.KeepAlive(a)
	if rc != C.FMLX_OK {
		return failure(op, rc, text)
	}
	return nil
}
