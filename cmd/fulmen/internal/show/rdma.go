package show

import (
	"fmt"
	"strings"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// portRDMA is a port's RDMA in a few words; empty where nothing is told.
func portRDMA(docs []api.Document, end api.LinkEnd) string {
	for _, d := range docs {
		var r api.RDMA
		if d.Node == end.Node && d.Kind == api.KindRDMA && !d.Deleted && d.Decode(&r) == nil && r.PortNumber == end.PortNumber {
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
		out = append(out, compared("GID ", y.Name, gids(x), gids(y))...)
	}
	return strings.Join(out, "; ")
}

func gids(d *api.RDMADevice) (out []string) {
	for _, g := range d.GIDs {
		out = append(out, g.Address.String())
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
		return "There is nothing to put back: Fulmen has changed nothing here."
	case c.Named:
		return "RDMA is already set up, but not by Fulmen: nothing was changed."
	}
	return "No cable is ready to be enabled. To see what each one lacks: fulmen rdma"
}

// RDMAChanges writes what became of cables, step by step, end by end, and which
// were left and why.
func (v View) RDMAChanges(w *Page, result api.RDMAChangeResult, of ChangeOf, nodes []api.NodeView) {
	n := NamesOf(nodes)
	if len(result.Changes) == 0 && len(result.Refused) == 0 {
		w.Line(of.nothing())
		return
	}
	var last api.LinkID
	for i, c := range result.Changes {
		if c.Link != last {
			if last = c.Link; i > 0 {
				fmt.Fprintln(w)
			}
			w.Line(n.link(c.Link))
		}
		n.change(w, c, of)
	}
	for i, cause := range result.Refused {
		if i > 0 || len(result.Changes) > 0 {
			fmt.Fprintln(w)
		}
		w.Line("Left as it is: " + cause.Message)
		if cause.Remedy != "" {
			w.Line("  " + cause.Remedy)
		}
	}
	if of.Dry {
		fmt.Fprintln(w, "\nThis is what would be done; nothing was changed.")
		return
	}
}

// change writes one end.
func (n Names) change(w *Page, c api.NodeRDMAChange, of ChangeOf) {
	head := fmt.Sprintf("  %s: %s", n.Of(c.Node), changeWord(c.RDMAChange))
	if of.Dry {
		head = fmt.Sprintf("  %s:", n.Of(c.Node))
	}
	w.Line(head)
	for i := range c.Steps {
		s := c.Steps[i]
		if of.Undo {
			s = c.Steps[len(c.Steps)-1-i] // the last is put back first
		}
		step(w, s, of)
	}
}

// step writes a step with what became of it, or is to become.
func step(w *Page, s api.RDMAStep, of ChangeOf) {
	w.Line(fmt.Sprintf("    %-11s  %s", stepState(s, of), s.Text))
	if s.State == api.RDMAStepLeft && s.Found != nil {
		w.Line(fmt.Sprintf("    %-11s  Now it is: %s.", "", *s.Found))
	}
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
		api.RDMAChangeProving:  "changed; waiting for the other end.",
		api.RDMAChangeActive:   "RDMA is enabled.",
		api.RDMAChangeUndoing:  "being put back.",
		api.RDMAChangeUndone:   "put back.",
		api.RDMAChangePartial:  "put back, except what somebody has changed since.",
	}[c.State]
	if c.State == api.RDMAChangeActive && c.Address.IsValid() {
		word = fmt.Sprintf("RDMA is enabled, %s has %s.", c.Interface, c.Address)
	}
	if c.State == api.RDMAChangeActive && c.Reason != "" {
		word += " It was not tested with data: " + c.Message
	}
	if c.State == api.RDMAChangeUndone && c.Message != "" {
		word = "put back, because " + c.Message + "."
	}
	return word
}

// link is a cable by its ends.
func (n Names) link(l api.LinkID) string { return n.end(l.Low) + " ~ " + n.end(l.High) }

// RDMAProgress is how far one end of a change has come, as one line.
func RDMAProgress(node api.NodeID, c api.RDMAChange, nodes []api.NodeView) string {
	n := NamesOf(nodes)
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
func (v View) RDMAPast(w *Page, changes []api.RDMAChange, tests []api.PathHistory, nodes []api.NodeView) {
	n := NamesOf(nodes)
	if len(changes) == 0 {
		w.Line("Nothing has been changed for RDMA on this Mac.")
	}
	for _, c := range changes {
		by := c.By
		if c.UndoneBy.Valid() {
			by = c.UndoneBy
		}
		who := ""
		if by.Valid() {
			who = fmt.Sprintf(" (%s of %s)", by.User, n.Of(by.Node))
		}
		w.Line(fmt.Sprintf("%s, %s: %s%s", text.Ago(v.Now, c.Since.Time), n.link(c.Link), changeWord(c), who))
		if !v.Wide {
			continue
		}
		for _, s := range c.Steps {
			step(w, s, ChangeOf{})
		}
	}
	if len(tests) == 0 {
		w.Line("No cable has been tested over RDMA. To test one: fulmen rdma probe LINK")
		return
	}
	fmt.Fprint(w, "\nTests over RDMA:\n\n")
	v.History(w, api.LinkHistoryResult{Paths: tests}, nodes)
}

// RDMA writes what the trips of people cost that are still to be made, then every
// cable with its verdict, then the steps of the trips.
func (v View) RDMA(w *Page, list api.RDMAListResult, nodes []api.NodeView) {
	n := NamesOf(nodes)
	if list.Price != "" {
		fmt.Fprintf(w, "%s\n\n", text.Clean(list.Price))
	}
	if len(list.Links) == 0 {
		w.Line("No Thunderbolt cable is plugged in. See the ports with: fulmen topology")
		return
	}
	table := text.NewTable("CABLE", "RDMA", "")
	for _, r := range list.Links {
		table.Row(n.rdmaCable(r), rdmaVerdict(r.Verdict), r.Text)
		table.Mark("RDMA", simulated(r.Simulated))
	}
	w.Table(table)
	for _, e := range list.UserActions {
		n.userAction(w, e)
	}
	fmt.Fprintln(w, "\nEvery check of a cable: fulmen rdma check LINK")
}

// userAction writes the steps at one Mac.
func (n Names) userAction(w *Page, e api.RDMAUserAction) {
	head := fmt.Sprintf("At %s, about %s, for %s:", n.Of(e.Node), text.Count(int(e.EstimateS+59)/60, "minute"), text.Count(len(e.Links), "cable"))
	if e.Done {
		head = fmt.Sprintf("At %s:", n.Of(e.Node))
	}
	fmt.Fprintf(w, "\n%s\n", text.Clean(head))
	for i, s := range e.Steps {
		mark := " "
		if s.Done {
			mark = "x"
		}
		fmt.Fprintf(w, "  [%s] %d. %s\n", mark, i+1, text.Clean(s.Text))
	}
	if e.Note == "" {
		return
	}
	fmt.Fprintf(w, "  %s\n", text.Clean(e.Note))
}

// rdmaCable is both ends of a cable, as tables of cables have it.
func (n Names) rdmaCable(r api.RDMAReadiness) string {
	return n.cable(api.Cable{Ends: r.Ends, PeerName: r.PeerName})
}

// RDMAChecks writes all checks of cables: each cable with its verdict, and what was
// found, with what to do.
func (v View) RDMAChecks(w *Page, all []api.RDMAReadiness, nodes []api.NodeView) {
	if len(all) == 0 {
		w.Line("No Thunderbolt cable is plugged in. See the ports with: fulmen topology")
		return
	}
	n := NamesOf(nodes)
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
		w.Table(table)
		v.rdmaChecks(w, r.Checks, n)
	}
}
