package history

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// Results of another MLX are history, and no measure of this one's.
func TestGPU(t *testing.T) {
	is := is.New(t)
	var p api.GPUProfile
	add := func(tflops float64, rate int64, mlx string) {
		now := api.GPUProfile{FP16TFLOPS: &tflops, MemoryBytesPerS: &rate, MeasuredAt: api.TimeOf(time.Unix(int64(len(p.History)), 0))}
		now.Conditions.MLXVersion = mlx
		p = AddGPU(now, p)
	}
	add(30, 700, "1")
	add(20, 600, "2")
	add(24, 500, "2")
	add(22, 650, "2")
	is.Equal(p.Best.FP16TFLOPS, 24.0)
	is.Equal(p.Best.MemoryBytesPerS, int64(650))
	is.Equal(p.Median.FP16TFLOPS, 22.0)
	is.Equal(p.Median.MemoryBytesPerS, int64(600))
	is.Equal(len(p.History), 3)
	for range 2 * api.HistoryLength {
		add(22, 600, "2")
	}
	is.Equal(len(p.History), api.HistoryLength)
	is.Equal(AddGPU(api.GPUProfile{}, api.GPUProfile{}).Best, nil) // what was never measured is no history
}
