package profile

import (
	"log/slog"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// reported are the conditions that hold, by code and subject.
type reported map[string]bool

func (t reported) Hold(code api.Reason, subject string, holds bool, _ string) {
	delete(t, string(code)+"/"+subject)
	if holds {
		t[string(code)+"/"+subject] = true
	}
}

func (t reported) Only(api.Reason, map[string]string) {}

// TestManyProbesAreTold: of the receptacle that was tested often, until the system starts again.
func TestManyProbesAreTold(t *testing.T) {
	is := is.New(t)
	all, kept := reported{}, Probes{}
	c := CountProbes(testNode, Probes{}, func(p Probes) error { kept = p; return nil }, all, slog.New(slog.DiscardHandler))
	for range ManyProbes - 1 {
		c.Add("boot", 2)
	}
	is.Equal(len(all), 0)
	c.Add("boot", 2)
	is.Equal(all, reported{string(api.ReasonRDMAProbesSpent) + "/" + api.LinkEnd{Node: testNode, PortNumber: 2}.String(): true})
	is.Equal(kept.Runs[2], ManyProbes)
	c.Notify("another")
	is.Equal(len(all), 0)
}
