package api

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
	// Verdict is how the cable is.
	Verdict LinkVerdict `json:"verdict"`
	// Reasons are why the verdict is not good.
	Reasons []Reason `json:"reasons,omitempty"`
	// Muted says that a person does not want to be warned about it.
	Muted bool `json:"muted,omitempty"`
	// Stale says that an end cannot be reached now.
	Stale bool `json:"stale,omitempty"`
	// Simulated says that no real hardware is behind it.
	Simulated bool `json:"simulated,omitempty"`
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

// LinkVerdict is how a cable or path is.
type LinkVerdict string

const (
	// VerdictGood is as it should be.
	VerdictGood LinkVerdict = "good"
	// VerdictSlow is slower than its ports or its history.
	VerdictSlow LinkVerdict = "slow"
	// VerdictBad does not work as it should.
	VerdictBad LinkVerdict = "bad"
	// VerdictDown carries nothing now.
	VerdictDown LinkVerdict = "down"
	// VerdictUnknown is not measured, or not told.
	VerdictUnknown LinkVerdict = "unknown"
)

// Values lists the verdicts, from the best.
func (LinkVerdict) Values() []string {
	return words(VerdictGood, VerdictSlow, VerdictBad, VerdictDown, VerdictUnknown)
}

// Valid reports whether the verdict belongs to this version.
func (v LinkVerdict) Valid() bool { return known(v) }
