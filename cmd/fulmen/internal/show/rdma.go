package show

import (
	"fmt"
	"io"
	"strings"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// portRDMA is a port's RDMA in a few words; empty where nothing is told.
func portRDMA(docs []api.Document, end api.LinkEnd) string {
	for _, d := range docs {
		var r api.RDMA
		if d.Node == end.Node && d.Kind == api.KindRDMA && !d.Deleted && d.Decode(&r) == nil && r.Receptacle == end.Receptacle {
			return "RDMA " + rdmaState(r)
		}
	}
	return ""
}

// rdmaState is what stands between a port and RDMA, the first of it; else the
// state of its device.
func rdmaState(r api.RDMA) string {
	no := func(b *bool) bool { return b != nil && !*b }
	switch {
	case no(r.HardwareCapable):
		return "not in this hardware"
	case no(r.OSCapable):
		return "needs a newer system"
	case no(r.SwitchedOn):
		return "off"
	case r.Device != nil:
		return join(" ", string(r.Device.PortState), "("+r.Device.Name+")")
	case r.SwitchedOn != nil:
		return "on, no device"
	}
	return text.Unknown
}

// rdmaChange is what became different about RDMA on a port.
func rdmaChange(a, b api.RDMA) string {
	var out []string
	switch {
	case isSet(b.SwitchedOn) && !isSet(a.SwitchedOn):
		out = append(out, "switched on")
	case isSet(a.SwitchedOn) && b.SwitchedOn != nil && !*b.SwitchedOn:
		out = append(out, "switched off")
	}
	switch x, y := a.Device, b.Device; {
	case x == nil && y == nil:
	case x == nil:
		out = append(out, "device "+y.Name+" appeared"+prefixed(", port ", string(y.PortState)))
	case y == nil:
		out = append(out, "device "+x.Name+" is gone")
	default:
		if x.PortState != y.PortState {
			out = append(out, fmt.Sprintf("%s: port %s, was %s", y.Name, orNone(string(y.PortState)), orNone(string(x.PortState))))
		}
		gained, lost := compare(gids(x), gids(y))
		out = append(out, listed(y.Name+" gained GID ", gained)...)
		out = append(out, listed(y.Name+" lost GID ", lost)...)
	}
	return strings.Join(out, "; ")
}

func gids(d *api.RDMADevice) map[string]bool {
	out := map[string]bool{}
	for _, g := range d.GIDs {
		out[g.Address.String()] = true
	}
	return out
}

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

// RDMA writes what the trips of people cost that are still to be made, then every
// cable with its verdict, then the steps of the trips.
func (v View) RDMA(w io.Writer, list api.RDMAListResult, nodes []api.NodeView) error {
	n := namesOf(nodes)
	if list.Price != "" {
		if _, err := fmt.Fprintf(w, "%s\n\n", text.Clean(list.Price)); err != nil {
			return err
		}
	}
	if len(list.Links) == 0 {
		_, err := fmt.Fprintln(w, "No Thunderbolt cable is plugged in. See the ports with: fulmen topology")
		return err
	}
	table := text.NewTable("CABLE", "RDMA", "")
	for _, r := range list.Links {
		table.Row(n.rdmaCable(r), rdmaVerdict(r.Verdict), join(" ", r.Text, simulated(r.Simulated)))
	}
	if err := table.Write(w); err != nil {
		return err
	}
	for _, e := range list.Errands {
		if err := n.errand(w, e); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, "\nEvery check of a cable: fulmen rdma check LINK")
	return err
}

// errand writes the steps at one Mac.
func (n names) errand(w io.Writer, e api.RDMAErrand) error {
	head := fmt.Sprintf("At %s, about %s, for %s:", n.of(e.Node), count(int(e.EstimateS+59)/60, "minute"), count(len(e.Links), "cable"))
	if e.Done {
		head = fmt.Sprintf("At %s:", n.of(e.Node))
	}
	if _, err := fmt.Fprintf(w, "\n%s\n", text.Clean(head)); err != nil {
		return err
	}
	for i, s := range e.Steps {
		mark := " "
		if s.Done {
			mark = "x"
		}
		if _, err := fmt.Fprintf(w, "  [%s] %d. %s\n", mark, i+1, text.Clean(s.Text)); err != nil {
			return err
		}
	}
	if e.Note == "" {
		return nil
	}
	_, err := fmt.Fprintf(w, "  %s\n", text.Clean(e.Note))
	return err
}

// rdmaCable is both ends of a cable, as tables of cables have it.
func (n names) rdmaCable(r api.RDMAReadiness) string {
	return n.cable(api.Cable{Ends: r.Ends, PeerName: r.PeerName})
}

// RDMAChecks writes all checks of cables: each cable with its verdict, and what was
// found, with what to do.
func (v View) RDMAChecks(w io.Writer, all []api.RDMAReadiness, nodes []api.NodeView) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "No Thunderbolt cable is plugged in. See the ports with: fulmen topology")
		return err
	}
	n := namesOf(nodes)
	for i, r := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		table := text.NewTable()
		table.Row("cable", join(" ", n.rdmaCable(r), simulated(r.Simulated)))
		for _, e := range r.Ends {
			table.Row("", join("  ", n.end(e.End), e.Place, e.Interface, e.Device))
		}
		table.Row("RDMA", join(": ", rdmaVerdict(r.Verdict), r.Text))
		if r.ProbesSinceBoot > 0 {
			table.Row("tests", fmt.Sprintf("%d since the Mac started", r.ProbesSinceBoot))
		}
		if err := table.Write(w); err != nil {
			return err
		}
		if err := v.rdmaChecks(w, r.Checks, n); err != nil {
			return err
		}
	}
	return nil
}
