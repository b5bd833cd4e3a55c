package show

import (
	"fmt"
	"io"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// RDMAChanges writes what became of cables, step by step, end by end, and which
// were left and why. With dry it is what would be changed, or put back where undo
// is set.
func (v View) RDMAChanges(w io.Writer, result api.RDMAChangeResult, dry, undo bool, nodes []api.NodeView) error {
	n := namesOf(nodes)
	if len(result.Changes) == 0 && len(result.Refused) == 0 {
		word := "No cable is waiting to be enabled. What each lacks: fulmen rdma"
		if undo {
			word = "Fulmen has changed nothing that could be put back."
		}
		_, err := fmt.Fprintln(w, word)
		return err
	}
	var last api.LinkID
	for i, c := range result.Changes {
		if c.Link != last {
			if last = c.Link; i > 0 {
				fmt.Fprintln(w)
			}
			if err := line(w, n.link(c.Link)); err != nil {
				return err
			}
		}
		if err := n.change(w, c, dry, undo); err != nil {
			return err
		}
	}
	for i, cause := range result.Refused {
		if i > 0 || len(result.Changes) > 0 {
			fmt.Fprintln(w)
		}
		if err := line(w, "Left as it is: "+cause.Message); err != nil {
			return err
		}
		if cause.Remedy != "" {
			if err := line(w, "  "+cause.Remedy); err != nil {
				return err
			}
		}
	}
	if dry {
		_, err := fmt.Fprintln(w, "\nNothing was changed: this is what would be done.")
		return err
	}
	return nil
}

// change writes one end.
func (n names) change(w io.Writer, c api.NodeRDMAChange, dry, undo bool) error {
	head := fmt.Sprintf("  %s: %s", n.of(c.Node), changeWord(c.RDMAChange))
	if dry {
		head = fmt.Sprintf("  %s:", n.of(c.Node))
	}
	if err := line(w, head); err != nil {
		return err
	}
	for i := range c.Steps {
		s := c.Steps[i]
		if undo {
			s = c.Steps[len(c.Steps)-1-i] // the last is put back first
		}
		if err := step(w, s, dry, undo); err != nil {
			return err
		}
	}
	return nil
}

// step writes a step with what became of it, or is to become.
func step(w io.Writer, s api.RDMAStep, dry, undo bool) error {
	err := line(w, fmt.Sprintf("    %-11s  %s", stepState(s, dry, undo), s.Text))
	if err != nil || s.State != api.RDMAStepLeft || s.Found == nil {
		return err
	}
	return line(w, fmt.Sprintf("    %-11s  Now it is: %s.", "", *s.Found))
}

// stepState is what became of a step, or is to become of it.
func stepState(s api.RDMAStep, dry, undo bool) string {
	switch {
	case dry && undo && s.State != api.RDMAStepUndone:
		return "to put back"
	case dry:
		return "to do"
	}
	return map[api.RDMAStepState]string{
		api.RDMAStepPlanned: "not done", api.RDMAStepDone: "done", api.RDMAStepUndone: "put back", api.RDMAStepLeft: "left",
	}[s.State]
}

// changeWord is how far an end has come.
func changeWord(c api.RDMAChange) string {
	word := map[api.RDMAChangeState]string{
		api.RDMAChangePlanned:  "planned.",
		api.RDMAChangeApplying: "being changed.",
		api.RDMAChangeProving:  "changed; it waits for the other end.",
		api.RDMAChangeActive:   "RDMA is enabled.",
		api.RDMAChangeUndoing:  "being put back.",
		api.RDMAChangeUndone:   "put back.",
		api.RDMAChangePartial:  "put back but for what somebody has changed since.",
	}[c.State]
	if c.State == api.RDMAChangeActive && c.Address.IsValid() {
		word = fmt.Sprintf("RDMA is enabled, %s has %s.", c.Interface, c.Address)
	}
	if c.State == api.RDMAChangeUndone && c.Message != "" {
		word = "put back, since " + c.Message + "."
	}
	return word
}

// link is a cable by its ends.
func (n names) link(l api.LinkID) string { return n.end(l.Low) + " ~ " + n.end(l.High) }

func line(w io.Writer, s string) error {
	_, err := fmt.Fprintln(w, text.Clean(s))
	return err
}

// RDMAProgress is how far one end of a change has come, as one line.
func RDMAProgress(node api.NodeID, c api.RDMAChange, nodes []api.NodeView) string {
	n := namesOf(nodes)
	done := 0
	for _, s := range c.Steps {
		if s.State == api.RDMAStepDone || s.State == api.RDMAStepUndone {
			done++
		}
	}
	word := changeWord(c)
	if c.State == api.RDMAChangeApplying || c.State == api.RDMAChangeUndoing {
		word = fmt.Sprintf("%s, %d of %d.", word[:len(word)-1], done, len(c.Steps))
	}
	end, _ := c.Link.End(node)
	return text.Clean(fmt.Sprintf("%s: %s", n.end(end), word))
}
