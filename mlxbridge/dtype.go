package mlxbridge

/*
#include "fulmen_mlx.h"
*/
import "C"

import "strconv"

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
