package facts

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
	"fulmen/native/nativetest"
)

// publications keeps what was published, with its time.
type publications struct {
	mu   sync.Mutex
	puts []put
}

type put struct {
	at      time.Time
	kind    api.Kind
	value   any
	name    string
	unknown map[string]api.Reason
	deleted bool
}

func (s *publications) Put(kind api.Kind, name string, value any, unknown map[string]api.Reason) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.puts = append(s.puts, put{at: time.Now(), kind: kind, value: value, name: name, unknown: unknown})
	return nil
}

func (s *publications) Delete(kind api.Kind, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.puts = append(s.puts, put{at: time.Now(), kind: kind, name: name, deleted: true})
	return nil
}

// of gives the published documents of a kind, and forgets all.
func (s *publications) of(kind api.Kind) []put {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []put
	for _, p := range s.puts {
		if p.kind == kind {
			list = append(list, p)
		}
	}
	s.puts = nil
	return list
}

func machine() native.Snapshot {
	total, link := int64(64<<30), true
	return native.Snapshot{
		Identity: &native.Identity{Name: "Ada's Mac", Architecture: "arm64", Unknown: native.Reasons{"gpu_cores": native.ReasonNoPlatform.With("no GPU"), "host_name": native.ReasonReadFailed}},
		Memory:   &native.Memory{TotalBytes: &total, Pressure: native.PressureNormal},
		System:   &native.System{PowerSource: native.PowerAC},
		Network:  &native.Network{Interfaces: []native.Interface{{Name: "en0", Type: native.InterfaceEthernet, Link: &link}}},
	}
}

// running starts an owner in a bubble.
func running(t *testing.T) (*Owner, *nativetest.Machine, *publications) {
	platform := nativetest.NewMachine(nativetest.NewClock(time.Now()), machine())
	published := &publications{}
	return run(t, platform, published), platform, published
}

// run starts an owner of any platform; it ends with the bubble's test.
func run(t *testing.T, platform native.Facts, published ledger.Publisher) *Owner {
	owner := New(platform, published, Static{FulmenVersion: "0.1", ShortName: func(string) string { return "adas-mac" }}, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		owner.Run(ctx)
		close(done)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	synctest.Wait()
	return owner
}

func TestFirstFacts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		_, _, published := running(t)
		published.mu.Lock()
		var order []api.Kind
		for _, p := range published.puts {
			order = append(order, p.kind)
		}
		published.mu.Unlock()
		is.Equal(order, []api.Kind{api.KindIdentity, api.KindMemory, api.KindNetwork, api.KindSystem}) // name and memory first
	})
}

func TestNothingMovesUnwatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		_, _, published := running(t)
		published.of(api.KindMemory)
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		is.Equal(len(published.of(api.KindMemory)), 0)
	})
}

func TestLiveKindsMoveWhileWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		owner, _, published := running(t)
		published.of("")
		owner.Watched(api.KindMemory, true)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		is.Equal(len(published.of(api.KindMemory)), 21) // one at once, then two a second
		owner.Watched(api.KindMemory, false)
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(len(published.of(api.KindMemory)), 0)
	})
}

func TestHintIsReadAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		_, platform, published := running(t)
		published.of("")
		before := time.Now()
		platform.Change(func(s *native.Snapshot) { s.Network.Interfaces[0].Name = "en9" }, native.AreaNetwork)
		synctest.Wait()
		first := published.of(api.KindNetwork)
		is.Equal(len(first), 1)
		is.Equal(first[0].at, before) // no delay
		is.Equal(first[0].value.(api.Network).Interfaces[0].Name, "en9")
		time.Sleep(time.Second)
		synctest.Wait()
		again := published.of(api.KindNetwork)
		is.Equal(len(again), 1)
		is.Equal(again[0].at.Sub(before), Settle)
	})
}

// What MLX tells is published at once, wherever it stands.
func TestMLXIsLearnt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		owner, _, published := running(t)
		published.of("")
		owner.Learn(&MLX{Version: "0.32.4", WorkingSetBytes: 48 << 30}, "")
		synctest.Wait()
		published.mu.Lock()
		var version string
		var set *int64
		for _, p := range published.puts {
			switch value := p.value.(type) {
			case api.Identity:
				version = value.MLXVersion
			case api.Memory:
				set = value.GPUWorkingSetBytes
			}
		}
		published.mu.Unlock()
		is.Equal(version, "0.32.4")
		is.True(set != nil && *set == 48<<30)
	})
}

// TestMissedEventsAreCounted: a change that only looking found is read like any
// other, and counted.
func TestMissedEventsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		owner, _, published := running(t)
		published.of("")
		owner.hint(native.Hint{Area: native.AreaNetwork, Source: "configd.changed"})
		is.Equal(owner.Missed(), uint64(0))
		time.Sleep(time.Minute)
		synctest.Wait()
		published.of("")
		owner.hint(native.Hint{Area: native.AreaNetwork, Source: native.HintSafetyReread})
		synctest.Wait()
		is.Equal(owner.Missed(), uint64(1))
		is.True(len(published.of(api.KindNetwork)) > 0)
	})
}

// whilst is a platform where something happens once while an area is read.
type whilst struct {
	*nativetest.Machine
	area    native.Area
	happens func()
}

func (w *whilst) Snapshot(ctx context.Context, areas ...native.Area) (native.Snapshot, error) {
	all, err := w.Machine.Snapshot(ctx, areas...)
	if happens := w.happens; happens != nil && slices.Contains(areas, w.area) {
		w.happens = nil
		happens()
	}
	return all, err
}

// A cable is pulled at any moment, also while all is read anyway, and whatever the
// system announces first: no document tells of what went with it before its own does.
func TestTheCauseIsToldFirst(t *testing.T) {
	for _, hinted := range [][]native.Area{
		{native.AreaNetwork, native.AreaThunderbolt, native.AreaRDMA}, {native.AreaRDMA}, {native.AreaNetwork},
	} {
		for _, meanwhile := range []native.Area{"", native.AreaNetwork, native.AreaThunderbolt, native.AreaRDMA} {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				plugged := cluster()
				plugged.Thunderbolt.Ports[0].Status = native.PortPeer
				plugged.Network.Interfaces[0].Link = new(true)
				plugged.RDMA.Devices[0].PortState = native.RDMAPortActive
				platform := &whilst{Machine: nativetest.NewMachine(nativetest.NewClock(time.Now()), plugged), area: meanwhile}
				published := &publications{}
				run(t, platform, published)
				published.of("")
				pull := func(s *native.Snapshot) {
					s.Thunderbolt.Ports[0].Status = native.PortEmpty
					s.Network.Interfaces[0].Link = new(false)
					s.RDMA.Devices[0].PortState = native.RDMAPortDown
				}
				if meanwhile == "" {
					platform.Change(pull, hinted...)
				} else {
					platform.happens = func() { platform.Change(pull, hinted...) }
					platform.Change(func(*native.Snapshot) {}, native.AreaNetwork, native.AreaThunderbolt, native.AreaRDMA)
				}
				time.Sleep(time.Second)
				synctest.Wait()
				published.mu.Lock()
				defer published.mu.Unlock()
				isReported := false
				for _, p := range published.puts {
					switch value := p.value.(type) {
					case api.Thunderbolt:
						isReported = isReported || p.name == "1" && !*value.Connected
					case api.Network:
						is.True(isReported || *value.Interfaces[0].Link)
					case api.RDMA:
						is.True(isReported || p.name != "1" || value.Device.PortState == api.RDMAPortActive)
					}
				}
				is.True(isReported)
			})
		}
	}
}

// plan drives a schedule of one area by a script of hints, as the owner would,
// and gives the times of readings in milliseconds.
func plan(until time.Duration, hints []time.Duration, pace func(at time.Duration) time.Duration) []int {
	start := time.Unix(1000, 0)
	s := &schedule{areas: map[native.Area]*times{}}
	var readings []int
	pending := hints
	for now := time.Duration(0); now <= until; {
		var hinted []native.Area
		for len(pending) > 0 && pending[0] <= now {
			hinted, pending = []native.Area{native.AreaNetwork}, pending[1:]
		}
		paced := map[native.Area]time.Duration{}
		if p := pace(now); p > 0 {
			paced[native.AreaNetwork] = p
		}
		if len(s.due(start.Add(now), hinted, paced)) > 0 {
			readings = append(readings, int(now.Milliseconds()))
		}
		next := until + 1 // sleep until a hint comes or the schedule says
		if at := s.next(start.Add(now)); !at.IsZero() {
			next = max(at.Sub(start), now)
		}
		if len(pending) > 0 {
			next = min(next, pending[0])
		}
		if next == now {
			next += time.Millisecond
		}
		now = next
	}
	return readings
}

func every(step, until time.Duration) (all []time.Duration) {
	for at := step; at <= until; at += step {
		all = append(all, at)
	}
	return all
}

func TestHints(t *testing.T) {
	unpaced := func(time.Duration) time.Duration { return 0 }
	for _, test := range []struct {
		name  string
		hints []time.Duration
		want  []int
	}{
		{name: "none", want: nil},
		{name: "one is read at once and when it has settled", hints: []time.Duration{100 * time.Millisecond}, want: []int{100, 250}},
		{name: "three in a row cost two readings", hints: []time.Duration{100 * time.Millisecond, 150 * time.Millisecond, 240 * time.Millisecond}, want: []int{100, 390}},
		{name: "two apart are two", hints: []time.Duration{100 * time.Millisecond, 900 * time.Millisecond}, want: []int{100, 250, 900, 1050}},
	} {
		t.Run(test.name, func(t *testing.T) {
			is.New(t).Equal(fmt.Sprint(plan(5*time.Second, test.hints, unpaced)), fmt.Sprint(test.want))
		})
	}
}

// A cable that flaps every 20 ms for ten seconds is 500 hints.
func TestFlappingCable(t *testing.T) {
	is := is.New(t)
	readings := plan(12*time.Second, every(20*time.Millisecond, 10*time.Second), func(time.Duration) time.Duration { return 0 })
	is.True(len(readings) <= 22) // two a second at most
	last := readings[len(readings)-1]
	is.True(last >= 10000) // and the final state is read
	for i := 1; i < len(readings); i++ {
		is.True(readings[i]-readings[i-1] <= int(Longest.Milliseconds())+20) // nor is it unread for long
	}
}

func TestPace(t *testing.T) {
	is := is.New(t)
	watched := func(at time.Duration) time.Duration {
		if at < 2*time.Second {
			return 500 * time.Millisecond
		}
		return 0
	}
	is.Equal(plan(10*time.Second, nil, watched), []int{0, 500, 1000, 1500}) // and nothing after nobody watches
}
