package mlxbridge

/*
#include "fulmen_mlx.h"
*/
import "C"

import (
	"fmt"
	"math"
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

// Ndim is the number of dimensions.
func (a *Array) Ndim() int {
	a.query()
	return len(a.shape)
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

// NBytes is the size of the elements in bytes.
func (a *Array) NBytes() int { return a.Size() * a.dtype.Size() }

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
}{
	Bool:      {"bool", 1},
	Uint8:     {"uint8", 1},
	Uint16:    {"uint16", 2},
	Uint32:    {"uint32", 4},
	Uint64:    {"uint64", 8},
	Int8:      {"int8", 1},
	Int16:     {"int16", 2},
	Int32:     {"int32", 4},
	Int64:     {"int64", 8},
	Float16:   {"float16", 2},
	Float32:   {"float32", 4},
	Float64:   {"float64", 8},
	BFloat16:  {"bfloat16", 2},
	Complex64: {"complex64", 8},
}

// Dtypes lists every Dtype.
func Dtypes() []Dtype {
	list := make([]Dtype, len(dtypes))
	for i := range list {
		list[i] = Dtype(i)
	}
	return list
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

// ToF16 rounds to the nearest binary16 number, ties to even. What is 65520 or
// larger becomes infinite; a NaN stays a quiet NaN and keeps the upper bits of
// its payload.
func ToF16(f float32) F16 {
	bits := math.Float32bits(f)
	sign := uint16(bits >> 16 & 0x8000)
	exponent := int(bits>>23&0xff) - 127
	fraction := bits & 0x7fffff
	switch {
	case exponent == 128 && fraction != 0:
		return F16(sign | 0x7e00 | uint16(fraction>>13))
	case exponent > 15:
		return F16(sign | 0x7c00)
	case exponent >= -14:
		// A carry out of the fraction raises the exponent, up to infinity.
		return F16(sign + uint16(exponent+15)<<10 + uint16(roundShift(fraction, 13)))
	case exponent >= -25:
		return F16(sign | uint16(roundShift(fraction|0x800000, uint(-exponent-1))))
	}
	return F16(sign)
}

// Float32 is the same number; every binary16 number has one.
func (h F16) Float32() float32 {
	sign := uint32(h&0x8000) << 16
	exponent := uint32(h >> 10 & 0x1f)
	fraction := uint32(h & 0x3ff)
	switch exponent {
	case 0:
		// Subnormal: fraction * 2^-24, exact in float32.
		f := float32(fraction) * 0x1p-24
		return math.Float32frombits(sign | math.Float32bits(f))
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}

// ToBF16 rounds to the nearest bfloat16 number, ties to even. A NaN stays a
// quiet NaN and keeps the upper bits of its payload.
func ToBF16(f float32) BF16 {
	bits := math.Float32bits(f)
	if f != f {
		return BF16(bits>>16 | 0x40)
	}
	return BF16((bits + 0x7fff + bits>>16&1) >> 16)
}

// Float32 is the same number; every bfloat16 number has one.
func (b BF16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }

// roundShift is v / 2^n, rounded to the nearest integer, ties to even.
func roundShift(v uint32, n uint) uint32 {
	quotient := v >> n
	rest := v & (1<<n - 1)
	half := uint32(1) << (n - 1)
	if rest > half || rest == half && quotient&1 == 1 {
		quotient++
	}
	return quotient
}
