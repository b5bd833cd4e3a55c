package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// removes answers cluster.remove as a daemon would with roster3.
func (r *rig) removes() {
	r.daemon.Set("cluster.remove", func(raw json.RawMessage) (any, error) {
		var p api.ClusterRemoveParams
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, err
		}
		var result api.ClusterRemoveResult
		gone := map[api.NodeID]bool{}
		for _, n := range p.Nodes {
			for _, m := range roster3() {
				if string(m.Node) == string(n) || m.ShortName == string(n) {
					result.Removed = append(result.Removed, m.Node)
					gone[m.Node] = true
				}
			}
		}
		if len(result.Removed) < len(p.Nodes) {
			return nil, api.Errorf(api.ReasonBadValue, "nodes", "there is no such node")
		}
		for _, m := range roster3() {
			if gone[m.AddedBy] && !gone[m.Node] {
				result.Invited = append(result.Invited, m.Node)
			}
		}
		return result, nil
	})
}

// removed are the nodes that were really removed.
func (r *rig) removed() []api.NodeRef {
	var out []api.NodeRef
	for _, raw := range r.called("cluster.remove") {
		var p api.ClusterRemoveParams
		is.New(r.t).NoErr(json.Unmarshal([]byte(raw), &p))
		if !p.DryRun {
			out = append(out, p.Nodes...)
		}
	}
	return out
}

func TestRemove(t *testing.T) {
	ref := func(nodes ...api.NodeID) []api.NodeRef { return nodeRefs(nodes) }
	for _, c := range []struct {
		args, input string
		terminal    bool
		status      int
		removed     []api.NodeRef
		reports     string
	}{
		{"mac-mini", "", false, 1, nil, "no terminal here to ask"},
		{"mac-mini --yes", "", false, 0, ref(mini), "who stay unless --with-invited is given:\n  macbook  j79r-4zr5-5xd4-ph64  added by mac-mini 7 h ago"},
		{"mac-mini --yes --with-invited", "", false, 0, ref(mini, book), "Removed: mac-mini, macbook."},
		{"mac-studio --yes --with-invited", "", false, 0, ref(studio, mini, book), "This Mac has left the cluster."},
		{"mac-mini --dry-run", "", false, 0, nil, "These would be removed, for good:\n  mac-mini"},
		{"mac-mini", "n\nn\n", true, 1, nil, "Nothing was removed."},
		{"mac-mini", "", true, 1, nil, "Nothing was removed."},
		{"mac-mini", "n\ny\n", true, 0, ref(mini), "Remove mac-mini? This cannot be undone. [y/N]"},
		{"mac-mini", "y\ny\n", true, 0, ref(mini, book), "Remove mac-mini, macbook? This cannot be undone. [y/N]"},
		{"macbook", "yes\n", true, 0, ref(book), "Removed: macbook."},
		{"nobody --yes", "", false, 1, nil, "there is no such node"},
		{"mac-mini --yes --dry-run", "", false, 2, nil, "contradict"},
	} {
		t.Run(c.args+" "+c.input, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t, c.input)
			r.app.InTerminal = c.terminal
			r.removes()
			is.Equal(r.run(append([]string{"remove"}, strings.Fields(c.args)...)...), c.status)
			is.Equal(r.removed(), c.removed)
			if reported := r.out.String() + r.err.String(); !strings.Contains(reported, c.reports) {
				t.Errorf("it does not say %q:\n%s", c.reports, reported)
			}
		})
	}
}
