package gate_test

import (
	"encoding/json"
	"maps"
	"net"
	"slices"
	"testing"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate/gatetest"
)

// FuzzAnswer has a member without any part in the job, and a stranger, say anything at
// any door, beginning with all that those say who have one. The stranger reaches
// nothing. The member reaches what is for every member, and may ask for votes with a
// proof that somebody else is the home.
func FuzzAnswer(f *testing.F) {
	c := gatetest.NewCast()
	all := doors()
	names := slices.Sorted(maps.Keys(all))
	parties := []string{"member", "submitter", "first", "offered", "former", "voted", "acted", "bound", "rank", "cable", "self"}
	for i, name := range names {
		for _, caller := range parties {
			w, d := gatetest.NewWorld(c, "self", caller, "own"), all[name]
			var said any
			if d.call != nil {
				said = d.send(w)
			} else {
				said = d.first(w)
			}
			raw, err := json.Marshal(said)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(i), uint8(0), false, raw)
		}
		for _, raw := range []string{"", "null", "{}", "[]", `""`, "0", "{", `{"by":null,"link":null}`, `{"warrant":{},"holder":"j4k2m9xq7/1/0"}`, `{"handed":{},"offer":{}}`} {
			f.Add(uint8(i), uint8(0), false, []byte(raw))
		}
	}
	f.Fuzz(func(t *testing.T, door, subject uint8, isStranger bool, raw []byte) {
		name := names[int(door)%len(names)]
		w, d := gatetest.NewWorld(c, "self", "member", gatetest.Subjects[int(subject)%len(gatetest.Subjects)]), all[name]
		from := w.From()
		if isStranger {
			from = c.Node("stranger")
		}
		reached := false
		g := w.Gate(nil)
		if d.call != nil {
			answer, err := g.Bind(d.call(&reached)).Answer(t.Context(), from, raw)
			if reached != (err == nil) || err != nil && answer != nil {
				t.Fatalf("%s: reached: %v, answered %v, %v", name, reached, answer, err)
			}
		} else {
			var first api.PeerConn
			if json.Unmarshal(raw, &first) != nil {
				return // the transport reads it before there is a door
			}
			here, there := net.Pipe()
			g.BindStream(d.stream(&reached)).Serve(t.Context(), from, first, here)
			_, _ = here.Close(), there.Close()
		}
		isAnybodys := gatetest.DoorGroups.Fits("of-members", name)
		if reached && (isStranger || !isAnybodys && name != "peer.vote") || !reached && !isStranger && isAnybodys && len(raw) < 1<<10 {
			t.Fatalf("%s: reached: %v by %s", name, reached, raw)
		}
	})
}
