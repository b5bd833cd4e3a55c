package darwin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/nativetest"
)

// system is a small one that speaks when it is told to, to whoever listens.
type system struct {
	mu      sync.Mutex
	receive func(announcement)
	opened  int
	closed  int
	allowed chan int64
	silent  map[int]error
}

func (s *system) open(receive func(announcement)) (line, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened++
	s.receive = receive
	return s, nil
}

func (s *system) report(a announcement) {
	s.mu.Lock()
	receive := s.receive
	s.mu.Unlock()
	if receive != nil {
		receive(a)
	}
}

func (s *system) armed(source int) error { return s.silent[source] }

func (s *system) allow(notice int64) error {
	s.allowed <- notice
	return nil
}

func (s *system) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed++
	s.receive = nil
	return nil
}

// listening is a recorded Mac whose system speaks.
func listening(t *testing.T) (*machine, *system, native.Platform) {
	t.Helper()
	s := &system{allowed: make(chan int64, 10), silent: map[int]error{}}
	r := Recording{Sysctl: map[string]string{}, Thunderbolt: []any{}, Store: map[string]any{"Setup:/System": map[string]any{"ComputerName": "Ada's Mac", "address": "10.1.2.3"}}}
	m := newMachine(&machine{
		clock: nativetest.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)), kernel: recordedSysctl{"hw.model": "Mac15,14"},
		frameworks: replayed{r}, meters: noMeters{}, verbs: replayed{r},
	}, s.open)
	p, err := m.platform(func(string) (func() error, error) { return func() error { return nil }, nil }).Complete()
	is.New(t).NoErr(err)
	t.Cleanup(func() { _ = p.Close() })
	return m, s, p
}

func TestAnnouncementsBecomeHints(t *testing.T) {
	for name, tt := range map[string]struct {
		a     announcement
		areas []native.Area
	}{
		"a peer":         {announcement{source: fromIOKit, event: "matched", subject: kindPeer}, []native.Area{native.AreaThunderbolt, native.AreaRDMA}},
		"a network port": {announcement{source: fromIOKit, event: "interest", subject: kindIPPort}, []native.Area{native.AreaThunderbolt, native.AreaNetwork, native.AreaRDMA}},
		"being set up":   {announcement{source: fromIOKit, event: "interest", subject: kindPort, detail: busyStateChange}, nil},
		"the switch":     {announcement{source: fromIOKit, event: "interest", subject: "IODTNVRAM"}, []native.Area{native.AreaRDMA}},
		"an address":     {announcement{source: fromStore, event: "changed", subject: "State:/Network/Interface/en5/IPv4"}, []native.Area{native.AreaNetwork, native.AreaRDMA}},
		"a name":         {announcement{source: fromStore, event: "changed", subject: "Setup:/System"}, []native.Area{native.AreaIdentity}},
		"a service":      {announcement{source: fromStore, event: "changed", subject: "Setup:/Network/Service/X/IPv4"}, []native.Area{native.AreaNetwork}},
		"a bridge":       {announcement{source: fromPreferences, event: "applied"}, []native.Area{native.AreaNetwork}},
		"pressure":       {announcement{source: fromPressure, event: "changed"}, []native.Area{native.AreaMemory}},
		"heat":           {announcement{source: fromThermal, event: "changed"}, []native.Area{native.AreaSystem}},
		"awake":          {announcement{source: fromPower, event: "awake"}, []native.Area{native.AreaNetwork, native.AreaThunderbolt, native.AreaRDMA, native.AreaSystem}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, s, p := listening(t)
			var areas []native.Area
			stop, err := p.Facts.Watch(func(h native.Hint) {
				areas = append(areas, h.Area)
				is.Equal(h.Source, tt.a.Source())
				is.Equal(h.Subject, tt.a.subject)
			})
			is.NoErr(err)
			s.report(tt.a)
			is.Equal(areas, tt.areas)
			is.NoErr(stop())
			s.report(tt.a)
			is.Equal(len(areas), len(tt.areas))
		})
	}
}

func TestOneLineForAll(t *testing.T) {
	is := is.New(t)
	_, s, p := listening(t)
	var received [2]int
	var stops []func() error
	for i := range received {
		stop, err := p.Facts.Watch(func(native.Hint) { received[i]++ })
		is.NoErr(err)
		stops = append(stops, stop)
	}
	s.report(announcement{source: fromPreferences})
	is.NoErr(stops[0]())
	is.NoErr(stops[0]()) // twice is once
	s.report(announcement{source: fromPreferences})
	is.Equal(received, [2]int{1, 2})
	is.Equal([]int{s.opened, s.closed}, []int{1, 0})
	is.NoErr(p.Close())
	is.Equal([]int{s.opened, s.closed}, []int{1, 1})
	_, err := p.Facts.Watch(func(native.Hint) {})
	is.True(errors.Is(err, native.ErrClosed))
}

func TestSleepWaitsForItsAcknowledgement(t *testing.T) {
	is := is.New(t)
	_, s, p := listening(t)
	// Nobody wants notices: the system is not kept waiting.
	stop, err := p.Facts.Watch(func(native.Hint) {})
	is.NoErr(err)
	s.report(announcement{source: fromPower, event: "will_sleep", id: 7})
	is.Equal(<-s.allowed, int64(7))

	var notices []native.PowerNotice
	stopListening, err := p.Power.Notices(func(n native.PowerNotice) { notices = append(notices, n) })
	is.NoErr(err)
	s.report(announcement{source: fromPower, event: "will_sleep", id: 8})
	is.Equal(len(s.allowed), 0)
	is.Equal(notices[0].Event, native.PowerWillSleep)
	is.Equal(notices[0].WithinS, 30.0)
	is.True(errors.Is(p.Power.Acknowledge(t.Context(), "9"), native.ErrNotFound))
	is.True(errors.Is(p.Power.Acknowledge(t.Context(), "x"), native.ErrNotFound))
	is.NoErr(p.Power.Acknowledge(t.Context(), notices[0].ID))
	is.Equal(<-s.allowed, int64(8))
	is.True(errors.Is(p.Power.Acknowledge(t.Context(), notices[0].ID), native.ErrNotFound)) // it has passed
	s.report(announcement{source: fromPower, event: "awake"})
	is.Equal(notices[1].ID, "") // nothing waits
	is.NoErr(stopListening())
	is.NoErr(stop())

	s.silent[fromPower] = &frameworkError{"IORegisterForSystemPower", resultRefused}
	_, err = p.Power.Notices(func(native.PowerNotice) {})
	is.True(errors.Is(err, native.ErrUnsupported))
	release, err := p.Power.KeepAwake(t.Context(), "a job")
	is.NoErr(err)
	is.NoErr(release())
}

func TestNotificationsAreLogged(t *testing.T) {
	is := is.New(t)
	m, s, _ := listening(t)
	s.silent[fromStore] = &frameworkError{"configd", resultRefused}
	ctx, cancel := context.WithCancel(t.Context())
	lines := make(chan string, 10)
	done := make(chan error)
	go func() { done <- m.log(ctx, lineWriter(lines)) }()
	is.Equal(<-lines, "configd: silent: configd: macOS refused\n")
	is.Equal(<-lines, "listening\n")
	s.report(announcement{source: fromIOKit, event: "matched", subject: kindPeer, id: 0x100000abc})
	reported := <-lines
	is.True(strings.Contains(reported, "iokit.matched") && strings.Contains(reported, "id 0x100000abc"))
	cancel()
	is.NoErr(<-done)
	is.Equal(s.closed, 1)
}

type lineWriter chan string

// Write sends a line.
func (w lineWriter) Write(b []byte) (int, error) {
	w <- string(b)
	return len(b), nil
}

func TestRecordingsAreMasked(t *testing.T) {
	is := is.New(t)
	m, _, _ := listening(t)
	r, _ := m.record()
	is.Equal(r.Sysctl["hw.model"], "Mac15,14")
	is.Equal(r.Store["Setup:/System"], map[string]any{"ComputerName": "name 1", "address": "192.0.2.1"})
	k := newMask()
	same := []any{"A1B2C3D4-0000-1111-2222-333344445555", "a1b2c3d4-0000-1111-2222-333344445555", "00:11:22:33:44:55", "fe80::1:2%en0", "255.255.255.0", "Mac17,7"}
	masked := k.value("", same)
	domain := newMask().text("a1b2c3d4-0000-1111-2222-333344445555") // the same in another recording
	is.True(uuidText().MatchString(domain) && !strings.Contains(strings.ToLower(domain), "a1b2c3d4"))
	is.Equal(fmt.Sprint(masked), "["+domain+" "+domain+" 02:00:00:00:00:01 fe80::1 255.255.255.0 Mac17,7]")
	is.Equal(k.value("gids", []any{append(slices.Repeat([]byte{0}, 10), 255, 255, 10, 1, 2, 3)}), []any{append(slices.Repeat([]byte{0}, 10), 255, 255, 192, 0, 2, 1)})
}
