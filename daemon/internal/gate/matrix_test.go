package gate_test

import (
	"encoding/json"
	"maps"
	"net"
	"slices"
	"testing"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/cast"
	"fulmen/daemon/internal/gate"
)

// try has a caller use a route. The outcome is "yes" or why not; what is recorded must
// say the same of every node but this one.
func try(t *testing.T, w *cast.World, d route) string {
	t.Helper()
	var entries []gate.Entry
	g := w.Gate(func(e gate.Entry) { entries = append(entries, e) })
	reached, outcome := false, "yes"
	if d.call != nil {
		raw, err := json.Marshal(d.send(w))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Bind(d.call(&reached)).Answer(t.Context(), w.From(), raw); err != nil {
			outcome = string(api.AsError(err).Data.Reason)
		}
	} else {
		here, there := net.Pipe()
		defer func() { _, _ = here.Close(), there.Close() }()
		g.BindStream(d.stream(&reached)).Serve(t.Context(), w.From(), d.first(w), here)
		if !reached {
			outcome = "refused" // the handler's own words say why
		}
	}
	if reached != (outcome == "yes") {
		t.Errorf("the handler was reached: %v, and the answer is %s", reached, outcome)
	}
	if w.From() == w.Cast.Node(w.Self) {
		if len(entries) > 0 {
			t.Errorf("this node's own call was recorded: %+v", entries)
		}
		return outcome
	}
	if len(entries) > 1 || !reached && len(entries) == 0 {
		t.Fatalf("recorded: %+v", entries)
	}
	for _, e := range entries {
		if (e.Refused == "") != reached || (e.Why != "") != reached || e.From != w.From() {
			t.Errorf("reached: %v, recorded: %+v", reached, e)
		}
		if d.stream != nil && !reached {
			outcome = string(e.Refused)
		}
	}
	if d.call != nil && !reached && string(entries[0].Refused) != outcome {
		t.Errorf("answered %s, recorded: %+v", outcome, entries[0])
	}
	return outcome
}

// TestMatrix has every caller use every route for every subject.
func TestMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of cases, one after the other")
	}
	c := cast.NewCast()
	all := routes()
	used := map[int]bool{}
	cases := 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		self := "self"
		if name == "peer.job/values" {
			self = "submitter" // whose values they are
		}
		for _, caller := range cast.Callers {
			for _, subject := range cast.Subjects {
				want, by := cast.Expected(name, caller, subject)
				if by < 0 {
					t.Errorf("%s | %s | %s: no rule", name, caller, subject)
					continue
				}
				used[by] = true
				cases++
				got := try(t, cast.NewWorld(c, self, caller, subject), all[name])
				if isHere := caller == "self" || caller == self; got == "refused" && isHere && want != "yes" {
					continue // a connection of this node's own is not recorded
				}
				if got != want {
					t.Errorf("%s | %s | %s: %s, not %s", name, caller, subject, got, want)
				}
			}
		}
	}
	for i, r := range cast.Rules {
		if !used[i] {
			t.Errorf("the rule %v is for no case", r)
		}
	}
	if want := len(all) * len(cast.Callers) * len(cast.Subjects); cases != want {
		t.Errorf("%d cases, not %d", cases, want)
	}
}
