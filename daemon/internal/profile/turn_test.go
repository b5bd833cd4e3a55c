package profile

import (
	"context"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// A measurement waits for its turn, says on whom, and gives it back.
func TestTurn(t *testing.T) {
	is := is.New(t)
	ask, turn, back := make(chan func(api.Reason, string)), make(chan bool), make(chan bool, 1)
	r := newRig(t, func(c *Config) {
		c.Turn = func(wait, hold context.Context, id api.MeasureID, _ []api.PortNumber, waiting func(api.Reason, string)) (context.Context, func(), error) {
			ask <- waiting
			select {
			case <-turn:
				return hold, func() { back <- true }, nil
			case <-wait.Done():
				return nil, nil, context.Cause(wait)
			}
		}
	})
	w := r.begin(caller("ada"))
	(<-ask)(api.ReasonJobHasNode, "job j4k2m9xq7 of bob")
	m, _, err := w.Next(t.Context())
	is.NoErr(err)
	is.Equal(m.State, api.MeasureWaiting)
	is.Equal(m.Items[0].WaitingFor, "job j4k2m9xq7 of bob")
	is.Equal(len(r.started), 0) // nothing is measured meanwhile
	turn <- true
	<-r.started
	m, _, err = w.Next(t.Context())
	is.NoErr(err)
	is.Equal(m.State, api.MeasureRunning)
	is.Equal(m.Items[0].WaitingFor, "")
	is.Equal(len(back), 0)
	_, err = r.Cancel(t.Context(), caller("ada"), api.MeasureSelect{Measurement: m.ID})
	is.NoErr(err)
	is.Equal(last(t, w).State, api.MeasureCancelled)
	is.True(<-back)

	w = r.begin(caller("ada")) // and one that is cancelled while it waits
	<-ask
	_, err = r.Cancel(t.Context(), caller("ada"), api.MeasureSelect{Measurement: w.Measurement.ID})
	is.NoErr(err)
	is.Equal(last(t, w).State, api.MeasureCancelled)
	is.Equal(len(r.started)+len(back), 0)
}
