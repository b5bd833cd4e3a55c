package daemon

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestANameOutlivesADaemon(t *testing.T) {
	is := is.New(t)
	const node, other = api.NodeID("aaaaaaaaaaaaaaaa"), api.NodeID("bbbbbbbbbbbbbbbb")
	saved := make(chan map[api.NodeID]string, 2)
	save := func(names map[api.NodeID]string) error { saved <- names; return nil }
	c := &called{save: save, names: map[api.NodeID]string{}}
	is.Equal(c.name(node, "mac-aaaa", false), "mac-aaaa") // there is no better one
	is.Equal(c.name(node, "studio", true), "studio")
	var kept map[api.NodeID]string
	select {
	case kept = <-saved:
	case <-time.After(time.Minute):
		t.Fatal("it is not saved")
	}
	is.Equal(kept, map[api.NodeID]string{node: "studio"})
	c = &called{save: save, names: kept}
	is.Equal(c.name(node, "mac-aaaa", false), "studio")
	is.Equal(c.name(other, "mac-bbbb", false), "mac-bbbb")
	is.Equal(c.name(node, "studio", true), "studio")
	is.Equal(len(saved), 0) // the same is not saved again
}
