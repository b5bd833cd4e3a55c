package shimproto

import (
	"errors"
	"testing"

	"github.com/matryer/is"
)

func TestFence(t *testing.T) {
	is := is.New(t)
	fence := NewFence(ref, 3, Versions{Newest: 3, Oldest: 2})
	speak := func(epoch int64, newest, oldest int) Hello {
		return Hello{RequestHeader: RequestHeader{ID: 7, Epoch: epoch}, Ref: ref, Versions: Versions{newest, oldest}, PID: 1}
	}
	other := speak(9, 3, 2)
	other.Attempt++
	renew := func(epoch int64) Renew {
		return Renew{RequestHeader: RequestHeader{ID: 8, Epoch: epoch}, LeaseS: 30}
	}
	// The steps build on one another: the epoch after each is what counts.
	for _, step := range []struct {
		name    string
		request Request
		greeted bool
		want    RefusalReason // "" when admitted
		epoch   int64         // afterwards
	}{
		{"renew before hello", renew(9), false, RefuseNoHello, 3},
		{"hello for another rank", other, false, RefuseOtherRank, 3},
		{"hello of a former home", speak(2, 3, 2), false, RefuseStaleEpoch, 3},
		{"hello of too old a daemon", speak(9, 1, 1), false, RefuseTooOld, 3},
		{"hello of too new a daemon", speak(9, 5, 4), false, RefuseTooNew, 3},
		{"hello of the same home", speak(3, 4, 3), false, "", 3},
		{"renew", renew(3), true, "", 3},
		{"hello of the next home", speak(5, 2, 1), false, "", 5},
		{"renew of the former home, still connected", renew(3), true, RefuseStaleEpoch, 5},
		{"stop of the former home", Stop{RequestHeader: RequestHeader{ID: 8, Epoch: 4}}, true, RefuseStaleEpoch, 5},
		{"even a question of the former home", Query{RequestHeader{ID: 8, Epoch: 4}}, true, RefuseStaleEpoch, 5},
		{"the same node became home again", renew(6), true, "", 6},
	} {
		refusal := fence.Admit(step.request, step.greeted)
		if step.want == "" {
			if refusal != nil {
				t.Errorf("%s: refused: %v", step.name, refusal)
			}
		} else {
			if refusal == nil || refusal.Reason != step.want || refusal.Re != step.request.Header().ID || refusal.Epoch != step.epoch {
				t.Errorf("%s: %+v, want %s", step.name, refusal, step.want)
			}
			is.NoErr(refusal.check()) // can be sent
		}
		is.Equal(fence.Epoch(), step.epoch)
	}
}

func TestNegotiate(t *testing.T) {
	for _, c := range []struct {
		a, b Versions
		want int
	}{
		{Versions{1, 1}, Versions{1, 1}, 1},
		{Versions{2, 1}, Versions{1, 1}, 1}, // n and n-1 talk
		{Versions{3, 2}, Versions{2, 1}, 2},
		{Versions{3, 2}, Versions{1, 1}, 0},
		{Versions{9, 1}, Versions{5, 3}, 5},
	} {
		is := is.New(t)
		for _, sides := range [][2]Versions{{c.a, c.b}, {c.b, c.a}} { // both sides come to one answer
			got, err := sides[0].Negotiate(sides[1])
			is.Equal(got, c.want)
			is.Equal(errors.Is(err, ErrVersion), c.want == 0)
		}
	}
	is.New(t).NoErr(OwnVersions().Check())
}
