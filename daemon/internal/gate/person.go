package gate

import (
	"context"
	"net"

	"fulmen/daemon/api"
)

// Acting is the proof that a person may act for a job, or that a home of it passes on
// what a person may.
type Acting struct {
	node api.NodeID
	by   api.Principal
	job  Known
	why  Who
}

// Node is the caller.
func (a Acting) Node() api.NodeID { return a.node }

// By is the person.
func (a Acting) By() api.Principal { return a.by }

// Job is the job.
func (a Acting) Job() Known { return a.job }

// IsHome reports whether the caller speaks as the job's home of now.
func (a Acting) IsHome() bool { return a.why == WhoHome }

// PersonRoute is a route of people, through their node.
type PersonRoute struct{ row *Row }

// requester is who wants something of a job or a rank.
type requester interface {
	Wanted() (by api.Principal, job api.JobID)
}

// HandlePerson makes the handler of a route of people.
func HandlePerson[P requester](d PersonRoute, h func(context.Context, Acting, P) (any, error)) Handler {
	return proven(d.row, func(g *Gate, from api.NodeID, p P) (proof[Acting], error) {
		by, job := p.Wanted()
		a, err := g.acting(from, by, job, d)
		return proof[Acting]{a, by, a.job.Spec.Principal, string(job), a.why}, err
	}, h)
}

// PersonStream is a connection of people, through their node.
type PersonStream struct{ row *Row }

// ServePerson makes the handler of a connection of people to a rank of this node; see
// [provenStream].
func ServePerson(d PersonStream, h func(ctx context.Context, a Acting, refused error, first api.PeerConn, conn net.Conn)) StreamHandler {
	return provenStream(d.row, func(g *Gate, from api.NodeID, first api.PeerConn) (proof[Acting], error) {
		var by api.Principal
		switch {
		case first.Output != nil && d == Output:
			by = first.Output.By
		case first.Input != nil && d == Input:
			by = first.Input.By
		case d == Publish && first.By != (api.Principal{}):
			by = first.By
		case d == Publish: // the submitter's node itself
			if k, err := g.known(first.Rank.Job); err == nil && k.Spec.Principal.Node == from {
				by = k.Spec.Principal
			}
		}
		a, err := g.acting(from, by, first.Rank.Job, PersonRoute(d))
		return proof[Acting]{a, by, a.job.Spec.Principal, first.Rank.String(), a.why}, err
	}, h)
}

// acting checks that a person may act for a job. The person's node speaks for its own
// people alone: for the one who submitted the job, and, of this node, for the account
// as which its ranks run here. Elsewhere a node's map is believed for the ranks that
// run there and nothing else: it may stop the job, whose rank it could end, and sees
// and feeds its own ranks by itself. To a published port comes as well whom this node's
// own map leads to the account as which the job runs here. The home of now may say that a job is deleted,
// and a former one pass a stop on.
func (g *Gate) acting(from api.NodeID, by api.Principal, job api.JobID, d PersonRoute) (Acting, error) {
	k, err := g.known(job)
	if err != nil {
		return Acting{}, err
	}
	a := Acting{node: from, by: by, job: k, why: WhoPerson}
	switch {
	case d == DeleteJob && from == k.Job.Home && from != g.cfg.Self:
		a.why = WhoHome
		return a, nil
	case d == StopJob && from != k.Job.Home && k.Job.WasHome(k.Spec, from):
		a.why = WhoFormer
		return a, nil
	case by.Node != from:
		return Acting{}, api.Errorf(api.ReasonPeerNotAllowed, by.String(), "%s does not vouch for %s.", from.Display(), by)
	case by == k.Spec.Principal:
		return a, nil
	case !by.Valid():
		return Acting{}, api.NewError(api.ReasonPeerNotAllowed, by.String())
	case (from == g.cfg.Self || d == StopJob && k.runsOn(from)) && g.cfg.Maps(by, k.Spec.Principal):
		a.why = WhoRank
		return a, nil
	case d == PersonRoute(Publish) && g.cfg.Shares(by, k.Spec.Principal):
		a.why = WhoAccount
		return a, nil
	}
	return Acting{}, api.NewError(api.ReasonNotYourJob, string(job))
}
