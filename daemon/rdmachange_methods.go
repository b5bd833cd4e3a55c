package daemon

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/topology"
	"fulmen/daemon/internal/topology/readiness"
)

// rdmaChangeHandlers are the methods that change RDMA, and that tell who did.
func (d *daemon) rdmaChangeHandlers() server.Handlers {
	return server.Handlers{
		"rdma.enable": server.Handle(d.rdmaEnable),
		"rdma.disable": server.Handle(func(ctx context.Context, c *server.Caller, p api.RDMAChangeParams) (api.RDMAChangeResult, error) {
			return d.rdmaBack(ctx, c, p, d.changes.Disable)
		}),
		"rdma.undo": server.Handle(func(ctx context.Context, c *server.Caller, p api.RDMAChangeParams) (api.RDMAChangeResult, error) {
			return d.rdmaBack(ctx, c, p, d.changes.Undo)
		}),
		"rdma.history": server.Handle(d.rdmaHistory),
	}
}

// principal is the person who calls.
func (d *daemon) principal(c *server.Caller) api.Principal {
	return api.Principal{User: server.UserName(c.UID), Node: d.identity.Node}
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

// rdmaEnable enables RDMA on cables, one after the other.
func (d *daemon) rdmaEnable(ctx context.Context, c *server.Caller, p api.RDMAChangeParams) (api.RDMAChangeResult, error) {
	if err := oneWay(p); err != nil {
		return api.RDMAChangeResult{}, err
	}
	reports, err := d.toEnable(p)
	if err != nil {
		return api.RDMAChangeResult{}, err
	}
	var all changing
	var taken []netip.Prefix // by the cables before, in a dry run
	for _, report := range reports {
		if fault := readiness.Refusal(report); fault != nil {
			if !p.DryRun && d.continued.want(report, d.principal(c)) {
				goesOn(fault)
			}
			all.take(nil, fault)
			continue
		}
		if report.Verdict == api.RDMAReady && !readiness.IsAdvised(report) {
			all.take(d.changesOf(report.Link), nil)
			continue
		}
		changes, err := d.changes.Enable(ctx, d.principal(c), report.Link, p.DryRun, taken)
		for _, one := range changes {
			if p.DryRun && one.Address.IsValid() {
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
func (d *daemon) toEnable(p api.RDMAChangeParams) ([]readiness.Report, error) {
	graph := d.graph.Build()
	cables, reports := graph.List().Cables, graph.Readiness()
	if p.AllReady {
		return slices.DeleteFunc(reports, func(r readiness.Report) bool { return r.Verdict != api.RDMACanEnable || !r.Link.Valid() }), nil
	}
	var wanted []readiness.Report
	for _, ref := range p.Links {
		cable, err := topology.FindCable(cables, ref, d.find)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(cables, func(c api.Cable) bool { return slices.Equal(c.Ends, cable.Ends) })
		wanted = append(wanted, reports[at])
	}
	return wanted, nil
}

// changesOf are what the ends of a cable say of it, where something is in force.
func (d *daemon) changesOf(link api.LinkID) []api.NodeRDMAChange {
	var all []api.NodeRDMAChange
	for _, node := range []api.NodeID{link.Low.Node, link.High.Node} {
		if one, known := d.changeOf(node, link); known && one.State != api.RDMAChangeUndone {
			all = append(all, api.NodeRDMAChange{Node: node, RDMAChange: one})
		}
	}
	return all
}

// rdmaBack puts changes back.
func (d *daemon) rdmaBack(ctx context.Context, c *server.Caller, p api.RDMAChangeParams,
	back func(context.Context, api.Principal, api.LinkID) ([]api.NodeRDMAChange, error),
) (api.RDMAChangeResult, error) {
	if err := oneWay(p); err != nil {
		return api.RDMAChangeResult{}, err
	}
	links, err := d.toPutBack(p)
	if d.forgetWanted(p) && errors.Is(err, api.ReasonRDMANothingToUndo) {
		err = nil // that was all
	}
	if err != nil {
		return api.RDMAChangeResult{}, err
	}
	var all changing
	for _, link := range links {
		if p.DryRun {
			all.take(d.changesOf(link), nil)
			continue
		}
		all.take(back(ctx, d.principal(c), link))
	}
	return all.done()
}

// forgetWanted forgets that RDMA was asked for on cables that still wait for a trip,
// and reports whether it was.
func (d *daemon) forgetWanted(p api.RDMAChangeParams) bool {
	if p.DryRun {
		return false
	}
	return d.continued.forget(func(link api.LinkID) bool {
		return p.AllReady || slices.ContainsFunc(p.Links, func(ref api.LinkRef) bool {
			ends, err := d.endsOf(ref)
			return err == nil && !slices.ContainsFunc(ends, func(e api.LinkEnd) bool { return link.Low != e && link.High != e })
		})
	})
}

// toPutBack are the cables that a person means, of those that something was
// changed on.
func (d *daemon) toPutBack(p api.RDMAChangeParams) ([]api.LinkID, error) {
	changed := d.changedLinks()
	if p.AllReady {
		return changed, nil
	}
	var wanted []api.LinkID
	for _, ref := range p.Links {
		var found []api.LinkID
		ends, err := d.endsOf(ref)
		if err != nil {
			return nil, err
		}
		for _, link := range changed {
			if slices.IndexFunc(ends, func(e api.LinkEnd) bool { return !d.isEnd(link, e) }) < 0 {
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

func (d *daemon) endsOf(ref api.LinkRef) (ends []api.LinkEnd, err error) {
	for part := range strings.SplitSeq(string(ref), "~") {
		end, err := topology.FindEnd(part, d.find)
		if err != nil {
			return nil, err
		}
		ends = append(ends, end)
	}
	return ends, nil
}

// isEnd reports whether a cable has an end, also one that this node changed under
// a former key.
func (d *daemon) isEnd(link api.LinkID, end api.LinkEnd) bool {
	if link.Low == end || link.High == end {
		return true
	}
	for _, held := range d.changes.Held() {
		if held.Link == link && end.Node == d.identity.Node && end.Receptacle == held.End.Receptacle {
			return true
		}
	}
	return false
}

// changedLinks are the cables of which something can be put back, at any member.
func (d *daemon) changedLinks() []api.LinkID {
	var all []api.LinkID
	for _, held := range d.changes.Held() {
		all = append(all, held.Link)
	}
	for _, record := range d.ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindRDMAChange}}) {
		var one api.RDMAChange
		if record.Decode(&one) == nil && one.State != api.RDMAChangeUndone {
			all = append(all, one.Link)
		}
	}
	slices.SortFunc(all, api.LinkID.Compare)
	return slices.Compact(all)
}

// rdmaHistory is the audit log of this node.
func (d *daemon) rdmaHistory(_ context.Context, _ *server.Caller, p api.RDMAHistoryParams) (api.RDMAHistoryResult, error) {
	if p.Link == "" {
		return api.RDMAHistoryResult{Changes: d.changes.History(nil)}, nil
	}
	ends, err := d.endsOf(p.Link)
	if err != nil {
		return api.RDMAHistoryResult{}, err
	}
	return api.RDMAHistoryResult{Changes: d.changes.History(func(c api.RDMAChange) bool {
		return slices.IndexFunc(ends, func(e api.LinkEnd) bool { return c.Link.Low != e && c.Link.High != e }) < 0
	})}, nil
}
