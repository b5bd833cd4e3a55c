package pace

import (
	"testing"
	"time"

	"github.com/matryer/is"
)

func TestJudge(t *testing.T) {
	const ttl, age = 5 * time.Minute, 2 * time.Minute
	tests := map[string]struct {
		subject Subject
		want    Verdict
	}{
		"nobody watches":                     {Subject{}, Verdict{IsFull: true}},
		"nobody watches, old":                {Subject{IsMeasured: true, Age: time.Hour, TTL: ttl}, Verdict{}},
		"at first sight":                     {Subject{IsWanted: true}, Verdict{IsDue: true, IsFull: true}},
		"fresh":                              {Subject{IsWanted: true, IsMeasured: true, Age: age}, Verdict{In: 3 * time.Minute}},
		"old":                                {Subject{IsWanted: true, IsMeasured: true, Age: ttl}, Verdict{IsDue: true}},
		"from the future":                    {Subject{IsWanted: true, IsMeasured: true, Age: -time.Second}, Verdict{IsDue: true}},
		"low is seen to at the next time":    {Subject{IsWanted: true, IsMeasured: true, Age: ttl, IsLow: true}, Verdict{IsDue: true, IsFull: true}},
		"changed again":                      {Subject{IsWanted: true, IsMeasured: true, IsChanged: true, Age: 4 * time.Second}, Verdict{In: 6 * time.Second, IsFull: true}},
		"changed":                            {Subject{IsWanted: true, IsMeasured: true, IsChanged: true, Age: age}, Verdict{IsDue: true, IsFull: true}},
		"changed, nobody watches":            {Subject{IsMeasured: true, IsChanged: true, Age: age}, Verdict{IsDue: true, IsFull: true}},
		"never measured, nobody watches":     {Subject{IsChanged: true}, Verdict{IsFull: true}},
		"just failed":                        {Subject{IsWanted: true, Failures: 1, FailedAgo: 5 * time.Second}, Verdict{In: 10 * time.Second, IsFull: true}},
		"failed again":                       {Subject{IsWanted: true, Failures: 3, FailedAgo: 30 * time.Second}, Verdict{In: 30 * time.Second, IsFull: true}},
		"failed long ago":                    {Subject{IsWanted: true, Failures: 3, FailedAgo: time.Minute}, Verdict{IsDue: true, IsFull: true}},
		"failed in the future":               {Subject{IsWanted: true, Failures: 1, FailedAgo: -time.Hour}, Verdict{In: 15 * time.Second, IsFull: true}},
		"a part of a result is no old one":   {Subject{IsWanted: true, IsMeasured: true, Age: time.Second, Failures: 1, FailedAgo: time.Second}, Verdict{In: ttl - time.Second}},
		"changed and failed, nobody watches": {Subject{IsMeasured: true, IsChanged: true, Failures: 1}, Verdict{In: 15 * time.Second, IsFull: true}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.subject.TTL = ttl
			is.New(t).Equal(Judge(tt.subject), tt.want)
		})
	}
}

func TestBackOffIsBounded(t *testing.T) {
	is := is.New(t)
	is.Equal(BackOff(0), time.Duration(0))
	is.Equal(BackOff(1), 15*time.Second)
	is.Equal(BackOff(2), 30*time.Second)
	is.Equal(BackOff(1<<30), time.Hour)
}
