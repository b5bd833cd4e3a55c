package show

import (
	"cmp"
	"io"
	"net/netip"
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
	self := api.NodeID("")
	for _, n := range nodes {
		if n.Self {
			self = n.Node
		}
	}
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
func (n names) pathVerdict(r api.LinkRow) string {
	if isUntested(r) {
		return "not tested yet: fulmen rdma probe " + n.end(r.Link.Low)
	}
	missing := slices.Index(r.Reasons, api.ReasonNotMeasured)
	if missing < 0 || r.Verdict != api.VerdictUnknown {
		return verdict(r.Verdict, r.Reasons)
	}
	out := "not measured"
	if !r.MeasuredAt.IsZero() {
		out = string(r.Verdict) + ": not all of it was measured"
	}
	return join("; ", out, becauseAll(slices.Delete(slices.Clone(r.Reasons), missing, missing+1)))
}

// paths writes the table of paths, measured or not.
func (v View) paths(w io.Writer, rows []api.LinkRow, in interfaces, n names) error {
	heading := []string{"FROM", "TO", "KIND", "INTERFACES", "UP", "DOWN", "RTT/2", "MEASURED", "VERDICT"}
	if v.Wide {
		heading = []string{"FROM", "TO", "KIND", "INTERFACES", "ADDRESS", "UP", "DOWN", "RTT/2", "JITTER/2", "MEASURED", "VERDICT"}
	}
	table := text.NewTable(heading...)
	for _, r := range rows {
		from, to := in.of(r)
		between := none
		if from != "" || to != "" {
			between = orUnknown(from) + " ~ " + orUnknown(to)
		}
		measured := none
		if !r.MeasuredAt.IsZero() {
			measured = text.Ago(v.Now, r.MeasuredAt.Time)
		}
		if r.Old {
			measured += ", old"
		}
		said := join(" ", n.pathVerdict(r), simulated(r.Simulated))
		cells := []string{n.of(r.From), n.of(r.To), kindWord(r.Kind), between}
		if v.Wide {
			cells = append(cells, orNone(address(r.Name)))
		}
		cells = append(cells, rate(r.UpBitsPerS), rate(r.DownBitsPerS), half(r.RTTUS))
		if v.Wide {
			cells = append(cells, half(r.JitterUS))
		}
		table.Row(append(cells, measured, said)...)
	}
	return table.Write(w)
}

func orNone(s string) string { return cmp.Or(s, none) }

func orUnknown(s string) string { return cmp.Or(s, text.Unknown) }
