package rdmaprobe

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
	"fulmen/daemon/internal/proc"
	"fulmen/daemon/internal/profile"
	"fulmen/native"
)

// try tests the cable from the lower node, and waits until the other one is done
// with it too.
func (e *end) try(ctx context.Context) (profile.Reading, *api.Error) {
	r, err := e.Read(ctx, "m00000001", profile.Path{Link: link}, func(string, float64) {})
	synctest.Wait()
	if err != nil {
		return r, api.AsError(err)
	}
	return r, nil
}

func TestMeasure(t *testing.T) {
	bubble(t, func(t *testing.T, l, h *end) {
		is := is.New(t)
		var steps []string
		r, err := l.Read(t.Context(), "m00000001", profile.Path{Link: link}, func(step string, _ float64) { steps = append(steps, step) })
		synctest.Wait()
		is.NoErr(err)
		is.Equal(*r.UpBitsPerS, int64(74.8e9)) // the best of all sizes, each way by itself
		is.Equal(*r.DownBitsPerS, int64(73.6e9))
		is.Equal(*r.RTTUS, 18.0) // of the smallest
		is.Equal(*r.JitterUS, 2.0)
		is.Equal(r.RTTSamples, 200)
		is.Equal(r.MovedBytes, int64(64*810+1<<20*210+1<<26*22))
		is.Equal(len(r.Sizes), 3)
		is.Equal(*r.Sizes[2].UpBitsPerS, int64(72e9))
		is.Equal(steps[0], "asking the other end")
		is.Equal(steps[len(steps)-1], "sending")
		const matrix = `[[null,"rdma_en2"],["rdma_en3",null]]`
		is.Equal(l.matrix, matrix)
		is.Equal(h.matrix, matrix) // the same at both ends
		for rank, e := range []*end{l, h} {
			is.True(slices.Contains(e.env, api.EnvMLXRank+"="+string(rune('0'+rank))))
			is.True(slices.Contains(e.env, api.EnvMLXCoordinator+"=127.0.0.1:20001"))
			is.True(slices.Contains(e.env, "PATH=/bin"))
			is.Equal(e.counted, []api.PortNumber{link.Low.PortNumber, link.High.PortNumber}[rank:rank+1]) // once
			is.Equal(e.used, 1)
			is.Equal(e.killed, 0)
		}
		_, fault := l.try(t.Context()) // the same again is another test
		is.Equal(fault, nil)
		is.Equal(h.holds, 2)
	})
}

// Nothing is opened at either end where one of them is not ready or has no time.
func TestNothingIsOpenedBeforeBothEndsHold(t *testing.T) {
	for name, c := range map[string]struct {
		change func(l, h *end)
		want   api.Reason
	}{
		"near end not ready": {func(l, h *end) { l.refusal = api.NewError(api.ReasonRDMAPortDown, "") }, api.ReasonRDMAPortDown},
		"far end not ready":  {func(l, h *end) { h.refusal = api.NewError(api.ReasonRDMANoIPv4GID, "") }, api.ReasonRDMANoIPv4GID},
		"far end busy":       {func(l, h *end) { h.busy = api.NewError(api.ReasonJobHasNode, "") }, api.ReasonJobHasNode},
		"far end gone":       {func(l, h *end) { l.scenario.peers.Remove(high) }, ""},
		"far end cut off":    {func(l, h *end) { l.scenario.peers.Cut(low, high) }, ""},
		"no MLX with JACCL":  {func(l, h *end) { h.refusal = api.NewError(api.ReasonJACCLMissing, "") }, api.ReasonJACCLMissing},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, l, h *end) {
				is := is.New(t)
				c.change(l, h)
				_, fault := l.try(t.Context())
				is.True(fault != nil)
				if c.want != "" {
					is.Equal(fault.Data.Reason, c.want)
				}
				is.Equal(len(l.counted)+len(h.counted), 0)
				is.Equal(l.matrix+h.matrix, "")
				is.True(time.Since(l.began) <= holdWithin+releaseWithin)
			})
		})
	}
}

// Whichever rank fails, the other one is ended too, the cause is the one that
// failed, and both ends are given back.
func TestFailures(t *testing.T) {
	crashed := proc.Record{Outcome: proc.Crashed, Sentence: "The test's worker crashed (SIGSEGV).", Signal: "SIGSEGV"}
	failed := func(reason worker.Reason) proc.Record {
		return proc.Record{Outcome: proc.Failed, Sentence: "The test's worker failed: no queue pair.",
			Word: &worker.Message{Type: worker.TypeError, Error: &worker.Error{Reason: reason, Message: "no queue pair"}}}
	}
	for name, c := range map[string]struct {
		change         func(l, h *end)
		want           api.Reason
		on             string
		killed         [2]int
		isCounted      bool
		withinOfBubble time.Duration
	}{
		"rank 0 crashes": {func(l, h *end) { l.works, h.works = after(time.Second, crashed), hangs },
			api.ReasonRDMAProbeFailed, "On studio: ", [2]int{1, 0}, true, 2 * time.Second},
		"rank 1 crashes": {func(l, h *end) { h.works, l.works = after(time.Second, crashed), hangs },
			api.ReasonRDMAProbeFailed, "On book: ", [2]int{0, 1}, true, 2 * time.Second},
		"rank 1 fails before it opens anything": {func(l, h *end) {
			h.works, l.works = after(time.Second, failed(worker.ReasonGroupInit)), hangs
			h.handshake, l.handshake = api.HandshakeNone, api.HandshakeListening
		}, api.ReasonRDMAProbeFailed, "On book: ", [2]int{0, 0}, false, 2 * time.Second},
		"no JACCL": {func(l, h *end) {
			l.works, h.works = after(0, failed(worker.ReasonBackendUnavailable)), hangs
			h.handshake, l.handshake = api.HandshakeNone, api.HandshakeNone
		}, api.ReasonJACCLMissing, "", [2]int{0, 0}, false, time.Second},
		"no worker": {func(l, h *end) {
			l.works = after(0, proc.Record{Outcome: proc.NotStarted, Sentence: "No room.", StartErr: context.DeadlineExceeded})
			l.handshake, h.handshake = api.HandshakeNone, api.HandshakeNone
		}, api.ReasonSpawnFailed, "", [2]int{0, 0}, false, time.Second},
		"wrong data": {func(l, h *end) {
			l.works = after(time.Second, proc.Record{Outcome: proc.Failed, Sentence: "The test's worker failed: 3 elements are wrong.",
				Word: &worker.Message{Type: worker.TypeError, Error: &worker.Error{Reason: worker.ReasonWrongResult}}})
		}, api.ReasonRDMAProbeFailed, "On studio: ", [2]int{0, 0}, true, time.Second},
		"the other node is cut off": {func(l, h *end) {
			h.works = hangs
			l.works = func(ctx context.Context, e *end, rank int) proc.Record {
				native.Pause(ctx, e.cfg.Clock, time.Second) // the other rank runs by then
				l.scenario.peers.Cut(low, high)
				return hangs(ctx, e, rank)
			}
		}, "", "", [2]int{0, 0}, true, visitWithin + holdWithin},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, l, h *end) {
				is := is.New(t)
				c.change(l, h)
				_, fault := l.try(t.Context())
				is.True(fault != nil)
				if c.want != "" {
					is.Equal(fault.Data.Reason, c.want)
				}
				if c.on != "" {
					is.True(strings.Contains(fault.Message, c.on))
					is.True(strings.Contains(fault.Message, "studio:2 and book:3"))
				}
				if took := time.Since(l.began); took > c.withinOfBubble {
					t.Errorf("it took %v: %v", took, fault)
				}
				if c.want == "" { // the far end gives back by itself
					time.Sleep(visitWithin)
				}
				synctest.Wait()
				is.Equal([2]int{l.killed, h.killed}, c.killed)
				is.Equal(len(l.counted) == 1 && len(h.counted) == 1, c.isCounted)
			})
		})
	}
}

// A person who calls a test off ends both workers, and so does a daemon that stops.
func TestCalledOff(t *testing.T) {
	for name, stop := range map[string]func(l, h *end, cancel context.CancelFunc){
		"a person":     func(_, _ *end, cancel context.CancelFunc) { cancel() },
		"the near end": func(l, _ *end, _ context.CancelFunc) { go l.Close() },
		"the far end":  func(_, h *end, _ context.CancelFunc) { go h.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, l, h *end) {
				is := is.New(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				time.AfterFunc(time.Second, func() { stop(l, h, cancel) })
				_, fault := l.try(ctx)
				is.True(fault != nil)
				is.True(fault.Data.Reason != api.ReasonRDMAProbeFailed) // the cable is not to blame
				is.Equal(time.Since(l.began), time.Second)
			})
		})
	}
}

// Without a program that could use RDMA, the two ends are held and given back.
func TestWithoutWorkers(t *testing.T) {
	bubble(t, func(t *testing.T, l, h *end) {
		is := is.New(t)
		r, fault := l.try(t.Context())
		is.Equal(fault, nil)
		is.Equal(len(r.Sizes), 0)
		is.Equal(h.holds, 1)
		is.Equal(len(l.counted)+len(h.counted), 0)
	}, func(c *Config) { c.Worker = "" })
}

// The numbers of a program that only takes the worker's place count for nothing.
func TestRehearsal(t *testing.T) {
	bubble(t, func(t *testing.T, l, h *end) {
		is := is.New(t)
		l.works = after(time.Second, result(worker.SendRecv{}))
		r, fault := l.try(t.Context())
		is.Equal(fault, nil)
		is.Equal(len(r.Sizes), 0)
		is.Equal(len(l.counted)+len(h.counted), 2)
	}, func(c *Config) { c.IsRehearsal = true })
}

func TestNonsense(t *testing.T) {
	for name, change := range map[string]func(*worker.SendRecv){
		"no rows":          func(s *worker.SendRecv) { s.Rows = nil },
		"a rate of 0":      func(s *worker.SendRecv) { s.Rows[0].UpBytesPerS = 0 },
		"too fast":         func(s *worker.SendRecv) { s.Rows[1].DownBytesPerS = 1e13 },
		"negative":         func(s *worker.SendRecv) { s.Rows[0].JitterUS = -1 },
		"sizes that fall":  func(s *worker.SendRecv) { s.Rows[2].MessageBytes = 4 },
		"no runs":          func(s *worker.SendRecv) { s.Rows[2].Runs = 0 },
		"no round trip":    func(s *worker.SendRecv) { s.Rows[0].RTTUS = 0 },
		"too many of them": func(s *worker.SendRecv) { s.Rows = make([]worker.SendRecvRow, 65) },
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			reported := sample()
			change(&reported)
			_, fault := read(result(reported))
			is.True(fault != nil)
			is.Equal(fault.Data.Reason, api.ReasonSourceMalformed)
		})
	}
}

// Whatever a worker says, there is a result that makes sense or none.
func FuzzRead(f *testing.F) {
	for _, reported := range []string{`{}`, `{"rows":[{"message_bytes":64,"runs":3,"rtt_us":18,"jitter_us":1,"up_bytes_per_s":1e9,"down_bytes_per_s":1e9}]}`, `{"rows":[{"rtt_us":-1}]}`, `[`} {
		f.Add(reported)
	}
	f.Fuzz(func(t *testing.T, reported string) {
		r, fault := read(proc.Record{Outcome: proc.OK, Word: &worker.Message{Type: worker.TypeResult, Value: []byte(reported)}})
		if fault != nil {
			return
		}
		if *r.UpBitsPerS <= 0 || *r.DownBitsPerS <= 0 || *r.RTTUS <= 0 || *r.JitterUS < 0 || r.MovedBytes <= 0 || len(r.Sizes) == 0 {
			t.Errorf("%s is taken for %+v", reported, r)
		}
	})
}
