package rdmaprobe

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// A node that asks for what is not its to ask, or out of turn, gets nothing, and
// nothing runs.
func TestVisitsOutOfTurn(t *testing.T) {
	hold := api.PeerProbeParams{Step: api.ProbeHold, Measurement: "m00000001", Attempt: 1, Link: link}
	devices := [][][]string{{nil, {"a"}}, {{"b"}, nil}}
	run := hold
	run.Step, run.Devices = api.ProbeRun, devices
	with := func(p api.PeerProbeParams, change func(*api.PeerProbeParams)) api.PeerProbeParams {
		change(&p)
		return p
	}
	for name, calls := range map[string][]api.PeerProbeParams{
		"running before holding":   {run},
		"another attempt":          {hold, with(run, func(p *api.PeerProbeParams) { p.Attempt = 2 })},
		"another measurement":      {hold, with(run, func(p *api.PeerProbeParams) { p.Measurement = "m00000002" })},
		"devices of three":         {hold, with(run, func(p *api.PeerProbeParams) { p.Devices = append(devices, nil) })},
		"no devices":               {hold, with(run, func(p *api.PeerProbeParams) { p.Devices = nil })},
		"a device with itself":     {hold, with(run, func(p *api.PeerProbeParams) { p.Devices = [][][]string{{{"a"}, {"a"}}, {{"b"}, nil}} })},
		"a cable of somebody else": {with(hold, func(p *api.PeerProbeParams) { p.Link.Low.Node = "1111111111111111" })},
		"the other way round":      {with(hold, func(p *api.PeerProbeParams) { p.Link.Low, p.Link.High = p.Link.High, p.Link.Low })},
		"no measurement":           {with(hold, func(p *api.PeerProbeParams) { p.Measurement = "" })},
		"no attempt":               {with(hold, func(p *api.PeerProbeParams) { p.Attempt = 0 })},
		"an unknown step":          {with(hold, func(p *api.PeerProbeParams) { p.Step = "other" })},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, l, h *end) {
				is := is.New(t)
				var err error
				for i, call := range calls {
					err = l.cfg.Peers.Call(t.Context(), high, methodProbe, call, nil)
					is.Equal(err != nil, i == len(calls)-1)
				}
				is.Equal(h.matrix, "")
				time.Sleep(visitWithin) // what is held is given back by itself
				synctest.Wait()
			})
		})
	}
}
