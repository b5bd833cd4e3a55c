package gate_test

import (
	"context"
	"encoding/json"
	"net"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/cast"
	"fulmen/daemon/internal/gate"
)

// noRoutes are the kinds of connections without a row, and why.
var noRoutes = map[api.PeerConnKind]string{
	api.ConnPackets:  "the transport proves the key itself",
	api.ConnCalls:    "the transport proves the key itself; each call on it has a door",
	api.ConnPair:     "pairing proves the key itself",
	api.ConnProbe:    "nothing serves it: measurements have connections of their own",
	api.ConnDocument: "nothing serves it: documents are pulled by calls",
}

func TestEveryRouteHasARow(t *testing.T) {
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
			for _, request := range api.JobRequestKind("").Values() {
				names = append(names, m.Name+"/"+request)
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
		why := noRoutes[api.PeerConnKind(kind)]
		if left[kind] == (why != "") {
			t.Errorf("%s: has a row: %v; is none because %q", kind, left[kind], why)
		}
		delete(left, kind)
	}
	for name := range left {
		t.Errorf("%s is neither a method nor a kind of connection", name)
	}
	for name, r := range rows {
		if r.AtOnce < 0 || r.Within < 0 || r.Who == "" || r.Proof == "" {
			t.Errorf("%s: no bound, no class or no proof: %+v", name, r)
		}
		if _, isBound := routes()[name]; !isBound {
			t.Errorf("%s is not in the matrix", name)
		}
	}
}

// route is a route of the table with what a caller sends to it.
type route struct {
	// call is the handler of a method, which notes that it was reached, and send the
	// parameters.
	call func(reached *bool) gate.Handler
	send func(*cast.World) any
	// stream is the handler of a connection.
	stream func(reached *bool) gate.StreamHandler
	first  func(*cast.World) api.PeerConn
}

func member(d gate.MemberRoute) route {
	return route{
		call: func(reached *bool) gate.Handler {
			return gate.HandleMember(d, func(_ context.Context, m gate.Member, _ json.RawMessage) (any, error) {
				*reached = m.Node() != ""
				return api.Empty{}, nil
			})
		},
		send: func(*cast.World) any { return struct{}{} },
	}
}

func home[P gate.Claimer](d gate.HomeRoute) route {
	return route{call: func(reached *bool) gate.Handler {
		return gate.HandleHome(d, func(_ context.Context, h gate.Home, p P) (any, error) {
			c := p.Claim()
			*reached = h.Node() != "" && h.Epoch() == c.Epoch && h.Spec().Job == c.Job && h.SpecSHA256() == api.SpecSHA256(c.Warrant.Spec)
			return api.Empty{}, nil
		})
	}}
}

type requester interface {
	Wanted() (api.Principal, api.JobID)
}

func person[P requester](d gate.PersonRoute) route {
	return route{call: func(reached *bool) gate.Handler {
		return gate.HandlePerson(d, func(_ context.Context, a gate.Acting, p P) (any, error) {
			by, _ := p.Wanted()
			*reached = a.Node() != "" && a.By() == by
			return api.Empty{}, nil
		})
	}}
}

func cable[P any](d gate.CableRoute, link func(P) api.LinkID) route {
	return route{call: func(reached *bool) gate.Handler {
		return gate.HandleCable(d, link, func(_ context.Context, n gate.CableNode, p P) (any, error) {
			*reached = n.Node() != "" && n.Link() == link(p)
			return api.Empty{}, nil
		})
	}}
}

func memberStream(d gate.MemberStream) route {
	return route{stream: func(reached *bool) gate.StreamHandler {
		return gate.ServeMember(d, func(_ context.Context, m gate.Member, _ api.PeerConn, _ net.Conn) { *reached = m.Node() != "" })
	}}
}

func personStream(d gate.PersonStream) route {
	return route{stream: func(reached *bool) gate.StreamHandler {
		return gate.ServePerson(d, func(_ context.Context, a gate.Acting, refused error, _ api.PeerConn, _ net.Conn) {
			*reached = refused == nil || a.Node() != "" // a proof beside a refusal would be one
		})
	}}
}

func readerStream(d gate.ReaderStream) route {
	return route{stream: func(reached *bool) gate.StreamHandler {
		return gate.ServeReader(d, func(_ context.Context, r gate.Reader, refused error, _ api.PeerConn, _ net.Conn) {
			*reached = refused == nil || r.Node() != ""
		})
	}}
}

var memberRoutes = map[string]gate.MemberRoute{
	"peer.hello": gate.Hello, "peer.put": gate.Put, "peer.digest": gate.Digest, "peer.pull": gate.Pull, "peer.roster": gate.Roster,
	"peer.watch": gate.Watch, "peer.unwatch": gate.Unwatch, "peer.hold": gate.Hold, "peer.measure": gate.Measure, "peer.profile": gate.Profile,
}

// routes are all routes, by their row's name.
func routes() map[string]route {
	all := map[string]route{
		"peer.preflight": home[api.PeerPreflightParams](gate.Preflight),
		"peer.grant":     home[api.PeerGrantParams](gate.Grant),
		"peer.release":   home[api.PeerHolderParams](gate.Release),
		"peer.listen":    home[api.PeerListenParams](gate.Listen),
		"peer.start":     home[api.PeerStartParams](gate.Start),
		"peer.spawn":     home[api.PeerSpawnParams](gate.Spawn),
		"peer.renew":     home[api.PeerRenewParams](gate.Renew),
		"peer.end":       home[api.PeerEndParams](gate.End),
		"peer.job/submit": {call: func(reached *bool) gate.Handler {
			return gate.HandleOffer(gate.SubmitJob, func(_ context.Context, o gate.Offered, p api.PeerJobParams) (any, error) {
				job := o.Job()
				*reached = o.Spec().Job == p.Job && job.Home == p.Offer.Home && job.Epoch == p.Offer.Epoch && len(job.Homes) == len(p.Handed.Homes)+1
				return api.Empty{}, nil
			})
		}},
		"peer.job/stop":   person[api.PeerJobParams](gate.StopJob),
		"peer.job/delete": person[api.PeerJobParams](gate.DeleteJob),
		"peer.job/values": {call: func(reached *bool) gate.Handler {
			return gate.HandleValues(gate.JobValues, func(_ context.Context, h gate.Home, p api.PeerJobParams) (any, error) {
				*reached = h.Node() != "" && h.Spec().Job == p.Job
				return api.Empty{}, nil
			})
		}},
		"peer.vote": {call: func(reached *bool) gate.Handler {
			return gate.HandleVote(gate.VoteHome, func(_ context.Context, c gate.Candidate, p api.PeerVoteParams) (any, error) {
				s := c.Step()
				*reached = s.From == p.From && s.Before == p.FromEpoch && s.Epoch == p.Epoch && s.Home != "" && c.Spec().Job == p.Job
				return api.Empty{}, nil
			})
		}},
		"peer.resize":  person[api.PeerResizeParams](gate.Resize),
		"peer.rdma":    cable(gate.RDMA, func(p api.PeerRDMAParams) api.LinkID { return p.Link }),
		"peer.probe":   cable(gate.Probe, func(p api.PeerProbeParams) api.LinkID { return p.Link }),
		"stream":       memberStream(gate.Stream),
		"side_channel": memberStream(gate.SideChannel),
		"files": {stream: func(reached *bool) gate.StreamHandler {
			return gate.ServeRank(gate.Files, func(_ context.Context, r gate.RankNode, refused error, _ api.PeerConn, _ net.Conn) {
				*reached = refused == nil || r.Node() != ""
			})
		}},
		"output":     personStream(gate.Output),
		"input":      personStream(gate.Input),
		"model":      readerStream(gate.Model),
		"model_copy": readerStream(gate.ModelCopy),
		"peer.models": {call: func(reached *bool) gate.Handler {
			return gate.HandleReader(gate.Models, func(_ context.Context, r gate.Reader, p api.PeerModelsParams) (any, error) {
				*reached = r.By() == p.By && r.Node() == p.By.Node
				return api.Empty{}, nil
			})
		}},
		"publish": personStream(gate.Publish),
	}
	for name, d := range all {
		d.send, d.first = cast.Sends[name], cast.Firsts[name]
		all[name] = d
	}
	for name, d := range memberRoutes {
		all[name] = member(d)
	}
	return all
}
