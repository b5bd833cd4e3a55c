package input

import (
	"context"
	"net"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/peer"
	"fulmen/native"
)

// Config is what a Server needs.
type Config struct {
	// Peers are the nodes that give input, this one among them.
	Peers peer.Caller
	// Clock times beats.
	Clock native.Clock
	// Shim gives the path of the socket of a rank's shim, and the epoch of the job's home
	// which this node obeys; false = the node has no such rank.
	Shim func(api.RankRef) (socket string, epoch uint64, runs bool)
	// Ended is closed when the rank has ended.
	Ended func(api.RankRef) <-chan struct{}
}

// Server takes input.
type Server struct {
	config Config

	mu      sync.Mutex
	current map[api.RankRef]*session
}

// New makes a server and has it serve.
func New(c Config) *Server {
	s := &Server{config: c, current: map[api.RankRef]*session{}}
	c.Peers.HandleStream(gate.ServePerson(gate.Input, s.serve))
	c.Peers.HandleCall(gate.HandlePerson(gate.Resize, s.resize))
	return s
}

func (s *Server) serve(ctx context.Context, _ gate.Acting, refused error, first api.PeerConn, conn net.Conn) {
	to := peer.NewWriter(conn)
	refuse := func(err error) { _ = to.Send(peer.Refused{Error: api.AsError(err)}) }
	if refused != nil {
		refuse(refused)
		return
	}
	if first.Input == nil || !first.Rank.Valid() {
		refuse(api.NewError(api.ReasonMissingField, "input"))
		return
	}
	socket, epoch, runs := s.config.Shim(first.Rank)
	if !runs {
		refuse(api.NewError(api.ReasonNoSuchRank, first.Rank.String()))
		return
	}
	session := &session{server: s, rank: first.Rank, conn: conn, to: to, ended: s.config.Ended(first.Rank)}
	s.replace(session)
	defer s.forget(session)
	if err := session.run(ctx, socket, epoch); err != nil {
		refuse(err)
	}
}

// replace makes a session the one whose bytes count, and ends the one before.
func (s *Server) replace(next *session) {
	s.mu.Lock()
	before := s.current[next.rank]
	s.current[next.rank] = next
	s.mu.Unlock()
	if before != nil {
		before.replaced.Store(true)
		// Apart, because whoever is gone does not take the message either.
		go before.end(api.NewError(api.ReasonInputElsewhere, next.rank.String()))
	}
}

func (s *Server) forget(old *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current[old.rank] == old {
		delete(s.current, old.rank)
	}
}

func (s *Server) resize(ctx context.Context, _ gate.Acting, p api.PeerResizeParams) (any, error) {
	socket, epoch, runs := s.config.Shim(p.Rank)
	if !runs {
		return nil, api.NewError(api.ReasonNoSuchRank, p.Rank.String())
	}
	return api.Empty{}, resize(ctx, socket, epoch, p)
}
