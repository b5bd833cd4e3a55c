package job

import (
	"encoding/json"
	"testing"
	"time"

	"fulmen/daemon/api"
)

// FuzzPeerJob gives a node whatever a member might send as peer.job and peer.hold:
// it answers or refuses, and every job that it took is one that a member signed.
func FuzzPeerJob(f *testing.F) {
	f.Add([]byte(`{"wish":"submit","job":"j00000000"}`))
	f.Add([]byte(`{"wish":"stop","job":"j00000000","by":"ada@x","kill":true}`))
	f.Add([]byte(`{"wish":"delete","job":"j00000000","output":"keep"}`))
	f.Add([]byte(`{"doc":{"node":"","kind":"job","name":"j00000000","inc":1,"seq":1,"value":{}}}`))
	f.Add([]byte(`{"wish":"submit","job":"j00000000","by":"ada@0","handed":{"spec":{},"spec_sig":"","epoch":1,"phase":"placing","attempts":[{}]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		in(t, 2, func(t *testing.T, w *world) {
			a, b := w.nodes[0], w.nodes[1]
			a.submits(program(words("sleep", "5s"), a))
			pass(time.Second)
			whole := signed(t, a, a.key, a.person().Principal)
			mixed, err := json.Marshal(whole)
			if err != nil {
				t.Fatal(err)
			}
			_ = json.Unmarshal(raw, &whole) // a good job with some of its fields changed
			if changed, err := json.Marshal(whole); err == nil {
				mixed = changed
			}
			for _, params := range [][]byte{raw, mixed} {
				for _, method := range []string{"peer.job", "peer.hold"} {
					if !json.Valid(params) {
						continue // the transport refuses it
					}
					_ = a.cfg.Peers.Call(t.Context(), b.id, method, json.RawMessage(params), nil)
				}
			}
			pass(time.Second)
			all, err := b.List(t.Context(), b.person(), api.JobListParams{Ended: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range all.Jobs {
				if j.Principal != a.person().Principal {
					t.Fatalf("%s is of %s", j.Job, j.Principal)
				}
			}
		})
	})
}
