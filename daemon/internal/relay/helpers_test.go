package relay_test

import (
	"io"
	"log/slog"
	"net"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/relay"
	"fulmen/native"
	"fulmen/native/procsockets"
)

const (
	laptop = api.NodeID("0000000000000000")
	studio = api.NodeID("1111111111111111")
	job    = api.JobID("j00000000")
)

var rank0 = api.RankRef{Job: job, Attempt: 1}

// pair is a node where a job was submitted and the node of its rank 0, on one
// machine: what the first publishes it publishes on another address of the loopback.
type pair struct {
	scenario       *peertest.Network
	laptop, studio *relay.Relay
	program        net.Listener // what rank 0 listens on
	port           int
}

var (
	published = netip.MustParseAddr("127.0.0.2")
	lan       = netip.MustParseAddr("127.0.0.3")
)

// anyRank has every rank.
type anyRank struct{ relay.Ranks }

func (anyRank) IsHere(api.RankRef) bool { return true }

func (anyRank) Owe(api.RankRef, api.RankDebt) (paid func()) { return func() {} }

func newPair(t testing.TB) *pair { return newPairWith(t, procsockets.Processes{}) }

// newPairWith has who listens at a port told by processes.
func newPairWith(t testing.TB, processes native.Processes) *pair {
	t.Helper()
	clock, err := native.SystemClock()
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{scenario: peertest.NewNetwork()}
	if p.program, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	p.port = p.program.Addr().(*net.TCPAddr).Port
	config := relay.Config{
		Clock: clock, Processes: processes, Log: slog.New(slog.DiscardHandler), Loopback: []netip.Addr{published},
		LAN:   func() []netip.Addr { return []netip.Addr{lan} },
		Seed:  []byte("a secret of the node"),
		Ranks: anyRank{},
	}
	spec := p.spec(false)
	spec.Principal = api.Principal{User: "ada", Node: laptop}
	known := peertest.Job(spec, 1, studio)
	config.Peers = peer.New(laptop, p.scenario.Add(laptop), peertest.GateFor(laptop, clock, known))
	p.laptop = relay.New(config)
	config.Peers = peer.New(studio, p.scenario.Add(studio), peertest.GateFor(studio, clock, known))
	p.studio = relay.New(config)
	t.Cleanup(func() {
		p.laptop.Shut()
		p.studio.Shut()
		p.program.Close()
	})
	return p
}

// spec publishes the program's port.
func (p *pair) spec(onLAN bool) api.JobSpec {
	return api.JobSpec{Job: job, Publish: []api.Publish{{Port: p.port, LAN: onLAN}}}
}

// start has both nodes know of the job.
func (p *pair) start(t testing.TB, onLAN bool) {
	t.Helper()
	p.studio.Serve(rank0, unix.Getpgrp(), []int{p.port}, func([]int) {})
	if err := p.laptop.Open(p.spec(onLAN), rank0, studio); err != nil {
		t.Skipf("this machine has no second loopback address: %v", err)
	}
}

func (p *pair) dial(t testing.TB, a netip.Addr) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", netip.AddrPortFrom(a, uint16(p.port)).String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn.(*net.TCPConn)
}

// echo has the program answer each connection, once it has heard all of it, with
// the same again.
func (p *pair) echo() {
	for {
		conn, err := p.program.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			received, err := io.ReadAll(conn)
			if err == nil {
				_, _ = conn.Write(received)
			}
		}()
	}
}

// open reports whether a port takes connections.
func (p *pair) open(a netip.Addr) bool {
	conn, err := net.Dial("tcp", netip.AddrPortFrom(a, uint16(p.port)).String())
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// broken reports whether a connection to a port is refused, or reset before
// anything was said.
func (p *pair) broken(a netip.Addr) bool {
	conn, err := net.Dial("tcp", netip.AddrPortFrom(a, uint16(p.port)).String())
	if err != nil {
		return true
	}
	defer conn.Close()
	_, err = io.ReadAll(conn)
	return err != nil
}
