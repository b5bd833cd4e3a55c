package health

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native/nativetest"
)

// All writers that are over their quotas are one condition, which changes with who
// they are and not with every document, and ends with the last of them.
func TestOverQuotaIsOneCondition(t *testing.T) {
	is := is.New(t)
	clock := nativetest.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	var now []ledger.Over
	var reported []string
	o := NewQuota(clock, func() []ledger.Over { return now }, func(api.NodeID) string { return "studio" },
		func(detail string) { reported = append(reported, detail) }, slog.New(slog.NewTextHandler(t.Output(), nil)))
	now = []ledger.Over{{Node: "cpv0cwypxp44qw0p", Kind: api.KindJob, Bound: "2048 documents", Refused: 1}}
	o.Changed()
	is.Equal(len(reported), 0)
	clock.Advance(overSoon)
	is.Equal(reported, []string{"job of studio, cpv0-cwyp-xp44-qw0p (2048 documents at most)"})
	now[0].Refused = 1000
	clock.Advance(overAgain)
	is.Equal(len(reported), 1)
	now = append(now, ledger.Over{Node: "cpv0cwypxp44qw0p", Bound: "64 documents", Refused: 1})
	o.Changed() // not a minute later
	clock.Advance(overSoon)
	is.Equal(len(reported), 2)
	is.True(strings.HasSuffix(reported[1], "; newer kinds of studio, cpv0-cwyp-xp44-qw0p (64 documents at most)"))
	now = nil
	clock.Advance(overAgain)
	is.Equal(reported[2:], []string{""})
	clock.Advance(time.Hour)
	is.Equal(len(reported), 3)
	is.NoErr(o.Close())
	o.Changed()
	clock.Advance(time.Hour)
	is.Equal(len(reported), 3)
}

// One more is told soon, however often more come at once, and nothing after the end.
func TestOverQuotaIsToldSoonAndNotAfterTheEnd(t *testing.T) {
	is := is.New(t)
	clock := nativetest.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	now := []ledger.Over{{Node: "cpv0cwypxp44qw0p", Kind: api.KindJob, Bound: "2048 documents", Refused: 1}}
	reported := 0
	o := NewQuota(clock, func() []ledger.Over { return now }, func(api.NodeID) string { return "studio" },
		func(string) { reported++ }, slog.New(slog.DiscardHandler))
	o.Changed()
	clock.Advance(overSoon / 2)
	o.Changed() // the first is not put off by the next
	clock.Advance(overSoon / 2)
	is.Equal(reported, 1)
	is.Equal(clock.Pending(), 1)
	o.Changed()
	is.Equal(clock.Pending(), 1) // sooner, and not twice
	is.NoErr(o.Close())
	is.Equal(clock.Pending(), 0)
	o.Changed()
	is.Equal(clock.Pending(), 0)
	clock.Advance(time.Hour)
	is.Equal(reported, 1)
}
