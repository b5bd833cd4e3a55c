package darwin

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
)

// rules is a system whose database has rights, and which knows one form.
type rules struct {
	database map[string]time.Duration
	good     byte
	refuses  error
	hold     chan struct{} // nil: a check does not wait
}

func (r *rules) defineRight(name string, lasts time.Duration) error {
	if r.refuses == nil {
		r.database[name] = lasts
	}
	return r.refuses
}

func (r *rules) checkRight(name string, form [formLength]byte) error {
	if r.hold != nil {
		<-r.hold
	}
	if r.database[name] != 5*time.Minute || form != [formLength]byte{r.good} {
		return ErrNotAuthorized
	}
	return nil
}

func form(first byte) []byte { return append([]byte{first}, make([]byte, formLength-1)...) }

func TestRight(t *testing.T) {
	for name, c := range map[string]struct {
		shown []byte
		want  error
	}{
		"granted": {form(7), nil}, "denied": {form(8), ErrNotAuthorized},
		"nothing": {nil, ErrNoForm}, "short": {form(7)[:31], ErrNoForm}, "long": {append(form(7), 0), ErrNoForm},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRight("org.fulmen.admin", &rules{database: map[string]time.Duration{}, good: 7})
			is.New(t).True(errors.Is(r.Check(t.Context(), c.shown), c.want))
		})
	}
}

// A right is nobody's until this process has said what it takes, whatever the
// database had; then it is said no more.
func TestRightIsDefinedFirst(t *testing.T) {
	is := is.New(t)
	system := &rules{database: map[string]time.Duration{"org.fulmen.admin": time.Hour}, good: 7, refuses: errors.New("not root")}
	r := newRight("org.fulmen.admin", system)
	is.True(errors.Is(r.Define(t.Context()), system.refuses))
	is.True(errors.Is(r.Check(t.Context(), form(7)), system.refuses))
	system.refuses = nil
	is.NoErr(r.Check(t.Context(), form(7)))
	system.refuses = errors.New("defined twice")
	is.NoErr(r.Define(t.Context()))
	is.NoErr(r.Check(t.Context(), form(7)))
}

// While the system does not answer, who waits gives up at their own deadline.
func TestRightOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		system := &rules{database: map[string]time.Duration{}, good: 7, hold: make(chan struct{})}
		r := newRight("org.fulmen.admin", system)
		first := make(chan error, 1)
		go func() { first <- r.Check(context.Background(), form(7)) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		is.True(errors.Is(r.Check(ctx, form(7)), context.DeadlineExceeded))
		close(system.hold)
		is.NoErr(<-first)
		is.NoErr(r.Check(t.Context(), form(7)))
	})
}
