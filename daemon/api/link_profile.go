package api

import "net/netip"

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

// Transport is what carries bytes between two nodes.
type Transport string

const (
	// TransportSocket is TCP.
	TransportSocket Transport = "socket"
	// TransportRDMA is RDMA over a Thunderbolt cable.
	TransportRDMA Transport = "rdma"
)

// Values lists the transports.
func (Transport) Values() []string { return words(TransportSocket, TransportRDMA) }

// Valid reports whether the transport belongs to this version.
func (t Transport) Valid() bool { return known(t) }

// LinkKind is what a path between two nodes is made of, as screens show it.
type LinkKind string

const (
	// LinkWiFi is wireless LAN at either end.
	LinkWiFi LinkKind = "wifi"
	// LinkEthernet is wired LAN.
	LinkEthernet LinkKind = "ethernet"
	// LinkTB3 is IP over a Thunderbolt 3 cable.
	LinkTB3 LinkKind = "tb3"
	// LinkTB4 is IP over a Thunderbolt 4 cable.
	LinkTB4 LinkKind = "tb4"
	// LinkTB5 is IP over a Thunderbolt 5 cable.
	LinkTB5 LinkKind = "tb5"
	// LinkRDMA is RDMA over a cable.
	LinkRDMA LinkKind = "rdma"
	// LinkVPN is a tunnel whose interface says so.
	LinkVPN LinkKind = "vpn"
	// LinkLoopback is the machine itself.
	LinkLoopback LinkKind = "loopback"
	// LinkUnknown is what no source tells.
	LinkUnknown LinkKind = "unknown"
)

// Values lists the kinds.
func (LinkKind) Values() []string {
	return words(LinkWiFi, LinkEthernet, LinkTB3, LinkTB4, LinkTB5, LinkRDMA, LinkVPN, LinkLoopback, LinkUnknown)
}

// Valid reports whether the kind belongs to this version.
func (k LinkKind) Valid() bool { return known(k) }
