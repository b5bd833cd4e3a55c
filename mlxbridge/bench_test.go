package mlxbridge

import (
	"errors"
	"fmt"
	"testing"

	"fulmen/native/nativetest/testkit"
)

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

// BenchmarkCgoCall is the cost of crossing into C and back.
func BenchmarkCgoCall(b *testing.B) {
	for b.Loop() {
		callNothing()
	}
}

// timed times an operation on an array of ones, which is done once before.
func timed(b *testing.B, shape []int, do func(*Scope, *Array) (*Array, error), isEvaluated bool) {
	b.Helper()
	sc := cpuScope(b)
	x := must[*Array](b)(sc.Full(shape, 1, Float32))
	once := func() error {
		result, err := do(sc, x)
		if err == nil && isEvaluated {
			err = sc.Eval(result)
		}
		if err == nil {
			result.Free()
		}
		return err
	}
	err := errors.Join(sc.Eval(x), once())
	for b.Loop() {
		err = errors.Join(err, once())
	}
	if err != nil {
		b.Fatal(err)
	}
}

func add(sc *Scope, x *Array) (*Array, error)    { return sc.Add(x, x) }
func matMul(sc *Scope, x *Array) (*Array, error) { return sc.MatMul(x, x) }
func sum(sc *Scope, x *Array) (*Array, error)    { return sc.Sum(x, false) }

// BenchmarkBuild16 builds an addition of 16 elements and frees it, unevaluated.
func BenchmarkBuild16(b *testing.B) { timed(b, []int{16}, add, false) }

// BenchmarkAdd16 adds 16 elements and waits for the result.
func BenchmarkAdd16(b *testing.B) { timed(b, []int{16}, add, true) }

// BenchmarkMatMul1024 multiplies square fp32 matrices; the wheel's own BLAS takes
// about 0.4 s, OpenBLAS about 14 ms.
func BenchmarkMatMul1024(b *testing.B) { timed(b, []int{1024, 1024}, matMul, true) }

// BenchmarkSum256 adds up 256 MiB of fp32.
func BenchmarkSum256(b *testing.B) { timed(b, []int{256 << 20 / 4}, sum, true) }

// BenchmarkCopy copies arrays to MLX and back.
func BenchmarkCopy(b *testing.B) {
	for _, n := range []int{16, 1 << 20} {
		b.Run(fmt.Sprint(4*n), func(b *testing.B) {
			sc := cpuScope(b)
			data := make([]float32, n)
			b.SetBytes(int64(8 * n))
			for b.Loop() {
				a, err := FromSlice(sc, data, []int{n})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := ToSlice[float32](a); err != nil {
					b.Fatal(err)
				}
				a.Free()
			}
		})
	}
}
