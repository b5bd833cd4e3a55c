package show

import (
	"fmt"
	"io"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

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
	head := fmt.Sprintf("At %s, about %d minutes, for %s:", n.of(e.Node), int(e.EstimateS+59)/60, count(len(e.Links), "cable"))
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
