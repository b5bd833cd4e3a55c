package input

import (
	"context"
	"net"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/rankio"
	"fulmen/native"
)

// Shim is how the shim of a rank is spoken to.
type Shim struct {
	// Socket is the path of its socket.
	Socket string
	// Epoch is that of the job's home which this node obeys.
	Epoch uint64
}

// Config is what a Server needs.
type Config struct {
	// Peers are the nodes that give input, this one among them.
	Peers peer.Caller
	// Clock times beats.
	Clock native.Clock
	// Shim finds the shim of a rank of this node; false = the node has no such rank.
	Shim func(api.RankRef) (Shim, bool)
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
	to := rankio.NewWriter(conn)
	refuse := func(err error) { _ = to.Send(rankio.Refused{Error: api.AsError(err)}) }
	if refused != nil {
		refuse(refused)
		return
	}
	if first.Input == nil || !first.Rank.Valid() {
		refuse(api.NewError(api.ReasonMissingField, "input"))
		return
	}
	shim, err := s.shim(first.Rank)
	if err != nil {
		refuse(err)
		return
	}
	session := &session{server: s, rank: first.Rank, conn: conn, to: to, ended: s.config.Ended(first.Rank)}
	s.replace(session)
	defer s.forget(session)
	if err := session.run(ctx, shim); err != nil {
		refuse(err)
	}
}

// shim finds the shim of a rank of this node.
func (s *Server) shim(rank api.RankRef) (Shim, error) {
	shim, ok := s.config.Shim(rank)
	if !ok {
		return Shim{}, api.NewError(api.ReasonNoSuchRank, rank.String())
	}
	return shim, nil
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
	shim, err := s.shim(p.Rank)
	if err != nil {
		return nil, err
	}
	return api.Empty{}, resize(ctx, shim, p)
}
