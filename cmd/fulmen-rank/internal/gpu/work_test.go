package gpu

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/mlxbridge"
)

// The matrices are of the type that is asked for, random, and made without a
// temporary of twice their size.
func TestRandomMatrix(t *testing.T) {
	is := is.New(t)
	stream, err := mlxbridge.NewStream(mlxbridge.Device{Type: mlxbridge.CPU})
	is.NoErr(err)
	scope := mlxbridge.NewScope(stream)
	defer scope.Close()
	const side = 1024
	is.NoErr(mlxbridge.ClearCache())
	before, err := mlxbridge.ActiveMemory()
	is.NoErr(err)
	is.NoErr(mlxbridge.ResetPeakMemory())
	matrix, err := random(scope, side, mlxbridge.Float16, 1)
	is.NoErr(err)
	is.NoErr(scope.Eval(matrix))
	peak, err := mlxbridge.PeakMemory()
	is.NoErr(err)
	is.Equal(matrix.Shape(), []int{side, side})
	is.Equal(matrix.Dtype(), mlxbridge.Float16)
	const bytes = side * side * 2
	if used := peak - before; used > 4*bytes {
		t.Errorf("a matrix of %d bytes took %d on the way", bytes, used)
	}
	wide, err := scope.AsType(matrix, mlxbridge.Float32)
	is.NoErr(err)
	values, err := mlxbridge.ToSlice[float32](wide)
	is.NoErr(err)
	sum, squares := 0.0, 0.0
	for _, v := range values {
		f := float64(v)
		sum += f
		squares += f * f
	}
	mean, variance := sum/float64(len(values)), squares/float64(len(values))
	is.True(mean > -0.01 && mean < 0.01) // of the standard normal distribution
	is.True(variance > 0.98 && variance < 1.02)
	other, err := random(scope, side, mlxbridge.Float16, 2)
	is.NoErr(err)
	wide, err = scope.AsType(other, mlxbridge.Float32)
	is.NoErr(err)
	first, err := mlxbridge.ToSlice[float32](wide)
	is.NoErr(err)
	is.True(first[0] != values[0] || first[1] != values[1]) // the two factors differ
}
