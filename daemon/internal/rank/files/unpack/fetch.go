package unpack

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

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
	err := cmp.Or(wire.SendParts(c.conn, wire.Want, wanted), c.conn.Send(wire.Wanted, nil), c.conn.Flush(), c.reporter.Alive())
	if err != nil {
		return err
	}
	left := int64(wire.MaxBytes)
	for _, i := range wanted {
		size, err := c.fetchFile(i, left)
		if err != nil {
			return err
		}
		left -= size
	}
	_, err = c.conn.Expect(wire.Sent)
	return err
}

// maxAgain bounds how often a sender may begin a file.
const maxAgain = 8

// fetchFile has a file sent, for which there are so many bytes left, and gives its size.
func (c *copying) fetchFile(i int, left int64) (size int64, err error) {
	for range maxAgain {
		begin, err := wire.Expect[wire.Begin](c.conn, wire.File)
		if err == nil && begin.Index != i {
			err = fmt.Errorf("%w: file %d in place of %d", wire.ErrProtocol, begin.Index, i)
		}
		if err != nil {
			return 0, err
		}
		size, again, err := c.fetchOnce(i, left)
		if !again || err != nil {
			return size, err
		}
	}
	return 0, fmt.Errorf("%w: a file that begins again and again", wire.ErrProtocol)
}

func (c *copying) fetchOnce(i int, left int64) (size int64, again bool, err error) {
	f, err := c.staged.create()
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	sum := sha256.New()
	for {
		kind, data, err := c.conn.Read()
		if err != nil {
			return 0, false, err
		}
		switch kind {
		case wire.Data:
			if size += int64(len(data)); size > left {
				return 0, false, api.NewError(api.ReasonSyncTooLarge, c.list.Entries()[i].Path)
			}
			sum.Write(data)
			if _, err := f.Write(data); err != nil {
				return 0, false, err
			}
			if err := c.reporter.Alive(); err != nil {
				return 0, false, err
			}
			continue
		case wire.End:
		default:
			return 0, false, wire.Unexpected(kind, data)
		}
		end, err := wire.Decode[wire.Ending](data)
		if err != nil || end.Again {
			return 0, end.Again, err
		}
		if hex.EncodeToString(sum.Sum(nil)) != end.SHA256 {
			return 0, false, fmt.Errorf("%w: %.200q arrived altered", wire.ErrProtocol, c.list.Entries()[i].Path)
		}
		if err := f.Close(); err != nil {
			return 0, false, err
		}
		r := &c.records[i]
		r.SHA256, r.Bytes, r.Modified, r.Changed, r.Fresh = end.SHA256, size, end.Modified, end.Changed, end.Fresh
		c.from[i], err = c.staged.keep(end.SHA256)
		return size, false, err
	}
}
