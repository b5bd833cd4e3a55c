package bundle

import (
	"testing"
	"time"

	"github.com/matryer/is"
)

// look is one look at a bundle: when, what is there, and what the rule says.
type look struct {
	at      time.Duration
	seen    Seen
	verdict Verdict
	again   time.Duration
}

func TestNext(t *testing.T) {
	const s = time.Second
	one, two, gone := Seen{Version: "1"}, Seen{Version: "2"}, Seen{}
	moved := Seen{Elsewhere: "/Applications/Old/Fulmen.app"}
	tests := map[string][]look{
		"nothing happens":     {{0, one, Here, 0}, {1000 * s, one, Here, 0}},
		"thrown away":         {{0, one, Here, 0}, {10 * s, gone, Gone, 60 * s}, {70 * s, gone, Trashed, 0}, {300 * s, gone, Gone, 0}},
		"looked at too early": {{0, gone, Gone, 60 * s}, {59 * s, gone, Gone, s}, {60 * s, gone, Trashed, 0}},
		"put back in time":    {{0, gone, Gone, 60 * s}, {30 * s, one, Here, 0}, {60 * s, gone, Gone, 60 * s}, {120 * s, gone, Trashed, 0}},
		"upgraded":            {{0, gone, Gone, 60 * s}, {20 * s, two, Replaced, 0}, {25 * s, two, Here, 0}},
		"upgraded in place":   {{0, one, Here, 0}, {5 * s, two, Replaced, 0}, {6 * s, two, Here, 0}, {9 * s, one, Replaced, 0}},
		"moved":               {{0, gone, Gone, 60 * s}, {60 * s, moved, Moved, 0}, {200 * s, moved, Gone, 0}},
		"moved and back":      {{0, gone, Gone, 60 * s}, {60 * s, moved, Moved, 0}, {61 * s, one, Here, 0}, {70 * s, gone, Gone, 60 * s}},
		"slept in the midst of an upgrade": {
			{0, gone, Gone, 60 * s}, {3600 * s, gone, Gone, 60 * s}, {3620 * s, two, Replaced, 0},
		},
		"slept and thrown away": {{0, gone, Gone, 60 * s}, {3600 * s, gone, Gone, 60 * s}, {3660 * s, gone, Trashed, 0}},
		"a little late":         {{0, gone, Gone, 60 * s}, {64 * s, gone, Trashed, 0}},
	}
	for name, looks := range tests {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			state := Began("1")
			for i, l := range looks {
				var verdict Verdict
				var again time.Duration
				state, verdict, again = Next(state, l.at, l.seen)
				t.Log(i, verdict)
				is.Equal(verdict, l.verdict)
				is.Equal(again, l.again)
			}
		})
	}
}
