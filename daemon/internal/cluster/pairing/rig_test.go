package pairing

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/native"
)

// testClock runs on a bubble's time; slept is what the machine has slept.
type testClock struct {
	native.Clock
	mu    sync.Mutex
	slept time.Duration
}

func newClock() *testClock {
	c := &testClock{}
	began := time.Now()
	c.Clock = native.ClockFrom(time.Now, func() time.Duration {
		c.mu.Lock()
		defer c.mu.Unlock()
		return time.Since(began) + c.slept
	})
	return c
}

// sleep has the machine sleep, which no timer notices before it is told.
func (c *testClock) sleep(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slept += d
}

// mac is a node with its cluster.
type mac struct {
	cluster.Identity
	name    string
	clock   *testClock
	book    *Book
	leaves  bool
	noAdopt error

	mu     sync.Mutex
	roster *cluster.Roster
}

func newMac(t testing.TB, n byte, clock *testClock) *mac {
	t.Helper()
	id := cluster.NewIdentity(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize)))
	r, err := cluster.FoundRoster(id, clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	return &mac{Identity: id, name: "Secret Name " + string('A'+rune(n)), clock: clock, book: NewBook(clock, func() {}), roster: r}
}

func (m *mac) side() Side {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Side{
		Key: m.Public(), Clock: m.clock,
		Card: Card{Name: m.name, ShortName: "secret-name", ModelName: "Secret Model", Version: "0.1.0",
			Cluster: m.roster.Cluster(), IsMember: len(m.roster.Current()) > 1, Leaves: m.leaves},
		Admit: m.admit, Adopt: m.adopt,
	}
}

func (m *mac) admit(_ context.Context, p Peer) ([]cluster.SignedEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next, err := m.roster.Add(m.Identity, p.PublicKey, m.clock.Now())
	if err != nil {
		return m.roster.Log(), err
	}
	m.roster = next
	return next.Log(), nil
}

func (m *mac) adopt(_ context.Context, r *cluster.Roster, _ Peer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.noAdopt != nil {
		return m.noAdopt
	}
	m.roster = r
	return nil
}

// add gives a mac's cluster another member.
func (m *mac) add(t testing.TB, other *mac) {
	t.Helper()
	if _, err := m.admit(t.Context(), Peer{PublicKey: other.Public()}); err != nil {
		t.Fatal(err)
	}
}

// wire records what one end writes above TLS.
type wire struct {
	net.Conn
	raw net.Conn

	mu     sync.Mutex
	frames [][]byte
}

func (w *wire) Write(b []byte) (int, error) {
	w.mu.Lock()
	w.frames = append(w.frames, bytes.Clone(b))
	w.mu.Unlock()
	return w.Conn.Write(b)
}

func (w *wire) Close() error { return w.raw.Close() }

// disclosed is all that an end has written.
func disclosed(c Conn) []byte {
	w := c.Conn.(*wire)
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Join(w.frames, nil)
}

// connect makes a TLS connection between two macs.
func connect(t testing.TB, dialler, other *mac) (ofDialler, ofOther Conn) {
	t.Helper()
	a, b := net.Pipe()
	t.Cleanup(func() { a.Close(); b.Close() })
	client, server := tls.Client(a, tlsConfig(t, dialler)), tls.Server(b, tlsConfig(t, other))
	failed := make(chan error, 1)
	go func() { failed <- server.Handshake() }()
	if err := client.Handshake(); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	return over(t, client, a), over(t, server, b)
}

func over(t testing.TB, c *tls.Conn, raw net.Conn) Conn {
	t.Helper()
	conn, err := Over(c, "en0", netip.MustParseAddrPort("10.0.0.7:50000"))
	if err != nil {
		t.Fatal(err)
	}
	conn.Conn = &wire{Conn: c, raw: raw}
	return conn
}

func tlsConfig(t testing.TB, m *mac) *tls.Config {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, m.Public(), m.Key())
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: m.Key()}}, MinVersion: tls.VersionTLS13,
		InsecureSkipVerify: true, ClientAuth: tls.RequireAnyClientCert, SessionTicketsDisabled: true,
	}
}

// result is how an exchange ended on one side.
type result struct {
	Outcome
	err error
}

func (r result) reason() api.Reason {
	if r.err == nil {
		return ""
	}
	return api.AsError(r.err).Data.Reason
}

// begin runs a side until it ends, and closes its connection as callers do.
func begin(conn Conn, run func() (Outcome, error)) <-chan result {
	ended := make(chan result, 1)
	go func() {
		out, err := run()
		conn.Close()
		ended <- result{out, err}
	}()
	return ended
}

func (m *mac) show(t testing.TB, conn Conn) <-chan result {
	return begin(conn, func() (Outcome, error) { return Show(t.Context(), conn, m.book, m.side()) })
}

func (m *mac) enter(t testing.TB, conn Conn, s Secret, wants Wants) <-chan result {
	return begin(conn, func() (Outcome, error) { return Enter(t.Context(), conn, s, wants, m.side()) })
}

// pair has one mac enter a secret at another.
func pair(t testing.TB, shower, typer *mac, s Secret, wants Wants) (shown, entered result) {
	t.Helper()
	a, b := connect(t, typer, shower)
	x, y := shower.show(t, b), typer.enter(t, a, s, wants)
	return <-x, <-y
}

// mustCode reads a code.
func mustCode(t testing.TB, s string) Code {
	t.Helper()
	c, err := ParseCode(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// wrong is a code that differs from another one.
func wrong(t testing.TB, c Code) Code {
	t.Helper()
	last := byte('0')
	if c.reveal()[CodeLength-1] == last {
		last = '1'
	}
	return mustCode(t, c.reveal()[:CodeLength-1]+string(last))
}
