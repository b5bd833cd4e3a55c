package change

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// TestNext goes through what can happen in every state: what is not listed changes
// nothing.
func TestNext(t *testing.T) {
	at := map[api.RDMAChangeState]Record{}
	for _, state := range api.RDMAChangeState("").Values() {
		r := planned(t, bridged())
		r.State = api.RDMAChangeState(state)
		at[r.State] = r
	}
	ada := api.Principal{User: "ada", Node: one.Node}
	events := map[string]Event{
		"apply": Apply{}, "made 0": Made{Step: 0}, "made 1": Made{Step: 1, Service: service("7")}, "failed": Failed{}, "verified": Verified{}, "commit": Commit{},
		"rollback": Rollback{By: ada}, "there active": PeerChange{State: api.RDMAChangeActive}, "there undone": PeerChange{State: api.RDMAChangeUndone},
		"there proving": PeerChange{State: api.RDMAChangeProving}, "overdue": Overdue{}, "restarted": Restarted{},
		"back 1": PutBack{Step: 1, Outcome: Ours}, "back 0": PutBack{Step: 0, Outcome: Before}, "left 0": PutBack{Step: 0, Outcome: Changed, Found: "it"},
		"remade": Remade{Step: 1, Service: service("8")},
	}
	want := map[string]string{
		"planned apply":        "applying [{} {0}]",
		"planned failed":       "undone [{}]",
		"planned rollback":     "undone [{}]",
		"planned there undone": "undone [{}]",
		"planned overdue":      "undone [{}]",
		"planned restarted":    "undone [{}]",

		"applying made 0":       "applying [{} {1}]",
		"applying made 1":       "applying [{} {}]", // then it is verified
		"applying verified":     "proving [{} {3m0s}]",
		"applying failed":       "undoing [{} {1}]",
		"applying rollback":     "undoing [{} {1}]",
		"applying there undone": "undoing [{} {1}]",
		"applying restarted":    "undoing [{} {1}]",

		"proving commit":       "active [{}]",
		"proving there active": "active [{}]",
		"proving failed":       "undoing [{} {1}]",
		"proving rollback":     "undoing [{} {1}]",
		"proving there undone": "undoing [{} {1}]",
		"proving overdue":      "undoing [{} {1}]",
		"proving restarted":    "proving [{3m0s}]",

		"active rollback":     "undoing [{} {1}]",
		"active there undone": "undoing [{} {1}]",
		"active remade":       "active [{}]",

		"undoing back 1":    "undoing [{} {0}]",
		"undoing back 0":    "partial [{}]", // the other step is not
		"undoing left 0":    "partial [{}]",
		"undoing restarted": "undoing [{1}]",

		"partial rollback": "undoing [{} {1}]",
	}
	for state, r := range at {
		for name, event := range events {
			key := fmt.Sprintf("%s %s", state, name)
			t.Run(key, func(t *testing.T) {
				is := is.New(t)
				before := asText(r)
				next, effects := Next(r, api.Time{}, event)
				is.Equal(asText(r), before) // the record given is left as it is
				if want[key] == "" {
					is.Equal(len(effects), 0)
					is.Equal(next.State, state)
					return
				}
				is.Equal(fmt.Sprintf("%s %v", next.State, effects), want[key])
			})
		}
	}
}

// What was put back entirely is undone; what a person wanted has no reason, what
// failed has.
func TestHowItEnds(t *testing.T) {
	is := is.New(t)
	r := planned(t, bridged())
	r.State = api.RDMAChangeActive
	ada := api.Principal{User: "ada", Node: one.Node}
	r, _ = Next(r, api.Time{}, Rollback{By: ada})
	r, _ = Next(r, api.Time{}, PutBack{Step: 1, Outcome: Ours})
	r, _ = Next(r, api.Time{}, PutBack{Step: 0, Outcome: Ours})
	is.Equal(r.State, api.RDMAChangeUndone)
	is.Equal(r.UndoneBy, ada)
	is.Equal(r.Reason, api.Reason(""))

	r = planned(t, bridged())
	r.State = api.RDMAChangeApplying
	r, _ = Next(r, api.Time{}, Failed{api.Cause{Reason: api.ReasonRDMAPortDown, Message: "down"}})
	r, _ = Next(r, api.Time{}, PutBack{Step: 1, Outcome: Before})
	r, _ = Next(r, api.Time{}, PutBack{Step: 0, Outcome: Ours})
	is.Equal(r.State, api.RDMAChangeUndone)
	is.Equal(r.Reason, api.ReasonRDMAPortDown)
	is.Equal(r.View().Message, "down")
}

func asText(r Record) string {
	raw, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
