package unpack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/files/wire"
)

// fetch has files sent and stages them.
func (c *copying) fetch(wanted []int) error {
	slices.Sort(wanted)
	var total int64
	for _, i := range wanted {
		total += c.list.Entries()[i].Bytes
	}
	if err := c.room(total); err != nil {
		return err
	}
	if err := wire.SayParts(c.conn, wire.Want, wanted); err != nil {
		return err
	}
	if err := c.conn.Say(wire.Wanted, nil); err != nil {
		return err
	}
	if err := c.conn.Flush(); err != nil {
		return err
	}
	if err := c.told.Progress(0, total); err != nil {
		return err
	}
	budget := budget{left: wire.MaxBytes}
	var done int64
	for _, i := range wanted {
		if err := c.fetchFile(i, &budget, done, total); err != nil {
			return err
		}
		done += c.list.Entries()[i].Bytes
	}
	if _, err := c.conn.Expect(wire.Sent); err != nil {
		return err
	}
	return c.told.Progress(total, total)
}

// budget is what may still arrive. A file that is sent again counts once.
type budget struct{ left int64 }

// maxAgain bounds how often a sender may begin a file.
const maxAgain = 8

func (c *copying) fetchFile(i int, b *budget, done, total int64) error {
	for range maxAgain {
		data, err := c.conn.Expect(wire.File)
		if err != nil {
			return err
		}
		if err := wire.DecodeBegin(data, i); err != nil {
			return err
		}
		again, err := c.fetchOnce(i, b, done, total)
		if !again || err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: a file that begins again and again", wire.ErrProtocol)
}

func (c *copying) fetchOnce(i int, b *budget, done, total int64) (again bool, err error) {
	f, err := c.staged.create()
	if err != nil {
		return false, err
	}
	defer f.Close()
	sum := sha256.New()
	var size int64
	for {
		kind, data, err := c.conn.Read()
		if err != nil {
			return false, err
		}
		switch kind {
		case wire.Data:
			if size += int64(len(data)); size > b.left {
				return false, api.NewError(api.ReasonSyncTooLarge, c.list.Entries()[i].Path)
			}
			sum.Write(data)
			if _, err := f.Write(data); err != nil {
				return false, err
			}
			if err := c.told.Progress(min(done+size, total), total); err != nil {
				return false, err
			}
			continue
		case wire.End:
		default:
			return false, wire.Unexpected(kind, data)
		}
		end, err := wire.DecodeEnding(data)
		if err != nil || end.Again {
			return end.Again, err
		}
		if hex.EncodeToString(sum.Sum(nil)) != end.SHA256 {
			return false, fmt.Errorf("%w: %.200q arrived altered", wire.ErrProtocol, c.list.Entries()[i].Path)
		}
		if err := f.Close(); err != nil {
			return false, err
		}
		b.left -= size
		r := &c.records[i]
		r.SHA256, r.Bytes, r.Modified, r.Changed, r.Fresh = end.SHA256, size, end.Modified, end.Changed, end.Fresh
		c.from[i], err = c.staged.keep(end.SHA256)
		return false, err
	}
}

// freeBytes is what the account may still write on the area's disk.
func freeBytes(area *os.Root) (int64, error) {
	dir, err := area.Open(".")
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	var s unix.Statfs_t
	if err := unix.Fstatfs(int(dir.Fd()), &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}
