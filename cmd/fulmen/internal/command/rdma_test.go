package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// unready answers as a daemon with one cable, between mac-studio:1 and macbook:2,
// that waits for a trip to macbook.
func (r *rig) unready() api.RDMAListResult {
	link := api.LinkID{Low: api.LinkEnd{Node: studio, PortNumber: 1}, High: api.LinkEnd{Node: book, PortNumber: 2}}
	one := api.RDMAReadiness{
		Link: link, Verdict: api.RDMANeedsPerson, Text: "One thing is missing: RDMA is switched off on macbook.", Simulated: true,
		Ends: []api.CableEnd{{End: link.Low}, {End: link.High}},
		Checks: []api.RDMACheck{{Check: api.CheckSwitch, End: link.High, Answer: api.AnswerNo, Reason: api.ReasonRDMASwitchOff,
			Text: "RDMA is switched off on macbook.", Remedy: "Start macbook in Recovery and run there: rdma_ctl enable."}},
	}
	list := api.RDMAListResult{
		Links: []api.RDMAReadiness{one}, Price: "1 Mac needs one trip to Recovery, about 4 minutes.",
		UserActions: []api.RDMAUserAction{{Node: book, Kind: api.UserActionRecovery, EstimateS: 240, Links: []api.LinkID{link}, Steps: []api.UserActionStep{{Text: "Shut macbook down."}}}},
	}
	r.daemon.Always("rdma.list", list)
	r.daemon.Always("rdma.check", one)
	r.daemon.Always("rdma.clear", one)
	return list
}

func TestRDMASaysThePriceFirst(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.unready()
	is.Equal(r.run("rdma"), 0)
	out := r.out.String()
	is.True(strings.HasPrefix(out, "1 Mac needs one trip to Recovery, about 4 minutes.\n"))
	price, cable, steps := 0, strings.Index(out, "mac-studio:1 ~ macbook:2"), strings.Index(out, "[ ] 1. Shut macbook down.")
	is.True(price < cable && cable < steps)
	is.True(strings.Contains(out, "SIMULATED"))
}

func TestRDMAAsJSON(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	want := r.unready()
	for _, args := range [][]string{{"rdma", "--json"}, {"rdma", "check", "--json"}} {
		r.out.text.Reset()
		is.Equal(r.run(args...), 0)
		var got api.RDMAListResult
		is.NoErr(json.Unmarshal([]byte(r.out.String()), &got))
		is.Equal(got, want)
	}
}

func TestRDMACheckOfOneCable(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	want := r.unready().Links[0]
	for args, link := range map[string]string{"mac-studio:1": "mac-studio:1", "macbook:2 ~ mac-studio:1": want.Link.String()} {
		r.out.text.Reset()
		is.Equal(r.run("rdma", "check", args), 0)
		calls := r.called("rdma.check")
		is.Equal(calls[len(calls)-1], `{"link":"`+link+`"}`)
		out := r.out.String()
		is.True(strings.Contains(out, "needs a person: One thing is missing: RDMA is switched off on macbook."))
		is.True(strings.Contains(out, "rdma_ctl enable"))
	}
	r.out.text.Reset()
	is.Equal(r.run("rdma", "check", "mac-studio:1", "--json"), 0)
	var got api.RDMAReadiness
	is.NoErr(json.Unmarshal([]byte(r.out.String()), &got))
	is.Equal(got, want)
	is.Equal(r.run("rdma", "check", "a:1", "b:1"), api.ExitUsage)
}

// Who says that a device works sees what is missing of the cable now.
func TestRDMAClear(t *testing.T) {
	is := is.New(t)
	r := newRig(t, "")
	r.unready()
	is.Equal(r.run("rdma", "clear", "mac-studio:1"), 0)
	is.Equal(r.called("rdma.clear"), []string{`{"link":"mac-studio:1"}`})
	is.True(strings.Contains(r.out.String(), "One thing is missing: RDMA is switched off on macbook."))
	is.Equal(r.run("rdma", "clear"), api.ExitUsage)
}
