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

// recording is a simulation's of a GPU.
type recording struct{}

func (recording) GPU() (fp16TFLOPS float64, memoryBytesPerS int64, ok bool) { return 23.6, 661e9, true }

func (recording) Path(Path) (reading Reading, ok bool) { return reading, false }

// What a scenario records is put off by what would put off the measurement.
func TestRecordedWaitsForItsTurn(t *testing.T) {
	is := is.New(t)
	turn := make(chan error, 1)
	r := newRig(t, func(c *Config) {
		c.Recorded, c.Simulated = func() Recording { return recording{} }, c.Documents
		c.Turn = func(_, hold context.Context, _ api.MeasureID, _ []api.PortNumber, _ func(api.Reason, string)) (context.Context, func(), error) {
			return hold, func() {}, <-turn
		}
	})
	turn <- api.NewError(api.ReasonThermalPressure, "")
	end := last(t, r.begin(caller("ada")))
	is.Equal(end.State, api.MeasureFailed)
	is.Equal(end.Items[0].Error.Data.Reason, api.ReasonThermalPressure)
	turn <- nil
	is.Equal(last(t, r.begin(caller("ada"))).State, api.MeasureDone)
}
