package darwin

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
)

// received is a DNS-SD that notes what it is asked, tells what it is given, and goes.
type received struct {
	mu     sync.Mutex
	asked  []string
	coming chan found
	over   chan struct{}
	ended  bool
}

func (h *received) note(format string, args ...any) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, fmt.Sprintf(format, args...))
	return nil
}

func (h *received) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.asked
	h.asked = nil
	return all
}

func (h *received) register(_ int64, index int, instance, _ string, port int, _ []byte) error {
	return h.note("register %s:%d on %d", instance, port, index)
}
func (h *received) browse(_ int64, _ int, serviceType string) error {
	return h.note("browse %s", serviceType)
}
func (h *received) resolve(token int64, index int, instance, _, _ string) error {
	h.coming <- found{token: token, kind: foundResolved, index: index, text: "b.local", port: 7732}
	return nil
}
func (h *received) addresses(token int64, index int, _ string) error {
	h.coming <- found{token: token, kind: foundAddress, added: true, index: index, data: []byte{10, 0, 0, 2}}
	return nil
}
func (h *received) end(int64) {}

func (h *received) wait() error {
	for {
		select {
		case <-h.over:
			return os.ErrClosed
		default:
		}
		if len(h.coming) > 0 {
			return nil
		}
		select {
		case <-h.over:
		case f := <-h.coming:
			h.coming <- f
		}
	}
}

func (h *received) process() ([]found, error) { return []found{<-h.coming}, nil }

func (h *received) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.ended {
		h.ended = true
		close(h.over)
	}
	return nil
}

// The system starts its responder anew now and then. What was announced is announced
// again, what was searched for is searched for again, and what was seen is told anew.
func TestDiscoveryOutlivesTheResponder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		began := time.Now()
		var mu sync.Mutex // of what sessions share
		var all []*received
		isDown := false
		setDown := func(is bool) {
			mu.Lock()
			defer mu.Unlock()
			isDown = is
		}
		r := Recording{Sysctl: map[string]string{}}
		m := newMachine(&machine{
			clock:  native.ClockFrom(time.Now, func() time.Duration { return time.Since(began) + time.Second }),
			kernel: recordedSysctl{}, frameworks: replayed{r}, meters: noMeters{}, verbs: replayed{r},
			interfaces: func() ([]kernelInterface, error) { return []kernelInterface{{Name: "en0", Index: 4}}, nil },
			connect: func() (responder, error) {
				mu.Lock()
				defer mu.Unlock()
				if isDown {
					return nil, errors.New("not running")
				}
				all = append(all, &received{coming: make(chan found, 8), over: make(chan struct{})})
				return all[len(all)-1], nil
			},
		}, (&system{}).open)
		p, err := m.platform(func(string) (func() error, error) { return func() error { return nil }, nil }).Complete()
		is.NoErr(err)
		_, err = p.Discovery.Announce(t.Context(), native.Announcement{Type: "_fulmen._tcp", Instance: "a", Port: 7732, Interfaces: []string{"en0"}})
		is.NoErr(err)
		var seen []string
		stop, err := p.Discovery.Browse(t.Context(), "_fulmen._tcp", nil, func(s native.Sighting) {
			seen = append(seen, fmt.Sprintf("%s %v gone=%v", s.Instance, s.Addresses, s.Gone))
		})
		is.NoErr(err)
		all[1].coming <- found{kind: foundInstance, added: true, index: 4, text: "b"}
		synctest.Wait()
		is.Equal(seen, []string{"b [10.0.0.2] gone=false"})

		setDown(true)
		for _, h := range all {
			is.NoErr(h.close())
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		is.Equal(len(all), 2)
		setDown(false)
		time.Sleep(reconnectMost)
		synctest.Wait()
		is.Equal(len(all), 4)
		again := map[string]*received{} // they come back in either order
		for _, h := range all[2:] {
			again[strings.Join(h.take(), ", ")] = h
		}
		search := again["browse _fulmen._tcp"]
		is.True(search != nil && again["register a:7732 on 4"] != nil)
		search.coming <- found{kind: foundInstance, added: true, index: 4, text: "b"}
		synctest.Wait()
		is.Equal(seen[1:], []string{"b [] gone=true", "b [10.0.0.2] gone=false"})

		is.NoErr(search.close())
		is.NoErr(stop()) // also while it waits to connect again
		is.NoErr(p.Close())
		time.Sleep(2 * reconnectMost)
		synctest.Wait()
		is.Equal(len(all), 4)
	})
}
