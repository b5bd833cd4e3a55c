package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/cast"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/peer/peertest"
)

// TestSingle has one thing of a proof changed that every case of the matrix has right,
// or the other way round.
func TestSingle(t *testing.T) {
	c := cast.NewCast()
	handed := func(change func(*api.PeerJobParams)) func(*cast.World) any {
		return func(w *cast.World) any {
			p := cast.Sends["peer.job/submit"](w).(api.PeerJobParams)
			change(&p)
			return p
		}
	}
	request := func(request api.JobRequestKind, user, node string) func(*cast.World) any {
		return func(w *cast.World) any {
			p := w.RequestKind(request)
			p.By = c.Person(user, node)
			return p
		}
	}
	output := func(by api.Principal) func(*cast.World) api.PeerConn {
		return func(w *cast.World) api.PeerConn {
			return api.PeerConn{Rank: w.Rank(), Output: &api.PeerOutput{By: by}}
		}
	}
	port := func(by api.Principal) func(*cast.World) api.PeerConn {
		return func(w *cast.World) api.PeerConn { return api.PeerConn{Rank: w.Rank(), By: by} }
	}
	models := func(by api.Principal) func(*cast.World) any {
		return func(*cast.World) any { return api.PeerModelsParams{By: by} }
	}
	model := func(by api.Principal) func(*cast.World) api.PeerConn {
		return func(*cast.World) api.PeerConn {
			return api.PeerConn{Model: &api.PeerModel{By: by, Model: api.ModelSelect{Model: "org/name"}}}
		}
	}
	setKnown := func(change func(*gate.Known)) func(*cast.World) {
		return func(w *cast.World) { change(&w.Known) }
	}
	taken := func(w *cast.World) { // this node has the job from the offer, and it is over
		w.Known.Job.Home, w.Known.Job.Epoch, w.Known.Ended = c.Node("self"), 2, true
	}
	tests := []struct {
		name, route, caller string
		world               func(*cast.World)
		send                func(*cast.World) any
		first               func(*cast.World) api.PeerConn
		want                string
	}{
		{name: "malformed parameters", route: "peer.start", caller: "first", send: func(*cast.World) any { return []int{1} }, want: "malformed_message"},
		{name: "models for whom the map names", route: "peer.models", caller: "member", send: models(c.Person(cast.Mapped, "member")), want: "yes"},
		{name: "models for whom another node names", route: "peer.models", caller: "rank", send: models(c.Person(cast.Mapped, "member")), want: "peer_not_allowed"},
		{name: "a model for whom the map names", route: "model", caller: "member", first: model(c.Person(cast.Mapped, "member")), want: "yes"},
		{name: "a model for whom another node names", route: "model", caller: "rank", first: model(c.Person(cast.Mapped, "member")), want: "peer_not_allowed"},
		{name: "a copy for whom another node names", route: "model_copy", caller: "rank", want: "peer_not_allowed", first: func(*cast.World) api.PeerConn {
			return api.PeerConn{Copy: &api.PeerModelCopy{PeerModel: api.PeerModel{By: c.Person(cast.Mapped, "member"), Model: api.ModelSelect{Model: "org/name"}}}}
		}},
		{name: "a copy in the words of a model", route: "model_copy", caller: "member", first: model(c.Person(cast.Mapped, "member")), want: "missing_field"},
		{name: "a model that is not named", route: "model", caller: "member", first: func(*cast.World) api.PeerConn { return api.PeerConn{} }, want: "missing_field"},
		{name: "a grant without a warrant", route: "peer.grant", caller: "first", want: "home_not_proven",
			send: func(w *cast.World) any {
				return api.PeerGrantParams{PeerHolderParams: api.PeerHolderParams{Holder: w.Rank().String(), Epoch: 1}, GPU: api.GPUNone}
			}},
		{name: "a measurement's grant", route: "peer.release", caller: "first", want: "home_not_proven",
			send: func(w *cast.World) any {
				return api.PeerHolderParams{Holder: "m4k2m9xq7", Epoch: 1, Warrant: &api.Warrant{Spec: w.Raw, SpecSig: w.Sig}}
			}},
		{name: "a warrant of another job", route: "peer.renew", caller: "first", want: "spec_altered",
			send: func(w *cast.World) any {
				return api.PeerRenewParams{Warrant: api.Warrant{Spec: w.Raw, SpecSig: w.Sig}, Job: cast.OthersJob, Attempt: 1, Epoch: 1}
			}},
		{name: "no signature", route: "peer.start", caller: "first", world: func(w *cast.World) { w.Sig = nil }, want: "spec_altered"},
		{name: "a lower epoch than proven", route: "peer.start", caller: "offered", world: func(w *cast.World) { w.Epoch = 1 }, want: "home_not_proven"},
		{name: "another home of the same epoch that comes first", route: "peer.start", caller: "offered", want: "stale_epoch",
			world: setKnown(func(k *gate.Known) { k.Job.Home = "0" })},
		{name: "another home of the same epoch that comes after", route: "peer.start", caller: "offered", want: "yes",
			world: setKnown(func(k *gate.Known) { k.Job.Home = "zzzz" })},
		{name: "a spec from the future", route: "peer.start", caller: "first", want: "spec_expired", world: func(w *cast.World) {
			w.Spec.SubmittedAt = api.TimeOf(c.Now.Add(time.Hour))
			w.Spec.ExpiresAt = api.TimeOf(c.Now.Add(2 * time.Hour))
			w.Sign(c.ID, "submitter")
		}},
		{name: "a spec that lasts too long", route: "peer.start", caller: "first", want: "spec_expired", world: func(w *cast.World) {
			w.Spec.ExpiresAt = api.TimeOf(w.Spec.SubmittedAt.Add(api.SpecLifetime + time.Second))
			w.Sign(c.ID, "submitter")
		}},

		{name: "an offer to another node", route: "peer.job/submit", caller: "first", want: "home_not_proven",
			send: handed(func(p *api.PeerJobParams) {
				o := p.Handed.StepTo(c.ID, cast.OwnJob, c.Node("rank"), 2).Offer(c.Keys["first"])
				p.Offer = &o
			})},
		{name: "an offer to this node that another one brings", route: "peer.job/submit", caller: "member", want: "home_not_proven",
			send: handed(func(p *api.PeerJobParams) {
				p.Handed.Home = c.Node("first")
				o := p.Handed.StepTo(c.ID, cast.OwnJob, c.Node("self"), 2).Offer(c.Keys["first"])
				p.Offer = &o
			})},
		{name: "no offer", route: "peer.job/submit", caller: "first", send: handed(func(p *api.PeerJobParams) { p.Offer = nil }), want: "missing_field"},
		{name: "nothing handed", route: "peer.job/submit", caller: "first", send: handed(func(p *api.PeerJobParams) { p.Handed = nil }), want: "missing_field"},
		{name: "another hash", route: "peer.job/submit", caller: "first", want: "spec_altered",
			send: handed(func(p *api.PeerJobParams) { p.Handed.SpecSHA256 = api.SpecSHA256(json.RawMessage("1")) })},
		{name: "another principal", route: "peer.job/submit", caller: "first", want: "spec_altered",
			send: handed(func(p *api.PeerJobParams) { p.Handed.Principal.User = "eve" })},
		{name: "on behalf of another", route: "peer.job/submit", caller: "first", want: "spec_altered",
			send: handed(func(p *api.PeerJobParams) { p.By.User = "eve" })},
		{name: "asked again for a job that is over", route: "peer.job/submit", caller: "first", world: taken, want: "yes"},
		{name: "a newer offer of a job that is over", route: "peer.job/submit", caller: "first", world: taken, want: "job_ended",
			send: handed(func(p *api.PeerJobParams) {
				o := p.Handed.StepTo(c.ID, cast.OwnJob, c.Node("self"), 3).Offer(c.Keys["first"])
				p.Offer = &o
			})},
		{name: "asked again with another spec", route: "peer.job/submit", caller: "first", want: "spec_altered", world: func(w *cast.World) {
			taken(w)
			w.Spec.MaxAttempts = 3
			w.Sign(c.ID, "submitter")
		}},

		{name: "a candidate of a lower epoch", route: "peer.vote", caller: "member", want: "home_not_proven", send: func(w *cast.World) any {
			p := cast.Sends["peer.vote"](w).(api.PeerVoteParams)
			p.Epoch = p.FromEpoch
			return p
		}},

		{name: "the submitter by another node", route: "peer.job/stop", caller: "member", send: request(api.RequestStop, "ada", "submitter"), want: "peer_not_allowed"},
		{name: "the submitter by the rank's node", route: "peer.job/stop", caller: "rank", send: request(api.RequestStop, "ada", "submitter"), want: "peer_not_allowed"},
		{name: "the submitter by the former home", route: "peer.job/stop", caller: "former", send: request(api.RequestStop, "ada", "submitter"), want: "yes"},
		{name: "the submitter by the former home, to delete", route: "peer.job/delete", caller: "former", send: request(api.RequestDelete, "ada", "submitter"), want: "peer_not_allowed"},
		{name: "a person whom this node does not map", route: "peer.job/stop", caller: "self", send: request(api.RequestStop, "eve", "self"), want: "not_your_job"},
		{name: "a person whom this home does not map", route: "peer.job/delete", caller: "self", send: request(api.RequestDelete, "eve", "self"), want: "not_your_job",
			world: setKnown(func(k *gate.Known) { k.Job.Home = c.Node("self") })},
		{name: "a person whom the rank's node does not map", route: "peer.job/stop", caller: "rank", send: request(api.RequestStop, "eve", "rank"), want: "not_your_job"},
		{name: "another person of the submitter's node", route: "peer.job/stop", caller: "submitter", send: request(api.RequestStop, "eve", "submitter"), want: "not_your_job"},
		{name: "nobody", route: "peer.job/delete", caller: "self", want: "peer_not_allowed", send: func(w *cast.World) any {
			return map[string]any{"wish": api.RequestDelete, "job": cast.OwnJob}
		}},
		{name: "somebody else's output by this node", route: "output", caller: "self", first: output(c.Person("ada", "submitter")), want: "refused"},
		{name: "the submitter's output by another node", route: "output", caller: "member", first: output(c.Person("ada", "submitter")), want: "peer_not_allowed"},
		{name: "what is for the input, to the output", route: "output", caller: "submitter", want: "peer_not_allowed", first: func(w *cast.World) api.PeerConn {
			return api.PeerConn{Rank: w.Rank(), Input: &api.PeerInput{By: w.By()}}
		}},
		{name: "what is for the output, to the input", route: "input", caller: "submitter", first: output(c.Person("ada", "submitter")), want: "peer_not_allowed"},

		{name: "a port for whom this node's map leads to the job's account", route: "publish", caller: "member", first: port(c.Person(cast.Mapped, "member")), want: "yes"},
		{name: "a port for whom it does not", route: "publish", caller: "member", first: port(c.Person("eve", "member")), want: "not_your_job"},
		{name: "a port for somebody of another node", route: "publish", caller: "rank", first: port(c.Person(cast.Mapped, "member")), want: "peer_not_allowed"},
		{name: "the submitter's port by another node", route: "publish", caller: "member", first: port(c.Person("ada", "submitter")), want: "peer_not_allowed"},
		{name: "output for whom the map leads to the job's account", route: "output", caller: "member", first: output(c.Person(cast.Mapped, "member")), want: "not_your_job"},

		{name: "a rank of an attempt before", route: "files", caller: "rank", want: "not_your_job",
			world: setKnown(func(k *gate.Known) { k.Job.Attempt++ })},
		{name: "another cable", route: "peer.rdma", caller: "cable", want: "no_such_link", send: func(w *cast.World) any {
			return api.PeerRDMAParams{Step: api.RDMAPlan, Link: c.Link("member", "cable"), By: w.By()}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := cast.NewWorld(c, "self", test.caller, "own")
			if test.world != nil {
				test.world(w)
			}
			d := routes()[test.route]
			if test.send != nil {
				d.send = test.send
			}
			if test.first != nil {
				d.first = test.first
			}
			if got := try(t, w, d); got != test.want {
				t.Errorf("%s, not %s", got, test.want)
			}
		})
	}
}

// TestValuesOfOthers: steps to another home do not do for the caller.
func TestValuesOfOthers(t *testing.T) {
	c := cast.NewCast()
	w := cast.NewWorld(c, "submitter", "member", "own")
	d := routes()["peer.job/values"]
	d.send = func(*cast.World) any {
		p := w.RequestKind(api.RequestValues)
		p.Homes = cast.NewWorld(c, "submitter", "offered", "own").Homes
		return p
	}
	is.New(t).Equal(try(t, w, d), "home_not_proven")
}

// TestNoCable: parameters without a cable are refused before anybody looks for it.
func TestNoCable(t *testing.T) {
	reached := false
	g := peertest.GateFor("self", nil, nil)
	_, err := g.Bind(routes()["peer.rdma"].call(&reached)).Answer(t.Context(), "cable", json.RawMessage(`{}`))
	is.New(t).True(!reached && errors.Is(err, api.ReasonNoSuchLink))
}

// TestRecordsNoNonMembersName: who opens a published port without being let in is not
// recorded as the person who could.
func TestRecordsNoNonMembersName(t *testing.T) {
	is := is.New(t)
	w := cast.NewWorld(cast.NewCast(), "self", "member", "own")
	var entries []gate.Entry
	g := w.Gate(func(e gate.Entry) { entries = append(entries, e) })
	reached, d := false, routes()["publish"]
	g.BindStream(d.stream(&reached)).Serve(t.Context(), w.From(), d.first(w), nil)
	is.Equal(len(entries), 1)
	is.Equal(entries[0].By, api.Principal{})
}

// TestBounds holds the routes to their bounds: of bytes, and of how many calls and
// connections of one caller are under way. This node itself is not counted.
func TestBounds(t *testing.T) {
	c := cast.NewCast()
	w := cast.NewWorld(c, "self", "member", "own")
	for _, row := range gate.Table() {
		d := routes()[row.Name]
		t.Run(row.Name, func(t *testing.T) {
			is := is.New(t)
			g := w.Gate(nil)
			reached := false
			if d.stream != nil {
				return
			}
			long := append(append([]byte(`"`), slices.Repeat([]byte("x"), row.Bytes)...), '"')
			_, err := g.Bind(d.call(&reached)).Answer(t.Context(), c.Node("member"), long)
			is.True(errors.Is(err, api.ReasonMessageTooLarge))
			is.True(!reached)
		})
	}
	t.Run("time", func(t *testing.T) {
		is := is.New(t)
		within := 0
		for _, row := range gate.Table() {
			if row.Who != gate.WhoMember || row.Within == 0 || row.Name == "peer.vote" {
				continue
			}
			within++
			w := cast.NewWorld(c, "self", "member", "own")
			d := gate.HandleMember(memberRoutes[row.Name], func(ctx context.Context, _ gate.Member, _ json.RawMessage) (any, error) {
				w.Clock.Advance(row.Within - 1)
				is.NoErr(ctx.Err())
				w.Clock.Advance(1)
				<-ctx.Done()
				return nil, context.Cause(ctx)
			})
			_, err := w.Gate(nil).Bind(d).Answer(t.Context(), c.Node("member"), nil)
			is.True(err != nil)
		}
		is.True(within > 0)
	})
	t.Run("calls at once", func(t *testing.T) {
		is := is.New(t)
		w, other := cast.NewWorld(c, "self", "first", "own"), cast.NewWorld(c, "self", "offered", "own")
		g := w.Gate(nil)
		var call gate.Call
		enter := func(w *cast.World) error {
			raw, err := json.Marshal(cast.Sends["peer.preflight"](w))
			is.NoErr(err)
			_, err = call.Answer(t.Context(), w.From(), raw)
			return err
		}
		var refused error
		depth, deepest := 0, 0
		call = g.Bind(gate.HandleHome(gate.Preflight, func(_ context.Context, h gate.Home, _ api.PeerPreflightParams) (any, error) {
			depth++
			deepest = max(deepest, depth)
			if h.Node() == w.From() && refused == nil {
				if err := enter(w); err != nil {
					refused = err
					is.NoErr(enter(other)) // another caller has its own bound
				}
			}
			depth--
			return api.Empty{}, nil
		}))
		is.NoErr(enter(w))
		is.True(errors.Is(refused, api.ReasonTooManyCalls))
		is.Equal(deepest, 3) // two, and the other caller's
	})
}

// TestNameOf: a request that is none leads to no route.
func TestNameOf(t *testing.T) {
	is := is.New(t)
	is.Equal(gate.NameOf("peer.put", json.RawMessage(`{"wish":"stop"}`)), "peer.put")
	is.Equal(gate.NameOf("peer.job", json.RawMessage(`{"wish":"stop"}`)), "peer.job/stop")
	for _, raw := range []string{`{"wish":"steal"}`, `{"wish":""}`, `{}`, `[]`, `{`, `{"wish":"../peer.put"}`} {
		is.Equal(gate.NameOf("peer.job", json.RawMessage(raw)), "peer.job")
	}
}
