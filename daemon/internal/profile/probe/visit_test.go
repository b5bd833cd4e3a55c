package probe

import (
	"context"
	"encoding/json"
	"net/netip"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/native/frame"
)

// asks announces a measurement of the studio.
func (r *rig) asks(from api.NodeID, p api.PeerMeasureParams) (api.PeerMeasureResult, *api.Error) {
	var result api.PeerMeasureResult
	node := r.scenario.Add(from)
	err := node.Call(r.t.Context(), studio, "peer.measure", p, &result)
	if err != nil {
		return result, api.AsError(err)
	}
	return result, nil
}

var usual = api.PeerMeasureParams{Measurement: m1, Transport: api.TransportSocket, Sink: studioAt, MaxBytes: 1 << 40, DeadlineS: 20}

func TestRefusedAnnouncements(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *api.PeerMeasureParams)
		from   api.NodeID
		want   api.Reason
	}{
		"over RDMA":            {func(p *api.PeerMeasureParams) { p.Transport = api.TransportRDMA }, laptop, api.ReasonBadValue},
		"of no address":        {func(p *api.PeerMeasureParams) { p.Sink = netip.Addr{} }, laptop, api.ReasonMissingField},
		"of another's address": {func(p *api.PeerMeasureParams) { p.Sink = laptopAt }, laptop, api.ReasonAddressLost},
		"beside itself":        {func(p *api.PeerMeasureParams) { p.Beside = []netip.Addr{studioAt} }, laptop, api.ReasonBadValue},
		"beside no address":    {func(p *api.PeerMeasureParams) { p.Beside = make([]netip.Addr, 1) }, laptop, api.ReasonBadValue},
		"beside too many":      {func(p *api.PeerMeasureParams) { p.Beside = manyAddresses() }, laptop, api.ReasonBadValue},
		"beside another's":     {func(p *api.PeerMeasureParams) { p.Beside = []netip.Addr{laptopAt} }, laptop, api.ReasonAddressLost},
		"of no bytes":          {func(p *api.PeerMeasureParams) { p.MaxBytes = 0 }, laptop, api.ReasonBadValue},
		"without an end":       {func(p *api.PeerMeasureParams) { p.DeadlineS = 1e300 }, laptop, api.ReasonBadValue},
		"in no time":           {func(p *api.PeerMeasureParams) { p.DeadlineS = -1 }, laptop, api.ReasonBadValue},
		"by a stranger":        {func(p *api.PeerMeasureParams) {}, "3333333333333333", api.ReasonNoSuchNode},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, nil, func(r *rig) {
				is := is.New(r.t)
				p := usual
				c.change(&p)
				_, err := r.asks(c.from, p)
				is.True(err != nil)
				is.Equal(err.Data.Reason, c.want)
				is.Equal(r.given.Load(), int32(0))
			})
		})
	}
}

// Who announces and does not come keeps nobody waiting.
func TestNobodyComes(t *testing.T) {
	in(t, nil, func(r *rig) {
		is := is.New(r.t)
		_, err := r.asks(laptop, usual)
		is.True(err == nil)
		is.Equal(r.held.Load(), int32(1))
		r.pass(comeWithin + time.Millisecond)
		is.Equal(r.held.Load(), int32(0))
	})
}

func TestOneAtATime(t *testing.T) {
	in(t, nil, func(r *rig) {
		is := is.New(r.t)
		done := make(chan error)
		go func() {
			_, err := r.laptop.Measure(r.t.Context(), m1, there, AmountFull, quiet)
			done <- err
		}()
		r.pass(500 * time.Millisecond)
		_, err := r.asks(third, usual)
		is.True(err != nil)
		is.Equal(err.Data.Reason, api.ReasonMeasurementRunning)
		is.NoErr(<-done)
		_, err = r.asks(third, usual)
		is.True(err == nil)
		is.Equal(r.given.Load(), int32(2))
	})
}

func TestBudget(t *testing.T) {
	in(t, func(_ api.NodeID, cfg *Config) { cfg.Budget = 10 * time.Second }, func(r *rig) {
		is := is.New(r.t)
		measured := 0
		for ; measured < 10; measured++ {
			if _, err := r.measure(AmountFull); err != nil {
				is.Equal(err.Data.Reason, api.ReasonMeasureBudgetSpent)
				is.True(err.Data.Remedy != "")
				break
			}
		}
		is.True(measured >= 2 && measured <= 5) // each takes about 3 s
		_, err := r.asks(third, usual)          // has a budget of its own
		is.True(err == nil)
		r.pass(BudgetPeriod)
		r.laptop = r.start(laptop, func(api.NodeID, *Config) {})
		_, fault := r.measure(AmountFull)
		is.True(fault == nil)
	})
}

func TestMoreBytesThanAnnounced(t *testing.T) {
	in(t, nil, func(r *rig) {
		is := is.New(r.t)
		less := r.laptop.cfg.Peers
		r.laptop.cfg.Peers = modest{less}
		result, err := r.measure(AmountFull)
		is.True(err != nil)
		is.Equal(err.Data.Reason, api.ReasonUnreachable)
		is.True(result.MovedBytes < 30<<20)
	})
}

// modest announces less than it will send.
type modest struct{ peer.Caller }

func (m modest) Call(ctx context.Context, node api.NodeID, method string, params, result any) error {
	p := params.(api.PeerMeasureParams)
	p.MaxBytes = 20 << 20
	return m.Caller.Call(ctx, node, method, p, result)
}

// Connections that are not a part of the measurement, or not any more.
func TestConnectionsThatDoNotBelong(t *testing.T) {
	in(t, nil, func(r *rig) {
		is := is.New(r.t)
		p := usual
		leave, err := r.asks(laptop, p)
		is.True(err == nil)
		right := bond{
			measurement: m1, measurer: laptop, measured: studio, sink: studioAt, token: leave.Token, purpose: forControl,
		}
		try := func(by api.NodeID, change func(b *bond)) bool {
			b := right
			change(&b)
			m := &asking{prober: r.laptop, ctx: r.t.Context(), id: b.measurement, path: there, token: b.token, ports: []uint16{uint16(leave.Port)}}
			m.prober = &Prober{cfg: r.laptop.cfg}
			m.prober.cfg.Key = key(by)
			m.key, _ = members(studio)
			to := netip.AddrPortFrom(studioAt, m.ports[0])
			conn, err := r.network.Host(string(laptop)).Dial(r.t.Context(), "en1", laptopAt, to)
			is.NoErr(err)
			r.t.Cleanup(func() { conn.Close() })
			return m.prove(conn, b.sink, b.purpose, b.stream) == nil
		}
		is.True(!try(third, func(*bond) {}))
		is.True(!try(laptop, func(b *bond) { b.token = make([]byte, tokenBytes) }))
		is.True(!try(laptop, func(b *bond) { b.measurement = "m00000002" }))
		is.True(!try(laptop, func(b *bond) { b.sink = laptopAt }))
		is.True(!try(laptop, func(b *bond) { b.purpose = "other" }))
		is.True(!try(laptop, func(b *bond) { b.stream = maxStreams }))
		is.True(!try(laptop, func(b *bond) { b.purpose = forUp })) // before the control connection
		is.True(try(laptop, func(*bond) {}))
		is.True(!try(laptop, func(*bond) {})) // each once
		is.True(try(laptop, func(b *bond) { b.purpose = forUp }))
		is.True(!try(laptop, func(b *bond) { b.purpose = forUp }))
		is.True(try(laptop, func(b *bond) { b.purpose = forUp; b.stream = 1 }))
		r.pass(2 * leftAfter) // nothing comes
		is.Equal(r.held.Load(), int32(0))
		_, e := r.network.Host(string(laptop)).Dial(r.t.Context(), "en1", laptopAt, netip.AddrPortFrom(studioAt, uint16(leave.Port)))
		is.True(e != nil) // nobody listens any more
	})
}

// Strangers who say nothing take no place from the measurement.
func TestUnproven(t *testing.T) {
	in(t, nil, func(r *rig) {
		is := is.New(r.t)
		crowd := r.laptop.cfg.Peers
		r.laptop.cfg.Peers = crowded{crowd, r}
		result, err := r.measure(AmountRTT)
		is.True(err == nil)
		is.True(result.RTTUS != nil)
	})
}

// crowded has strangers connect before the measurement does.
type crowded struct {
	peer.Caller
	rig *rig
}

func (c crowded) Call(ctx context.Context, node api.NodeID, method string, params, result any) error {
	if err := c.Caller.Call(ctx, node, method, params, result); err != nil {
		return err
	}
	port := uint16(result.(*api.PeerMeasureResult).Port)
	for i := range 2 * maxUnproven {
		conn, err := c.rig.network.Host(string(laptop)).Dial(ctx, "en1", laptopAt, netip.AddrPortFrom(studioAt, port))
		if err != nil {
			return err
		}
		c.rig.t.Cleanup(func() { conn.Close() })
		if i%2 == 0 {
			data, _ := json.Marshal(hello{Purpose: forControl})
			_, _ = conn.Write(frame.Encode(data))
		}
	}
	return nil
}
