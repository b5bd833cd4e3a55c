package servertest

import (
	"testing"
	"time"

	"fulmen/daemon/api"
)

// Node is a node id that passes its checks.
const Node api.NodeID = "cpv0cwypxp44qw0p"

// Document makes a document of Node.
func Document(t testing.TB, kind api.Kind, name string, seq uint64, value any) api.Document {
	t.Helper()
	d := api.Document{Node: Node, Kind: kind, Name: name, Inc: 1, Seq: seq, At: api.TimeOf(time.Unix(1_800_000_000, 0))}
	check(t, d.SetValue(value))
	return d
}
