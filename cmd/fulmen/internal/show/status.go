package show

import (
	"fmt"
	"io"

	"fulmen/cmd/fulmen/internal/text"
	"fulmen/daemon/api"
)

// Status is what fulmen status shows. In JSON each field is the result of the
// method that its comment names.
type Status struct {
	// Info is daemon.info.
	Info api.DaemonInfoResult `json:"info"`
	// Nodes is node.list.
	Nodes api.NodeListResult `json:"nodes"`
	// Conditions is node.conditions.
	Conditions api.NodeConditionsResult `json:"conditions"`
	// State is state.get of the kinds identity, memory and gpu-profile.
	State api.StateGetResult `json:"state"`
}

// Status writes the daemon, its node, the cluster if there is one, and what is
// wrong.
func (v View) Status(w io.Writer, s Status) error {
	names := map[api.NodeID]string{}
	self := api.NodeView{Node: s.Info.Node}
	for _, n := range s.Nodes.Nodes {
		names[n.Node] = n.ShortName
		if n.Self {
			self = n
		}
	}
	up := ""
	if !s.Info.StartedAt.IsZero() {
		up = ", started " + text.Ago(v.Now, s.Info.StartedAt.Time)
	}
	_, err := fmt.Fprintf(w, "Fulmen %s is running%s (%s mode, pid %d).\n\n", text.Clean(s.Info.Version), up, text.Clean(string(s.Info.Mode)), s.Info.PID)
	if err != nil {
		return err
	}
	table := text.NewTable()
	f := facts{v, self.Node, s.State.Docs}
	for _, line := range f.machine(self) {
		table.Row("", line[0], line[1])
	}
	if v.Wide {
		table.Row("", "cluster", string(s.Info.Cluster))
		table.Row("", "API", s.Info.APIURL)
		table.Row("", "socket", s.Info.Socket)
		table.Row("", "state", s.Info.StateFolder)
	}
	if err := table.Write(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if s.Nodes.Totals.Members > 1 {
		if err := v.Nodes(w, s.Nodes, s.State.Docs); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	return v.Conditions(w, s.Conditions.Conditions, names)
}
