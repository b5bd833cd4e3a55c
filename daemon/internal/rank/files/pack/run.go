package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/files/wire"
	"fulmen/native"
)

// Run sends a folder over the two streams, the first frame of which is its own
// daemon's wire.PackTask. What ends it before its time is told the receiver, and
// given back too.
func Run(r io.Reader, w io.Writer, clock native.Clock) error {
	conn := wire.NewConn(r, w)
	data, err := conn.Expect(wire.Task)
	if err != nil {
		return err
	}
	task, err := wire.DecodePackTask(data)
	if err != nil {
		return err
	}
	s := sender{conn: conn, clock: clock, folder: task.Folder, buffer: make([]byte, wire.MaxFrameBytes)}
	if err = s.send(); err != nil {
		known, ok := errors.AsType[*api.Error](err)
		if !ok {
			known = api.Errorf(api.ReasonSyncFailed, "", "The folder could not be sent%s.", native.Said(err))
		}
		conn.Refuse(known)
	}
	return err
}

type sender struct {
	conn   *wire.Conn
	clock  native.Clock
	folder string
	root   *os.Root
	list   *wire.List
	buffer []byte
}

func (s *sender) send() error {
	var err error
	if s.root, err = os.OpenRoot(s.folder); err != nil {
		return cannot(err, s.folder, s.folder)
	}
	defer s.root.Close()
	var leftOut []string
	if s.list, leftOut, err = scan(s.root, s.folder, s.clock.Now()); err != nil {
		return err
	}
	if err := s.sayList(leftOut); err != nil {
		return err
	}
	if err := s.answerHashes(); err != nil {
		return err
	}
	wanted, err := s.readWanted()
	if err != nil {
		return err
	}
	for _, i := range wanted {
		if err := s.sendFile(i); err != nil {
			return err
		}
	}
	if err := s.conn.Say(wire.Sent, nil); err != nil {
		return err
	}
	if err := s.conn.Flush(); err != nil {
		return err
	}
	_, err = s.conn.Expect(wire.Thanks)
	return err
}

func (s *sender) sayList(leftOut []string) error {
	if err := wire.SayParts(s.conn, wire.Entries, s.list.Entries()); err != nil {
		return err
	}
	if err := s.conn.Say(wire.Listed, wire.Listing{Version: wire.Version, LeftOut: leftOut}); err != nil {
		return err
	}
	return s.conn.Flush()
}

// answerHashes answers as the questions come.
func (s *sender) answerHashes() error {
	for after := -1; ; {
		kind, data, err := s.conn.Read()
		switch {
		case err != nil:
			return err
		case kind == wire.Hashed:
			if err := s.conn.Say(wire.Hashed, nil); err != nil {
				return err
			}
			return s.conn.Flush()
		case kind != wire.Hash:
			return wire.Unexpected(kind, data)
		}
		indices, err := wire.DecodeIndices(data, s.list.Entries(), after)
		if err != nil {
			return err
		}
		for _, i := range indices {
			after = i
			hash, err := s.hash(i)
			if err != nil {
				return err
			}
			// One at a time, and at once: a large file takes long, and silence is suspect.
			if err := s.conn.Say(wire.Hashes, []string{hash}); err != nil {
				return err
			}
			if err := s.conn.Flush(); err != nil {
				return err
			}
		}
	}
}

// hash is the hash of a file, or nothing where it is not as listed any more: then
// it is wanted, and its sending tells what is wrong.
func (s *sender) hash(i int) (string, error) {
	entry := s.list.Entries()[i]
	f, before, err := s.open(entry.Path)
	if err != nil {
		return "", nil
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.CopyBuffer(onlyWriter{sum}, f, s.buffer); err != nil {
		return "", nil
	}
	after, err := f.Stat()
	if err != nil || changed(before, after) || after.Size() != entry.Bytes || inodeChanged(after).UnixNano() != entry.Changed {
		return "", nil
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func (s *sender) readWanted() ([]int, error) {
	var all []int
	for after := -1; ; {
		kind, data, err := s.conn.Read()
		switch {
		case err != nil:
			return nil, err
		case kind == wire.Wanted:
			return all, nil
		case kind != wire.Want:
			return nil, wire.Unexpected(kind, data)
		}
		indices, err := wire.DecodeIndices(data, s.list.Entries(), after)
		if err != nil {
			return nil, err
		}
		if len(indices) > 0 {
			after = indices[len(indices)-1]
		}
		all = append(all, indices...)
	}
}

// onlyWriter hides that a hash could read by itself, with a buffer of its own.
type onlyWriter struct{ io.Writer }

// cannot is the error of a path that could not be read.
func cannot(err error, path, folder string) error {
	switch {
	case errors.Is(err, os.ErrNotExist) && path == folder:
		return api.NewError(api.ReasonDirectoryMissing, path)
	case errors.Is(err, os.ErrPermission):
		return denied(err, path)
	}
	return api.Errorf(api.ReasonSyncFailed, path, "%s: it could not be read: %v.", path, reasonOf(err))
}

func reasonOf(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return fmt.Errorf("%w", err)
}
