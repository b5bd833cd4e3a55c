package command

import (
	"fmt"
	"io"
	"strings"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// barWidth is the progress bar's, in characters.
const barWidth = 24

// bar shows the progress of a measurement: on a terminal a bar that is drawn
// over, else a line for each step.
type bar struct {
	out      io.Writer
	terminal bool
	names    map[api.NodeID]string // where there are several subjects
	last     map[api.Key]string
}

// show draws a state of the measurement.
func (b *bar) show(m api.Measurement) {
	for _, item := range m.Items {
		words := b.words(item)
		done := 0.0
		if item.DoneRatio != nil {
			done = min(max(*item.DoneRatio, 0), 1)
		}
		if b.terminal {
			if item.State == api.MeasureRunning || item.State == api.MeasureWaiting && len(m.Items) == 1 {
				full := int(done * barWidth)
				fmt.Fprintf(b.out, "\r\x1b[K[%s%s] %3.0f %%  %s", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), done*100, words)
			}
			continue
		}
		if b.last[item.Document] != words {
			fmt.Fprintf(b.out, "%3.0f %%  %s\n", done*100, words)
		}
		if b.last == nil {
			b.last = map[api.Key]string{}
		}
		b.last[item.Document] = words
	}
}

// words say what is done now, and where.
func (b *bar) words(item api.MeasureItem) string {
	what := string(item.State)
	switch {
	case item.WaitingFor != "":
		what = "waiting for " + item.WaitingFor
	case item.State == api.MeasureRunning && item.Step != "":
		what = item.Step
	}
	if of := b.of(item.Document); of != "" {
		what = of + ": " + what
	}
	return text.Clean(what)
}

// of names a subject where there are several.
func (b *bar) of(key api.Key) string {
	if len(b.names) == 0 {
		return ""
	}
	name := b.name(key.Node)
	if key.Kind != api.KindLinkProfile {
		return name
	}
	if to, err := api.ParsePeerAddress(key.Name); err == nil {
		return name + " to " + b.name(to.Peer) + " at " + to.Address.String()
	}
	return name + ", cable " + key.Name
}

func (b *bar) name(id api.NodeID) string {
	if name := b.names[id]; name != "" {
		return name
	}
	return id.Display()
}

// clear takes the bar away.
func (b *bar) clear() {
	if b.terminal {
		fmt.Fprint(b.out, "\r\x1b[K")
	}
}
