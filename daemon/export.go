package daemon

import (
	"encoding/json"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
)

// export writes a graph in a form that other tools read. An error names what is
// missing.
func export(graph topology.Graph, p api.LinkExportParams, find func(api.NodeRef) (api.NodeID, error)) (api.LinkExportResult, error) {
	var nodes []api.NodeID
	for _, ref := range p.Nodes {
		node, err := find(ref)
		if err != nil {
			return api.LinkExportResult{}, err
		}
		nodes = append(nodes, node)
	}
	var result api.LinkExportResult
	switch p.Form {
	case api.ExportJSON:
		text, err := json.MarshalIndent(graph.List(), "", "  ")
		if err != nil {
			return result, err
		}
		result.Text, result.Notes = string(text)+"\n", graph.Notes
	case api.ExportDOT:
		result.Text, result.Notes = graph.DOT(), graph.Notes
	case api.ExportHostfile:
		text, notes, err := graph.Hostfile(nodes, p.Backend)
		if err != nil {
			return result, err
		}
		result.Text, result.Notes = text, notes
	case api.ExportMatrix:
		matrix, notes, err := graph.Matrix(nodes, p.Backend)
		if err != nil {
			return result, err
		}
		result.Text, result.Notes = matrix.Text(), notes
	default:
		return result, api.Errorf(api.ReasonBadValue, "form", "%q is no form; it is one of json, dot, hostfile, matrix", string(p.Form))
	}
	return result, nil
}
