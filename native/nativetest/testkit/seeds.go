// Package testkit is what tests everywhere share.
//
// Seeds are where random tests have their randomness from. Each says which seed it
// failed with, and with that in the variable FULMEN_SEED it does the same again.
//
// Benchmarks are run once in the tests of their package, so that they do not rot
// between two runs of make bench.
//
// Inputs are files on which the results of tests depend. The go command keeps a
// result while the files that the test opened, looked at or wrote keep their sizes
// and times, and none of them is younger than two seconds at its end; it does not
// see what other programs read.
package testkit

import (
	"iter"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Env is the variable that gives a seed back, as a decimal number.
const Env = "FULMEN_SEED"

// Seed is what the randomness of a test follows from.
type Seed uint64

// Source gives the random values of a seed; each stream of it has its own.
func (s Seed) Source(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(uint64(s), stream)) }

// Drawn is a seed that is another one each time.
func Drawn(t testing.TB) Seed {
	t.Helper()
	return Fixed(t, Seed(rand.Uint64()))
}

// Fixed is a seed that is the same each time.
func Fixed(t testing.TB, seed Seed) Seed {
	t.Helper()
	if back, is := given(t); is {
		seed = back
	}
	t.Logf("%s=%d gives this back", Env, seed)
	return seed
}

// Upto is the seeds from 0 on, so many. It says at which of them the test began to
// fail. With a seed given back it is that one alone, and the test ends after it: what
// all together must show one does not.
func Upto(t testing.TB, n int) iter.Seq[Seed] {
	return func(yield func(Seed) bool) {
		t.Helper()
		one := func(seed Seed) bool {
			if t.Failed() {
				return yield(seed)
			}
			defer func() { // a test that fails ends here
				if t.Failed() {
					t.Logf("%s=%d gives this back", Env, seed)
				}
			}()
			return yield(seed)
		}
		if back, is := given(t); is {
			if one(back) && !t.Failed() {
				t.Skipf("%s=%d passes; what all seeds together must show was left out", Env, back)
			}
			return
		}
		for seed := range n {
			if !one(Seed(seed)) {
				return
			}
		}
	}
}

// given is the seed of the variable. One that is no number is a mistake that would
// otherwise go unnoticed.
func given(t testing.TB) (Seed, bool) {
	t.Helper()
	text := os.Getenv(Env)
	if text == "" {
		return 0, false
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", Env, err)
	}
	return Seed(seed), true
}
