package transport

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
)

// A path that is silent while another one lives ends calls on it soon.
func TestSilentPathEndsSoon(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		a, b := d.nodes[0], d.nodes[1]
		echo(b)
		d.open()
		is.NoErr(a.Call(d.t.Context(), b.id.Node, "peer.hello", reported{}, nil))
		a.changes()
		d.net.SetLAN("cable", false)
		began := time.Now()
		err := a.Call(d.t.Context(), b.id.Node, "peer.hello", reported{}, nil)
		is.True(errors.Is(err, api.ReasonUnreachable))
		is.Equal(time.Since(began), slowAfter+livenessWithin)
		is.NoErr(a.Call(d.t.Context(), b.id.Node, "peer.hello", reported{}, nil))
		is.Equal(time.Since(began), slowAfter+livenessWithin)
		d.pass(time.Second)
		is.Equal(a.changes(), []string{"en5 failed"})
	})
}

// A call that takes long, and a node that is silent on all paths, end no path.
func TestSlowAnswerEndsNoPath(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		a, b := d.nodes[0], d.nodes[1]
		b.handle(gate.Pull, func(context.Context, api.NodeID, json.RawMessage) (any, error) {
			<-time.After(5 * time.Second)
			return reported{}, nil
		})
		d.open()
		a.changes()
		is.NoErr(a.Call(d.t.Context(), b.id.Node, "peer.pull", nil, nil))
		is.Equal(a.changes(), nil)
		d.net.SetApart("host0", "host1", true)
		ctx, cancel := context.WithTimeout(d.t.Context(), 6*time.Second)
		defer cancel()
		is.True(errors.Is(a.Call(ctx, b.id.Node, "peer.pull", nil, nil), api.ReasonDeadline))
		d.net.SetApart("host0", "host1", false)
		d.pass(time.Minute)
		is.Equal(a.changes(), nil)
	})
}
