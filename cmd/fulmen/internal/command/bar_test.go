package command

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func progress(state api.MeasureState, step string, done float64) api.Measurement {
	item := api.MeasureItem{Document: api.Key{Node: "a", Kind: api.KindGPUProfile}, State: state, Step: step, DoneRatio: &done}
	return api.Measurement{Items: []api.MeasureItem{item}}
}

func TestBarOnATerminal(t *testing.T) {
	is := is.New(t)
	var out strings.Builder
	b := &bar{out: &out, terminal: true, names: map[api.NodeID]string{"a": "studio"}}
	b.show(progress(api.MeasureRunning, "warm-up\x1b[2J", 0.25))
	b.show(progress(api.MeasureRunning, "sum", 7)) // a ratio that is none stays inside the bar
	b.show(progress(api.MeasureDone, "", 1))
	b.clear()
	is.Equal(out.String(), "\r\x1b[K[######..................]  25 %  studio: warm-up\\x1b[2J"+
		"\r\x1b[K[########################] 100 %  studio: sum"+"\r\x1b[K")
}

func TestBarElsewhere(t *testing.T) {
	is := is.New(t)
	var out strings.Builder
	b := &bar{out: &out}
	waiting := progress(api.MeasureWaiting, "", 0)
	waiting.Items[0].WaitingFor, waiting.Items[0].DoneRatio = "another measurement", nil
	b.show(waiting)
	b.show(progress(api.MeasureRunning, "sum", 0.5))
	b.show(progress(api.MeasureRunning, "sum", 0.6)) // the same step is said once
	b.show(progress(api.MeasureDone, "", 1))
	b.clear()
	is.Equal(out.String(), "  0 %  waiting for another measurement\n 50 %  sum\n100 %  done\n")
}
