package gate

import (
	"context"

	"fulmen/daemon/api"
)

// Home is the proof that the caller is the legitimate home of a job.
type Home struct {
	node   api.NodeID
	epoch  uint64
	spec   api.JobSpec
	sha256 string
}

// Node is the home.
func (h Home) Node() api.NodeID { return h.node }

// Epoch is the home's epoch.
func (h Home) Epoch() uint64 { return h.epoch }

// Spec is the job's, as the submitter's node signed it.
func (h Home) Spec() api.JobSpec { return h.spec }

// SpecSHA256 is the hash of its bytes.
func (h Home) SpecSHA256() string { return h.sha256 }

// HomeRoute is a route of a job's home.
type HomeRoute struct{ row *Row }

// Name is the method by which the route is called.
func (d HomeRoute) Name() string { return d.row.Name }

// Claimer is the parameters of a call that the home of a job makes.
type Claimer interface {
	// Claim is what the caller says that it is, with its proof.
	Claim() api.Claim
}

// HandleHome makes the handler of a route of a job's home.
func HandleHome[P Claimer](d HomeRoute, h func(context.Context, Home, P) (any, error)) Handler {
	return proven(d.row, func(g *Gate, from api.NodeID, p P) (proof[Home], error) {
		claim := p.Claim()
		home, err := g.home(from, claim, d == Preflight)
		owner := home.spec.Principal
		return proof[Home]{home, owner, owner, string(claim.Job), WhoHome}, err
	}, h)
}

// home checks that a node is the home of a job that it says it is. looks permits a
// request by which nothing is started.
func (g *Gate) home(from api.NodeID, c api.Claim, looks bool) (Home, error) {
	if !c.Job.Valid() {
		return Home{}, api.NewError(api.ReasonHomeNotProven, string(c.Job))
	}
	spec, err := c.Warrant.OpenSpec(c.Job, g.cfg.Electors)
	if err != nil {
		return Home{}, err
	}
	h := Home{node: from, epoch: c.Epoch, spec: spec, sha256: api.SpecSHA256(c.Warrant.Spec)}
	claimed := api.Job{SpecSHA256: h.sha256, Home: from, Epoch: c.Epoch, Homes: c.Warrant.Homes}
	if err := claimed.VerifyHomes(spec, g.cfg.Electors, g.cfg.Bound); err != nil {
		return h, err
	}
	if spec.Look && !looks {
		return h, api.Errorf(api.ReasonHomeNotProven, string(c.Job), "This spec only asks what the nodes have: it starts nothing.")
	}
	if c.Starts {
		if err := spec.MayStart(api.TimeOf(g.cfg.Clock.Now())); err != nil {
			return h, err
		}
	}
	return h, g.counts(claimed, spec.Job, c.Starts)
}

// counts refuses a proven home that is not the one that counts any more.
func (g *Gate) counts(claimed api.Job, id api.JobID, starts bool) error {
	k, found := g.cfg.Known(id)
	switch {
	case !found:
		return nil
	case k.Gone && starts:
		return api.NewError(api.ReasonJobDeleted, string(id))
	case k.Gone:
		return nil
	case k.Job.SpecSHA256 != claimed.SpecSHA256:
		return api.NewError(api.ReasonSpecAltered, string(id))
	case k.Ended && starts:
		return api.NewError(api.ReasonJobEnded, string(id))
	case k.Job.Outranks(claimed):
		return api.Errorf(api.ReasonStaleEpoch, string(id), "The job has a newer home: epoch %d, not %d.", k.Job.Epoch, claimed.Epoch)
	}
	return nil
}

// Offered is the proof that the home of a job offers it to this node.
type Offered struct {
	job  api.Job
	spec api.JobSpec
}

// Job is the job as this node is to have it: it is the home, at the offered epoch.
func (o Offered) Job() api.Job { return o.job }

// Spec is the job's, as the submitter's node signed it.
func (o Offered) Spec() api.JobSpec { return o.spec }

// OfferRoute is the route by which a job is handed over.
type OfferRoute struct{ row *Row }

// HandleOffer makes the handler of the route by which a job is handed over.
func HandleOffer(d OfferRoute, h func(context.Context, Offered, api.PeerJobParams) (any, error)) Handler {
	return proven(d.row, func(g *Gate, from api.NodeID, p api.PeerJobParams) (proof[Offered], error) {
		o, err := g.offered(from, p)
		return proof[Offered]{o, p.By, o.spec.Principal, string(p.Job), WhoFormer}, err
	}, h)
}

func (g *Gate) offered(from api.NodeID, p api.PeerJobParams) (Offered, error) {
	if p.Handed == nil || p.Offer == nil {
		return Offered{}, api.Errorf(api.ReasonMissingField, "handed", "The job that is handed over, or its offer, is missing.")
	}
	job := *p.Handed
	if job.Home != from {
		return Offered{}, api.Errorf(api.ReasonHomeNotProven, string(p.Job), "Only the job's home can hand it over.")
	}
	spec, err := job.OpenSpec(p.Job, g.cfg.Electors)
	if err != nil {
		return Offered{}, err
	}
	if p.By != spec.Principal {
		return Offered{}, api.NewError(api.ReasonSpecAltered, string(p.Job))
	}
	job.Succeed(*p.Offer)
	switch err := job.VerifyHomes(spec, g.cfg.Electors, g.cfg.Bound); {
	case err != nil:
		return Offered{}, err
	case job.Home != g.cfg.Self:
		return Offered{}, api.Errorf(api.ReasonHomeNotProven, string(p.Job), "The job is offered to another node, not to this one.")
	case spec.Look:
		return Offered{}, api.Errorf(api.ReasonHomeNotProven, string(p.Job), "This spec only asks what the nodes have: it starts nothing.")
	}
	if err := spec.MayStart(api.TimeOf(g.cfg.Clock.Now())); err != nil {
		return Offered{}, err
	}
	k, found := g.cfg.Known(p.Job)
	if found && k.Job.Home == g.cfg.Self && k.Job.SpecSHA256 == job.SpecSHA256 && k.Job.Epoch >= job.Epoch {
		return Offered{job, spec}, nil // it is asked again, whatever became of the job since
	}
	return Offered{job, spec}, g.counts(job, p.Job, true)
}

// ValuesRoute is the route by which a home gets the values of a job's variables.
type ValuesRoute struct{ row *Row }

// HandleValues makes the handler of the route by which a home gets the values.
func HandleValues(d ValuesRoute, h func(context.Context, Home, api.PeerJobParams) (any, error)) Handler {
	return proven(d.row, func(g *Gate, from api.NodeID, p api.PeerJobParams) (proof[Home], error) {
		home, err := g.valued(from, p)
		return proof[Home]{home, p.By, home.spec.Principal, string(p.Job), WhoHome}, err
	}, h)
}

// valued checks that a node is the home of a job of this node's people, which goes on.
// The spec is the one that this node signed.
func (g *Gate) valued(from api.NodeID, p api.PeerJobParams) (Home, error) {
	k, err := g.known(p.Job)
	if err != nil {
		return Home{}, err
	}
	if k.Spec.Principal.Node != g.cfg.Self {
		return Home{}, api.NewError(api.ReasonPeerNotAllowed, string(p.Job))
	}
	last := api.SteppedJob(k.Spec, k.Job.SpecSHA256, p.Homes)
	if last.Home != from {
		return Home{}, api.NewError(api.ReasonHomeNotProven, string(p.Job))
	}
	// A take-over that binds this node alone is no proof that another may have secrets.
	if err := last.VerifyHomes(k.Spec, g.cfg.Electors, nil); err != nil {
		return Home{}, err
	}
	if err := k.Spec.MayStart(api.TimeOf(g.cfg.Clock.Now())); err != nil {
		return Home{}, err // they are for what is started
	}
	return Home{node: from, epoch: last.Epoch, spec: k.Spec, sha256: k.Job.SpecSHA256}, g.counts(last, p.Job, true)
}

// Candidate is the proof that the home of a job, in whose place a node wants to be
// voted, is or was its home.
type Candidate struct {
	step api.Step
	spec api.JobSpec
}

// Step is the step that is voted for.
func (c Candidate) Step() api.Step { return c.step }

// Spec is the job's, as the submitter's node signed it.
func (c Candidate) Spec() api.JobSpec { return c.spec }

// VoteRoute is the route by which votes are asked for.
type VoteRoute struct{ row *Row }

// HandleVote makes the handler of the route by which votes are asked for.
func HandleVote(d VoteRoute, h func(context.Context, Candidate, api.PeerVoteParams) (any, error)) Handler {
	return proven(d.row, func(g *Gate, from api.NodeID, p api.PeerVoteParams) (proof[Candidate], error) {
		c, err := g.candidate(from, p)
		return proof[Candidate]{c, api.Principal{}, c.spec.Principal, string(p.Job), WhoMember}, err
	}, h)
}

func (g *Gate) candidate(from api.NodeID, p api.PeerVoteParams) (Candidate, error) {
	spec, err := p.OpenSpec(p.Job, g.cfg.Electors)
	if err != nil {
		return Candidate{}, err
	}
	before := api.Job{SpecSHA256: api.SpecSHA256(p.Spec), Home: p.From, Epoch: p.FromEpoch, Homes: p.Homes}
	if err := before.VerifyHomes(spec, g.cfg.Electors, g.cfg.Bound); err != nil {
		return Candidate{spec: spec}, err
	}
	c := Candidate{before.StepTo(g.cfg.Electors.Cluster(), p.Job, from, p.Epoch), spec}
	if spec.Look || !c.step.BeginsTerm() {
		return c, api.NewError(api.ReasonHomeNotProven, string(p.Job))
	}
	return c, g.counts(before, p.Job, true)
}
