package output

import (
	"context"
	"net"
	"sync/atomic"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/peer"
	"fulmen/native"
)

// MaxReaders is how many connections are served at once.
const MaxReaders = 256

// Config is what a Server needs.
type Config struct {
	// Peers are the nodes that want output, this one among them.
	Peers peer.Caller
	// Clock times the beats of silent connections.
	Clock native.Clock
	// Folder is where a rank of this node has its logs; false = it has none here.
	Folder func(api.RankRef) (folder string, ok bool)
	// Ended is closed when nothing will be added to the rank's logs any more. A
	// record of its end in its folder says so too; this is for those without one.
	Ended func(api.RankRef) <-chan struct{}
}

// Server serves output.
type Server struct {
	config  Config
	folders *folders
	readers atomic.Int64
}

// New makes a server and has it serve.
func New(c Config) *Server {
	s := &Server{config: c, folders: newFolders()}
	c.Peers.HandleStream(gate.ServePerson(gate.Output, s.serve))
	return s
}

// Close ends the watching of folders; connections end with their peers.
func (s *Server) Close() error { return s.folders.close() }

func (s *Server) serve(ctx context.Context, _ gate.Acting, refused error, first api.PeerConn, conn net.Conn) {
	to := peer.NewWriter(conn)
	defer s.readers.Add(-1)
	if s.readers.Add(1) > MaxReaders {
		_ = to.Send(peer.Refused{Error: api.NewError(api.ReasonTooManySubscriptions, first.Rank.String())})
		return
	}
	var r *reader
	err := refused
	if err == nil {
		r, err = s.read(first)
	}
	if err == nil {
		defer r.close()
		// Readers say nothing: what ends their side ends ours, also while there is
		// nothing to send.
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() {
			defer cancel()
			_, _ = conn.Read(make([]byte, 1))
		}()
		err = r.run(ctx, to)
	}
	if err != nil {
		_ = to.Send(peer.Refused{Error: api.AsError(err)})
	}
}

// read makes the reader of what is wanted.
func (s *Server) read(first api.PeerConn) (*reader, error) {
	want := first.Output
	if want == nil || !first.Rank.Valid() {
		return nil, api.NewError(api.ReasonMissingField, "output")
	}
	folder, ok := s.config.Folder(first.Rank)
	if !ok {
		return nil, api.NewError(api.ReasonNoSuchRank, first.Rank.String())
	}
	return newReader(s, first.Rank, folder, *want), nil
}
