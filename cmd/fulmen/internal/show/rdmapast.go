package show

import (
	"fmt"
	"io"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// RDMAPast writes what was changed for RDMA on this Mac, the newest first, and what
// tests over RDMA gave.
func (v View) RDMAPast(w io.Writer, changes []api.RDMAChange, tests []api.PathHistory, nodes []api.NodeView) error {
	n := namesOf(nodes)
	if len(changes) == 0 {
		if err := line(w, "Nothing has been changed for RDMA on this Mac."); err != nil {
			return err
		}
	}
	for _, c := range changes {
		by := c.By
		if c.UndoneBy.Valid() {
			by = c.UndoneBy
		}
		who := ""
		if by.Valid() {
			who = fmt.Sprintf(" (%s of %s)", by.User, n.of(by.Node))
		}
		if err := line(w, fmt.Sprintf("%s, %s: %s%s", text.Ago(v.Now, c.Since.Time), n.link(c.Link), changeWord(c), who)); err != nil {
			return err
		}
		if !v.Wide {
			continue
		}
		for _, s := range c.Steps {
			if err := step(w, s, ChangeOf{}); err != nil {
				return err
			}
		}
	}
	if len(tests) == 0 {
		return line(w, "No cable was tested over RDMA. Test one with: fulmen rdma probe LINK")
	}
	if _, err := fmt.Fprint(w, "\nTests over RDMA:\n\n"); err != nil {
		return err
	}
	return v.History(w, api.LinkHistoryResult{Paths: tests}, nodes)
}
