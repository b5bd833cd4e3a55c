package input

import (
	"context"
	"encoding/json"
	"net"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/rankio"
	"fulmen/native"
)

// MethodResize is the call that gives a rank's terminal its size.
const MethodResize = "peer.resize"

// Peers are the nodes that give input.
type Peers interface {
	// HandleCall sets who answers a method.
	HandleCall(method string, h peer.CallHandler)
	// HandleStream sets who serves connections of a kind.
	HandleStream(kind api.PeerConnKind, h peer.StreamHandler)
}

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
	Peers Peers
	// Clock times beats.
	Clock native.Clock
	// Shim finds the shim of a rank of this node; false = the node has no such rank.
	Shim func(api.RankRef) (Shim, bool)
	// May is nil where the principal, whose node vouches for him, may give the
	// rank input, and otherwise says why not, as an *api.Error.
	May func(by api.Principal, rank api.RankRef) error
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
	c.Peers.HandleStream(api.ConnInput, s.serve)
	c.Peers.HandleCall(MethodResize, s.resize)
	return s
}

func (s *Server) serve(ctx context.Context, from api.NodeID, first api.PeerConn, conn net.Conn) {
	to := rankio.NewWriter(conn)
	refuse := func(err error) { _ = to.Send(rankio.Refused{Error: api.AsError(err)}) }
	if first.Input == nil || !first.Rank.Valid() {
		refuse(api.NewError(api.ReasonMissingField, "input"))
		return
	}
	shim, err := s.admit(from, first.Input.By, first.Rank)
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

// admit checks who wants something of which rank.
func (s *Server) admit(from api.NodeID, by api.Principal, rank api.RankRef) (Shim, error) {
	if by.Node != from {
		return Shim{}, api.NewError(api.ReasonPeerNotAllowed, by.String())
	}
	if err := s.config.May(by, rank); err != nil {
		return Shim{}, err
	}
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

func (s *Server) resize(ctx context.Context, from api.NodeID, raw json.RawMessage) (any, error) {
	var p api.PeerResizeParams
	if err := peer.Params(raw, &p); err != nil {
		return nil, err
	}
	shim, err := s.admit(from, p.By, p.Rank)
	if err != nil {
		return nil, err
	}
	return api.Empty{}, resize(ctx, shim, p)
}
