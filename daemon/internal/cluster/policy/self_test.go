package policy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// machine is a Mac's power in a bubble, and the journal of what was said, told
// to others and let go, each with the second of its time.
type machine struct {
	native.NoPower
	clock native.Clock
	start time.Time
	// flush is how long others take to hear; negative = they never do.
	flush time.Duration

	mu      sync.Mutex
	notify  func(native.PowerNotice)
	journal []string
	unknown map[string]api.Reason
	stopped bool
}

func newMachine() *machine {
	start := time.Now()
	return &machine{start: start, clock: native.ClockFrom(time.Now, func() time.Duration { return time.Since(start) })}
}

func (m *machine) note(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.journal = append(m.journal, fmt.Sprintf("%v ", time.Since(m.start))+fmt.Sprintf(format, args...))
}

func (m *machine) Delete(api.Kind, string) error { return nil } // nothing is

func (m *machine) Put(_ api.Kind, _ string, value any, unknown map[string]api.Reason) error {
	s := value.(api.NodeState)
	text := string(s.State)
	if s.Reason != "" {
		text += " " + string(s.Reason)
	}
	if s.Idle != nil {
		text += fmt.Sprintf(" idle=%v", *s.Idle)
	}
	m.note("%s", text)
	m.unknown = unknown
	return nil
}

func (m *machine) Notices(notice func(native.PowerNotice)) (func() error, error) {
	m.notify = notice
	return func() error { m.stopped = true; return nil }, nil
}

func (m *machine) Acknowledge(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err // as a platform does, so that the system goes on waiting
	}
	m.note("ack %s", id)
	return nil
}

func (m *machine) flushState(ctx context.Context) error {
	if m.flush < 0 {
		<-ctx.Done()
		return ctx.Err()
	}
	received := make(chan struct{})
	m.clock.AfterFunc(m.flush, func() { close(received) })
	<-received
	return nil
}

func (m *machine) self() *Self {
	return NewSelf(SelfOptions{Documents: m, Power: m, Clock: m.clock, Flush: m.flushState, IdleUnknown: api.ReasonNotSupportedByPlatform, Log: slog.New(slog.DiscardHandler)})
}

func (m *machine) reported() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.journal)
}

func TestTheClusterHearsItBeforeItHappens(t *testing.T) {
	for name, test := range map[string]struct {
		notices []native.PowerNotice
		flush   time.Duration
		want    []string
	}{
		"sleep and wake": {[]native.PowerNotice{{ID: "1", Event: native.PowerWillSleep, WithinS: 30}, {Event: native.PowerAwake}}, 5 * time.Millisecond,
			[]string{"0s asleep", "5ms ack 1", "1h0m0s awake"}},
		"the lid": {[]native.PowerNotice{{ID: "1", Event: native.PowerWillSleep, Cause: "Lid closed", WithinS: 30}}, 0,
			[]string{"0s asleep lid_closed", "0s ack 1"}},
		"nobody hears": {[]native.PowerNotice{{ID: "1", Event: native.PowerWillSleep, WithinS: 30}}, -1,
			[]string{"0s asleep", "2s ack 1"}},
		"in a hurry": {[]native.PowerNotice{{ID: "1", Event: native.PowerWillSleep, WithinS: 1}}, -1,
			[]string{"0s asleep", "500ms ack 1"}},
		"twice the same": {[]native.PowerNotice{{ID: "1", Event: native.PowerWillSleep, WithinS: 30}, {ID: "2", Event: native.PowerWillSleep, WithinS: 30}}, 0,
			[]string{"0s asleep", "0s ack 1", "1h0m0s ack 2"}},
		"restart that is called off": {[]native.PowerNotice{{ID: "1", Event: native.PowerWillPowerOff, Cause: "restart", WithinS: 30}}, 0,
			[]string{"0s restarting", "0s ack 1", "1m30s awake"}},
		"restart that is called off in words": {[]native.PowerNotice{{ID: "1", Event: native.PowerWillPowerOff, WithinS: 4000}, {Event: native.PowerAwake}}, 0,
			[]string{"0s restarting", "0s ack 1", "1h0m0s awake"}},
		"shutdown": {[]native.PowerNotice{{ID: "1", Event: native.PowerWillPowerOff, Cause: "shutdown", WithinS: 4000}}, 0,
			[]string{"0s restarting shutting_down", "0s ack 1", "1h7m40s awake"}},
		"an event of another time": {[]native.PowerNotice{{ID: "1", Event: "will_float"}}, 0, []string{"0s ack 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				m := newMachine()
				m.flush = test.flush
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- m.self().Run(ctx) }()
				synctest.Wait()
				for i, notice := range test.notices {
					if i > 0 {
						time.Sleep(time.Until(m.start.Add(time.Duration(i) * time.Hour)))
					}
					m.notify(notice)
					synctest.Wait()
				}
				time.Sleep(2 * time.Hour)
				is.Equal(m.reported(), test.want)
				cancel()
				is.NoErr(<-ended)
				is.True(m.stopped)
			})
		})
	}
}

// What runs ends before the machine is let go, while others hear of it; but not for
// longer than the system waits.
func TestWhatRunsEndsBefore(t *testing.T) {
	for name, test := range map[string]struct {
		within, takes float64
		want          []string
	}{
		"in time": {30, 3, []string{"0s asleep lid_closed", "0s departs asleep lid_closed", "3s gone", "5s ack 1", "5s awake"}},
		"never":   {8, 1e6, []string{"0s asleep lid_closed", "0s departs asleep lid_closed", "2s gone", "4s ack 1", "4s awake"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				m := newMachine()
				m.flush = 2 * time.Second
				s := m.self()
				s.options.Depart = func(ctx context.Context, state api.SelfState, reason api.Reason) {
					m.note("departs %s %s", state, reason)
					ended := make(chan struct{})
					m.clock.AfterFunc(api.Seconds(test.takes), func() { close(ended) })
					select {
					case <-ended:
					case <-ctx.Done():
					}
					m.note("gone")
				}
				s.heed(t.Context(), native.PowerNotice{ID: "1", Event: native.PowerWillSleep, Cause: "lid closed", WithinS: test.within})
				s.heed(t.Context(), native.PowerNotice{Event: native.PowerAwake})
				is.Equal(m.reported(), test.want)
			})
		})
	}
}

func TestADaemonThatEndsStillLetsTheMachineGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		m := newMachine()
		m.flush = -1
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- m.self().Run(ctx) }()
		synctest.Wait()
		m.notify(native.PowerNotice{ID: "1", Event: native.PowerWillPowerOff, WithinS: 30})
		synctest.Wait()
		cancel() // the system ends daemons on its way down
		is.NoErr(<-ended)
		is.Equal(m.reported(), []string{"0s restarting", "0s ack 1"})
		time.Sleep(time.Hour)
		is.Equal(len(m.reported()), 2) // it ended, and says nothing later
	})
}

func TestWakingBringsOverdueTimersAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		m := newMachine()
		var slept atomic.Int64
		m.clock = native.ClockFrom(time.Now, func() time.Duration { return time.Since(m.start) + time.Duration(slept.Load()) })
		m.clock.AfterFunc(time.Hour, func() { m.note("overdue") })
		slept.Store(int64(2 * time.Hour)) // Go's own clock stands still meanwhile
		m.self().heed(t.Context(), native.PowerNotice{Event: native.PowerAwake})
		synctest.Wait()
		is.True(slices.Contains(m.reported(), "0s overdue"))
	})
}

func TestWhatIsSaidStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		m := newMachine()
		s := m.self()
		ctx := t.Context()
		for _, state := range []api.SelfState{api.SelfAwake, api.SelfAwake, api.SelfStopping, api.SelfAwake, api.SelfRestarting, api.SelfStopping,
			api.SelfAwake, api.SelfLeft, api.SelfStopping, api.SelfRestarting, api.SelfAsleep} {
			is.NoErr(s.Announce(ctx, state, ""))
		}
		is.Equal(m.reported(), []string{"0s awake", "0s stopping", "0s awake", "0s restarting", "0s awake", "0s left"})
		is.Equal(s.State().State, api.SelfLeft)
		s.heed(ctx, native.PowerNotice{Event: native.PowerAwake})
		is.Equal(s.State().State, api.SelfLeft) // a nap does not bring it back
		is.NoErr(s.Announce(ctx, api.SelfAwake, ""))
		is.Equal(s.State().State, api.SelfAwake)
		time.Sleep(time.Second)
		is.NoErr(s.Announce(ctx, api.SelfStopping, api.ReasonStopping))
		is.True(s.State().Since.Equal(m.start.Add(time.Second).Truncate(time.Millisecond)))
	})
}

func TestUseIsSaidWhenItChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		m := newMachine()
		s := m.self()
		is.NoErr(s.Announce(t.Context(), api.SelfAwake, ""))
		is.Equal(m.unknown, map[string]api.Reason{"user_idle_s": api.ReasonNotSupportedByPlatform, "idle": api.ReasonNotSupportedByPlatform})
		for i, idle := range []bool{false, false, true, true, false} {
			is.NoErr(s.SetUse(Use{IdleS: new(float64(i)), Idle: &idle}))
		}
		is.Equal(m.reported(), []string{"0s awake", "0s awake idle=false", "0s awake idle=true", "0s awake idle=false"})
		is.Equal(len(m.unknown), 0)
		is.NoErr(s.SetUse(Use{Unknown: api.ReasonReadFailed}))
		is.Equal(m.unknown["idle"], api.ReasonReadFailed)
	})
}

func TestAMachineWithoutNotices(t *testing.T) {
	is := is.New(t)
	s := NewSelf(SelfOptions{Power: native.NoPower{Reason: native.ReasonNoPlatform}, Log: slog.New(slog.DiscardHandler)})
	is.NoErr(s.Run(t.Context()))
	is.True(!IsIdle(api.Sharing{IdleAfterS: 300}, nil))
	failing := NewSelf(SelfOptions{Documents: refusing{}, Clock: native.ClockFrom(time.Now, func() time.Duration { return 0 })})
	is.True(failing.Announce(t.Context(), api.SelfAwake, "") != nil)
	is.Equal(failing.State().State, api.SelfState("")) // what nobody was told was not said
}

type refusing struct{ ledger.Publisher }

func (refusing) Put(api.Kind, string, any, map[string]api.Reason) error {
	return errors.New("the ledger is closed")
}
