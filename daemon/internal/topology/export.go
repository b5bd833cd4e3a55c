package topology

import (
	"encoding/json"

	"fulmen/daemon/api"
)

// Export writes a graph in a form that other tools read. An error names what is
// missing.
func (g Graph) Export(p api.LinkExportParams, find func(api.NodeRef) (api.NodeID, error)) (api.LinkExportResult, error) {
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
		text, err := json.MarshalIndent(g.List(), "", "  ")
		if err != nil {
			return result, err
		}
		result.Text, result.Notes = string(text)+"\n", g.Notes
	case api.ExportDOT:
		result.Text, result.Notes = g.DOT(), g.Notes
	case api.ExportHostfile:
		text, notes, err := g.Hostfile(nodes, p.Backend)
		if err != nil {
			return result, err
		}
		result.Text, result.Notes = text, notes
	case api.ExportMatrix:
		matrix, notes, err := g.Matrix(nodes, p.Backend)
		if err != nil {
			return result, err
		}
		result.Text, result.Notes = matrix.Text(), notes
	default:
		return result, api.Errorf(api.ReasonBadValue, "form", "%q is no form; it is one of json, dot, hostfile, matrix", string(p.Form))
	}
	return result, nil
}
