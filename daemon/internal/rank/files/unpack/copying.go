package unpack

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/files/wire"
	"fulmen/native"
)

// copying is one run: what there is, what is to be, and what arrived for it.
type copying struct {
	conn     *wire.Conn
	reporter *wire.Reporter
	area     *os.Root
	name     string

	list    wire.List
	listing wire.Listing
	known   map[string]record
	staged  staging
	records []record // one an entry
	// from is, for each entry, the staged file that takes its place; empty where
	// the copy has it already.
	from []string
}

func (c *copying) run() error {
	c.list.FoldCase = runtime.GOOS == "darwin"
	if err := c.readList(); err != nil {
		return err
	}
	c.known = readIndex(c.area)
	var err error
	if c.staged, err = openStaging(c.area); err != nil {
		return err
	}
	wanted, err := c.decide()
	if err != nil {
		return err
	}
	if err := c.fetch(wanted); err != nil {
		return err
	}
	if err := c.apply(); err != nil {
		return err
	}
	if err := writeIndex(c.area, c.records); err != nil {
		return err
	}
	return c.staged.clear()
}

func (c *copying) readList() error {
	for {
		kind, data, err := c.conn.Read()
		if err != nil {
			return err
		}
		switch kind {
		case wire.Entries:
			if err := c.list.Decode(data); err != nil {
				return err
			}
		case wire.Listed:
			c.listing, err = wire.Decode[wire.Listing](data)
			c.records = make([]record, len(c.list.Entries()))
			c.from = make([]string, len(c.records))
			return err
		default:
			return wire.Unexpected(kind, data)
		}
	}
}

// maxQuestions is how many hashes are asked for before the answers are read, so
// that neither side writes to one that writes.
const maxQuestions = 256

// decide finds which files have to be sent. Where only the contents can tell, it
// asks for their hash.
func (c *copying) decide() ([]int, error) {
	var wanted, unsure []int
	for i, e := range c.list.Entries() {
		c.records[i] = record{Entry: e}
		if e.Type != wire.TypeFile {
			continue
		}
		r, here := c.have(e)
		switch {
		case here && r.Modified == e.Modified && r.Changed == e.Changed && !r.Fresh:
			c.keep(i, r)
		case here || c.staged.may(e.Bytes):
			unsure = append(unsure, i)
		default:
			wanted = append(wanted, i)
		}
	}
	for len(unsure) > 0 {
		some := unsure[:min(len(unsure), maxQuestions)]
		unsure = unsure[len(some):]
		hashes, err := c.ask(some)
		if err != nil {
			return nil, err
		}
		for n, i := range some {
			if !c.settle(i, hashes[n]) {
				wanted = append(wanted, i)
			}
		}
	}
	if err := cmp.Or(c.conn.Send(wire.Hashed, nil), c.conn.Flush()); err != nil {
		return nil, err
	}
	_, err := c.conn.Expect(wire.Hashed)
	return wanted, err
}

// have gives what the copy has of a file: the record, where the file is still as
// it was put there, and of the wanted size.
func (c *copying) have(e wire.Entry) (record, bool) {
	r, ok := c.known[e.Path]
	if !ok || r.Type != wire.TypeFile || r.Bytes != e.Bytes || r.SHA256 == "" {
		return record{}, false
	}
	info, err := c.area.Lstat(path.Join(c.name, e.Path))
	return r, err == nil && info.Mode().IsRegular() && info.Size() == r.Bytes && info.ModTime().UnixNano() == r.Local
}

// keep notes that the copy has a file that has not changed since.
func (c *copying) keep(i int, r record) {
	c.records[i].SHA256, c.records[i].Local, c.records[i].Fresh = r.SHA256, r.Local, false
}

// settle uses what is here for a file with the hash; false if nothing is.
func (c *copying) settle(i int, hash string) bool {
	if hash == "" {
		return false
	}
	e := c.list.Entries()[i]
	if r, here := c.have(e); here && r.SHA256 == hash {
		c.records[i].SHA256, c.records[i].Local = hash, r.Local
		return true
	}
	name, ok := c.staged.take(hash, e.Bytes)
	if ok {
		c.from[i], c.records[i].SHA256 = name, hash
	}
	return ok
}

func (c *copying) ask(indices []int) ([]string, error) {
	if err := cmp.Or(wire.SendParts(c.conn, wire.Hash, indices), c.conn.Flush()); err != nil {
		return nil, err
	}
	var answers []string
	for len(answers) < len(indices) {
		some, err := wire.Expect[wire.HashList](c.conn, wire.Hashes)
		if err = cmp.Or(err, c.reporter.Alive()); err != nil {
			return nil, err
		}
		answers = append(answers, some...)
	}
	if len(answers) > len(indices) {
		return nil, fmt.Errorf("%w: more hashes than were asked for", wire.ErrProtocol)
	}
	return answers, nil
}

// perm gives the permissions that the copy of an entry should have and has not.
func perm(info fs.FileInfo, e wire.Entry) (fs.FileMode, bool) {
	return e.Perm(), info.Mode().Perm() != e.Perm()
}

// room refuses what the disk has no room for before anything is sent.
func (c *copying) room(bytes int64) error {
	free, err := native.FreeBytes(c.area.Name())
	if err == nil && free < bytes {
		return api.Errorf(api.ReasonDiskFull, "", "There is no room for the folder: %d MiB are needed, %d MiB are free.", (bytes+1<<20-1)>>20, free>>20)
	}
	return nil
}
