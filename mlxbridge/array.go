package mlxbridge

/*
#include <fulmen_mlx.h>
*/
import "C"

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"unsafe"
)

// Array is an MLX array: a shape, a dtype, and data that is computed when it is
// evaluated. It belongs to a Scope.
type Array struct {
	scope *Scope
	slot  int // in the scope's holdings; -1 once freed
	shape []int
	dtype Dtype
	known bool // shape and dtype have been asked for
}

// handle is the C handle, nil once the array or its scope is gone.
func (a *Array) handle() *C.fmlx_array {
	if a.slot < 0 || a.scope.held == nil {
		return nil
	}
	return a.scope.held.handles[a.slot]
}

// Free frees the array before its scope is closed; further use is ErrClosed.
// Freeing twice does nothing.
func (a *Array) Free() {
	h := a.handle()
	if h == nil {
		return
	}
	a.scope.held.vacate(a.slot)
	a.slot = -1
	C.fmlx_array_free(h)
}

// query asks MLX once for what never changes.
func (a *Array) query() {
	h := a.handle()
	if a.known || h == nil {
		return
	}
	var info C.fmlx_array_info
	C.fmlx_array_query(&info, h)
	runtime.KeepAlive(a)
	a.shape = make([]int, info.ndim)
	for i := range a.shape {
		a.shape[i] = int(info.shape[i])
	}
	a.dtype = Dtype(info.dtype)
	a.known = true
}

// Shape is the length of each dimension, empty for a scalar. It is nil if the
// array was closed before its shape was ever asked for.
func (a *Array) Shape() []int {
	a.query()
	return slices.Clone(a.shape)
}

// Dtype is the type of the elements.
func (a *Array) Dtype() Dtype {
	a.query()
	return a.dtype
}

// Size is the number of elements.
func (a *Array) Size() int {
	a.query()
	if !a.known {
		return 0
	}
	size := 1
	for _, d := range a.shape {
		size *= d
	}
	return size
}

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

// Element is a Go type that an array's elements can be copied from and to.
type Element interface {
	bool | uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 |
		F16 | float32 | float64 | BF16 | complex64
}

// dtypeOf is the Dtype of arrays of T.
func dtypeOf[T Element]() Dtype {
	for dt, d := range dtypes {
		if _, is := d.zero.(T); is {
			return Dtype(dt)
		}
	}
	panic("an element without a dtype")
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
		C.uint64_t(uint64(len(data))*uint64(unsafe.Sizeof(zero))), d, n, C.int(dtypeOf[T]()))
	return sc.result("from_slice", h, rc, text)
}

// ToSlice evaluates the array if needed and returns its elements, row-major. T
// must be the Go type of its dtype. The elements are copied once: in one block if
// they lie row-major in memory, element by element if the array is a strided view.
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
	if want := dtypeOf[T](); a.Dtype() != want {
		return &Error{Op: op, Message: fmt.Sprintf("an array of %v cannot be read as %v", a.Dtype(), want), kind: ErrDtype}
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

// Dtype is the type of an array's elements.
type Dtype uint8

// The element types of MLX.
const (
	Bool      Dtype = C.FMLX_BOOL
	Uint8     Dtype = C.FMLX_UINT8
	Uint16    Dtype = C.FMLX_UINT16
	Uint32    Dtype = C.FMLX_UINT32
	Uint64    Dtype = C.FMLX_UINT64
	Int8      Dtype = C.FMLX_INT8
	Int16     Dtype = C.FMLX_INT16
	Int32     Dtype = C.FMLX_INT32
	Int64     Dtype = C.FMLX_INT64
	Float16   Dtype = C.FMLX_FLOAT16
	Float32   Dtype = C.FMLX_FLOAT32
	Float64   Dtype = C.FMLX_FLOAT64 // CPUs only
	BFloat16  Dtype = C.FMLX_BFLOAT16
	Complex64 Dtype = C.FMLX_COMPLEX64
)

// dtypes are the facts about each Dtype, by its number.
var dtypes = [...]struct {
	name string
	size int
	zero any // an element
}{
	Bool:      {"bool", 1, false},
	Uint8:     {"uint8", 1, uint8(0)},
	Uint16:    {"uint16", 2, uint16(0)},
	Uint32:    {"uint32", 4, uint32(0)},
	Uint64:    {"uint64", 8, uint64(0)},
	Int8:      {"int8", 1, int8(0)},
	Int16:     {"int16", 2, int16(0)},
	Int32:     {"int32", 4, int32(0)},
	Int64:     {"int64", 8, int64(0)},
	Float16:   {"float16", 2, F16(0)},
	Float32:   {"float32", 4, float32(0)},
	Float64:   {"float64", 8, float64(0)},
	BFloat16:  {"bfloat16", 2, BF16(0)},
	Complex64: {"complex64", 8, complex64(0)},
}

// Valid tells whether it is one of the constants.
func (d Dtype) Valid() bool { return int(d) < len(dtypes) }

// Size is the size of one element in bytes, 0 if the Dtype is not valid.
func (d Dtype) Size() int {
	if !d.Valid() {
		return 0
	}
	return dtypes[d].size
}

// String is MLX's name in Python: "float32", "bool".
func (d Dtype) String() string {
	if !d.Valid() {
		return "dtype(" + strconv.Itoa(int(d)) + ")"
	}
	return dtypes[d].name
}

// ParseDtype is the inverse of String. Other texts are ErrDtype.
func ParseDtype(name string) (Dtype, error) {
	for i, d := range dtypes {
		if d.name == name {
			return Dtype(i), nil
		}
	}
	return 0, &Error{Op: "dtype", Message: "no dtype is called " + strconv.Quote(name), kind: ErrDtype}
}

// F16 is an element of a Float16 array: an IEEE 754 binary16 number, as its bits.
type F16 uint16

// BF16 is an element of a BFloat16 array: the upper half of a binary32 number, as
// its bits.
type BF16 uint16
