package probe

import (
	"context"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/profile"
)

// Read implements profile.Probe.
func (p *Prober) Read(ctx context.Context, id api.MeasureID, path profile.Path, full bool, progress func(string, float64)) (profile.Reading, error) {
	amount := AmountRefresh
	if full {
		amount = AmountFull
	}
	r, err := p.Measure(ctx, id, Path{
		Peer: path.Peer, Interface: path.Interface, Source: path.Source, Sink: path.Sink, Streams: path.Streams,
	}, amount, progress)
	return profile.Reading{
		UpBitsPerS: r.UpBitsPerS, DownBitsPerS: r.DownBitsPerS, RTTUS: r.RTTUS, JitterUS: r.JitterUS, LossRatio: r.LossRatio,
		RTTSamples: r.RTTSamples, Streams: r.Streams, MovedBytes: r.MovedBytes,
	}, err
}
