package native_test

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
)

func TestParseLinkSpeed(t *testing.T) {
	for text, want := range map[string]native.LinkSpeed{
		"80 Gb/s":         {TxBitsPerS: 80e9, RxBitsPerS: 80e9},
		"Up to 120 Gb/s":  {TxBitsPerS: 120e9, RxBitsPerS: 120e9, UpTo: true},
		"40.0 Gb/s":       {TxBitsPerS: 40e9, RxBitsPerS: 40e9},
		"120/40G":         {TxBitsPerS: 120e9, RxBitsPerS: 40e9},
		"80G":             {TxBitsPerS: 80e9, RxBitsPerS: 80e9},
		"2.5 Gbit/s":      {TxBitsPerS: 2500e6, RxBitsPerS: 2500e6},
		"100Mbps":         {TxBitsPerS: 100e6, RxBitsPerS: 100e6},
		" 10000 Gb/s ":    {TxBitsPerS: 10e12, RxBitsPerS: 10e12},
		"0.001 Mb/s":      {TxBitsPerS: 1000, RxBitsPerS: 1000},
		"Up to 120/40 Gb": {}, "10001 Gb/s": {}, "": {}, "Gb/s": {}, "0 Gb/s": {}, "-1 Gb/s": {}, "+1 Gb/s": {}, "1e3 Gb/s": {},
		"NaN Gb/s": {}, "80": {}, "80 GB/s": {}, "80 gb/s": {}, "1.2345 Gb/s": {}, "1. Gb/s": {}, ".5 Gb/s": {}, "80/ Gb/s": {},
		"80/80/80 Gb/s": {}, "999999999999999999999 Gb/s": {}, "Up to Up to 80 Gb/s": {}, "８０ Gb/s": {},
	} {
		t.Run(text, func(t *testing.T) {
			is := is.New(t)
			got, err := native.ParseLinkSpeed(text)
			is.Equal(got, want)
			is.Equal(err != nil, want == native.LinkSpeed{})
		})
	}
}

func FuzzParseLinkSpeed(f *testing.F) {
	for _, seed := range []string{"80 Gb/s", "Up to 120 Gb/s", "120/40G", "40.0 Gb/s", "2.5Mbps", "99999999.999 G", "/", "."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		speed, err := native.ParseLinkSpeed(text)
		if err != nil {
			if (speed != native.LinkSpeed{}) {
				t.Errorf("%q: an error and a speed", text)
			}
			return
		}
		if speed.TxBitsPerS <= 0 || speed.RxBitsPerS <= 0 || speed.TxBitsPerS > 10e12 || speed.RxBitsPerS > 10e12 {
			t.Errorf("%q: %+v is out of range", text, speed)
		}
		again, err := native.ParseLinkSpeed(speed.String())
		if err != nil || again != speed {
			t.Errorf("%q: %+v is written %q and reads back %+v, %v", text, speed, speed, again, err)
		}
	})
}
