package profile

import (
	"log/slog"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// told are the conditions that hold, by code and subject.
type told map[string]bool

func (t told) Raise(code api.Reason, subject, _ string) error {
	t[string(code)+"/"+subject] = true
	return nil
}

func (t told) Clear(code api.Reason, subject string) error {
	delete(t, string(code)+"/"+subject)
	return nil
}

// TestManyProbesAreTold: of the receptacle that was tested often, until the system starts again.
func TestManyProbesAreTold(t *testing.T) {
	is := is.New(t)
	all, kept := told{}, Probes{}
	c := CountProbes(testNode, Probes{}, func(p Probes) error { kept = p; return nil }, all, slog.New(slog.DiscardHandler))
	for range ManyProbes - 1 {
		c.Add("boot", 2)
	}
	is.Equal(len(all), 0)
	c.Add("boot", 2)
	is.Equal(all, told{string(api.ReasonRDMAProbesSpent) + "/" + api.LinkEnd{Node: testNode, Receptacle: 2}.String(): true})
	is.Equal(kept.Runs[2], ManyProbes)
	c.Tell("another")
	is.Equal(len(all), 0)
}
