package profile

import (
	"testing"
	"time"

	"github.com/matryer/is"
)

func TestJudge(t *testing.T) {
	const ttl, age = 5 * time.Minute, 2 * time.Minute
	tests := map[string]struct {
		subject pacing
		want    pacingVerdict
	}{
		"nobody watches":                     {pacing{}, pacingVerdict{IsFull: true}},
		"nobody watches, old":                {pacing{IsMeasured: true, Age: time.Hour, TTL: ttl}, pacingVerdict{}},
		"at first sight":                     {pacing{IsWanted: true}, pacingVerdict{IsDue: true, IsFull: true}},
		"fresh":                              {pacing{IsWanted: true, IsMeasured: true, Age: age}, pacingVerdict{In: 3 * time.Minute}},
		"old":                                {pacing{IsWanted: true, IsMeasured: true, Age: ttl}, pacingVerdict{IsDue: true}},
		"from the future":                    {pacing{IsWanted: true, IsMeasured: true, Age: -time.Second}, pacingVerdict{IsDue: true}},
		"low is seen to at the next time":    {pacing{IsWanted: true, IsMeasured: true, Age: ttl, IsLow: true}, pacingVerdict{IsDue: true, IsFull: true}},
		"changed again":                      {pacing{IsWanted: true, IsMeasured: true, IsChanged: true, Age: 4 * time.Second}, pacingVerdict{In: 6 * time.Second, IsFull: true}},
		"changed":                            {pacing{IsWanted: true, IsMeasured: true, IsChanged: true, Age: age}, pacingVerdict{IsDue: true, IsFull: true}},
		"changed, nobody watches":            {pacing{IsMeasured: true, IsChanged: true, Age: age}, pacingVerdict{IsDue: true, IsFull: true}},
		"never measured, nobody watches":     {pacing{IsChanged: true}, pacingVerdict{IsFull: true}},
		"just failed":                        {pacing{IsWanted: true, Failures: 1, FailedAgo: 5 * time.Second}, pacingVerdict{In: 10 * time.Second, IsFull: true}},
		"failed again":                       {pacing{IsWanted: true, Failures: 3, FailedAgo: 30 * time.Second}, pacingVerdict{In: 30 * time.Second, IsFull: true}},
		"failed long ago":                    {pacing{IsWanted: true, Failures: 3, FailedAgo: time.Minute}, pacingVerdict{IsDue: true, IsFull: true}},
		"failed in the future":               {pacing{IsWanted: true, Failures: 1, FailedAgo: -time.Hour}, pacingVerdict{In: 15 * time.Second, IsFull: true}},
		"a part of a result is no old one":   {pacing{IsWanted: true, IsMeasured: true, Age: time.Second, Failures: 1, FailedAgo: time.Second}, pacingVerdict{In: ttl - time.Second}},
		"changed and failed, nobody watches": {pacing{IsMeasured: true, IsChanged: true, Failures: 1}, pacingVerdict{In: 15 * time.Second, IsFull: true}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.subject.TTL = ttl
			is.New(t).Equal(judge(tt.subject), tt.want)
		})
	}
}

func TestBackOffIsBounded(t *testing.T) {
	is := is.New(t)
	is.Equal(backOff(0), time.Duration(0))
	is.Equal(backOff(1), 15*time.Second)
	is.Equal(backOff(2), 30*time.Second)
	is.Equal(backOff(1<<30), time.Hour)
}
