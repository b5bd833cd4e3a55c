package mlxbridge

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

func errorIs(err, target error) bool { return errors.Is(err, target) }

// tensor is an array's whole content, as it goes to and from Python.
type tensor struct {
	Dtype string `json:"dtype"`
	Shape []int  `json:"shape"`
	Data  []byte `json:"data"` // row-major, little-endian
}

// size is the number of elements of a shape.
func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// encode converts numbers that the dtype can hold to its bytes.
func encode(dt Dtype, values []complex128) []byte {
	var buf bytes.Buffer
	for _, v := range values {
		f := real(v)
		var x any
		switch dt {
		case Bool:
			x = v != 0
		case Uint8:
			x = uint8(f)
		case Uint16:
			x = uint16(f)
		case Uint32:
			x = uint32(f)
		case Uint64:
			x = uint64(f)
		case Int8:
			x = int8(f)
		case Int16:
			x = int16(f)
		case Int32:
			x = int32(f)
		case Int64:
			x = int64(f)
		case Float16:
			x = toF16(float32(f))
		case Float32:
			x = float32(f)
		case Float64:
			x = f
		case BFloat16:
			x = toBF16(float32(f))
		case Complex64:
			x = complex64(v)
		}
		if err := binary.Write(&buf, binary.LittleEndian, x); err != nil {
			panic(err) // the types above are all of fixed size
		}
	}
	return buf.Bytes()
}

// decode is the inverse of encode.
func decode(dt Dtype, data []byte) []complex128 {
	list := make([]complex128, 0, len(data)/dt.Size())
	le := binary.LittleEndian
	for ; len(data) > 0; data = data[dt.Size():] {
		var f float64
		switch dt {
		case Bool, Uint8:
			f = float64(data[0])
		case Uint16:
			f = float64(le.Uint16(data))
		case Uint32:
			f = float64(le.Uint32(data))
		case Uint64:
			f = float64(le.Uint64(data))
		case Int8:
			f = float64(int8(data[0]))
		case Int16:
			f = float64(int16(le.Uint16(data)))
		case Int32:
			f = float64(int32(le.Uint32(data)))
		case Int64:
			f = float64(int64(le.Uint64(data)))
		case Float16:
			f = float64(F16(le.Uint16(data)).wide())
		case Float32:
			f = float64(math.Float32frombits(le.Uint32(data)))
		case Float64:
			f = math.Float64frombits(le.Uint64(data))
		case BFloat16:
			f = float64(BF16(le.Uint16(data)).wide())
		case Complex64:
			list = append(list, complex(float64(math.Float32frombits(le.Uint32(data))),
				float64(math.Float32frombits(le.Uint32(data[4:])))))
			continue
		}
		list = append(list, complex(f, 0))
	}
	return list
}

// sample is a tensor of small whole numbers, which every dtype holds exactly and
// so does every sum and product that the tests make of them.
func sample(dt Dtype, seed int, shape ...int) tensor {
	values := make([]complex128, size(shape))
	for i := range values {
		v := float64((i*7 + seed*3 + i/5) % 5)
		switch dt {
		case Bool:
			v = float64(int(v) % 2)
		case Int8, Int16, Int32, Int64, Float16, Float32, Float64, BFloat16:
			v -= 2
		}
		values[i] = complex(v, 0)
		if dt == Complex64 {
			values[i] = complex(v, float64(i%3)-1)
		}
	}
	return tensor{Dtype: dt.String(), Shape: append([]int{}, shape...), Data: encode(dt, values)}
}

// upload makes the tensor an array.
func upload(sc *Scope, x tensor) (*Array, error) {
	dt, err := ParseDtype(x.Dtype)
	if err != nil {
		return nil, err
	}
	values := decode(dt, x.Data)
	switch dt {
	case Bool:
		return fromNumbers(sc, values, x.Shape, func(v complex128) bool { return v != 0 })
	case Uint8:
		return fromNumbers(sc, values, x.Shape, func(v complex128) uint8 { return uint8(real(v)) })
	case Uint16:
		return fromNumbers(sc, values, x.Shape, func(v complex128) uint16 { return uint16(real(v)) })
	case Uint32:
		return fromNumbers(sc, values, x.Shape, func(v complex128) uint32 { return uint32(real(v)) })
	case Uint64:
		return fromNumbers(sc, values, x.Shape, func(v complex128) uint64 { return uint64(real(v)) })
	case Int8:
		return fromNumbers(sc, values, x.Shape, func(v complex128) int8 { return int8(real(v)) })
	case Int16:
		return fromNumbers(sc, values, x.Shape, func(v complex128) int16 { return int16(real(v)) })
	case Int32:
		return fromNumbers(sc, values, x.Shape, func(v complex128) int32 { return int32(real(v)) })
	case Int64:
		return fromNumbers(sc, values, x.Shape, func(v complex128) int64 { return int64(real(v)) })
	case Float16:
		return fromNumbers(sc, values, x.Shape, func(v complex128) F16 { return toF16(float32(real(v))) })
	case Float32:
		return fromNumbers(sc, values, x.Shape, func(v complex128) float32 { return float32(real(v)) })
	case Float64:
		return fromNumbers(sc, values, x.Shape, func(v complex128) float64 { return real(v) })
	case BFloat16:
		return fromNumbers(sc, values, x.Shape, func(v complex128) BF16 { return toBF16(float32(real(v))) })
	}
	return fromNumbers(sc, values, x.Shape, func(v complex128) complex64 { return complex64(v) })
}

func fromNumbers[T Element](sc *Scope, values []complex128, shape []int, convert func(complex128) T) (*Array, error) {
	data := make([]T, len(values))
	for i, v := range values {
		data[i] = convert(v)
	}
	return FromSlice(sc, data, shape)
}

// download evaluates the array and gives its content.
func download(a *Array) (tensor, error) {
	x := tensor{Dtype: a.Dtype().String(), Shape: a.Shape()}
	var err error
	switch a.Dtype() {
	case Bool:
		x.Data, err = rawBytes[bool](a)
	case Uint8:
		x.Data, err = rawBytes[uint8](a)
	case Uint16:
		x.Data, err = rawBytes[uint16](a)
	case Uint32:
		x.Data, err = rawBytes[uint32](a)
	case Uint64:
		x.Data, err = rawBytes[uint64](a)
	case Int8:
		x.Data, err = rawBytes[int8](a)
	case Int16:
		x.Data, err = rawBytes[int16](a)
	case Int32:
		x.Data, err = rawBytes[int32](a)
	case Int64:
		x.Data, err = rawBytes[int64](a)
	case Float16:
		x.Data, err = rawBytes[F16](a)
	case Float32:
		x.Data, err = rawBytes[float32](a)
	case Float64:
		x.Data, err = rawBytes[float64](a)
	case BFloat16:
		x.Data, err = rawBytes[BF16](a)
	case Complex64:
		x.Data, err = rawBytes[complex64](a)
	}
	return x, err
}

func rawBytes[T Element](a *Array) ([]byte, error) {
	values, err := ToSlice[T](a)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	err = binary.Write(&buf, binary.LittleEndian, values)
	return buf.Bytes(), err
}

// equalTensors returns an error that says how two tensors differ.
func equalTensors(got, want tensor) error {
	if got.Dtype != want.Dtype || !slices.Equal(got.Shape, want.Shape) {
		return fmt.Errorf("got %s %v, want %s %v", got.Dtype, got.Shape, want.Dtype, want.Shape)
	}
	if !bytes.Equal(got.Data, want.Data) {
		dt, err := ParseDtype(got.Dtype)
		if err != nil {
			return err
		}
		return fmt.Errorf("got %v, want %v", decode(dt, got.Data), decode(dt, want.Data))
	}
	return nil
}
