package rdma

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/rdma/trips"
	"fulmen/daemon/internal/topology"
	"fulmen/daemon/internal/topology/readiness"
)

// Devices knows which RDMA devices of this Mac may be stuck.
type Devices interface {
	// IsSuspect reports whether the device of a receptacle may be stuck.
	IsSuspect(receptacle api.Receptacle) bool
	// Used takes that one works.
	Used(receptacle api.Receptacle)
}

// Commands answer what people ask about RDMA, by the cables of a graph and the names
// that they give.
type Commands struct {
	Owner    *Owner
	Requests *trips.Requests
	Trips    *trips.Trips
	Ledger   *ledger.Ledger
	Devices  Devices
	Graph    func() topology.Graph
	// Find finds the node that a person means; Name is what people call one.
	Find func(api.NodeRef) (api.NodeID, error)
	Name func(api.NodeID) string
}

// changing gathers what a call changes, cable by cable.
type changing struct {
	result api.RDMAChangeResult
	last   error
	asked  int
}

// take takes what came of a cable.
func (g *changing) take(changes []api.NodeRDMAChange, err error) {
	g.asked++
	if err != nil {
		g.last = err
		g.result.Refused = append(g.result.Refused, api.AsError(err).Cause())
		return
	}
	g.result.Changes = append(g.result.Changes, changes...)
}

// done is the answer: of one cable an error is an error, of several it is listed.
func (g *changing) done() (api.RDMAChangeResult, error) {
	if g.asked == 1 && g.last != nil {
		return api.RDMAChangeResult{}, g.last
	}
	if g.result.Changes == nil {
		g.result.Changes = []api.NodeRDMAChange{}
	}
	return g.result, nil
}

// Enable enables RDMA on cables, one after the other.
func (c Commands) Enable(ctx context.Context, by api.Principal, p api.RDMAChangeParams) (api.RDMAChangeResult, error) {
	if err := oneWay(p); err != nil {
		return api.RDMAChangeResult{}, err
	}
	reports, err := c.toEnable(p)
	if err != nil {
		return api.RDMAChangeResult{}, err
	}
	var all changing
	var taken []netip.Prefix // by the cables before, which in a dry run have them nowhere
	for _, report := range reports {
		if fault := readiness.Refusal(report); fault != nil {
			if !p.DryRun && c.Requests.Add(report, by) {
				trips.GoesOn(fault)
			}
			all.take(nil, fault)
			continue
		}
		if report.Verdict == api.RDMAReady && !readiness.IsAdvised(report) {
			all.take(c.changesOf(report.Link), nil)
			continue
		}
		changes, err := c.Owner.Enable(ctx, by, report.Link, p.DryRun, taken)
		for _, one := range changes {
			if one.Address.IsValid() {
				taken = append(taken, one.Address.Masked())
			}
		}
		all.take(changes, err)
	}
	return all.done()
}

// oneWay refuses parameters that name no cable, or all and some.
func oneWay(p api.RDMAChangeParams) error {
	if p.AllReady == (len(p.Links) > 0) {
		return api.Errorf(api.ReasonBadValue, "links", "Name cables, or say all_ready; one of the two.")
	}
	return nil
}

// toEnable are the cables that a person means.
func (c Commands) toEnable(p api.RDMAChangeParams) ([]readiness.Report, error) {
	graph := c.Graph()
	cables, reports := graph.List().Cables, graph.Readiness()
	if p.AllReady {
		return slices.DeleteFunc(reports, func(r readiness.Report) bool { return r.Verdict != api.RDMACanEnable || !r.Link.Valid() }), nil
	}
	var wanted []readiness.Report
	for _, ref := range p.Links {
		cable, err := topology.FindCable(cables, ref, c.Find)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(cables, func(c api.Cable) bool { return slices.Equal(c.Ends, cable.Ends) })
		wanted = append(wanted, reports[at])
	}
	return wanted, nil
}

// changesOf are what the ends of a cable say of it, where something is in force.
func (c Commands) changesOf(link api.LinkID) []api.NodeRDMAChange {
	var all []api.NodeRDMAChange
	for _, node := range []api.NodeID{link.Low.Node, link.High.Node} {
		if one, known := ChangeOf(c.Ledger, node, link); known && one.State != api.RDMAChangeUndone {
			all = append(all, api.NodeRDMAChange{Node: node, RDMAChange: one})
		}
	}
	return all
}

// Disable switches RDMA off on cables.
func (c Commands) Disable(ctx context.Context, by api.Principal, p api.RDMAChangeParams) (api.RDMAChangeResult, error) {
	return c.back(ctx, by, p, c.Owner.Disable)
}

// Undo puts cables back as they were.
func (c Commands) Undo(ctx context.Context, by api.Principal, p api.RDMAChangeParams) (api.RDMAChangeResult, error) {
	return c.back(ctx, by, p, c.Owner.Undo)
}

// back puts changes back.
func (c Commands) back(ctx context.Context, by api.Principal, p api.RDMAChangeParams,
	back func(context.Context, api.Principal, api.LinkID) ([]api.NodeRDMAChange, error),
) (api.RDMAChangeResult, error) {
	if err := oneWay(p); err != nil {
		return api.RDMAChangeResult{}, err
	}
	links, err := c.toPutBack(p)
	if c.forgetWanted(p) && errors.Is(err, api.ReasonRDMANothingToUndo) {
		err = nil // that was all
	}
	if err != nil {
		return api.RDMAChangeResult{}, err
	}
	var all changing
	for _, link := range links {
		if p.DryRun {
			all.take(c.changesOf(link), nil)
			continue
		}
		all.take(back(ctx, by, link))
	}
	return all.done()
}

// forgetWanted forgets that RDMA was asked for on cables that still wait for a trip,
// and reports whether it was.
func (c Commands) forgetWanted(p api.RDMAChangeParams) bool {
	if p.DryRun {
		return false
	}
	return c.Requests.Forget(func(link api.LinkID) bool {
		return p.AllReady || slices.ContainsFunc(p.Links, func(ref api.LinkRef) bool {
			ends, err := c.endsOf(ref)
			return err == nil && !slices.ContainsFunc(ends, func(e api.LinkEnd) bool { return link.Low != e && link.High != e })
		})
	})
}

// toPutBack are the cables that a person means, of those that something was
// changed on.
func (c Commands) toPutBack(p api.RDMAChangeParams) ([]api.LinkID, error) {
	changed := c.changedLinks()
	if p.AllReady {
		return changed, nil
	}
	var wanted []api.LinkID
	for _, ref := range p.Links {
		var found []api.LinkID
		ends, err := c.endsOf(ref)
		if err != nil {
			return nil, err
		}
		for _, link := range changed {
			if slices.IndexFunc(ends, func(e api.LinkEnd) bool { return !c.isEnd(link, e) }) < 0 {
				found = append(found, link)
			}
		}
		switch len(found) {
		case 0:
			return nil, api.NewError(api.ReasonRDMANothingToUndo, string(ref))
		case 1:
			wanted = append(wanted, found[0])
		default:
			return nil, api.Errorf(api.ReasonAmbiguousName, string(ref), "%q has %d cables; name both ends, as NODE:1~NODE:3", string(ref), len(found))
		}
	}
	return wanted, nil
}

func (c Commands) endsOf(ref api.LinkRef) (ends []api.LinkEnd, err error) {
	for part := range strings.SplitSeq(string(ref), "~") {
		end, err := topology.FindEnd(part, c.Find)
		if err != nil {
			return nil, err
		}
		ends = append(ends, end)
	}
	return ends, nil
}

// isEnd reports whether a cable has an end, also one that this node changed under
// a former key.
func (c Commands) isEnd(link api.LinkID, end api.LinkEnd) bool {
	if link.Low == end || link.High == end {
		return true
	}
	for _, held := range c.Owner.Held() {
		if held.Link == link && end.Node == c.Ledger.Node() && end.Receptacle == held.End.Receptacle {
			return true
		}
	}
	return false
}

// changedLinks are the cables of which something can be put back, at any member.
func (c Commands) changedLinks() []api.LinkID {
	var all []api.LinkID
	for _, held := range c.Owner.Held() {
		all = append(all, held.Link)
	}
	for _, record := range c.Ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindRDMAChange}}) {
		var one api.RDMAChange
		if record.Decode(&one) == nil && one.State != api.RDMAChangeUndone {
			all = append(all, one.Link)
		}
	}
	slices.SortFunc(all, api.LinkID.Compare)
	return slices.Compact(all)
}

// History is the audit log of this node.
func (c Commands) History(p api.RDMAHistoryParams) (api.RDMAHistoryResult, error) {
	if p.Link == "" {
		return api.RDMAHistoryResult{Changes: c.Owner.History(nil)}, nil
	}
	ends, err := c.endsOf(p.Link)
	if err != nil {
		return api.RDMAHistoryResult{}, err
	}
	return api.RDMAHistoryResult{Changes: c.Owner.History(func(one api.RDMAChange) bool {
		return slices.IndexFunc(ends, func(e api.LinkEnd) bool { return one.Link.Low != e && one.Link.High != e }) < 0
	})}, nil
}
