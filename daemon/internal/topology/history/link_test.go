package history

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// gave is a path's document after results in Gb/s up, each with 10 down.
func gave(rates ...float64) api.LinkProfile {
	var p api.LinkProfile
	for _, gb := range rates {
		up, down, rtt := int64(gb*1e9), int64(10e9), 300+gb
		at := api.TimeOf(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).Add(time.Duration(len(p.History)) * time.Minute))
		p = AddLink(api.LinkProfile{MeasuredAt: at, UpBitsPerS: &up, DownBitsPerS: &down, RTTUS: &rtt}, p, false)
	}
	return p
}

func repeat(gb float64, n int) []float64 {
	var all []float64
	for range n {
		all = append(all, gb)
	}
	return all
}

func TestSummaries(t *testing.T) {
	is := is.New(t)
	p := gave(50, 56, 40, 55, 54)
	is.Equal(*p.Best.UpBitsPerS, int64(56e9))
	is.Equal(*p.Best.RTTUS, 340.0)
	is.Equal(*p.Median.UpBitsPerS, int64(54e9))
	is.Equal(p.Best.MeasuredAt, p.MeasuredAt)
	is.Equal(len(Results(p)), 5)
	is.Equal(*Results(p)[0].UpBitsPerS, int64(54e9)) // the newest first
	is.Equal(*p.History[0].UpBitsPerS, int64(55e9))

	p = gave(repeat(50, 3*api.HistoryLength)...)
	is.Equal(len(p.History), api.HistoryLength)

	// A part of a result: what was not measured is no number.
	part := AddLink(api.LinkProfile{MeasuredAt: p.MeasuredAt, RTTUS: p.RTTUS}, gave(50), false)
	is.Equal(*part.Median.UpBitsPerS, int64(50e9))
	is.Equal(part.UpBitsPerS, nil)
	is.Equal(AddLink(api.LinkProfile{MeasuredAt: p.MeasuredAt}, api.LinkProfile{}, false).Median.UpBitsPerS, nil)

	// Another path begins anew, and stays muted.
	before := gave(50, 50)
	before.Muted = true
	anew := AddLink(api.LinkProfile{MeasuredAt: p.MeasuredAt, UpBitsPerS: p.UpBitsPerS}, before, true)
	is.Equal(len(anew.History), 0)
	is.True(anew.Muted)
}

func TestDrops(t *testing.T) {
	tests := map[string]struct {
		rates []float64
		drops bool
		low   bool
	}{
		"steady":                             {repeat(50, 10), false, false},
		"twice low":                          {append(repeat(50, 5), 30, 30), false, true},
		"three times low":                    {append(repeat(50, 5), 30, 31, 30), true, true},
		"with one good in between":           {append(repeat(50, 5), 30, 50, 30, 30), false, true},
		"nearly usual":                       {append(repeat(50, 5), 41, 41, 41), false, false},
		"good again":                         {append(repeat(50, 5), 30, 30, 30, 30, 49), false, false},
		"never better":                       {repeat(30, 5), false, false},
		"too little known":                   {[]float64{50, 50, 30, 30, 30}, false, true},
		"for hours":                          {append(repeat(50, 5), repeat(30, 25)...), true, true},
		"until nothing better is remembered": {append(repeat(50, 5), repeat(30, 60)...), false, false},
		"slowly":                             {append(repeat(50, 5), 45, 40, 36, 33, 31), true, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			p := gave(tt.rates...)
			drops := Drops(p)
			is.Equal(len(drops) == 1, tt.drops)
			is.Equal(IsLow(p), tt.low)
			if tt.drops {
				is.True(!drops[0].IsDown)
				is.Equal(drops[0].UsualBitsPerS, int64(50e9))
				is.Equal(drops[0].NowBitsPerS, *p.UpBitsPerS)
			}
		})
	}
	is.New(t).Equal(len(Drops(api.LinkProfile{})), 0)
}
