package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/pairing"
	"fulmen/native/frame"
)

// recorder keeps what comes in.
type recorder struct {
	net.Conn
	got bytes.Buffer
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	r.got.Write(p[:n])
	return n, err
}

// Who is no member sees no certificate, whatever it says.
func TestNonMemberSeesNothing(t *testing.T) {
	within(t, 2, func(d *scenario) {
		is := is.New(d.t)
		nonMember := identity(9)
		cert, err := certificate(nonMember)
		is.NoErr(err)
		d.net.Attach("stranger", "en0", "office", netip.MustParseAddr("10.0.0.99"))
		d.open()
		yesterdays := cluster.DailyID(d.book.Cluster(), d.nodes[1].id.Node, cluster.UseDial, time.Now().AddDate(0, 0, -9))
		of := cluster.DailyID("ffeeddccbbaa99887766554433221100", d.nodes[1].id.Node, cluster.UseDial, time.Now())
		for name, config := range map[string]*tls.Config{
			"no name":         {NextProtos: []string{api.ALPN}},
			"another cluster": {NextProtos: []string{api.ALPN}, ServerName: of + nameSuffix},
			"an old name":     {NextProtos: []string{api.ALPN}, ServerName: yesterdays + nameSuffix},
			"pairing":         {NextProtos: []string{PairALPN}}, // which is not open
			"another program": {NextProtos: []string{"h2"}},
			"no protocol":     {},
		} {
			raw, err := d.net.Host("stranger").Dial(d.t.Context(), "en0", netip.Addr{}, netip.MustParseAddrPort("10.0.0.2:7732"))
			is.NoErr(err)
			received := &recorder{Conn: raw}
			config.InsecureSkipVerify, config.Certificates = true, []tls.Certificate{cert}
			conn := tls.Client(received, config)
			err = conn.HandshakeContext(d.t.Context())
			is.True(err != nil) // name
			is.True(received.got.Len() < 16)
			conn.Close()
			_ = name
		}
		// With a member's name, recorded from the network, it gets no further than TLS.
		raw, err := d.net.Host("stranger").Dial(d.t.Context(), "en0", netip.Addr{}, netip.MustParseAddrPort("10.0.0.2:7732"))
		is.NoErr(err)
		today := cluster.DailyID(d.book.Cluster(), d.nodes[1].id.Node, cluster.UseDial, time.Now())
		conn := tls.Client(raw, &tls.Config{
			NextProtos: []string{api.ALPN}, ServerName: today + nameSuffix, InsecureSkipVerify: true, Certificates: []tls.Certificate{cert},
		})
		_ = conn.HandshakeContext(d.t.Context()) // TLS 1.3: the client is done before it is judged
		_, err = conn.Read(make([]byte, 1))
		is.True(err != nil)
		conn.Close()
	})
}

func TestSilentCallersEnd(t *testing.T) {
	within(t, 1, func(d *scenario) {
		is := is.New(d.t)
		d.net.Attach("stranger", "en0", "office", netip.MustParseAddr("10.0.0.99"))
		d.open()
		var conns []net.Conn
		for range api.MaxHalfOpen + 10 {
			c, err := d.net.Host("stranger").Dial(d.t.Context(), "en0", netip.Addr{}, netip.MustParseAddrPort("10.0.0.1:7732"))
			is.NoErr(err)
			conns = append(conns, c)
		}
		d.pass(handshakeWithin + time.Second)
		is.Equal(len(d.nodes[0].greeting.conns), 0) // all given up
		for _, c := range conns {
			c.SetReadDeadline(time.Now())
			_, err := c.Read(make([]byte, 1))
			is.True(err != nil)
			c.Close()
		}
	})
}

func TestPairing(t *testing.T) {
	within(t, 1, func(d *scenario) {
		is := is.New(d.t)
		var open atomic.Bool
		var met atomic.Int32
		host := d.nodes[0]
		host.options.IsPairing = open.Load
		host.options.Pair = func(ctx context.Context, c pairing.Conn) {
			met.Add(1)
			if !bytes.Equal(c.PeerKey, identity(9).Public()) || c.Interface != "en0" {
				d.t.Error("the stranger is not who it is")
			}
			<-ctx.Done()
		}
		d.open()
		d.net.Attach("stranger", "en0", "office", netip.MustParseAddr("10.0.0.99"))
		nonMember, err := New(Options{Identity: identity(9), Members: d.book, Sockets: d.net.Host("stranger"), Clock: d.clock})
		is.NoErr(err)
		defer nonMember.Close()
		to := netip.MustParseAddrPort("10.0.0.1:7732")
		_, err = nonMember.Pair(d.t.Context(), "en0", to)
		is.True(err != nil)
		open.Store(true)
		for range api.MaxHalfOpen + 5 {
			c, err := nonMember.Pair(d.t.Context(), "en0", to)
			is.NoErr(err)
			is.True(bytes.Equal(c.PeerKey, host.id.Public()))
			defer c.Close()
		}
		d.pass(time.Second)
		is.Equal(int(met.Load()), api.MaxHalfOpen) // and no more at once
	})
}

// Another member at the address is not the one that was meant.
func TestWrongIdentity(t *testing.T) {
	within(t, 3, func(d *scenario) {
		is := is.New(d.t)
		a, b, c := d.nodes[0], d.nodes[1], d.nodes[2]
		a.SetCandidates(b.id.Node, d.candidates(c))
		b.SetCandidates(a.id.Node, nil)
		d.open()
		d.pass(time.Minute)
		is.Equal(a.active(b), nil)
		_, _, err := a.dial(d.t.Context(), b.id.Node, way{"en0", netip.MustParseAddrPort("10.0.0.3:7732")}, netip.Addr{}, api.PeerConn{})
		is.True(err != nil && !errors.Is(err, errNotMember))
	})
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 7}, 10)
	f.Add([]byte{255, 255, 255, 255}, 1<<20)
	f.Fuzz(func(t *testing.T, raw []byte, limit int) {
		limit = min(max(limit, 0), 1<<20)
		data, err := frame.Read(bytes.NewReader(raw), limit)
		if err == nil && (len(data) > limit || len(data)+4 > len(raw)) {
			t.Fatal("more than there was, or than is allowed")
		}
	})
}

func TestWindow(t *testing.T) {
	is := is.New(t)
	var w window
	for _, step := range []struct {
		session, seq uint64
		isNew        bool
	}{
		{1, 1, true}, {1, 1, false}, {1, 3, true}, {1, 2, true}, {1, 2, false}, {1, 3, false},
		{1, 70, true}, {1, 7, true}, {1, 6, false}, {1, 70, false}, {1, 500, true}, {1, 436, false}, {1, 437, true},
		{2, 1, true}, {2, 1, false}, {2, 2, true},
	} {
		is.Equal(w.isNew(step.session, step.seq), step.isNew)
	}
}
