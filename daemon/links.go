package daemon

import (
	"context"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
)

// linkList is the graph of the documents as they are now.
func (d *daemon) linkList(context.Context, *server.Caller, api.Empty) (api.LinkListResult, error) {
	return d.graph.build().List(), nil
}

// linkGet is one cable with what was measured on it and its readiness for RDMA.
func (d *daemon) linkGet(_ context.Context, _ *server.Caller, p api.LinkSelect) (api.LinkGetResult, error) {
	graph := d.graph.build()
	list := graph.List()
	cable, err := findCable(list.Cables, p.Link, d.find)
	if err != nil {
		return api.LinkGetResult{}, err
	}
	result := api.LinkGetResult{Cable: cable, Rows: []api.LinkRow{}, RDMA: readinessOf(graph, cable)}
	for _, row := range list.Rows {
		if cable.Link.Valid() && row.Link == cable.Link {
			result.Rows = append(result.Rows, row)
		}
	}
	return result, nil
}

// findCable finds the cable that a person means: both its ends, or one that no
// other cable has.
func findCable(cables []api.Cable, ref api.LinkRef, node func(api.NodeRef) (api.NodeID, error)) (api.Cable, error) {
	var wanted []api.LinkEnd
	for _, part := range strings.Split(string(ref), "~") {
		end, err := findEnd(part, node)
		if err != nil {
			return api.Cable{}, err
		}
		wanted = append(wanted, end)
	}
	var found []api.Cable
	for _, cable := range cables {
		if len(wanted) <= 2 && has(cable, wanted[0]) && has(cable, wanted[len(wanted)-1]) {
			found = append(found, cable)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return api.Cable{}, api.Errorf(api.ReasonNoSuchLink, string(ref), "there is no cable %q; fulmen links lists them", string(ref))
	}
	return api.Cable{}, api.Errorf(api.ReasonAmbiguousName, string(ref), "%q has %d cables, through a hub; name both ends, as NODE:1~NODE:3", string(ref), len(found))
}

func findEnd(text string, node func(api.NodeRef) (api.NodeID, error)) (api.LinkEnd, error) {
	name, number, found := strings.Cut(text, ":")
	if !found || name == "" {
		return api.LinkEnd{}, api.Errorf(api.ReasonMalformedID, text, "%q is no end of a cable; write it as NODE:RECEPTACLE, such as mac-studio:1", text)
	}
	receptacle, err := api.ParseReceptacle(number)
	if err != nil {
		return api.LinkEnd{}, err
	}
	id, err := node(api.NodeRef(name))
	return api.LinkEnd{Node: id, Receptacle: receptacle}, err
}

func has(cable api.Cable, end api.LinkEnd) bool {
	for _, one := range cable.Ends {
		if one.End == end {
			return true
		}
	}
	return false
}

// linkWatch is the graph, and every change after.
func (d *daemon) linkWatch(_ context.Context, c *server.Caller, _ api.Empty) (api.LinkWatchResult, error) {
	sub, list, err := stream(c, d.graph, linkChanges,
		func(sub api.Subscription, n uint64, change api.LinkChanged) any {
			change.Sub, change.N = sub, n
			return change
		},
		func(sub api.Subscription) any { return api.LinkChanged{Sub: sub, Lagged: true} })
	if err != nil {
		return api.LinkWatchResult{}, err
	}
	return api.LinkWatchResult{Sub: sub, LinkListResult: list}, nil
}

// linkExport writes the graph for another tool.
func (d *daemon) linkExport(_ context.Context, _ *server.Caller, p api.LinkExportParams) (api.LinkExportResult, error) {
	return export(d.graph.build(), p, d.find)
}
