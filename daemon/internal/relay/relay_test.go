package relay_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/relay"
	"fulmen/native"
	"fulmen/native/nativetest/testkit"
	"fulmen/native/procsockets"
)

func TestAPortOfRank0IsReachedFromTheSubmitter(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPair(t)
	go p.echo()
	p.start(t, false)
	is.Equal(p.laptop.Of(job), []api.PublishedPort{{Port: p.port, Addresses: []netip.AddrPort{netip.AddrPortFrom(published, uint16(p.port))}}})
	is.True(!p.open(lan))

	// The answer comes only when the end of the question has: both directions end
	// by themselves.
	reported := make([]byte, 3<<20)
	_, _ = rand.Read(reported)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			conn := p.dial(t, published)
			go func() {
				_, _ = conn.Write(reported)
				_ = conn.CloseWrite()
			}()
			received, err := io.ReadAll(conn)
			is.NoErr(err)
			is.True(bytes.Equal(received, reported))
		})
	}
	all.Wait()
}

func TestTheProgramMayEndItsDirectionFirst(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPair(t)
	p.start(t, false)
	conn := p.dial(t, published)
	program, err := p.program.Accept()
	is.NoErr(err)
	defer program.Close()
	_, err = program.Write([]byte("bye"))
	is.NoErr(err)
	is.NoErr(program.(*net.TCPConn).CloseWrite())
	received, err := io.ReadAll(conn)
	is.NoErr(err)
	is.Equal(string(received), "bye")
	_, err = conn.Write([]byte("and you"))
	is.NoErr(err)
	is.NoErr(conn.CloseWrite())
	received, err = io.ReadAll(program)
	is.NoErr(err)
	is.Equal(string(received), "and you")
}

func TestNothingOutlivesTheJob(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(p *pair, stop func())
	}{
		{"closed where it was submitted", func(p *pair, _ func()) { p.laptop.Close(job) }},
		{"the rank ended", func(_ *pair, stop func()) { stop() }},
		{"the nodes are parted", func(p *pair, _ func()) { p.scenario.Cut(laptop, studio) }},
		{"the daemon ends", func(p *pair, _ func()) { p.studio.Shut() }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			p := newPair(t)
			stop := p.studio.Serve(rank0, unix.Getpgrp(), []int{p.port}, func([]int) {})
			is.NoErr(p.laptop.Open(p.spec(false), rank0, studio))
			conn := p.dial(t, published)
			program, err := p.program.Accept()
			is.NoErr(err)
			defer program.Close()
			test.end(p, stop)
			_, err = io.ReadAll(conn)
			is.True(err != nil) // reset, not an end in good order
			_, err = io.ReadAll(program)
			is.True(err != nil)
		})
	}
	t.Run("its port", func(t *testing.T) {
		t.Parallel()
		is := is.New(t)
		p := newPair(t)
		p.start(t, false)
		p.laptop.Close(job)
		is.True(!p.open(published))
		is.Equal(len(p.laptop.Of(job)), 0)
	})
	t.Run("who has not shown the key", func(t *testing.T) {
		t.Parallel()
		is := is.New(t)
		p := newPair(t)
		p.start(t, true)
		conn := p.dial(t, lan)
		p.laptop.Close(job)
		_, err := io.ReadAll(conn)
		is.True(err != nil) // reset, and not let be until its time is over
	})
}

func TestOnlyPublishedPortsAreReached(t *testing.T) {
	for _, test := range []struct {
		name string
		from api.NodeID
		rank api.RankRef
		port int
		want string
	}{
		{"the port", laptop, rank0, 0, "o"},
		{"another port", laptop, rank0, 1, "d"},
		{"another rank", laptop, api.RankRef{Job: job, Attempt: 1, Rank: 1}, 0, "d"},
		{"another node", "2222222222222222", rank0, 0, "d"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			p := newPair(t)
			p.studio.Serve(rank0, unix.Getpgrp(), []int{p.port}, func([]int) {})
			conn, err := p.scenario.Add(test.from).Stream(context.Background(), studio, api.PeerConn{Carries: api.ConnPublish, Rank: test.rank, Port: p.port + test.port})
			is.NoErr(err)
			defer conn.Close()
			reported := make([]byte, 1)
			_, err = io.ReadFull(conn, reported)
			is.NoErr(err)
			is.Equal(string(reported), test.want)
		})
	}
}

func TestAPortWhereNobodyListensRefuses(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPair(t)
	p.start(t, false)
	is.NoErr(p.program.Close())
	is.True(p.broken(published))
}

// What another program of the machine listens at is not the rank's to publish.
func TestAnotherProgramsPortRefuses(t *testing.T) {
	const nobodys = 1 << 30 // above all numbers of processes
	for _, test := range []struct {
		name      string
		processes native.Processes
		group     int
		want      string
	}{
		{"the rank's", procsockets.Processes{}, unix.Getpgrp(), "o"},
		{"another's", procsockets.Processes{}, nobodys, "r"},
		{"the system does not tell", native.NoProcesses{}, unix.Getpgrp(), "r"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			p := newPairWith(t, test.processes)
			p.studio.Serve(rank0, test.group, []int{p.port}, func([]int) {})
			conn, err := p.scenario.Add(laptop).Stream(context.Background(), studio, api.PeerConn{Carries: api.ConnPublish, Rank: rank0, Port: p.port})
			is.NoErr(err)
			defer conn.Close()
			reported := make([]byte, 1)
			_, err = io.ReadFull(conn, reported)
			is.NoErr(err)
			is.Equal(string(reported), test.want)
		})
	}
}

// hangsUp has something happen when it is asked who listens at a port.
type hangsUp struct {
	native.Processes
	first func()
}

func (h hangsUp) Listens(group, port int, before native.Listening) (native.Listening, error) {
	h.first()
	return h.Processes.Listens(group, port, before)
}

// A caller that is gone before it is told that the program took its connection leaves the
// program none.
func TestACallerThatHangsUp(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	called := make(chan net.Conn, 1)
	var once sync.Once
	watch := make(chan struct{})
	p := newPairWith(t, hangsUp{procsockets.Processes{}, func() {
		select {
		case <-watch: // the first look is before anybody calls
			once.Do(func() { (<-called).Close() })
		default:
		}
	}})
	reported := make(chan []int, 1)
	p.studio.Serve(rank0, unix.Getpgrp(), []int{p.port}, func(open []int) { reported <- open })
	<-reported
	close(watch)
	conn, err := p.scenario.Add(laptop).Stream(context.Background(), studio, api.PeerConn{Carries: api.ConnPublish, Rank: rank0, Port: p.port})
	is.NoErr(err)
	called <- conn
	program, err := p.program.Accept()
	is.NoErr(err)
	defer program.Close()
	_, err = io.ReadAll(program)
	is.True(err != nil) // reset
}

func TestALaterAttemptIsReached(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPair(t)
	is.NoErr(p.laptop.Open(p.spec(false), api.RankRef{Job: job, Attempt: 9}, studio))
	is.True(p.broken(published))
	go p.echo()
	p.studio.Serve(rank0, unix.Getpgrp(), []int{p.port}, func([]int) {})
	is.NoErr(p.laptop.Open(p.spec(false), rank0, studio)) // over the listeners that there are
	conn := p.dial(t, published)
	is.NoErr(conn.CloseWrite())
	_, err := io.ReadAll(conn)
	is.NoErr(err)
}

func TestATakenPortIsNamed(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPair(t)
	taken, err := net.Listen("tcp", netip.AddrPortFrom(published, uint16(p.port)).String())
	is.NoErr(err)
	defer taken.Close()
	is.True(errors.Is(p.laptop.Check(p.spec(false).Publish), api.ReasonPortTaken))
	err = p.laptop.Open(p.spec(false), rank0, studio)
	is.True(errors.Is(err, api.ReasonPortTaken))
	is.True(strings.Contains(err.Error(), taken.Addr().(*net.TCPAddr).IP.String()))
	is.Equal(len(p.laptop.Of(job)), 0)
	is.NoErr(p.laptop.Open(p.spec(false), rank0, laptop)) // listens nowhere, until rank 0 is elsewhere
	is.True(errors.Is(p.laptop.Open(p.spec(false), rank0, studio), api.ReasonPortTaken))
	is.Equal(len(p.laptop.Of(job)), 0)
	is.NoErr(taken.Close())
	is.NoErr(p.laptop.Check(p.spec(false).Publish))
	is.NoErr(p.laptop.Open(p.spec(false), rank0, studio)) // what was checked is not held
}

func TestOnRank0sOwnNodeTheProgramIsThere(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPair(t)
	is.NoErr(p.laptop.Open(p.spec(false), rank0, laptop))
	is.Equal(p.laptop.Of(job), []api.PublishedPort{{Port: p.port}})
	is.True(!p.open(published))
}

func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPair(t)
	p.start(t, false)
	var held []net.Conn
	for range relay.MaxConnections {
		p.dial(t, published)
		program, err := p.program.Accept()
		is.NoErr(err)
		defer program.Close()
		held = append(held, program)
	}
	is.True(p.broken(published))
	is.Equal(len(held), relay.MaxConnections)
}

// Rank 0's node, too, has no more connections of a job than there may be.
func TestConnectionsAreBoundedAtTheRank(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPair(t)
	p.studio.Serve(rank0, unix.Getpgrp(), []int{p.port}, func([]int) {})
	from := p.scenario.Add(laptop)
	for i := range relay.MaxConnections + 1 {
		conn, err := from.Stream(t.Context(), studio, api.PeerConn{Carries: api.ConnPublish, Rank: rank0, Port: p.port})
		is.NoErr(err)
		defer conn.Close()
		reported := make([]byte, 1)
		_, err = io.ReadFull(conn, reported)
		is.NoErr(err)
		is.Equal(string(reported), map[bool]string{true: "f", false: "o"}[i == relay.MaxConnections])
	}
}

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

func BenchmarkCarry(b *testing.B) {
	p := newPair(b)
	p.start(b, false)
	conn := p.dial(b, published)
	program, err := p.program.Accept()
	if err != nil {
		b.Fatal(err)
	}
	defer program.Close()
	go func() { _, _ = io.Copy(io.Discard, program) }()
	chunk := make([]byte, 1<<20)
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		if _, err := conn.Write(chunk); err != nil {
			b.Fatal(err)
		}
	}
}
