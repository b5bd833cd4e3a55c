package mlxbridge

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// input hands out a fuzzer's bytes as choices; past the end everything is 0.
type input struct{ data []byte }

func (in *input) byte() int {
	if len(in.data) == 0 {
		return 0
	}
	b := in.data[0]
	in.data = in.data[1:]
	return int(b)
}

// lengths are the dimensions a fuzzer chooses from: usual, and at every border.
var lengths = []int{0, 1, 2, 3, 4, 5, 7, 16, 33, 100, 1000, 65536, -1, -2,
	math.MaxInt32, math.MaxInt32 + 1, math.MinInt32, math.MinInt32 - 1, math.MaxInt64, math.MinInt64, 1 << 20, 46341}

func (in *input) length() int { return lengths[in.byte()%len(lengths)] }

// shape is mostly small, so that something is computed; and sometimes anything.
func (in *input) shape() []int {
	kind := in.byte()
	list := make([]int, kind%5)
	if kind > 200 {
		list = make([]int, kind%20)
	}
	for i := range list {
		if kind%3 == 0 {
			list[i] = in.length()
		} else {
			list[i] = in.byte() % 6
		}
	}
	return list
}

func (in *input) dtype() Dtype { return Dtype(in.byte() % 16) } // two are not valid

// limited bounds what a test can make MLX allocate.
func limited(tb testing.TB, bytes uint64) {
	tb.Helper()
	previous, err := SetMemoryLimit(bytes)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if _, err := SetMemoryLimit(previous); err != nil {
			tb.Error(err)
		}
	})
}

// isTyped fails the test unless the error is one of this package's.
func isTyped(t *testing.T, err error) {
	t.Helper()
	var typed *Error
	if err != nil && (!errors.As(err, &typed) || typed.Message == "" || typed.Unwrap() == nil) {
		t.Fatalf("an untyped error: %v", err)
	}
}

func FuzzShapes(f *testing.F) {
	stream := cpuStream(f) // one for all: MLX keeps every stream and its thread
	limited(f, 1<<24)
	f.Add([]byte{1, 1, 5, 10})
	f.Add([]byte{2, 3, 14, 14, 14, 0})
	f.Add([]byte{2, 9, 0, 14, 14, 14})
	f.Add([]byte{0, 219, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})
	for d := range byte(16) {
		f.Add([]byte{d, 2, 3, 4, d})
		f.Add([]byte{d % 3, 3, 18, 19, 20, d})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sc := NewScope(stream)
		defer sc.Close()
		in := &input{data}
		op, shape, dt := in.byte(), in.shape(), in.dtype()
		var a *Array
		var err error
		switch op % 3 {
		case 0:
			a, err = sc.Zeros(shape, dt)
		case 1:
			a, err = sc.Full(shape, float64(in.byte()), dt)
		case 2:
			a, err = sc.Normal(shape, dt, 0, 1, 1)
		}
		isTyped(t, err)
		if err != nil {
			return
		}
		if !slices.Equal(a.Shape(), shape) || a.Dtype() != dt {
			t.Fatalf("asked for %v %v, got %v %v", dt, shape, a.Dtype(), a.Shape())
		}
		x, err := download(a)
		if err != nil {
			t.Fatal(err)
		}
		if len(x.Data) != size(shape)*dt.Size() {
			t.Fatalf("%d bytes for %v %v", len(x.Data), dt, shape)
		}
	})
}

func FuzzOps(f *testing.F) {
	stream := cpuStream(f) // one for all: MLX keeps every stream and its thread
	limited(f, 1<<24)
	for op := range byte(7) {
		for d := range byte(14) {
			f.Add([]byte{2, 1, 3, 3, d, 2, 2, 3, 3, d, op, 0, 1, 0, 1, 2, 3, 4})
			f.Add([]byte{2, 1, 0, 3, d, 2, 2, 3, 1, (d + 1) % 14, op, 1, 0, 1, 2, 3, 1, op, 2, 1, 9, 9, 9})
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sc := NewScope(stream)
		defer sc.Close()
		in := &input{data}
		var list []*Array
		for range 2 {
			in.byte()
			a, err := sc.Full(in.shape(), 1, in.dtype())
			isTyped(t, err)
			if err != nil {
				if a, err = sc.Zeros([]int{12}, Float32); err != nil {
					t.Fatal(err)
				}
			}
			list = append(list, a)
		}
		for range 6 {
			if len(in.data) == 0 {
				break
			}
			a, err := fuzzedOp(sc, in, list)
			isTyped(t, err)
			if err == nil {
				list = append(list, a)
			}
		}
		isTyped(t, sc.AsyncEval(list...))
		// Larger than the limit together is not refused, so one after the other.
		for _, a := range list {
			if err := sc.Eval(a); err != nil {
				isTyped(t, err)
				continue
			}
			if _, err := download(a); err != nil {
				t.Fatal(err)
			}
			a.Free()
		}
	})
}

// fuzzedOp builds one operation, with whatever arguments the input holds.
func fuzzedOp(sc *Scope, in *input, list []*Array) (*Array, error) {
	op := in.byte() % 7
	a, b := list[in.byte()%len(list)], list[in.byte()%len(list)]
	switch op {
	case 0:
		return sc.Add(a, b)
	case 1:
		return sc.MatMul(a, b)
	case 2:
		axes := make([]int, in.byte()%4)
		for i := range axes {
			axes[i] = in.byte()%9 - 4
		}
		return sc.Sum(a, in.byte()%2 == 0, axes...)
	case 3:
		return sc.AsType(a, in.dtype())
	case 4:
		return sc.Reshape(a, in.shape())
	case 5:
		return sc.Reshape(a, []int{-1})
	}
	return sc.Full(in.shape(), float64(in.byte())-128, in.dtype())
}
