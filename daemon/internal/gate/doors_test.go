package gate_test

import (
	"context"
	"encoding/json"
	"net"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
)

// noDoors are the kinds of connections without a row, and why.
var noDoors = map[api.PeerConnKind]string{
	api.ConnPackets:  "the transport proves the key itself",
	api.ConnCalls:    "the transport proves the key itself; each call on it has a door",
	api.ConnPair:     "pairing proves the key itself",
	api.ConnProbe:    "nothing serves it: measurements have connections of their own",
	api.ConnDocument: "nothing serves it: documents are pulled by calls",
}

func TestEveryDoorHasARow(t *testing.T) {
	is := is.New(t)
	rows := map[string]gate.Row{}
	for _, r := range gate.Table() {
		_, isTwice := rows[r.Name]
		is.True(!isTwice) // one row a name
		rows[r.Name] = r
	}
	left := map[string]bool{}
	for name := range rows {
		left[name] = true
	}
	for _, m := range api.PeerMethods() {
		names := []string{m.Name}
		if m.Name == "peer.job" {
			names = nil
			for _, wish := range api.JobWish("").Values() {
				names = append(names, m.Name+"/"+wish)
			}
		}
		for _, name := range names {
			if !left[name] {
				t.Errorf("%s has no row", name)
			}
			if rows[name].Bytes <= 0 || rows[name].Bytes > api.MaxMessageBytes {
				t.Errorf("%s: the parameters have no bound", name)
			}
			delete(left, name)
		}
	}
	for _, kind := range api.PeerConnKind("").Values() {
		why := noDoors[api.PeerConnKind(kind)]
		if left[kind] == (why != "") {
			t.Errorf("%s: has a row: %v; is none because %q", kind, left[kind], why)
		}
		delete(left, kind)
	}
	for name := range left {
		t.Errorf("%s is neither a method nor a kind of connection", name)
	}
	for name, r := range rows {
		if r.AtOnce <= 0 || r.Within < 0 || r.Who == "" || r.Proof == "" {
			t.Errorf("%s: no bound, no class or no proof: %+v", name, r)
		}
		if _, isBound := doors()[name]; !isBound {
			t.Errorf("%s is not in the matrix", name)
		}
	}
}

// door is a door of the table with what a caller sends to it.
type door struct {
	// call is the handler of a method, which notes that it was reached, and send the
	// parameters.
	call func(reached *bool) gate.Handler
	send func(*world) any
	// stream is the handler of a connection.
	stream func(reached *bool) gate.StreamHandler
	first  func(*world) api.PeerConn
}

func member(d gate.MemberDoor) door {
	return door{
		call: func(reached *bool) gate.Handler {
			return gate.HandleMember(d, func(_ context.Context, m gate.Member, _ json.RawMessage) (any, error) {
				*reached = m.Node() != ""
				return api.Empty{}, nil
			})
		},
		send: func(*world) any { return struct{}{} },
	}
}

func home[P gate.Claimer](d gate.HomeDoor, send func(w *world, warrant api.Warrant, epoch uint64) P) door {
	return door{
		call: func(reached *bool) gate.Handler {
			return gate.HandleHome(d, func(_ context.Context, h gate.Home, p P) (any, error) {
				c := p.Claim()
				*reached = h.Node() != "" && h.Epoch() == c.Epoch && h.Spec().Job == c.Job && h.SpecSHA256() == api.SpecSHA256(c.Warrant.Spec)
				return api.Empty{}, nil
			})
		},
		send: func(w *world) any {
			epoch := w.epoch
			if w.subject == "forged" {
				epoch += 7
			}
			return send(w, api.Warrant{Spec: w.raw, SpecSig: w.sig, Homes: w.homes}, epoch)
		},
	}
}

type wanter interface {
	Wanted() (api.Principal, api.JobID)
}

func person[P wanter](d gate.PersonDoor, send func(*world) P) door {
	return door{
		call: func(reached *bool) gate.Handler {
			return gate.HandlePerson(d, func(_ context.Context, a gate.Acting, p P) (any, error) {
				by, _ := p.Wanted()
				*reached = a.Node() != "" && a.By() == by
				return api.Empty{}, nil
			})
		},
		send: func(w *world) any { return send(w) },
	}
}

func cable[P any](d gate.CableDoor, link func(P) api.LinkID, send func(*world, api.LinkID) P) door {
	return door{
		call: func(reached *bool) gate.Handler {
			return gate.HandleCable(d, link, func(_ context.Context, n gate.CableNode, p P) (any, error) {
				*reached = n.Node() != "" && n.Link() == link(p)
				return api.Empty{}, nil
			})
		},
		send: func(w *world) any { return send(w, w.c.link(w.self, "cable")) },
	}
}

func memberStream(d gate.MemberStream) door {
	return door{
		stream: func(reached *bool) gate.StreamHandler {
			return gate.ServeMember(d, func(_ context.Context, m gate.Member, _ api.PeerConn, _ net.Conn) { *reached = m.Node() != "" })
		},
		first: func(*world) api.PeerConn { return api.PeerConn{} },
	}
}

func personStream(d gate.PersonStream, first func(*world) api.PeerConn) door {
	return door{
		stream: func(reached *bool) gate.StreamHandler {
			return gate.ServePerson(d, func(_ context.Context, a gate.Acting, refused error, _ api.PeerConn, _ net.Conn) {
				*reached = refused == nil || a.Node() != "" // a proof beside a refusal would be one
			})
		},
		first: first,
	}
}

func (w *world) rank() api.RankRef { return api.RankRef{Job: w.spec.Job, Attempt: attempt} }

// by is who speaks: each node's ada, of whom the submitter's submitted the job.
func (w *world) by() api.Principal { return api.Principal{User: "ada", Node: w.from()} }

func (w *world) wish(wish api.JobWish) api.PeerJobParams {
	return api.PeerJobParams{Wish: wish, Job: w.spec.Job, By: w.by()}
}

var memberDoors = map[string]gate.MemberDoor{
	"peer.hello": gate.Hello, "peer.put": gate.Put, "peer.digest": gate.Digest, "peer.pull": gate.Pull, "peer.roster": gate.Roster,
	"peer.watch": gate.Watch, "peer.unwatch": gate.Unwatch, "peer.hold": gate.Hold, "peer.measure": gate.Measure, "peer.profile": gate.Profile,
}

// doors are all doors, by their row's name.
func doors() map[string]door {
	all := map[string]door{
		"peer.preflight": home(gate.Preflight, func(_ *world, h api.Warrant, epoch uint64) api.PeerPreflightParams {
			return api.PeerPreflightParams{Warrant: h, Epoch: epoch}
		}),
		"peer.grant": home(gate.Grant, func(w *world, h api.Warrant, epoch uint64) api.PeerGrantParams {
			return api.PeerGrantParams{PeerHolderParams: api.PeerHolderParams{Holder: w.rank().String(), Epoch: epoch, Warrant: &h}, GPU: api.GPUNone}
		}),
		"peer.release": home(gate.Release, func(w *world, h api.Warrant, epoch uint64) api.PeerHolderParams {
			return api.PeerHolderParams{Holder: w.rank().String(), Epoch: epoch, Warrant: &h}
		}),
		"peer.listen": home(gate.Listen, func(w *world, h api.Warrant, epoch uint64) api.PeerListenParams {
			return api.PeerListenParams{Warrant: h, Rank: w.rank(), Epoch: epoch}
		}),
		"peer.start": home(gate.Start, func(w *world, h api.Warrant, epoch uint64) api.PeerStartParams {
			return api.PeerStartParams{Warrant: h, Rank: w.rank(), Epoch: epoch}
		}),
		"peer.spawn": home(gate.Spawn, func(w *world, h api.Warrant, epoch uint64) api.PeerSpawnParams {
			return api.PeerSpawnParams{Warrant: h, Rank: w.rank(), Epoch: epoch}
		}),
		"peer.renew": home(gate.Renew, func(w *world, h api.Warrant, epoch uint64) api.PeerRenewParams {
			return api.PeerRenewParams{Warrant: h, Job: w.spec.Job, Attempt: attempt, Epoch: epoch}
		}),
		"peer.end": home(gate.End, func(w *world, h api.Warrant, epoch uint64) api.PeerEndParams {
			return api.PeerEndParams{Warrant: h, Job: w.spec.Job, Attempt: attempt, Epoch: epoch}
		}),
		"peer.job/submit": {call: func(reached *bool) gate.Handler {
			return gate.HandleOffer(gate.SubmitJob, func(_ context.Context, o gate.Offered, p api.PeerJobParams) (any, error) {
				job := o.Job()
				*reached = o.Spec().Job == p.Job && job.Home == p.Offer.Home && job.Epoch == p.Offer.Epoch && len(job.Homes) == len(p.Handed.Homes)+1
				return api.Empty{}, nil
			})
		}, send: (*world).handOver},
		"peer.job/stop":   person(gate.StopJob, func(w *world) api.PeerJobParams { return w.wish(api.WishStop) }),
		"peer.job/delete": person(gate.DeleteJob, func(w *world) api.PeerJobParams { return w.wish(api.WishDelete) }),
		"peer.job/values": {call: func(reached *bool) gate.Handler {
			return gate.HandleValues(gate.JobValues, func(_ context.Context, h gate.Home, p api.PeerJobParams) (any, error) {
				*reached = h.Node() != "" && h.Spec().Job == p.Job
				return api.Empty{}, nil
			})
		}, send: func(w *world) any {
			p := w.wish(api.WishValues)
			p.Homes = w.homes
			if w.subject == "forged" {
				p.Homes = append(p.Homes[:len(p.Homes):len(p.Homes)], w.forgedStep())
			}
			return p
		}},
		"peer.vote": {call: func(reached *bool) gate.Handler {
			return gate.HandleVote(gate.VoteHome, func(_ context.Context, c gate.Candidate, p api.PeerVoteParams) (any, error) {
				s := c.Step()
				*reached = s.From == p.From && s.Before == p.FromEpoch && s.Epoch == p.Epoch && s.Home != "" && c.Spec().Job == p.Job
				return api.Empty{}, nil
			})
		}, send: (*world).askVote},
		"peer.resize": person(gate.Resize, func(w *world) api.PeerResizeParams {
			return api.PeerResizeParams{Rank: w.rank(), By: w.by()}
		}),
		"peer.rdma": cable(gate.RDMA, func(p api.PeerRDMAParams) api.LinkID { return p.Link },
			func(w *world, l api.LinkID) api.PeerRDMAParams {
				return api.PeerRDMAParams{Step: api.RDMAPlan, Link: l, By: w.by()}
			}),
		"peer.probe": cable(gate.Probe, func(p api.PeerProbeParams) api.LinkID { return p.Link },
			func(_ *world, l api.LinkID) api.PeerProbeParams {
				return api.PeerProbeParams{Step: api.ProbeHold, Link: l, Measurement: "m4k2m9xq7"}
			}),
		"stream":       memberStream(gate.Stream),
		"side_channel": memberStream(gate.SideChannel),
		"files": {stream: func(reached *bool) gate.StreamHandler {
			return gate.ServeRank(gate.Files, func(_ context.Context, r gate.RankNode, refused error, _ api.PeerConn, _ net.Conn) {
				*reached = refused == nil || r.Node() != ""
			})
		}, first: func(w *world) api.PeerConn {
			epoch := w.known.Job.Epoch
			switch w.subject {
			case "stale":
				epoch = w.epoch
			case "forged":
				epoch += 7
			}
			return api.PeerConn{Job: w.spec.Job, Epoch: epoch}
		}},
		"output": personStream(gate.Output, func(w *world) api.PeerConn {
			return api.PeerConn{Rank: w.rank(), Output: &api.PeerOutput{By: w.by()}}
		}),
		"input": personStream(gate.Input, func(w *world) api.PeerConn {
			return api.PeerConn{Rank: w.rank(), Input: &api.PeerInput{By: w.by()}}
		}),
		"publish": personStream(gate.Publish, func(w *world) api.PeerConn { return api.PeerConn{Rank: w.rank()} }),
	}
	for name, d := range memberDoors {
		all[name] = member(d)
	}
	return all
}

// handOver offers the caller's job to this node.
func (w *world) handOver() any {
	p := w.wish(api.WishSubmit)
	p.By = w.spec.Principal
	job := w.job()
	if w.subject == "forged" {
		job.Homes = append(job.Homes[:len(job.Homes):len(job.Homes)], w.forgedStep())
		job.Epoch = w.forgedStep().Epoch
	}
	offer := job.StepTo(ownCluster, w.spec.Job, w.c.node(w.self), job.Epoch+1).Offer(w.key())
	p.Handed, p.Offer = &job, &offer
	return p
}

// askVote asks to take the place of the home to which the caller's steps lead.
func (w *world) askVote() any {
	p := api.PeerVoteParams{Job: w.spec.Job, From: w.spec.Home, FromEpoch: 1}
	p.Warrant = api.Warrant{Spec: w.raw, SpecSig: w.sig}
	if len(w.homes) > 0 && w.subject != "another" {
		p.Homes, p.From, p.FromEpoch = w.homes, w.from(), w.epoch
	}
	if w.subject == "forged" {
		p.FromEpoch += 7
	}
	p.Epoch = api.NextTerm(p.FromEpoch)
	return p
}
