package replica

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fulmen/daemon/api"
)

// FuzzHandlers gives every handler whatever a member may send. Nothing panics,
// and nobody's documents change but by their writer's signature.
func FuzzHandlers(f *testing.F) {
	node := string(identityOf(1).Node)
	for _, s := range []string{`{}`, `null`, `{"docs":[{}],"offer":[{}],"missed":[""],"repair":true}`,
		`{"docs":[{"a":1},2]}`, `{"docs":[1],"docs":[2]}`, `{"docs":null}`, `{"docs":[1]`, `{"Docs":[1]}`, `{"docs":[1] , "x":2}`,
		`{"have":[{"node":"` + node + `"}],"versions":[{"node":"` + node + `","kind":"job","name":"x","inc":1,"seq":1}],"upto":{}}`,
		`{"sha256":"x","have":[]}`, `{"keys":[{"node":"` + node + `","kind":"identity","name":""}]}`, `{"kinds":["memory","system"]}`,
		`{"sub":"p1","n":1,"put":[{"node":"` + node + `"}]}`, `{"have":["x"],"entries":[{"entry":{},"sig":""}]}`} {
		for method := range 7 {
			f.Add(uint8(method), []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, method uint8, params []byte) {
		synctest.Test(t, func(t *testing.T) {
			d := newScenario(t, 2)
			defer d.close()
			d.join(0, 1)
			d.wait(2 * time.Second)
			before := d.nodes[0].view()
			handlers := d.nodes[0].replica.Handlers()
			names := slices.Sorted(maps.Keys(handlers))
			from := d.nodes[1].identity.Node
			if int(method)%(len(names)+1) == len(names) {
				d.nodes[0].replica.handleChanged(from, params)
			} else if answer, err := handlers[names[int(method)%(len(names)+1)]](context.Background(), from, params); err == nil {
				raw, err := json.Marshal(answer)
				if err != nil || len(raw) > api.MaxMessageBytes {
					t.Fatal("an answer cannot be sent: ", err)
				}
			} else if api.AsError(err).Data.Reason == api.ReasonInternal {
				t.Fatal(err)
			}
			d.wait(time.Second)
			if !maps.Equal(before, d.nodes[0].view()) {
				t.Fatal("documents changed without a signature")
			}
		})
	})
}
