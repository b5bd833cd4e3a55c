package output

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/rank/shim"
	"fulmen/daemon/internal/rank/shimproto"
)

// errGone is a connection that nobody reads any more: there is nobody to be told.
var errGone = errors.New("the reader is gone")

// reader sends one rank's output over one connection.
type reader struct {
	server  *Server
	folder  string
	follow  bool
	ended   <-chan struct{}
	streams [2]*stream
	buffer  []byte
}

// stream is one of the two, as far as it was sent.
type stream struct {
	name   api.OutputStream
	path   string    // empty for one that there is not
	log    *shim.Log // nil until there is a file
	begin  int64     // as asked for; negative = before the end
	offset int64
	limit  int64 // where a reader that does not follow stops
}

func newReader(s *Server, rank api.RankRef, folder string, want api.PeerOutput) *reader {
	path := func(stream string) string { return filepath.Join(folder, stream+strconv.Itoa(rank.Rank)) }
	r := &reader{
		server: s, folder: folder, follow: want.Follow, ended: s.config.Ended(rank), buffer: make([]byte, peer.MaxPiece),
		streams: [2]*stream{
			{name: api.StreamOut, path: path(api.OutFilePrefix), begin: want.OutBytes},
			{name: api.StreamErr, path: path(api.ErrFilePrefix), begin: want.ErrBytes},
		},
	}
	if want.Prepare {
		r.streams[0].path, r.streams[1].path = "", filepath.Join(folder, api.PrepareFile)
	}
	return r
}

func (r *reader) close() {
	for _, s := range r.streams {
		if s.log != nil {
			_ = s.log.Close()
		}
	}
}

// run sends until the end, or until nobody reads any more.
func (r *reader) run(ctx context.Context, to *peer.Writer) error {
	hint, release := (<-chan struct{})(nil), func() {}
	if r.follow {
		// Watched first and read then: what comes between the two is not missed.
		var err error
		if hint, release, err = r.server.folders.add(r.folder); err != nil {
			return api.NewError(api.ReasonTooManyFiles, r.folder)
		}
	}
	defer release()
	for {
		over := !r.follow || r.over() // asked before the last look at the files
		if err := r.drain(ctx, to); errors.Is(err, errGone) {
			return nil
		} else if err != nil {
			return err
		}
		if over {
			if err := r.lost(); err != nil {
				return err
			}
			return to.Send(peer.End{
				OutBytes: r.streams[0].offset, ErrBytes: r.streams[1].offset, Ended: r.follow || r.over(),
			})
		}
		beat := make(chan struct{})
		timer := r.server.config.Clock.AfterFunc(peer.BeatEvery, func() { close(beat) })
		select {
		case <-hint:
		case <-r.ended:
		case <-beat:
			if err := to.Send(peer.Beat{}); err != nil {
				return nil
			}
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
		timer.Stop()
	}
}

// over reports whether the logs are complete.
func (r *reader) over() bool {
	select {
	case <-r.ended:
		return true
	default:
	}
	_, err := os.Lstat(filepath.Join(r.folder, shimproto.ExitFile))
	return err == nil
}

// lost says what the rank's disk did not take, once it has ended: the record of its
// end tells, and no piece does, since nothing comes after it.
func (r *reader) lost() error {
	if r.streams[0].path == "" {
		return nil // what prepares has no such record
	}
	end, err := shimproto.ReadExit(r.folder)
	if err != nil {
		return nil // it has none, or runs
	}
	lost, why := int64(0), ""
	for _, l := range end.Logs {
		size := int64(0)
		for _, s := range r.streams {
			if s.log != nil && filepath.Base(s.path) == l.File {
				size, _ = s.log.Size() // 0 where it cannot be told: nothing of it came
			}
		}
		lost += max(0, l.WrittenBytes-size)
		why = cmp.Or(why, l.Problem)
	}
	if lost == 0 {
		return nil
	}
	return api.Errorf(api.ReasonOutputLost, strconv.Itoa(end.Rank), "%d bytes of what rank %d printed could not be written to the disk: %s.",
		lost, end.Rank, cmp.Or(why, "it was full"))
}

// drain sends what there is, the streams in turn.
func (r *reader) drain(ctx context.Context, to *peer.Writer) error {
	for more := true; more; {
		more = false
		for _, s := range r.streams {
			piece, err := s.read(r.buffer, r.follow)
			if errors.Is(err, io.EOF) {
				continue
			}
			if err != nil {
				return api.NewError(api.ReasonReadFailed, s.path)
			}
			if to.Send(piece) != nil || ctx.Err() != nil {
				return errGone
			}
			more = true
		}
	}
	return nil
}

// read is the next piece; io.EOF where there is none now.
func (s *stream) read(buffer []byte, follow bool) (peer.Piece, error) {
	if s.path == "" {
		return peer.Piece{}, io.EOF
	}
	if s.log == nil {
		if err := s.open(follow); errors.Is(err, fs.ErrNotExist) {
			s.begin = max(s.begin, 0) // whatever comes is later than what was asked for
			return peer.Piece{}, io.EOF
		} else if err != nil {
			return peer.Piece{}, err
		}
	}
	if s.offset >= s.limit {
		return peer.Piece{}, io.EOF
	}
	n, skipped, err := s.log.ReadAt(buffer, s.offset)
	if err != nil {
		return peer.Piece{}, err
	}
	if n == 0 {
		return peer.Piece{}, io.EOF
	}
	piece := peer.Piece{Stream: s.name, Offset: s.offset + skipped, Skipped: skipped, Data: buffer[:n]}
	s.offset = piece.Offset + int64(n)
	return piece, nil
}

func (s *stream) open(follow bool) error {
	log, err := shim.OpenLog(s.path)
	if err != nil {
		return err
	}
	size, err := log.Size()
	if err != nil {
		return errors.Join(err, log.Close())
	}
	s.log, s.offset, s.limit = log, s.begin, math.MaxInt64
	if s.begin < 0 {
		s.offset = max(0, size+s.begin)
	}
	if !follow {
		s.limit = size // a rank that prints faster than this reads has an end too
	}
	return nil
}
