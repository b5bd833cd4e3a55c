package show

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Plan writes where a job would run; or for each set of nodes the first thing
// that stops it, and what would help.
func (v View) Plan(w io.Writer, p api.JobPlanResult, called map[api.NodeID]string) error {
	n := names(called)
	if p.Plan != nil {
		return v.planned(w, *p.Plan, n)
	}
	if _, err := fmt.Fprintln(w, "There is no place for it."); err != nil {
		return err
	}
	if len(p.Rejections) > 0 {
		table := text.NewTable("NODES", "BACKEND", "WHAT STOPS IT")
		for _, r := range p.Rejections {
			table.Row(orNone(n.list(r.Nodes)), orNone(string(r.Backend)), explained(r.Reason, r.Message))
		}
		fmt.Fprintln(w)
		if err := table.Write(w); err != nil {
			return err
		}
	}
	return causes(w, "What would help:", p.Remedies)
}

// causes writes sentences under a heading, with what to do about each.
func causes(w io.Writer, heading string, all []api.Cause) error {
	if len(all) == 0 {
		return nil
	}
	table := text.NewTable()
	for _, c := range all {
		table.Span("  " + sentence(explained(c.Reason, c.Message)))
		if c.Remedy != "" && c.Remedy != c.Message {
			table.Span("    " + c.Remedy)
		}
	}
	fmt.Fprintf(w, "\n%s\n", heading)
	return table.Write(w)
}

// planned writes a plan.
func (v View) planned(w io.Writer, p api.Plan, n names) error {
	nodes := strconv.Itoa(len(p.Ranks)) + " nodes"
	if len(p.Ranks) == 1 {
		nodes = "one node"
	}
	how := nodes
	if len(p.Ranks) > 1 {
		how += " over " + string(p.Backend) + ", joined as a " + string(p.Shape)
	}
	fmt.Fprintf(w, "plan: %s%s%s\n", text.Clean(how), choose(p.Unencrypted, ", unencrypted", ""), choose(p.ProvenBest, "", ", not proven best"))
	table := text.NewTable("RANK", "NODE", "GPU", "MEMORY", "RECEPTACLES")
	for _, r := range p.Ranks {
		memory := none
		if r.MemoryBytes > 0 {
			memory = text.Bytes(r.MemoryBytes)
		}
		receptacles := ""
		for _, x := range r.Receptacles {
			receptacles = join(", ", receptacles, x.String())
		}
		table.Row(strconv.Itoa(r.Rank), n.of(r.Node), string(r.GPU), memory, orNone(receptacles))
	}
	if err := table.Write(w); err != nil {
		return err
	}
	if len(p.Links) > 0 {
		fmt.Fprintln(w)
		if err := planLinks(w, p); err != nil {
			return err
		}
	}
	if v.Wide {
		if err := planInputs(w, p, n); err != nil {
			return err
		}
	}
	return causes(w, "To know:", p.Notes)
}

func planLinks(w io.Writer, p api.Plan) error {
	table := text.NewTable("FROM", "TO", "OVER", "SPEED")
	for _, l := range p.Links {
		speed := text.Unknown
		if l.BitsPerS != nil {
			speed = text.BitsPerS(*l.BitsPerS) + choose(l.Measured, " measured", " negotiated")
		}
		table.Row("rank "+strconv.Itoa(l.From), "rank "+strconv.Itoa(l.To), kindWord(l.Kind), speed)
	}
	return table.Write(w)
}

// planInputs writes the values that counted.
func planInputs(w io.Writer, p api.Plan, n names) error {
	if len(p.Used) == 0 {
		return nil
	}
	table := text.NewTable("USED", "OF", "VALUES")
	for _, u := range p.Used {
		facts, err := json.Marshal(u.Facts)
		if err != nil {
			return err
		}
		table.Row(join(" ", string(u.Kind), u.Name), n.of(u.Node), string(facts))
	}
	fmt.Fprintln(w)
	return table.Write(w)
}
