package gate_test

import (
	"encoding/json"
	"maps"
	"net"
	"slices"
	"testing"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/cast"
)

// FuzzAnswer has a member without any part in the job, and a stranger, say anything at
// any route, beginning with all that those say who have one. The stranger reaches
// nothing. The member reaches what is for every member, and may ask for votes with a
// proof that somebody else is the home.
func FuzzAnswer(f *testing.F) {
	c := cast.NewCast()
	all := routes()
	names := slices.Sorted(maps.Keys(all))
	parties := []string{"member", "submitter", "first", "offered", "former", "voted", "acted", "bound", "rank", "cable", "self"}
	for i, name := range names {
		for _, caller := range parties {
			w, d := cast.NewWorld(c, "self", caller, "own"), all[name]
			var reported any
			if d.call != nil {
				reported = d.send(w)
			} else {
				reported = d.first(w)
			}
			raw, err := json.Marshal(reported)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(i), uint8(0), false, raw)
		}
		for _, raw := range []string{"", "null", "{}", "[]", `""`, "0", "{", `{"by":null,"link":null}`, `{"warrant":{},"holder":"j4k2m9xq7/1/0"}`, `{"handed":{},"offer":{}}`} {
			f.Add(uint8(i), uint8(0), false, []byte(raw))
		}
	}
	f.Fuzz(func(t *testing.T, route, subject uint8, isNonMember bool, raw []byte) {
		name := names[int(route)%len(names)]
		w, d := cast.NewWorld(c, "self", "member", cast.Subjects[int(subject)%len(cast.Subjects)]), all[name]
		from := w.From()
		if isNonMember {
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
				return // the transport reads it before there is a route
			}
			here, there := net.Pipe()
			g.BindStream(d.stream(&reached)).Serve(t.Context(), from, first, here)
			_, _ = here.Close(), there.Close()
		}
		isAnybodys := cast.RouteGroups.Fits("of-members", name)
		if reached && (isNonMember || !isAnybodys && name != "peer.vote") || !reached && !isNonMember && isAnybodys && len(raw) < 1<<10 {
			t.Fatalf("%s: reached: %v by %s", name, reached, raw)
		}
	})
}
