package api

// PeerProfileParams is a wish that the node measure something of its own, or the
// question how far that is.
type PeerProfileParams struct {
	// Measurement tells this wish from others; the same again is the same wish.
	Measurement MeasureID `json:"measurement"`
	// Document is the profile to fill: the node's GPU, or a path of its own.
	Document Key `json:"document"`
	// By is who wants it; absent where the calling node does.
	By Principal `json:"by,omitzero"`
	// MaxAgeS accepts an earlier result that is not older; 0 = measure now.
	MaxAgeS float64 `json:"max_age_s,omitempty"`
	// N is the last answer's; 0 = none yet.
	N uint64 `json:"n,omitempty"`
	// WaitS is how long to wait for another than that.
	WaitS float64 `json:"wait_s,omitempty"`
	// Cancel ends the wish.
	Cancel bool `json:"cancel,omitempty"`
}

// PeerProfileResult is how far a measurement is. A wish that nobody asks about
// any more is cancelled after a while.
type PeerProfileResult struct {
	// Item is the measurement's subject.
	Item MeasureItem `json:"item"`
	// N grows with every change of it.
	N uint64 `json:"n"`
}
