package pack

import (
	"cmp"
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
	task, err := wire.Expect[wire.PackTask](conn, wire.Task)
	if err != nil {
		return err
	}
	s := sender{conn: conn, clock: clock, folder: task.Folder, buffer: make([]byte, wire.MaxFrameBytes)}
	if err = s.send(); err != nil {
		known, ok := errors.AsType[*api.Error](err)
		if !ok {
			known = api.Errorf(api.ReasonSyncFailed, "", "The folder could not be sent%s.", native.ErrnoSuffix(err))
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
	sent := wire.SendParts(s.conn, wire.Entries, s.list.Entries())
	if err := cmp.Or(sent, s.conn.Send(wire.Listed, wire.Listing{Version: wire.Version, LeftOut: leftOut}), s.conn.Flush()); err != nil {
		return err
	}
	if err := s.answerHashes(); err != nil {
		return err
	}
	var wanted []int
	err = s.indices(wire.Want, wire.Wanted, func(i int) error {
		wanted = append(wanted, i)
		return nil
	})
	if err != nil {
		return err
	}
	for _, i := range wanted {
		if err := s.sendFile(i); err != nil {
			return err
		}
	}
	if err := cmp.Or(s.conn.Send(wire.Sent, nil), s.conn.Flush()); err != nil {
		return err
	}
	_, err = s.conn.Expect(wire.Thanks)
	return err
}

// indices takes the questions of a kind as they come, until the last has come.
func (s *sender) indices(kind, last wire.Kind, take func(i int) error) error {
	for after := -1; ; {
		got, data, err := s.conn.Read()
		switch {
		case err != nil || got == last:
			return err
		case got != kind:
			return wire.Unexpected(got, data)
		}
		indices, err := wire.DecodeIndices(data, s.list.Entries(), after)
		if err != nil {
			return err
		}
		for _, i := range indices {
			if err := take(i); err != nil {
				return err
			}
			after = i
		}
	}
}

// answerHashes answers as the questions come.
func (s *sender) answerHashes() error {
	err := s.indices(wire.Hash, wire.Hashed, func(i int) error {
		// One at a time, and at once: a large file takes long, and silence is suspect.
		return cmp.Or(s.conn.Send(wire.Hashes, wire.HashList{s.hash(i)}), s.conn.Flush())
	})
	if err != nil {
		return err
	}
	return cmp.Or(s.conn.Send(wire.Hashed, nil), s.conn.Flush())
}

// hash is the hash of a file, or nothing where it is not as listed any more: then
// it is wanted, and its sending tells what is wrong.
func (s *sender) hash(i int) string {
	entry := s.list.Entries()[i]
	f, before, err := s.open(entry.Path)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.CopyBuffer(onlyWriter{sum}, f, s.buffer); err != nil {
		return ""
	}
	after, err := f.Stat()
	if err != nil || changed(before, after) || after.Size() != entry.Bytes || inodeChanged(after).UnixNano() != entry.Changed {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
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
