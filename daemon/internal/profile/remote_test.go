package profile

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/proc"
)

// pair is two nodes that can ask each other to measure.
type pair struct {
	here, there *scenario
	scenario    *peertest.Network
	gate        chan struct{} // what the other node's worker waits for, where it is not nil
}

func onPair(t *testing.T, test func(p *pair)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &pair{scenario: peertest.NewNetwork()}
		for _, node := range []api.NodeID{testNode, otherNode} {
			d := &scenario{t: t, began: time.Now(), wanted: map[api.Kind]bool{}, fault: map[string]error{}}
			d.rig = newRig(t, func(c *Config) {
				d.configure(c, nil)
				c.Node, c.Peers = node, peer.New(node, p.scenario.Add(node), peertest.GateFor(node, c.Clock, nil))
				c.Reached = func() []api.NodeID { return []api.NodeID{testNode, otherNode} }
				launch := c.Launch
				c.Launch = func(ctx context.Context, command proc.Command) proc.Record {
					if p.gate != nil && node == otherNode {
						select {
						case <-p.gate:
						case <-ctx.Done():
							return proc.Record{Outcome: proc.Cancelled}
						}
					}
					return launch(ctx, command)
				}
			})
			if node == testNode {
				p.here = d
			} else {
				p.there = d
			}
		}
		test(p)
		p.here.Close()
		p.there.Close()
	})
}

func TestSeveralNodes(t *testing.T) {
	onPair(t, func(p *pair) {
		is := is.New(p.here.t)
		p.gate = make(chan struct{})
		w, err := p.here.MeasureGPU(p.here.t.Context(), caller("ada"), api.MeasureGPUParams{All: true})
		is.NoErr(err)
		is.Equal(len(w.Measurement.Items), 2)
		p.here.wait(time.Minute) // longer than a question lasts
		m, err := p.here.Get(p.here.t.Context(), api.MeasureSelect{Measurement: w.Measurement.ID})
		is.NoErr(err)
		is.Equal(m.State, api.MeasureRunning)
		is.Equal(m.Items[0].State, api.MeasureDone) // this node's is done
		is.Equal(m.Items[1].Document, api.Key{Node: otherNode, Kind: api.KindGPUProfile})
		list, err := p.there.List(p.here.t.Context(), api.Empty{})
		is.NoErr(err)
		is.Equal(list.Measurements[0].By, caller("ada").Principal)
		close(p.gate)
		is.Equal(last(p.here.t, w).State, api.MeasureDone)
		is.True(p.there.doc().FP16TFLOPS != nil)

		// The other node's failure is the measurement's.
		p.there.set(func() { p.there.obstacle = api.Errorf(api.ReasonOnBattery, "", "book runs on its battery.") })
		_, err = p.here.MeasureGPU(p.here.t.Context(), caller("ada"), api.MeasureGPUParams{Nodes: []api.NodeRef{api.NodeRef(otherNode)}})
		is.True(errors.Is(err, api.ReasonNoSuchNode)) // no name of the test's
		w, err = p.here.MeasureGPU(p.here.t.Context(), caller("ada"), api.MeasureGPUParams{All: true})
		is.NoErr(err)
		m = last(p.here.t, w)
		is.Equal(m.State, api.MeasureFailed)
		is.Equal(m.Items[0].State, api.MeasureDone)
		is.True(errors.Is(m.Items[1].Error, api.ReasonOnBattery))
		is.Equal(p.there.doc().Failure, nil) // of its GPU that says nothing
	})
}

func TestCallingOff(t *testing.T) {
	onPair(t, func(p *pair) {
		is := is.New(p.here.t)
		p.gate = make(chan struct{})
		ask := func() *Watch {
			w, err := p.here.MeasureGPU(p.here.t.Context(), caller("ada"), api.MeasureGPUParams{All: true})
			is.NoErr(err)
			p.here.wait(time.Second)
			return w
		}
		isWorking := func() bool {
			p.there.Profiler.mu.Lock()
			defer p.there.Profiler.mu.Unlock()
			return len(p.there.tasks) > 0
		}
		w := ask()
		is.True(isWorking())
		_, err := p.here.Cancel(p.here.t.Context(), caller("ada"), api.MeasureSelect{Measurement: w.Measurement.ID})
		is.NoErr(err)
		is.Equal(last(p.here.t, w).State, api.MeasureCancelled)
		p.here.wait(time.Second)
		is.True(!isWorking()) // it heard of it

		ask()
		is.True(isWorking())
		p.scenario.Cut(testNode, otherNode)
		p.here.wait(2 * askedWithin)
		is.True(!isWorking()) // nobody asks any more
		is.Equal(len(p.there.requests), 0)
	})
}

func TestUnknownRequests(t *testing.T) {
	onPair(t, func(p *pair) {
		is := is.New(p.here.t)
		p.gate = make(chan struct{})
		gpu := api.Key{Node: otherNode, Kind: api.KindGPUProfile}
		id := api.NewMeasureID()
		call := func(params api.PeerProfileParams) error {
			return p.here.cfg.Peers.Call(p.here.t.Context(), otherNode, methodProfile, params, &api.PeerProfileResult{})
		}
		is.True(errors.Is(call(api.PeerProfileParams{Measurement: id, Document: api.Key{Node: testNode, Kind: api.KindGPUProfile}}), api.ReasonBadValue))
		is.True(errors.Is(call(api.PeerProfileParams{Measurement: id, Document: api.Key{Node: otherNode, Kind: api.KindJob, Name: "j4k2m9xq7"}}), api.ReasonBadValue))
		nonMember := api.Principal{User: "ada", Node: otherNode}
		is.True(errors.Is(call(api.PeerProfileParams{Measurement: id, Document: gpu, By: nonMember}), api.ReasonBadValue))
		is.True(errors.Is(call(api.PeerProfileParams{Measurement: id, Document: gpu, MaxAgeS: -1}), api.ReasonBadValue))
		is.NoErr(call(api.PeerProfileParams{Measurement: id, Document: gpu, Cancel: true})) // what never was is over
		is.Equal(len(p.there.tasks), 0)
		is.NoErr(call(api.PeerProfileParams{Measurement: id, Document: gpu, WaitS: 1e300}))
		is.True(errors.Is(call(api.PeerProfileParams{Measurement: id, Document: api.Key{Node: otherNode, Kind: api.KindLinkProfile, Name: cable(1).Name()}}), api.ReasonBadValue))
		for range maxRequests - 1 {
			is.NoErr(call(api.PeerProfileParams{Measurement: api.NewMeasureID(), Document: gpu}))
		}
		is.True(errors.Is(call(api.PeerProfileParams{Measurement: api.NewMeasureID(), Document: gpu}), api.ReasonMeasureBudgetSpent))
		is.Equal(len(p.there.tasks), 1) // all of them wait for one
		p.here.wait(2 * askedWithin)
		is.Equal(len(p.there.requests)+len(p.there.tasks), 0)
	})
}
