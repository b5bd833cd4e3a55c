package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/files/wire"
)

const (
	// maxReads is how often a file is read that keeps changing.
	maxReads = 3
	// freshness is within which a change need not show in the times of a file:
	// the coarsest clock of a file system in use counts two seconds (FAT, exFAT).
	freshness = 2 * time.Second
)

// open opens a regular file of the folder, and nothing else that took its place.
func (s *sender) open(name string) (*os.File, fs.FileInfo, error) {
	f, err := s.root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("it is no longer a file")
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// sendFile sends a file as it is at one moment: one that changes while it is read
// is read again.
func (s *sender) sendFile(i int) error {
	name := s.list.Entries()[i].Path
	for range maxReads {
		done, err := s.try(i, name)
		if done || err != nil {
			return err
		}
	}
	return api.Errorf(api.ReasonSyncFailed, name, "%s changes while it is copied.", name).
		WithRemedy("Wait until nothing writes to it, or exclude it in .gitignore.")
}

func (s *sender) try(i int, name string) (done bool, err error) {
	f, before, err := s.open(name)
	if err != nil {
		return false, cannot(err, name, s.folder)
	}
	defer f.Close()
	if before.Size() > wire.MaxBytes {
		return false, api.NewError(api.ReasonSyncTooLarge, name)
	}
	if err := s.conn.Send(wire.File, wire.Begin{Index: i}); err != nil {
		return false, err
	}
	sum := sha256.New()
	left := before.Size()
	for left > 0 {
		n, err := f.Read(s.buffer[:min(int64(len(s.buffer)), left)])
		if n > 0 {
			left -= int64(n)
			sum.Write(s.buffer[:n])
			if err := s.conn.Write(wire.Data, s.buffer[:n]); err != nil {
				return false, err
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return false, cannot(err, name, s.folder)
		}
	}
	after, err := f.Stat()
	if err != nil {
		return false, cannot(err, name, s.folder)
	}
	if left > 0 || changed(before, after) {
		return false, s.conn.Send(wire.End, wire.Ending{Again: true})
	}
	return true, s.conn.Send(wire.End, wire.Ending{
		SHA256: hex.EncodeToString(sum.Sum(nil)), Modified: after.ModTime().UnixNano(),
		Changed: inodeChanged(after).UnixNano(), Fresh: fresh(after, s.clock.Now()),
	})
}

// changed compares how a file was before it was read and after.
func changed(before, after fs.FileInfo) bool {
	return before.Size() != after.Size() || !before.ModTime().Equal(after.ModTime()) || !inodeChanged(before).Equal(inodeChanged(after))
}

// fresh reports whether a file may change again within the times that it bears.
func fresh(info fs.FileInfo, now time.Time) bool {
	return now.Sub(inodeChanged(info)) < freshness
}

// denied is the error of a path that the system does not let the person read. On
// macOS EPERM means that privacy protects it, whatever its mode.
func denied(err error, path string) error {
	if privacyProtects && errors.Is(err, syscall.EPERM) {
		return api.NewError(api.ReasonMacOSPrivacy, path)
	}
	return api.Errorf(api.ReasonPermissionDenied, path, "%s: its owner may not read it, so it cannot be copied.", path)
}
