package show

import (
	"cmp"
	"fmt"
	"net/netip"
	"reflect"
	"slices"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// interfaces finds the interfaces at both ends of a path.
type interfaces struct {
	reach   map[api.Key]api.Reach
	cables  map[api.LinkID]api.Cable
	views   map[api.Key]string // what node.list says of this node's own paths
	address map[hostAddress]string
}

// hostAddress is an address of a node.
type hostAddress struct {
	node    api.NodeID
	address netip.Addr
}

func newInterfaces(nodes []api.NodeView, docs []api.Document, cables []api.Cable) interfaces {
	in := interfaces{reach: map[api.Key]api.Reach{}, cables: map[api.LinkID]api.Cable{}, views: map[api.Key]string{}, address: map[hostAddress]string{}}
	for _, d := range docs {
		var r api.Reach
		var n api.Network
		switch {
		case d.Deleted:
		case d.Kind == api.KindReach && d.Decode(&r) == nil:
			in.reach[d.Key()] = r
		case d.Kind == api.KindNetwork && d.Decode(&n) == nil:
			for _, i := range n.Interfaces {
				for _, a := range i.Addresses {
					in.address[hostAddress{d.Node, a.Address.Addr().WithZone("")}] = i.Name
				}
			}
		}
	}
	for _, c := range cables {
		in.cables[c.Link] = c
	}
	self := Self(nodes).Node
	for _, n := range nodes {
		for _, p := range n.Paths {
			in.views[api.Key{Node: self, Kind: api.KindReach, Name: p.Address.String()}] = p.Interface
		}
	}
	return in
}

// of names the interfaces of a path, the measuring end first.
func (in interfaces) of(r api.LinkRow) (from, to string) {
	if c, ok := in.cables[r.Link]; ok && r.Link.Valid() {
		for _, e := range c.Ends {
			name := e.Interface
			if r.Transport == api.TransportRDMA {
				name = e.Device
			}
			switch {
			case e.End.Node == r.From && from == "":
				from = name
			case e.End.Node == r.To:
				to = name
			}
		}
		return from, to
	}
	key := api.Key{Node: r.From, Kind: api.KindReach, Name: r.Name}
	known := in.reach[key]
	from, to = known.Interface, known.PeerInterface
	if from == "" {
		from = in.views[key]
	}
	if a, err := api.ParsePeerAddress(r.Name); err == nil && to == "" {
		to = in.address[hostAddress{r.To, a.Address.WithZone("")}]
	}
	return from, to
}

// sorted are the rows in the order of the nodes on the screen.
func sorted(rows []api.LinkRow, nodes []api.NodeView) []api.LinkRow {
	at := map[api.NodeID]int{}
	for i, n := range nodes {
		at[n.Node] = i - len(nodes) // before those that are not listed
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b api.LinkRow) int {
		return cmp.Or(cmp.Compare(at[a.From], at[b.From]), cmp.Compare(at[a.To], at[b.To]))
	})
	return rows
}

// pathVerdict is how a path is, and why it is not good.
func (n Names) pathVerdict(r api.LinkRow) string {
	if isUntested(r) {
		return "not tested yet: fulmen rdma probe " + n.end(r.Link.Low)
	}
	missing := slices.Index(r.Reasons, api.ReasonNotMeasured)
	if missing < 0 || r.Verdict != api.VerdictUnknown {
		return verdict(r.Verdict, r.Reasons)
	}
	out := "not measured"
	if !r.MeasuredAt.IsZero() {
		out = string(r.Verdict) + ": not everything was measured"
	}
	return join("; ", out, becauseAll(slices.Delete(slices.Clone(r.Reasons), missing, missing+1)))
}

// paths writes the table of paths, measured or not.
func (v View) paths(w *Page, rows []api.LinkRow, in interfaces, n Names) {
	heading := []string{"FROM", "TO", "KIND", "INTERFACES", "+ADDRESS", "THERE", "BACK", "RTT/2", "+JITTER/2", "MEASURED", "VERDICT"}
	if areAlike(rows, func(r api.LinkRow) any { from, to := in.of(r); return [2]string{from, to} }) {
		heading[4] = "ADDRESS"
	}
	table := v.table(heading...)
	table.Less("INTERFACES", "MEASURED", "ADDRESS", "RTT/2")
	for _, r := range rows {
		from, to := in.of(r)
		between := none
		if from != "" || to != "" {
			between = orUnknown(from) + " ~ " + orUnknown(to)
		}
		table.Row(n.Of(r.From), n.Of(r.To), kindWord(r.Kind), between, orNone(address(r.Name)), rate(r.UpBitsPerS), rate(r.DownBitsPerS),
			half(r.RTTUS), half(r.JitterUS), v.age(r), n.pathVerdict(r))
		table.Mark("VERDICT", simulated(r.Simulated))
	}
	w.Table(table)
}

// areAlike reports whether two rows are of the same nodes and kind, and alike in what of gives.
func areAlike(rows []api.LinkRow, of func(api.LinkRow) any) bool {
	seen := map[any]bool{}
	return slices.ContainsFunc(rows, func(r api.LinkRow) bool {
		key := [...]any{r.From, r.To, r.Kind, of(r)}
		was := seen[key]
		seen[key] = true
		return was
	})
}

func orNone(s string) string { return cmp.Or(s, none) }

func orUnknown(s string) string { return cmp.Or(s, text.Unknown) }

// folded are the rows with both directions of a way as one, where they say the
// same: each end has a row of what only one of them measured. Of an end that does not
// answer, the other's counts.
func folded(rows []api.LinkRow) []api.LinkRow {
	var out []api.LinkRow
	taken := map[int]bool{} // rows of out that stand for two already
next:
	for _, r := range rows {
		for i, o := range out {
			if !taken[i] && mirrors(o, r) {
				taken[i] = true
				if isSilent(o) && !isSilent(r) {
					out[i] = r
				}
				continue next
			}
		}
		out = append(out, r)
	}
	return out
}

// ways are the rows that people see: each way between two nodes once, and of a node to
// itself only where all is wanted.
func (v View) ways(list api.LinkListResult, nodes []api.NodeView) []api.LinkRow {
	rows := slices.DeleteFunc(withUntested(list.Rows, list.Cables), func(r api.LinkRow) bool { return r.Kind == api.LinkLoopback && !v.Wide })
	return folded(sorted(turned(rows, nodes), nodes))
}

// turned are rows of which those over cables begin at the node that is shown
// first: only one end of them has a row.
func turned(rows []api.LinkRow, nodes []api.NodeView) []api.LinkRow {
	at := func(id api.NodeID) int {
		return slices.IndexFunc(nodes, func(n api.NodeView) bool { return n.Node == id })
	}
	out := slices.Clone(rows)
	for i := range out {
		if r := &out[i]; r.Transport == api.TransportRDMA && at(r.From) > at(r.To) && at(r.To) >= 0 {
			r.From, r.To, r.UpBitsPerS, r.DownBitsPerS = r.To, r.From, r.DownBitsPerS, r.UpBitsPerS
		}
	}
	return out
}

// mirrors reports whether two rows are one way, seen from its two ends.
func mirrors(a, b api.LinkRow) bool {
	return a.From == b.To && a.To == b.From && a.From != a.To && a.Transport == b.Transport && a.Kind == b.Kind && a.Link == b.Link &&
		a.MeasuredAt.Equal(b.MeasuredAt.Time) && (a.Verdict == b.Verdict && areSame(a.Reasons, b.Reasons) || isSilent(a) || isSilent(b)) &&
		reflect.DeepEqual(a.UpBitsPerS, b.DownBitsPerS) && reflect.DeepEqual(a.DownBitsPerS, b.UpBitsPerS) && reflect.DeepEqual(a.RTTUS, b.RTTUS)
}

// areSame reports whether two rows have the same reasons: each names that of its own end first.
func areSame(a, b []api.Reason) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(r api.Reason) bool { return !slices.Contains(b, r) })
}

// isSilent reports whether nothing is known of a way but that an end does not answer.
func isSilent(r api.LinkRow) bool {
	return r.Verdict == api.VerdictUnknown && slices.ContainsFunc(r.Reasons, func(why api.Reason) bool {
		return why == api.ReasonUnreachable || why == api.ReasonAsleep || why == api.ReasonRestarting || why == api.ReasonShuttingDown
	})
}

// measuredPaths writes the table of what ways between nodes give, each direction.
func (v View) measuredPaths(w *Page, list api.LinkListResult, nodes []api.NodeView, n Names) {
	rows := folded(sorted(turned(list.Rows, nodes), nodes))
	heading := []string{"BETWEEN", "AND", "KIND", "+ADDRESS", "+CABLE", "THERE", "BACK", "RTT/2", "JITTER/2", "+LOSS", "MEASURED", "VERDICT"}
	if areAlike(rows, func(r api.LinkRow) any { return r.Link }) {
		heading[3] = "ADDRESS"
	} else if areAlike(rows, func(api.LinkRow) any { return nil }) {
		heading[4] = "CABLE"
	}
	table := v.table(heading...)
	table.Less("JITTER/2", "MEASURED", "ADDRESS", "CABLE", "RTT/2")
	for _, r := range rows {
		cable := none
		if r.Link.Valid() {
			cable = n.link(r.Link)
		}
		measured := v.age(r)
		if r.Waiting != nil {
			measured = join(", ", measured, "waiting: "+because(r.Waiting.Reason))
		}
		table.Row(n.Of(r.From), n.Of(r.To), kindWord(r.Kind), orNone(address(r.Name)), cable, rate(r.UpBitsPerS), rate(r.DownBitsPerS),
			half(r.RTTUS), half(r.JitterUS), given(r.LossRatio, text.Percent), measured, n.pathVerdict(r))
		table.Mark("VERDICT", simulated(r.Simulated))
		if t := r.Together; t != nil {
			table.Row(n.Of(r.From), n.Of(r.To), fmt.Sprintf("%d %s together", len(t.Sinks), kindWord(r.Kind)), none, none, rate(t.UpBitsPerS), rate(t.DownBitsPerS),
				none, none, none, v.age(r), orNone(because(t.Reason)))
			table.Mark("VERDICT", simulated(r.Simulated))
		}
	}
	w.Table(table)
}

// age is how old a row's numbers are.
func (v View) age(r api.LinkRow) string {
	measured := none
	if !r.MeasuredAt.IsZero() {
		measured = text.Ago(v.Now, r.MeasuredAt.Time)
	}
	if r.Old {
		measured += ", old"
	}
	return measured
}

// shownResults is how many earlier results of a path are shown where not all are
// asked for.
const shownResults = 8

// History writes what paths gave earlier: the best, the usual, and the results, the
// newest first.
func (v View) History(w *Page, h api.LinkHistoryResult, nodes []api.NodeView) {
	n := NamesOf(nodes)
	if len(h.Paths) == 0 {
		w.Line("No path has been measured yet. To measure them: fulmen measure link --all")
		return
	}
	for i, p := range h.Paths {
		if i > 0 {
			fmt.Fprintln(w)
		}
		over := string(p.Transport)
		if a := address(p.Name); a != "" {
			over = "at " + a
		}
		w.Line(fmt.Sprintf("%s to %s, %s", n.Of(p.From), n.Of(p.To), over))
		table := text.NewTable("", "THERE", "BACK", "RTT/2", "JITTER/2")
		row := func(what string, r *api.LinkResult) {
			if r != nil {
				table.Row("  "+what, rate(r.UpBitsPerS), rate(r.DownBitsPerS), half(r.RTTUS), half(r.JitterUS))
			}
		}
		row("best", p.Best)
		row("median", p.Median)
		results := p.Results
		if !v.Wide {
			results = results[:min(len(results), shownResults)]
		}
		for _, r := range results {
			row(text.Ago(v.Now, r.MeasuredAt.Time), &r)
		}
		w.Table(table)
		if rest := len(p.Results) - len(results); rest > 0 {
			fmt.Fprintf(w, "  and %s; all of them with --wide\n", text.Count(rest, "earlier result"))
		}
	}
}
