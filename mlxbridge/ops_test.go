package mlxbridge

import (
	"math"
	"testing"

	"github.com/matryer/is"
)

func TestOpsAgainstGo(t *testing.T) {
	sc := cpuScope(t)
	for _, c := range opCases() {
		if c.drawn {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			is := is.New(t)
			a, err := c.run(sc)
			is.NoErr(err)
			got, err := download(a)
			is.NoErr(err)
			is.NoErr(equalTensors(got, c.reference()))
		})
	}
}

func TestRandomDistributions(t *testing.T) {
	const n = 1 << 16
	for _, dt := range []Dtype{Float16, Float32, BFloat16} {
		t.Run(dt.String(), func(t *testing.T) {
			is := is.New(t)
			sc := cpuScope(t)
			moments := func(a *Array, err error) (mean, deviation float64) {
				is.NoErr(err)
				x, err := download(a)
				is.NoErr(err)
				var sum, squares float64
				for _, v := range decode(dt, x.Data) {
					sum += real(v)
					squares += real(v) * real(v)
				}
				mean = sum / n
				return mean, math.Sqrt(squares/n - mean*mean)
			}
			// Five standard errors at 65536 numbers, and the dtype's rounding.
			mean, deviation := moments(sc.Normal([]int{n}, dt, 3, 2, 1))
			is.True(math.Abs(mean-3) < 0.04+0.02)
			is.True(math.Abs(deviation-2) < 0.03+0.02)

			one := must[tensor](t)(download(must[*Array](t)(sc.Normal([]int{64}, dt, 0, 1, 5))))
			same := must[tensor](t)(download(must[*Array](t)(sc.Normal([]int{64}, dt, 0, 1, 5))))
			other := must[tensor](t)(download(must[*Array](t)(sc.Normal([]int{64}, dt, 0, 1, 6))))
			is.NoErr(equalTensors(same, one))
			is.True(equalTensors(other, one) != nil) // another seed, other numbers
		})
	}
}

// Integer overflow wraps, as in C; mixed dtypes are promoted.
func TestAddSpecials(t *testing.T) {
	is := is.New(t)
	sc := cpuScope(t)
	a := must[*Array](t)(FromSlice(sc, []uint8{200, 1}, []int{2}))
	b := must[*Array](t)(FromSlice(sc, []uint8{100, 2}, []int{2}))
	sum := must[*Array](t)(sc.Add(a, b))
	is.Equal(must[[]uint8](t)(ToSlice[uint8](sum)), []uint8{44, 3})

	for _, c := range []struct{ a, b, want Dtype }{
		{Bool, Uint8, Uint8},
		{Int8, Uint8, Int16},
		{Uint32, Int32, Int64},
		{Int64, Float16, Float16},
		{Float16, BFloat16, Float32},
		{Float32, Float64, Float64},
		{Float64, Complex64, Complex64},
	} {
		x := must[*Array](t)(sc.Full([]int{3}, 1, c.a))
		y := must[*Array](t)(sc.Full([]int{3}, 1, c.b))
		z := must[*Array](t)(sc.Add(x, y))
		is.Equal(z.Dtype(), c.want)
		is.NoErr(sc.Eval(z))
	}
}
