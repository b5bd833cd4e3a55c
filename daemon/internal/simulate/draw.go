package simulate

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/liveness"
	"fulmen/daemon/internal/facts"
	"fulmen/daemon/internal/health"
	"fulmen/daemon/internal/topology"
	"fulmen/native"
	"fulmen/native/sim"
	"fulmen/native/sim/scenario"
)

// Drawing is a whole cluster as screens draw it: what node.list, state.get and
// link.list give of a live one.
type Drawing struct {
	// Nodes are the Macs in the scenario's order.
	Nodes []api.NodeView `json:"nodes"`
	// Docs are their documents, ordered by node, kind and name.
	Docs []api.Document `json:"docs"`
	// Links is the graph of them.
	Links api.LinkListResult `json:"links"`

	graph topology.Graph
	names map[string]api.NodeID
	seen  health.Seen
}

// Draw builds the graph of all Macs of a scenario in this process: the
// facts by the conversions that a daemon uses, reach documents of what would
// answer, measurements of what the scenario records. Everything says that it is
// simulated. Nothing is signed, and node ids follow from the Macs' names alone.
func Draw(name, version string) (Drawing, error) {
	plan, err := scenario.Load(name)
	if err != nil {
		return Drawing{}, api.BadValue("scenario", "%v", err)
	}
	clock, err := native.SystemClock()
	if err != nil {
		return Drawing{}, err
	}
	return draw(plan, clock, version)
}

func draw(plan scenario.Scenario, clock native.Clock, version string) (drawing Drawing, err error) {
	world, err := sim.New(plan, clock)
	if err != nil {
		return Drawing{}, api.BadValue("scenario", "%v", err)
	}
	defer func() { err = errors.Join(err, world.Close()) }()
	artist := artist{world: world, at: api.TimeOf(clock.Now()), version: version, authors: map[string]*author{}}
	for _, mac := range world.Macs() {
		if err := artist.facts(mac); err != nil {
			return Drawing{}, err
		}
	}
	// Kinds of paths and the other ends of cables are known once there is a graph.
	for _, step := range []func(topology.Graph) error{artist.reach, artist.reach, artist.measurements} {
		if err := step(artist.graph()); err != nil {
			return Drawing{}, err
		}
	}
	drawing = Drawing{Docs: artist.docs(), names: map[string]api.NodeID{}}
	for _, mac := range world.Macs() {
		node := artist.authors[mac].node
		drawing.names[mac] = node
		drawing.Nodes = append(drawing.Nodes, api.NodeView{
			Node: node, ShortName: mac, Simulated: true, Liveness: api.LivenessAlive, Since: artist.at,
		})
	}
	drawing.Redraw()
	return drawing, nil
}

// Redraw makes the graph of the documents again, which may have been changed.
func (d *Drawing) Redraw() { d.redraw(nil) }

func (d *Drawing) redraw(isStale func(api.NodeID) bool) {
	d.graph = graphOf(d.Docs, d.Nodes[0].Since, isStale)
	d.Links = d.graph.List()
}

// Seen is the cluster as the first Mac's daemon lists it, and what is wrong there, where it
// sees others as silent says; the graph is what it has then.
func (d *Drawing) Seen(at api.Time, silent map[api.NodeID]api.Liveness) (api.NodeListResult, []api.NodeCondition) {
	in := liveness.Input{Self: d.Nodes[0].Node, Started: at, At: at, Seen: map[api.NodeID]liveness.Seen{}}
	for _, n := range d.Nodes {
		in.Members = append(in.Members, api.Member{Node: n.Node})
		in.Seen[n.Node] = liveness.Seen{Liveness: cmp.Or(silent[n.Node], api.LivenessAlive), Since: at}
	}
	for i := range d.Docs {
		in.Docs = append(in.Docs, api.SharedDocument{Document: &d.Docs[i]})
	}
	view := liveness.Derive(in)
	d.redraw(view.Stale)
	d.seen = health.Seen{Nodes: view.Nodes, Cables: d.Links.Cables}
	return view.List(), health.Derived(d.seen)
}

// Headline is how the cluster is that was last seen, where these are its conditions.
func (d *Drawing) Headline(all []api.NodeCondition) api.Headline { return d.seen.Headline(all) }

func graphOf(docs []api.Document, at api.Time, isStale func(api.NodeID) bool) topology.Graph {
	nodes, _ := topology.NodesOf(docs, isStale)
	return topology.Build(topology.Input{Nodes: nodes, At: at})
}

// Export writes the graph for another tool.
func (d Drawing) Export(p api.LinkExportParams) (api.LinkExportResult, error) {
	return d.graph.Export(p, func(ref api.NodeRef) (api.NodeID, error) {
		if node, found := d.names[string(ref)]; found {
			return node, nil
		}
		return "", api.NewError(api.ReasonNoSuchNode, string(ref))
	})
}

// artist makes the documents of a world.
type artist struct {
	world   *sim.World
	at      api.Time
	version string
	authors map[string]*author // by Mac
}

// author writes one Mac's documents.
type author struct {
	node api.NodeID
	key  ed25519.PublicKey
	docs map[api.Key]api.Document
}

// newAuthor makes a key of the Mac's name, so that a scenario looks the same
// every time.
func newAuthor(mac string) *author {
	seed := sha256.Sum256([]byte("fulmen simulated mac\x00" + mac))
	key := ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey)
	return &author{node: api.NodeIDFromKey(key), key: key, docs: map[api.Key]api.Document{}}
}

// put writes one document.
func (a *artist) put(mac string, kind api.Kind, name string, value any, unknown map[string]api.Reason) error {
	by := a.authors[mac]
	doc := api.Document{Node: by.node, Kind: kind, Name: name, Inc: 1, Seq: uint64(len(by.docs) + 1), At: a.at, Simulated: true}
	if len(unknown) > 0 {
		doc.Unknown = unknown
	}
	if old, is := by.docs[doc.Key()]; is {
		doc.Seq = old.Seq
	}
	if err := doc.SetValue(value); err != nil {
		return err
	}
	by.docs[doc.Key()] = doc
	return doc.Check()
}

// docs are all documents, in order.
func (a *artist) docs() []api.Document {
	all := []api.Document{}
	for _, by := range a.authors {
		for _, doc := range by.docs {
			all = append(all, doc)
		}
	}
	slices.SortFunc(all, func(x, y api.Document) int { return x.Key().Compare(y.Key()) })
	return all
}

func (a *artist) graph() topology.Graph { return graphOf(a.docs(), a.at, nil) }

// facts writes what a Mac says of itself.
func (a *artist) facts(mac string) error {
	platform, err := a.world.Platform(mac)
	if err != nil {
		return err
	}
	defer platform.Close()
	snapshot, err := platform.Facts.Snapshot(context.Background(), native.AllAreas()...)
	if err != nil {
		return err
	}
	by := newAuthor(mac)
	a.authors[mac] = by
	static := facts.Static{
		PublicKey: by.key, FulmenVersion: a.version, Protocol: api.Protocol, StartedAt: a.at, Platform: api.PlatformDarwin,
		ShortName: func(string) string { return mac }, NoMLX: api.ReasonNotInScenario,
	}
	for _, fact := range facts.Convert(snapshot, static) {
		if err := a.put(mac, fact.Kind, fact.Name, fact.Value, fact.Unknown); err != nil {
			return err
		}
	}
	return nil
}

// reach writes which addresses of others answer a Mac. What the paths are made
// of is as the graph has it.
func (a *artist) reach(graph topology.Graph) error {
	kinds := map[[2]string]api.LinkKind{}
	for _, path := range graph.Paths {
		kinds[[2]string{string(path.From), peerAddress(path)}] = path.KindNow
	}
	for _, mac := range a.world.Macs() {
		all := a.world.Reach(mac)
		for _, r := range all {
			isServed := func(o sim.Reach) bool {
				return o.Address.Is4() && o.Peer == r.Peer && o.Interface == r.Interface && o.PeerInterface == r.PeerInterface
			}
			if r.Address.Is6() && slices.ContainsFunc(all, isServed) {
				continue // as between nodes: IPv4 serves a pair of interfaces where it can
			}
			to := api.PeerAddress{Peer: a.authors[r.Peer].node, Address: r.Address}
			value := api.Reach{
				Peer: to.Peer, Port: api.PeerPort, Interface: r.Interface, Source: r.Source, PeerInterface: r.PeerInterface,
				VerifiedAt: a.at, State: api.PathActive,
			}
			if to.Address.Is6() && to.Address.IsLinkLocalUnicast() {
				to.Address, value.Source = to.Address.WithZone(r.Interface), r.Source.WithZone(r.Interface)
			}
			value.Address = to.Address
			value.Kind = cmp.Or(kinds[[2]string{string(a.authors[mac].node), to.String()}], api.LinkUnknown)
			if value.Kind != api.LinkUnknown {
				value.KindAt = a.at
			}
			if err := a.put(mac, api.KindReach, to.String(), value, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func peerAddress(path topology.Path) string {
	return api.PeerAddress{Peer: path.To, Address: path.Address}.String()
}
