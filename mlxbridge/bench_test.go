package mlxbridge

import (
	"fmt"
	"testing"

	"fulmen/native/nativetest/benchmarks"
)

func TestBenchmarks(t *testing.T) { benchmarks.Once(t) }

// BenchmarkCgoCall is the cost of crossing into C and back.
func BenchmarkCgoCall(b *testing.B) {
	for b.Loop() {
		callNothing()
	}
}

// benchScope is a scope on a CPU stream of its own, and two arrays of ones in it.
func benchScope(b *testing.B, shape []int) (*Scope, *Array, *Array) {
	b.Helper()
	sc := cpuScope(b)
	x, err := sc.Full(shape, 1, Float32)
	if err != nil {
		b.Fatal(err)
	}
	y, err := sc.Full(shape, 1, Float32)
	if err != nil {
		b.Fatal(err)
	}
	if err := sc.Eval(x, y); err != nil {
		b.Fatal(err)
	}
	return sc, x, y
}

// BenchmarkBuild16 builds an addition of 16 elements and frees it, unevaluated.
func BenchmarkBuild16(b *testing.B) {
	sc, x, y := benchScope(b, []int{16})
	b.ReportAllocs()
	for b.Loop() {
		sum, err := sc.Add(x, y)
		if err != nil {
			b.Fatal(err)
		}
		sum.Free()
	}
}

// BenchmarkAdd16 adds 16 elements and waits for the result.
func BenchmarkAdd16(b *testing.B) {
	sc, x, y := benchScope(b, []int{16})
	b.ReportAllocs()
	for b.Loop() {
		sum, err := sc.Add(x, y)
		if err != nil {
			b.Fatal(err)
		}
		if err := sc.Eval(sum); err != nil {
			b.Fatal(err)
		}
		sum.Free()
	}
}

// BenchmarkMatMul1024 multiplies square fp32 matrices; the wheel's own BLAS takes
// about 0.4 s, OpenBLAS about 14 ms.
func BenchmarkMatMul1024(b *testing.B) {
	const n = 1024
	sc, x, y := benchScope(b, []int{n, n})
	for b.Loop() {
		product, err := sc.MatMul(x, y)
		if err != nil {
			b.Fatal(err)
		}
		if err := sc.Eval(product); err != nil {
			b.Fatal(err)
		}
		product.Free()
	}
	b.ReportMetric(2*n*n*n*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOPS")
}

// BenchmarkCopy copies arrays to MLX and back.
func BenchmarkCopy(b *testing.B) {
	for _, n := range []int{16, 1 << 20} {
		b.Run(fmt.Sprint(4*n), func(b *testing.B) {
			sc, _, _ := benchScope(b, []int{1})
			data := make([]float32, n)
			b.SetBytes(int64(8 * n))
			for b.Loop() {
				a, err := FromSlice(sc, data, []int{n})
				if err != nil {
					b.Fatal(err)
				}
				if err := CopyTo(data, a); err != nil {
					b.Fatal(err)
				}
				a.Free()
			}
		})
	}
}
