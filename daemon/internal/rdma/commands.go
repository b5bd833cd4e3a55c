package rdma

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/rdma/change"
	"fulmen/daemon/internal/rdma/useractions"
	"fulmen/daemon/internal/topology"
	"fulmen/daemon/internal/topology/readiness"
)

// Devices knows which RDMA devices of this Mac may be stuck.
type Devices interface {
	// IsSuspect reports whether the device of a receptacle may be stuck.
	IsSuspect(portNumber api.PortNumber) bool
	// Used takes that one works.
	Used(portNumber api.PortNumber)
}

// Commands answer what people ask about RDMA, by the cables of a graph and the names
// that they give.
type Commands struct {
	Owner       *Owner
	Requests    *useractions.Requests
	UserActions *useractions.UserActions
	Ledger      *ledger.Ledger
	Devices     Devices
	Graph       func() topology.Graph
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
				useractions.GoesOn(fault)
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

// forgetWanted forgets that RDMA was asked for on cables that still wait for a user action,
// and reports whether it was.
func (c Commands) forgetWanted(p api.RDMAChangeParams) bool {
	if p.DryRun {
		return false
	}
	return c.Requests.Forget(func(link api.LinkID) bool {
		return p.AllReady || slices.ContainsFunc(p.Links, func(ref api.LinkRef) bool {
			ends, err := topology.FindEnds(ref, c.Find)
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
		ends, err := topology.FindEnds(ref, c.Find)
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

// isEnd reports whether a cable has an end, also one that this node changed under
// a former key.
func (c Commands) isEnd(link api.LinkID, end api.LinkEnd) bool {
	return link.Low == end || link.High == end || slices.ContainsFunc(c.Owner.held(), func(held change.Record) bool {
		return held.Link == link && end.Node == c.Ledger.Node() && end.PortNumber == held.End.PortNumber
	})
}

// changedLinks are the cables of which something can be put back, at any member.
func (c Commands) changedLinks() []api.LinkID {
	var all []api.LinkID
	for _, held := range c.Owner.held() {
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
	ends, err := topology.FindEnds(p.Link, c.Find)
	if err != nil {
		return api.RDMAHistoryResult{}, err
	}
	return api.RDMAHistoryResult{Changes: c.Owner.History(func(one api.RDMAChange) bool {
		return slices.IndexFunc(ends, func(e api.LinkEnd) bool { return one.Link.Low != e && one.Link.High != e }) < 0
	})}, nil
}

// List is every cable's readiness, and the user actions that people must make.
func (c Commands) List() (api.RDMAListResult, error) {
	graph := c.Graph()
	result := api.RDMAListResult{Links: []api.RDMAReadiness{}}
	for _, report := range graph.Readiness() {
		result.Links = append(result.Links, report.RDMAReadiness)
	}
	cables := graph.RDMACables()
	result.UserActions = readiness.UserActions(cables, c.UserActions.See(cables))
	for i := range result.UserActions {
		if e := &result.UserActions[i]; !e.Done && slices.ContainsFunc(e.Links, c.Requests.Waits) {
			e.Note = strings.TrimSpace(e.Note + " Fulmen then enables RDMA by itself.")
		}
	}
	result.Price = readiness.Price(result.UserActions)
	return result, nil
}

// Check is every check of one cable.
func (c Commands) Check(p api.LinkSelect) (api.RDMAReadiness, error) {
	graph := c.Graph()
	cable, err := topology.FindCable(graph.List().Cables, p.Link, c.Find)
	if err != nil {
		return api.RDMAReadiness{}, err
	}
	return graph.ReadinessOf(cable), nil
}

// Clear takes a person's word that this Mac's device at a cable works.
func (c Commands) Clear(p api.LinkSelect) (api.RDMAReadiness, error) {
	cable, err := topology.FindCable(c.Graph().List().Cables, p.Link, c.Find)
	if err != nil {
		return api.RDMAReadiness{}, err
	}
	isCleared := false
	for _, e := range cable.Ends {
		if e.End.Node == c.Ledger.Node() && c.Devices.IsSuspect(e.End.PortNumber) {
			c.Devices.Used(e.End.PortNumber)
			isCleared = true
		}
	}
	for _, e := range cable.Ends {
		_, isSuspect := c.Ledger.Get(api.Key{Node: e.End.Node, Kind: api.KindCondition, Name: string(api.ReasonRDMAPortSuspect) + "/" + e.End.String()})
		if isSuspect && e.End.Node != c.Ledger.Node() && !isCleared { // who is there knows
			there := c.Name(e.End.Node)
			return api.RDMAReadiness{}, api.Errorf(api.ReasonRDMAPortSuspect, e.End.String(), "The RDMA device that may be stuck is that of %s:%s.", there, e.End.PortNumber).
				WithRemedy(fmt.Sprintf("Run `fulmen rdma clear %s:%s` on %s.", there, e.End.PortNumber, there))
		}
	}
	return c.Check(p)
}
