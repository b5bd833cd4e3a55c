package api

import (
	"cmp"
	"net/netip"
	"strconv"
	"strings"
)

// LinkProfile is the value of a link-profile document: what one path to a peer
// was measured to give. A path over sockets is named by peer and sink address,
// a path over RDMA by its cable. Up is away from the node that writes.
type LinkProfile struct {
	// Transport is what carried the bytes.
	Transport Transport `json:"transport"`
	// LinkKind is what the path is made of.
	LinkKind LinkKind `json:"link_kind"`
	// Peer is the other end.
	Peer NodeID `json:"peer"`
	// Source is this node's address; sockets only.
	Source netip.Addr `json:"source,omitzero"`
	// Sink is the peer's address; sockets only.
	Sink netip.Addr `json:"sink,omitzero"`
	// Interface is this node's network interface.
	Interface string `json:"interface,omitempty"`
	// Link is the cable, where the path is one.
	Link LinkID `json:"link,omitzero"`
	// MeasuredAt is when the measurement ended.
	MeasuredAt Time `json:"measured_at,omitzero"`
	// UpBitsPerS is the payload away from this node, timed by the receiver.
	UpBitsPerS *int64 `json:"up_bits_per_s,omitempty"`
	// DownBitsPerS is the payload towards this node, timed by the receiver.
	DownBitsPerS *int64 `json:"down_bits_per_s,omitempty"`
	// RTTUS is the median round trip of small messages.
	RTTUS *float64 `json:"rtt_us,omitempty"`
	// JitterUS is the mean difference of consecutive round trips.
	JitterUS *float64 `json:"jitter_us,omitempty"`
	// LossRatio is the part of the packets that did not come back.
	LossRatio *float64 `json:"loss_ratio,omitempty"`
	// RTTSamples counts the round trips behind RTTUS and JitterUS.
	RTTSamples int `json:"rtt_samples,omitempty"`
	// Streams counts the connections used at once for the bandwidth.
	Streams int `json:"streams,omitempty"`
	// MovedBytes is what the measurement sent, both ways together.
	MovedBytes int64 `json:"moved_bytes,omitempty"`
	// Together is what the path gave with others of the two nodes at once, measured with it; absent where it is
	// measured alone.
	Together *LinkTogether `json:"together,omitempty"`
	// NegotiatedAtStart is the cable's speed then; another speed makes the numbers old.
	NegotiatedAtStart *ThunderboltSpeed `json:"negotiated_at_start,omitempty"`
	// Sizes are the results by message size; RDMA only.
	Sizes []SizeResult `json:"sizes,omitempty"`
	// Conditions are the circumstances at this node.
	Conditions MeasureConditions `json:"conditions"`
	// Failure is the last failure, if it is newer than MeasuredAt.
	Failure *MeasureFailure `json:"failure,omitempty"`
	// Waiting is why it is not measured now, though it is due.
	Waiting *MeasureWait `json:"waiting,omitempty"`
	// Muted says that a person does not want to be warned about the path.
	Muted bool `json:"muted,omitempty"`
	// Best is the best of all results of the path in each number.
	Best *LinkResult `json:"best,omitempty"`
	// Median is the middle of all results of the path in each number.
	Median *LinkResult `json:"median,omitempty"`
	// History are earlier results, the newest first, at most HistoryLength.
	History []LinkResult `json:"history,omitempty"`
}

// LinkTogether is what several wires of one kind between two nodes gave at once. The numbers
// of each alone say what it gives where nothing else is under way.
type LinkTogether struct {
	// Sources are this node's addresses and Sinks the peer's, a path each, the document's own first.
	Sources []netip.Addr `json:"sources"`
	// Sinks are as in Sources.
	Sinks []netip.Addr `json:"sinks"`
	// UpBitsPerS is the payload away from this node over all of them.
	UpBitsPerS *int64 `json:"up_bits_per_s,omitempty"`
	// DownBitsPerS is the payload towards this node over all of them.
	DownBitsPerS *int64 `json:"down_bits_per_s,omitempty"`
	// Reason is why a number is absent.
	Reason Reason `json:"reason,omitempty"`
}

// LinkResult is one measurement of a path, or a summary of several.
type LinkResult struct {
	// MeasuredAt is when it ended; of a summary, when the newest did.
	MeasuredAt Time `json:"measured_at"`
	// UpBitsPerS is as in LinkProfile.
	UpBitsPerS *int64 `json:"up_bits_per_s,omitempty"`
	// DownBitsPerS is as in LinkProfile.
	DownBitsPerS *int64 `json:"down_bits_per_s,omitempty"`
	// RTTUS is as in LinkProfile.
	RTTUS *float64 `json:"rtt_us,omitempty"`
	// JitterUS is as in LinkProfile.
	JitterUS *float64 `json:"jitter_us,omitempty"`
	// LossRatio is as in LinkProfile.
	LossRatio *float64 `json:"loss_ratio,omitempty"`
	// MovedBytes is as in LinkProfile: a long measurement moves more than a short one.
	MovedBytes int64 `json:"moved_bytes,omitempty"`
}

// SizeResult is the result of one message size.
type SizeResult struct {
	// MessageBytes is the size.
	MessageBytes int64 `json:"message_bytes"`
	// UpBitsPerS is the payload away from this node.
	UpBitsPerS *int64 `json:"up_bits_per_s,omitempty"`
	// DownBitsPerS is the payload towards this node.
	DownBitsPerS *int64 `json:"down_bits_per_s,omitempty"`
	// RTTUS is the median round trip.
	RTTUS *float64 `json:"rtt_us,omitempty"`
}

// Cable is a Thunderbolt cable as both ends tell of it, or the one that does.
type Cable struct {
	// Link is its id; absent where the other end does not run Fulmen.
	Link LinkID `json:"link,omitzero"`
	// Ends are the two ends, the lower first; one where the other is not known.
	Ends []CableEnd `json:"ends"`
	// PeerName is what the other end calls itself, where it does not run Fulmen.
	PeerName string `json:"peer_name,omitempty"`
	// Kind is tb3, tb4, tb5 or unknown.
	Kind LinkKind `json:"kind"`
	// ForwardBitsPerS is the speed from the first end to the second, of the slowest hop.
	ForwardBitsPerS *int64 `json:"forward_bits_per_s,omitempty"`
	// BackwardBitsPerS is the speed from the second end to the first, of the slowest hop.
	BackwardBitsPerS *int64 `json:"backward_bits_per_s,omitempty"`
	// Hubs are the names of the hubs in between, from the first end to the second.
	Hubs []string `json:"hubs,omitempty"`
	// OneSided says that only one end sees the cable.
	OneSided bool `json:"one_sided,omitempty"`
	// RDMA is the verdict.
	RDMA RDMAVerdict `json:"rdma"`
	// Style is as what it is drawn: rdma where RDMA is ready, or was by the last word of an end that is silent, else its kind.
	Style LinkKind `json:"style"`
	// Verdict is how the cable is: as it is plugged, and as Style was measured on it.
	Verdict LinkVerdict `json:"verdict"`
	// Reasons are why the verdict is not good, the one that decides it first.
	Reasons []Reason `json:"reasons,omitempty"`
	// Text is the first of Reasons in a sentence.
	Text string `json:"text,omitempty"`
	LinkNumbers
	// Muted says that a person does not want to be warned about it.
	Muted bool `json:"muted,omitempty"`
	// Stale says that an end cannot be reached now.
	Stale bool `json:"stale,omitempty"`
	// Simulated says that no real hardware is behind it.
	Simulated bool `json:"simulated,omitempty"`
}

// LinkNumbers are what was measured over a line of the picture as what it is drawn;
// absent where it was not, or carries nothing now.
type LinkNumbers struct {
	// MeasuredForwardBitsPerS is the payload from the first end to the second.
	MeasuredForwardBitsPerS *int64 `json:"measured_forward_bits_per_s,omitempty"`
	// MeasuredBackwardBitsPerS is the payload from the second end to the first.
	MeasuredBackwardBitsPerS *int64 `json:"measured_backward_bits_per_s,omitempty"`
	// RTTUS is the round trip; screens show half of it.
	RTTUS *float64 `json:"rtt_us,omitempty"`
}

// NetworkLineKey says which line of the picture.
type NetworkLineKey struct {
	// Low is the lower node id, the first end.
	Low NodeID `json:"low"`
	// High is the other node.
	High NodeID `json:"high"`
	// Kind is what the paths are made of, and as what the line is drawn.
	Kind LinkKind `json:"kind"`
}

// NetworkLine is all paths of a kind between two nodes that are none of their cables,
// such as their Wi-Fi. What it says is of the best of them.
type NetworkLine struct {
	NetworkLineKey
	// Verdict is how it is.
	Verdict LinkVerdict `json:"verdict"`
	// Reasons are why the verdict is not good, the one that decides it first.
	Reasons []Reason `json:"reasons,omitempty"`
	// Text is the first of Reasons in a sentence.
	Text string `json:"text,omitempty"`
	LinkNumbers
	// Stale says that an end cannot be reached now.
	Stale bool `json:"stale,omitempty"`
	// Simulated says that no real hardware is behind it.
	Simulated bool `json:"simulated,omitempty"`
}

// NegotiatedBitsPerS is the slower direction; 0 where not both are known.
func (c Cable) NegotiatedBitsPerS() int64 {
	if c.ForwardBitsPerS == nil || c.BackwardBitsPerS == nil {
		return 0
	}
	return min(*c.ForwardBitsPerS, *c.BackwardBitsPerS)
}

// CableEnd is one end of a cable.
type CableEnd struct {
	// End is node and receptacle.
	End LinkEnd `json:"end"`
	// Place is where that is on the case.
	Place string `json:"place,omitempty"`
	// Interface is the network interface there.
	Interface string `json:"interface,omitempty"`
	// Device is the RDMA device there.
	Device string `json:"device,omitempty"`
	// Limits are what that device can have at once; absent where it does not tell.
	Limits RDMALimits `json:"limits,omitzero"`
}

// LinkRowKey says which measured path.
type LinkRowKey struct {
	// From is the node that measured.
	From NodeID `json:"from"`
	// To is its peer.
	To NodeID `json:"to"`
	// Transport is what carried the bytes.
	Transport Transport `json:"transport"`
	// Name is the name of the link-profile document.
	Name string `json:"name"`
}

// LinkRow is a measured path, as tables show it. Between two addresses each end
// has a row; what only one of them has measured is in both.
type LinkRow struct {
	LinkRowKey
	// Kind is what the path is made of.
	Kind LinkKind `json:"kind"`
	// Link is the cable, where the path is one.
	Link LinkID `json:"link,omitzero"`
	// UpBitsPerS is from From to To.
	UpBitsPerS *int64 `json:"up_bits_per_s,omitempty"`
	// DownBitsPerS is from To to From.
	DownBitsPerS *int64 `json:"down_bits_per_s,omitempty"`
	// RTTUS is the round trip; screens show half of it.
	RTTUS *float64 `json:"rtt_us,omitempty"`
	// JitterUS is that of the round trip; screens show half of it.
	JitterUS *float64 `json:"jitter_us,omitempty"`
	// LossRatio is the part of the packets that did not come back.
	LossRatio *float64 `json:"loss_ratio,omitempty"`
	// Together is what the path gave with others at once; the numbers above are of it alone.
	Together *LinkTogether `json:"together,omitempty"`
	// MeasuredAt is when.
	MeasuredAt Time `json:"measured_at,omitzero"`
	// Old says that it is older than its TTL.
	Old bool `json:"old,omitempty"`
	// Verdict is how it is, against its own history and its ports.
	Verdict LinkVerdict `json:"verdict"`
	// Reasons are why the verdict is not good, or why numbers are missing.
	Reasons []Reason `json:"reasons,omitempty"`
	// Waiting is why it is not measured now, though it is due.
	Waiting *MeasureWait `json:"waiting,omitempty"`
	// Simulated says that the numbers are a scenario's.
	Simulated bool `json:"simulated,omitempty"`
}

func linkMethods() []MethodInfo {
	return []MethodInfo{
		method[Empty, LinkListResult]("link.list", ClassRead, "",
			"Every cable and every measured path, derived from the documents of both ends."),
		method[LinkSelect, LinkGetResult]("link.get", ClassRead, "",
			"One cable with its measurements and its readiness for RDMA."),
		method[Empty, LinkWatchResult]("link.watch", ClassRead, "link.changed",
			"link.list, and every change after."),
		method[LinkHistoryParams, LinkHistoryResult]("link.history", ClassRead, "",
			"Earlier measurements of a cable or of all paths to a peer."),
		method[LinkMute, Empty]("link.mute", ClassUser, "",
			"Mutes the warnings of a cable on this node, or no longer."),
		method[LinkExportParams, LinkExportResult]("link.export", ClassRead, "",
			"The graph for other tools: GraphViz, MLX's host file, JACCL's device matrix, JSON."),
	}
}

// LinkSelect names a cable.
type LinkSelect struct {
	// Link is the cable.
	Link LinkRef `json:"link"`
}

// LinkListResult is the graph.
type LinkListResult struct {
	// Cables are what is plugged, ordered by id.
	Cables []Cable `json:"cables"`
	// Rows are the measured paths, ordered by nodes and kind.
	Rows []LinkRow `json:"rows"`
	// Networks are what else joins two nodes, in the order of their keys.
	Networks []NetworkLine `json:"networks,omitempty"`
	// Loops are the rings of nodes whose bridged cables would flood the network.
	Loops [][]NodeID `json:"loops,omitempty"`
}

// LinkGetResult is one cable.
type LinkGetResult struct {
	// Cable is what is plugged.
	Cable Cable `json:"cable"`
	// Rows are its measurements over sockets and RDMA.
	Rows []LinkRow `json:"rows"`
	// RDMA is its readiness.
	RDMA RDMAReadiness `json:"rdma"`
}

// LinkWatchResult is LinkListResult with the subscription that continues it.
type LinkWatchResult struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	LinkListResult
}

// LinkChanged is what changed in the graph.
type LinkChanged struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	// N numbers the notifications of the subscription, from 1; absent where Lagged.
	N uint64 `json:"n,omitempty"`
	// Cables are those that are new or changed. One replaces the last with the same id, or, without an id, with the same end and peer name.
	Cables []Cable `json:"cables,omitempty"`
	// GoneCables are first ends, each without any of its cables now, but for those in Cables.
	GoneCables []LinkEnd `json:"gone_cables,omitempty"`
	// Rows are those that are new or changed; one with the same key replaces the last.
	Rows []LinkRow `json:"rows,omitempty"`
	// GoneRows are the paths that are no more.
	GoneRows []LinkRowKey `json:"gone_rows,omitempty"`
	// Networks are those that are new or changed; one with the same key replaces the last.
	Networks []NetworkLine `json:"networks,omitempty"`
	// GoneNetworks are those that are no more.
	GoneNetworks []NetworkLineKey `json:"gone_networks,omitempty"`
	// Loops replace the last ones; absent where they did not change.
	Loops [][]NodeID `json:"loops,omitzero"`
	// Lagged says that changes were dropped and the subscription is over.
	Lagged bool `json:"lagged,omitempty"`
}

// LinkHistoryParams says of what.
type LinkHistoryParams struct {
	// Link is the cable; empty where Peer is given. With neither, it is every path.
	Link LinkRef `json:"link,omitempty"`
	// Peer is the other end of the paths; empty where Link is given.
	Peer NodeRef `json:"peer,omitempty"`
}

// LinkHistoryResult is the paths with their earlier results.
type LinkHistoryResult struct {
	// Paths are the paths, each with its history.
	Paths []PathHistory `json:"paths"`
}

// PathHistory is one path's history.
type PathHistory struct {
	LinkRowKey
	// Best is the best result in each number.
	Best *LinkResult `json:"best,omitempty"`
	// Median is the middle in each number.
	Median *LinkResult `json:"median,omitempty"`
	// Results are the results, the newest first.
	Results []LinkResult `json:"results"`
}

// LinkMute mutes a cable.
type LinkMute struct {
	// Link is the cable.
	Link LinkRef `json:"link"`
	// Muted is whether its warnings are muted.
	Muted bool `json:"muted"`
}

// LinkExportParams says in which form, for which nodes.
type LinkExportParams struct {
	// Form is the form.
	Form ExportForm `json:"form"`
	// Nodes are the nodes in the order of ranks; empty = all.
	Nodes []NodeRef `json:"nodes,omitempty"`
	// Backend is the one for which a host file or matrix is meant.
	Backend Backend `json:"backend,omitempty"`
	// Networks are as in Placement; for a host file.
	Networks []string `json:"networks,omitempty"`
}

// LinkExportResult is the text of the file.
type LinkExportResult struct {
	// Text is the file's content.
	Text string `json:"text"`
	// Notes are what a person should know about it.
	Notes []Cause `json:"notes,omitempty"`
}

// LinkEnd is one end of a cable: a receptacle of a node, written `ID:1`.
type LinkEnd struct {
	Node       NodeID
	PortNumber PortNumber
}

// ParseLinkEnd reads a cable's end; the node id as people write it.
func ParseLinkEnd(s string) (LinkEnd, error) {
	node, port, ok := strings.Cut(s, ":")
	if !ok {
		return LinkEnd{}, malformed("cable end", s, "names no port", "write it as NODE:PORT, such as 7h3k...:1")
	}
	id, err := ParseNodeID(node)
	if err != nil {
		return LinkEnd{}, err
	}
	r, err := ParsePortNumber(port)
	if err != nil {
		return LinkEnd{}, err
	}
	return LinkEnd{Node: id, PortNumber: r}, nil
}

// Valid reports whether both parts are set and canonical.
func (e LinkEnd) Valid() bool {
	return e.PortNumber >= 1 && e.PortNumber <= MaxPortNumber && e.Node.Valid()
}

// Compare orders by node id, then by receptacle as a number.
func (e LinkEnd) Compare(o LinkEnd) int {
	return cmp.Or(cmp.Compare(e.Node, o.Node), cmp.Compare(e.PortNumber, o.PortNumber))
}

// String is the wire form.
func (e LinkEnd) String() string { return string(e.Node) + ":" + e.PortNumber.String() }

// MarshalText writes the wire form and refuses an invalid end.
func (e LinkEnd) MarshalText() ([]byte, error) {
	return marshalCanonical(e, "cable end", "set node and port (from 1)")
}

// UnmarshalText reads the wire form only.
func (e *LinkEnd) UnmarshalText(text []byte) error {
	return unmarshalCanonical(e, text, "cable end", ParseLinkEnd)
}

// MaxPortNumber is the highest number of a receptacle.
const MaxPortNumber = 255

// PortNumber is the number of a Thunderbolt socket of a Mac, 1 to 255, as the
// system itself numbers it. Where it sits on the case is a fact of the
// thunderbolt document. Zero is no receptacle.
type PortNumber int // not uint8: encoding/json writes a slice of those as base64

// ParsePortNumber reads a receptacle number.
func ParsePortNumber(s string) (PortNumber, error) {
	n, err := parseCount("port", s, 1, MaxPortNumber)
	return PortNumber(n), err
}

// String is the decimal number.
func (r PortNumber) String() string { return strconv.Itoa(int(r)) }
