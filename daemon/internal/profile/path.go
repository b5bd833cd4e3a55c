package profile

import (
	"context"
	"net/netip"
	"time"

	"fulmen/daemon/api"
)

// Path is a way to another node that this node measures.
type Path struct {
	// Transport is what carries the bytes; over RDMA there are only Peer and Link.
	Transport api.Transport
	// Peer is the other end.
	Peer api.NodeID
	// Interface is this node's, Source its address and Sink the peer's, with
	// this node's zone where it is link-local IPv6.
	Interface    string
	Source, Sink netip.Addr
	// Kind is what the path is made of.
	Kind api.LinkKind
	// Link is the cable, where the path is one, and Negotiated its speed from this
	// end, as far as known.
	Link       api.LinkID
	Negotiated *api.ThunderboltSpeed
	// Streams is how many connections at once filled it the last time; 0 = not known.
	Streams int
	// IsUnasked says that it may be measured although nobody asked for it.
	IsUnasked bool
	// IsMuted says that a person does not want to be warned about it.
	IsMuted bool
}

// Name is the name of the path's document.
func (p Path) Name() string {
	if p.Transport == api.TransportRDMA {
		return p.Link.String()
	}
	return api.PeerAddress{Peer: p.Peer, Address: p.Sink}.String()
}

// isWired reports whether nobody else shares the path.
func (p Path) isWired() bool {
	switch p.Kind {
	case api.LinkEthernet, api.LinkTB3, api.LinkTB4, api.LinkTB5, api.LinkRDMA:
		return true
	}
	return false
}

// Reading is what a measurement of a path gave; what is nil was not measured.
type Reading struct {
	UpBitsPerS, DownBitsPerS   *int64
	RTTUS, JitterUS, LossRatio *float64
	RTTSamples, Streams        int
	MovedBytes                 int64
	// Sizes are the results by message size; over RDMA only.
	Sizes []api.SizeResult
}

// isEmpty reports whether nothing was measured at all.
func (r Reading) isEmpty() bool {
	return r.UpBitsPerS == nil && r.DownBitsPerS == nil && r.RTTUS == nil
}

// Probe measures a path over sockets, with the long measurement or the short one.
// The error is an *api.Error; beside one there may be a part of a reading.
type Probe func(ctx context.Context, id api.MeasureID, path Path, full bool, progress func(step string, done float64)) (Reading, error)

// ProbeRDMA tests and measures a cable over RDMA. The error is an *api.Error:
// rdma_probe_failed where the test ran and failed.
type ProbeRDMA func(ctx context.Context, id api.MeasureID, path Path, progress func(step string, done float64)) (Reading, error)

// Scenario is what a simulation records of the hardware that it simulates.
type Scenario interface {
	// GPU is the recording of this node's GPU; false where there is none.
	GPU() (fp16TFLOPS float64, memoryBytesPerS int64, ok bool)
	// Path is the recording of a path; isReal says that the path is none of the
	// simulation's, and is measured.
	Path(Path) (reading Reading, ok, isReal bool)
	// Put publishes a document of a recording.
	Put(kind api.Kind, name string, value any, unknown map[string]api.Reason) error
}

// stamp is when something happened, as documents have it and on the clock that
// nobody sets.
type stamp struct {
	at   api.Time
	boot time.Duration
}

// ago is how long ago something that a document dates happened. What this daemon
// has dated itself does not depend on the wall clock. The caller holds mu.
func (p *Profiler) ago(key api.Key, at api.Time) time.Duration {
	if s := p.stamps[key]; !s.at.IsZero() && s.at.Equal(at.Time) {
		return p.cfg.Clock.Boot() - s.boot
	}
	return p.cfg.Clock.Now().Sub(at.Time)
}

// date is now, for a document; the caller holds mu.
func (p *Profiler) date(key api.Key) api.Time {
	at := p.now()
	p.stamps[key] = stamp{at, p.cfg.Clock.Boot()}
	return at
}
