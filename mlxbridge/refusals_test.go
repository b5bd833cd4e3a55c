package mlxbridge

import (
	"math"
	"testing"

	"github.com/matryer/is"
)

// What cannot be is refused when it is built, with the right kind of error.
func TestRefusals(t *testing.T) {
	sc := cpuScope(t)
	huge := []int{math.MaxInt32, math.MaxInt32, math.MaxInt32}
	ten := must[*Array](t)(FromSlice(sc, make([]float32, 10), []int{10}))
	tall := must[*Array](t)(sc.Zeros([]int{1 << 20, 1}, Float32))
	wide := must[*Array](t)(sc.Zeros([]int{1, 1 << 20}, Float32))
	whole := must[*Array](t)(sc.Zeros([]int{2, 2}, Int32))
	for _, c := range []struct {
		name string
		want error
		call func() (*Array, error)
	}{
		{"negative dimension", ErrShape, func() (*Array, error) { return sc.Zeros([]int{2, -1}, Float32) }},
		{"long dimension", ErrShape, func() (*Array, error) { return sc.Zeros([]int{math.MaxInt32 + 1}, Float32) }},
		{"many dimensions", ErrShape, func() (*Array, error) { return sc.Zeros(make([]int, 17), Float32) }},
		{"product over 64 bits", ErrShape, func() (*Array, error) { return sc.Zeros(huge, Float32) }},
		{"the same, empty", ErrShape, func() (*Array, error) { return sc.Zeros(append([]int{0}, huge...), Float32) }},
		{"more than memory", ErrMemory, func() (*Array, error) { return sc.Zeros(huge[:2], Int8) }},
		{"random, more than memory", ErrMemory, func() (*Array, error) { return sc.Normal([]int{math.MaxInt32, 1 << 10}, Float16, 0, 1, 1) }},
		{"broadcast, more than memory", ErrMemory, func() (*Array, error) { return sc.Add(tall, wide) }},
		{"product, more than memory", ErrMemory, func() (*Array, error) { return sc.MatMul(tall, wide) }},
		{"unknown dtype", ErrDtype, func() (*Array, error) { return sc.Zeros([]int{1}, Dtype(99)) }},
		{"cast to unknown dtype", ErrDtype, func() (*Array, error) { return sc.AsType(ten, Dtype(14)) }},
		{"value out of range", ErrArgument, func() (*Array, error) { return sc.Full([]int{1}, 256, Uint8) }},
		{"NaN as an integer", ErrArgument, func() (*Array, error) { return sc.Full([]int{1}, math.NaN(), Int64) }},
		{"normal integers", ErrMLX, func() (*Array, error) { return sc.Normal([]int{1}, Int32, 0, 1, 1) }},
		{"reshape to another size", ErrMLX, func() (*Array, error) { return sc.Reshape(ten, []int{3, 4}) }},
		{"reshape with two holes", ErrShape, func() (*Array, error) { return sc.Reshape(ten, []int{-1, -1}) }},
		{"reshape to a wrapped size", ErrShape, func() (*Array, error) { return sc.Reshape(ten, append([]int{-1}, huge...)) }},
		{"integer matmul", ErrMLX, func() (*Array, error) { return sc.MatMul(whole, whole) }},
		{"matmul of other lengths", ErrMLX, func() (*Array, error) { return sc.MatMul(ten, tall) }},
		{"add of other shapes", ErrMLX, func() (*Array, error) { return sc.Add(ten, whole) }},
		{"sum over no axis", ErrMLX, func() (*Array, error) { return sc.Sum(ten, false, 1) }},
		{"sum over an axis twice", ErrMLX, func() (*Array, error) { return sc.Sum(ten, false, 0, -1) }},
		{"axis over 32 bits", ErrArgument, func() (*Array, error) { return sc.Sum(ten, false, 1<<32) }},
		{"data for another shape", ErrShape, func() (*Array, error) { return FromSlice(sc, make([]int8, 5), []int{2, 3}) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			_, err := c.call()
			is.True(errorIs(err, c.want))
			isTyped(t, err)
		})
	}
}

// A copy that is broadcast over a large batch does not fit, though the result
// would.
func TestMatMulOperandCopies(t *testing.T) {
	is := is.New(t)
	limited(t, 1<<20)
	sc := cpuScope(t)
	a := must[*Array](t)(sc.Zeros([]int{1 << 10, 1, 2}, Float32))
	b := must[*Array](t)(sc.Zeros([]int{1, 2, 1 << 8}, Float32))
	_, err := sc.MatMul(a, b)
	is.True(errorIs(err, ErrMemory))
}

func TestReads(t *testing.T) {
	is := is.New(t)
	sc := cpuScope(t)
	a := must[*Array](t)(sc.Zeros([]int{2, 3, 4}, Int16))
	is.Equal(a.Size(), 24)
	a.Shape()[0] = 99
	is.Equal(a.Shape(), []int{2, 3, 4}) // a copy

	_, err := ToSlice[uint16](a)
	is.True(errorIs(err, ErrDtype))
	_, err = Item[int16](a)
	is.True(errorIs(err, ErrShape))

	empty := must[*Array](t)(FromSlice(sc, []complex64{}, []int{0, 2}))
	is.Equal(must[[]complex64](t)(ToSlice[complex64](empty)), []complex64{})
	is.NoErr(sc.Eval())
	is.NoErr(sc.AsyncEval())
}
