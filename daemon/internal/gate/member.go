package gate

import (
	"context"
	"encoding/json"
	"net"

	"fulmen/daemon/api"
)

// Member is the proof that the caller is a member.
type Member struct{ node api.NodeID }

// Node is the caller.
func (m Member) Node() api.NodeID { return m.node }

// MemberRoute is a route of any member.
type MemberRoute struct{ row *Row }

// HandleMember makes the handler of a route of any member.
func HandleMember[P any](d MemberRoute, h func(context.Context, Member, P) (any, error)) Handler {
	return Handler{d.row, func(ctx context.Context, g *Gate, from api.NodeID, raw json.RawMessage) (any, error) {
		var p P
		if into, isRaw := any(&p).(*json.RawMessage); isRaw {
			*into = raw // the handler reads it by itself
		} else if err := params(raw, &p); err != nil {
			return nil, g.refuse(d.row, from, api.Principal{}, "", err)
		}
		return h(ctx, Member{from}, p)
	}}
}

// StreamHandler serves a route that is a connection.
type StreamHandler struct {
	row   *Row
	serve func(ctx context.Context, g *Gate, from api.NodeID, first api.PeerConn, conn net.Conn)
}

// MemberStream is a connection that any member may open; what it carries is proven by
// what the handler knows.
type MemberStream struct{ row *Row }

// ServeMember makes the handler of a connection that any member may open.
func ServeMember(d MemberStream, h func(ctx context.Context, m Member, first api.PeerConn, conn net.Conn)) StreamHandler {
	return StreamHandler{d.row, func(ctx context.Context, _ *Gate, from api.NodeID, first api.PeerConn, conn net.Conn) {
		h(ctx, Member{from}, first, conn)
	}}
}

// RankNode is the proof that a rank of a job runs on the caller.
type RankNode struct {
	node api.NodeID
	job  Known
}

// Node is the caller.
func (r RankNode) Node() api.NodeID { return r.node }

// Job is the job.
func (r RankNode) Job() Known { return r.job }

// RankStream is a connection that the nodes of a job's ranks may open.
type RankStream struct{ row *Row }

// ServeRank makes the handler of a connection of the nodes of a job's ranks; see
// [provenStream].
func ServeRank(d RankStream, h func(ctx context.Context, r RankNode, refused error, first api.PeerConn, conn net.Conn)) StreamHandler {
	return provenStream(d.row, func(g *Gate, from api.NodeID, first api.PeerConn) (proof[RankNode], error) {
		r, err := g.rankNode(from, first)
		owner := r.job.Spec.Principal
		return proof[RankNode]{r, owner, owner, string(first.Job), WhoRank}, err
	}, h)
}

func (g *Gate) rankNode(from api.NodeID, first api.PeerConn) (RankNode, error) {
	k, err := g.known(first.Job)
	switch {
	case err != nil:
		return RankNode{}, err
	case k.Ended:
		return RankNode{}, api.NewError(api.ReasonJobEnded, string(first.Job))
	case first.Epoch != k.Job.Epoch:
		return RankNode{}, api.NewError(api.ReasonStaleEpoch, string(first.Job))
	case !k.runsOn(from):
		return RankNode{}, api.NewError(api.ReasonNotYourJob, string(first.Job))
	}
	return RankNode{from, k}, nil
}

// CableRoute is a route of the node at a cable's other end.
type CableRoute struct{ row *Row }

// CableNode is the proof that a cable leads from this node to the caller.
type CableNode struct {
	node api.NodeID
	link api.LinkID
}

// Node is the caller.
func (c CableNode) Node() api.NodeID { return c.node }

// Link is the cable.
func (c CableNode) Link() api.LinkID { return c.link }

// HandleCable makes the handler of a route of the node at a cable's other end; link is
// the cable that the parameters name.
func HandleCable[P any](d CableRoute, link func(P) api.LinkID, h func(context.Context, CableNode, P) (any, error)) Handler {
	return proven(d.row, func(g *Gate, from api.NodeID, p P) (proof[CableNode], error) {
		at := link(p)
		found := proof[CableNode]{value: CableNode{from, at}, subject: at.String(), why: WhoCable}
		if !at.Valid() || !g.cfg.Cable(at, from) {
			return found, api.Errorf(api.ReasonNoSuchLink, at.String(), "No cable %s leads from here to %s.", at, from.Display())
		}
		return found, nil
	}, h)
}
