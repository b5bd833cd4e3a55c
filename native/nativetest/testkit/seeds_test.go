package testkit

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// recorded is a test that is looked at.
type recorded struct {
	testing.TB
	reported strings.Builder
	failed   bool
}

func (r *recorded) Helper()                         {}
func (r *recorded) Failed() bool                    { return r.failed }
func (r *recorded) Logf(format string, args ...any) { fmt.Fprintf(&r.reported, format+"\n", args...) }

// Skipf ends the goroutine, as that of a test does.
func (r *recorded) Skipf(string, ...any) { runtime.Goexit() }

// run runs a part of the test, which may end its goroutine, as FailNow does.
func (r *recorded) run(f func(r *recorded)) {
	ended := make(chan struct{})
	go func() { defer close(ended); f(r) }()
	<-ended
}

func TestASeedIsGivenBack(t *testing.T) {
	is := is.New(t)
	r := &recorded{}
	t.Setenv(Env, "")
	drawn := Drawn(r)
	is.Equal(r.reported.String(), fmt.Sprintf("FULMEN_SEED=%d gives this back\n", drawn))
	is.True(drawn != Drawn(&recorded{})) // another one each time
	is.Equal(Fixed(&recorded{}, 7), Seed(7))

	t.Setenv(Env, fmt.Sprint(uint64(drawn)))
	is.Equal(Drawn(&recorded{}), drawn)
	is.Equal(Fixed(&recorded{}, 7), drawn)
	is.Equal(drawn.Source(3).Uint64(), Drawn(&recorded{}).Source(3).Uint64())
	is.True(drawn.Source(3).Uint64() != drawn.Source(4).Uint64())
}

func TestTheSeedThatFailsIsSaid(t *testing.T) {
	t.Setenv(Env, "")
	for _, test := range []struct {
		name string
		fail func(r *recorded)
	}{
		{"and goes on", func(r *recorded) { r.failed = true }},
		{"and ends", func(r *recorded) { r.failed = true; runtime.Goexit() }},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, seen := &recorded{}, []Seed(nil)
			r.run(func(r *recorded) {
				for seed := range Upto(r, 5) {
					seen = append(seen, seed)
					if seed >= 3 {
						test.fail(r)
					}
				}
			})
			is := is.New(t)
			is.Equal(seen[:4], []Seed{0, 1, 2, 3})
			is.Equal(r.reported.String(), "FULMEN_SEED=3 gives this back\n")
		})
	}
}

// What one seed cannot show, such as how many of a kind there were, is not asked of it.
func TestOneSeedAlone(t *testing.T) {
	t.Setenv(Env, "40")
	for _, fails := range []bool{false, true} {
		r, seen, after := &recorded{}, []Seed(nil), false
		r.run(func(r *recorded) {
			for seed := range Upto(r, 5) {
				seen = append(seen, seed)
				r.failed = fails
			}
			after = true
		})
		is := is.New(t)
		is.Equal(seen, []Seed{40})
		is.Equal(after, fails)
	}
}
