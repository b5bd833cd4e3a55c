package facts

import (
	"context"
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

// shelf keeps what was published, with its time.
type shelf struct {
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

func (s *shelf) Put(kind api.Kind, name string, value any, unknown map[string]api.Reason) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.puts = append(s.puts, put{at: time.Now(), kind: kind, value: value, name: name, unknown: unknown})
	return nil
}

func (s *shelf) Delete(kind api.Kind, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.puts = append(s.puts, put{at: time.Now(), kind: kind, name: name, deleted: true})
	return nil
}

// of gives the published documents of a kind, and forgets all.
func (s *shelf) of(kind api.Kind) []put {
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
func running(t *testing.T) (*Owner, *nativetest.Machine, *shelf) {
	platform := nativetest.NewMachine(nativetest.NewClock(time.Now()), machine())
	published := &shelf{}
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
				plugged := desk()
				plugged.Thunderbolt.Ports[0].Status = native.PortPeer
				plugged.Network.Interfaces[0].Link = new(true)
				plugged.RDMA.Devices[0].PortState = native.RDMAPortActive
				platform := &whilst{Machine: nativetest.NewMachine(nativetest.NewClock(time.Now()), plugged), area: meanwhile}
				published := &shelf{}
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
				isTold := false
				for _, p := range published.puts {
					switch value := p.value.(type) {
					case api.Thunderbolt:
						isTold = isTold || p.name == "1" && !*value.Connected
					case api.Network:
						is.True(isTold || *value.Interfaces[0].Link)
					case api.RDMA:
						is.True(isTold || p.name != "1" || value.Device.PortState == api.RDMAPortActive)
					}
				}
				is.True(isTold)
			})
		}
	}
}
