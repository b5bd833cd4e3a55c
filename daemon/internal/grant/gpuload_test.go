package grant

import (
	"testing"
	"time"

	"github.com/matryer/is"
)

func TestGPULoad(t *testing.T) {
	const began = time.Hour
	for name, tt := range map[string]struct {
		readings []float64 // one a second; below 0 = not known
		after    time.Duration
		want     float64 // below 0 = not known
	}{
		"nothing was read":        {nil, 0, -1},
		"one reading":             {[]float64{0.6}, 0, 0.6},
		"a moment of use":         {[]float64{0, 0, 1, 0, 0}, 0, 0.2},
		"use that has begun":      {[]float64{0, 0, 0, 0, 1, 1, 1, 1, 1, 1}, 0, 1},
		"use that has ended":      {[]float64{1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0}, 0, 0},
		"it has become unknown":   {[]float64{1, 1, -1}, 0, -1},
		"it is known again":       {[]float64{1, 1, -1, 0.5}, 0, 0.5},
		"the last reading is old": {[]float64{1, 1}, loadFresh + 1, -1},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			var load GPULoad
			now := began
			for _, ratio := range tt.readings {
				now += time.Second
				if ratio < 0 {
					load.Note(now, nil)
				} else {
					load.Note(now, &ratio)
				}
			}
			ratio, known := load.Mean(now + tt.after)
			is.Equal(known, tt.want >= 0)
			if known {
				is.Equal(ratio, tt.want)
			}
		})
	}
}
