package show

import (
	"fmt"
	"io"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// ChangeOf says what was asked for.
type ChangeOf struct {
	// Undo is to put back, else to enable.
	Undo bool
	// Dry is to say only what would be done.
	Dry bool
	// Named says that cables were named, else all are meant.
	Named bool
}

// nothing says that there was nothing to do.
func (c ChangeOf) nothing() string {
	switch {
	case c.Undo:
		return "Fulmen has changed nothing that could be put back."
	case c.Named:
		return "RDMA is ready already, and not by Fulmen: nothing was changed."
	}
	return "No cable is waiting to be enabled. What each lacks: fulmen rdma"
}

// RDMAChanges writes what became of cables, step by step, end by end, and which
// were left and why.
func (v View) RDMAChanges(w io.Writer, result api.RDMAChangeResult, of ChangeOf, nodes []api.NodeView) error {
	n := namesOf(nodes)
	if len(result.Changes) == 0 && len(result.Refused) == 0 {
		return line(w, of.nothing())
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
		if err := n.change(w, c, of); err != nil {
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
	if of.Dry {
		_, err := fmt.Fprintln(w, "\nNothing was changed: this is what would be done.")
		return err
	}
	return nil
}

// change writes one end.
func (n names) change(w io.Writer, c api.NodeRDMAChange, of ChangeOf) error {
	head := fmt.Sprintf("  %s: %s", n.of(c.Node), changeWord(c.RDMAChange))
	if of.Dry {
		head = fmt.Sprintf("  %s:", n.of(c.Node))
	}
	if err := line(w, head); err != nil {
		return err
	}
	for i := range c.Steps {
		s := c.Steps[i]
		if of.Undo {
			s = c.Steps[len(c.Steps)-1-i] // the last is put back first
		}
		if err := step(w, s, of); err != nil {
			return err
		}
	}
	return nil
}

// step writes a step with what became of it, or is to become.
func step(w io.Writer, s api.RDMAStep, of ChangeOf) error {
	err := line(w, fmt.Sprintf("    %-11s  %s", stepState(s, of), s.Text))
	if err != nil || s.State != api.RDMAStepLeft || s.Found == nil {
		return err
	}
	return line(w, fmt.Sprintf("    %-11s  Now it is: %s.", "", *s.Found))
}

// stepState is what became of a step, or is to become of it.
func stepState(s api.RDMAStep, of ChangeOf) string {
	switch {
	case of.Dry && of.Undo && s.State != api.RDMAStepUndone:
		return "to put back"
	case of.Dry:
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
	if c.State == api.RDMAChangeActive && c.Reason != "" {
		word += " It was not tested with data: " + c.Message
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
