package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
)

// damage is why a file cannot be used, one clause for a person.
type damage string

func (d damage) Error() string { return string(d) }

func damagef(format string, args ...any) error { return damage(fmt.Sprintf(format, args...)) }

// examine reads the whole file. It returns a damage if it cannot be used, and
// an error with fs.ErrNotExist if there is none.
func examine(path string, maxBytes int64) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil {
		return home.Explain(err, "examine", path)
	}
	if !info.Mode().IsRegular() {
		return damage("it is not a plain file")
	}
	if info.Size() > maxBytes {
		return api.Errorf(api.ReasonDiskFull, path, "The database %s has %d bytes, more than its limit of %d.", path, info.Size(), maxBytes).
			WithRemedy("Raise limits.database_bytes.")
	}
	if info.Size() == 0 { // bbolt would make a database of it
		return damage("it is empty")
	}
	x := examination{size: uint64(info.Size())}
	err = guard(func() error { return x.open(path) })
	if x.file != nil {
		x.file.Close() // a panic left it open
	}
	_, isOfSystem := errors.AsType[syscall.Errno](err)
	_, isDamage := errors.AsType[damage](err)
	switch {
	case err == nil && !x.isOurs:
		return damage("it was not made by Fulmen")
	case err == nil || isDamage:
		return err
	case isOfSystem || errors.Is(err, bolterrors.ErrTimeout):
		return home.Explain(err, "read", path)
	}
	return damage("it is not a database, or " + unreadable) // as bbolt says, or where it stumbled
}

// The format of bbolt's files, version 2, from go.etcd.io/bbolt/internal/common.
const (
	firstPage    = 2 // before it are the two descriptions of the file
	headerSize   = 16
	elementSize  = 16
	branchFlag   = 0x01
	leafFlag     = 0x02
	freelistFlag = 0x10
	noFreelist   = ^uint64(0)
	bucketSize   = 16 // root 8, sequence 8
	maxKeySize   = 1 << 15
	maxDepth     = 48      // far above what a tree can need: pages have two elements or more
	maxTxID      = 1 << 62 // further than any file gets, and far from overflowing
)

// examination is a file that is looked through before bbolt works with it. bbolt follows
// numbers of pages and positions without looking where they lead: in a circle it goes on
// until there is no memory left, which no guard survives, and a page that is free and in
// use is overwritten later. It is asked for the description of the file alone, and the
// rest is followed here.
type examination struct {
	file     *os.File
	size     uint64
	pageSize uint64
	end      uint64 // the first number of a page that is not in use
	used     []bool // by number
	isOurs   bool
}

func (x *examination) open(path string) (err error) {
	db, err := bolt.Open(path, fileMode, &bolt.Options{
		ReadOnly: true, Timeout: boltWait, OpenFile: func(name string, flag int, mode os.FileMode) (file *os.File, err error) {
			x.file, err = os.OpenFile(name, flag|syscall.O_NOFOLLOW, mode)
			return x.file, err
		},
	})
	if err != nil {
		return err
	}
	tx, err := db.Begin(false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tx.Rollback(), db.Close()) }()
	x.pageSize = uint64(db.Info().PageSize)
	if x.end = uint64(tx.Size()) / x.pageSize; x.end > x.size/x.pageSize {
		return damagef("the end is missing: %d of %d bytes", x.size, tx.Size())
	}
	if tx.ID() >= maxTxID {
		return damage("its transaction number is impossible")
	}
	x.used = make([]bool, x.end)
	if err := x.tree(uint64(tx.Cursor().Bucket().Root()), x.bucket); err != nil {
		return err
	}
	return x.freelist(tx.ID())
}

// page is one page with what overflows into the following ones, or the page inside the
// value of a small bucket.
type page struct {
	id    uint64 // for messages
	flags uint16
	count int
	data  []byte
}

func newPage(id uint64, data []byte) page {
	return page{id: id, flags: binary.LittleEndian.Uint16(data[8:]), count: int(binary.LittleEndian.Uint16(data[10:])), data: data}
}

// take marks a page as in use and refuses one that is already.
func (x *examination) take(id uint64) error {
	if id < firstPage || id >= x.end {
		return damagef("there is no page %d", id)
	}
	if x.used[id] {
		return damagef("page %d is used twice", id)
	}
	x.used[id] = true
	return nil
}

// read takes a page, and what overflows.
func (x *examination) read(id uint64) (page, error) {
	var header [headerSize]byte
	if err := x.take(id); err != nil {
		return page{}, err
	}
	if _, err := x.file.ReadAt(header[:], int64(id*x.pageSize)); err != nil {
		return page{}, err
	}
	if binary.LittleEndian.Uint64(header[:]) != id {
		return page{}, damagef("another page lies in the place of page %d", id)
	}
	overflow := uint64(binary.LittleEndian.Uint32(header[12:]))
	for i := range overflow {
		if err := x.take(id + 1 + i); err != nil {
			return page{}, err
		}
	}
	data := make([]byte, (overflow+1)*x.pageSize)
	_, err := x.file.ReadAt(data, int64(id*x.pageSize))
	return newPage(id, data), err
}

// element is a key with a value (leaf) or with the number of a page (branch).
type element struct {
	key, value []byte
	child      uint64
	isBucket   bool
}

// elements reads a leaf or a branch; keys must ascend, from low on and below high; nil is
// no bound.
func (p page) elements(low, high []byte) ([]element, error) {
	if p.flags != leafFlag && p.flags != branchFlag || headerSize+p.count*elementSize > len(p.data) {
		return nil, damagef("page %d should be part of a tree and is not", p.id)
	}
	out := make([]element, p.count)
	le := binary.LittleEndian
	for i := range out {
		at := p.data[headerSize+i*elementSize:]
		e := &out[i]
		position, keySize, valueSize := uint64(le.Uint32(at)), uint64(le.Uint32(at[4:])), uint64(0)
		if p.flags == leafFlag {
			if position > 1 {
				return nil, damagef("page %d: element %d has an unknown type", p.id, i)
			}
			e.isBucket = position == 1
			position, keySize, valueSize = keySize, uint64(le.Uint32(at[8:])), uint64(le.Uint32(at[12:]))
		} else {
			e.child = le.Uint64(at[8:])
		}
		if keySize == 0 || keySize > maxKeySize || position < uint64(p.count-i)*elementSize || position+keySize+valueSize > uint64(len(at)) {
			return nil, damagef("page %d: element %d lies outside of the page", p.id, i)
		}
		e.key, e.value = at[position:position+keySize], at[position+keySize:position+keySize+valueSize]
		if i > 0 && bytes.Compare(out[i-1].key, e.key) >= 0 || i == 0 && bytes.Compare(low, e.key) > 0 || high != nil && bytes.Compare(e.key, high) >= 0 {
			return nil, damagef("page %d: element %d is out of order", p.id, i)
		}
	}
	return out, nil
}

// tree takes all pages under one, whose leaves are at the same depth.
func (x *examination) tree(root uint64, leaf func(element) error) error {
	leaves := 0
	var walk func(id uint64, depth int, low, high []byte) error
	walk = func(id uint64, depth int, low, high []byte) error {
		p, err := x.read(id)
		if err != nil {
			return err
		}
		all, err := p.elements(low, high)
		if err != nil {
			return err
		}
		if len(all) == 0 && (p.flags == branchFlag || depth > 1) || depth == maxDepth {
			return damagef("page %d is empty, or lies too deep in the tree", id)
		}
		if p.flags == leafFlag {
			if leaves = cmp.Or(leaves, depth); leaves != depth {
				return damagef("page %d: the tree has leaves at different depths", id)
			}
			return each(all, leaf)
		}
		for i, e := range all {
			next := high
			if i+1 < len(all) {
				next = all[i+1].key
			}
			if err := walk(e.child, depth+1, e.key, next); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(root, 1, nil, nil)
}

func each(all []element, f func(element) error) error {
	for _, e := range all {
		if err := f(e); err != nil {
			return err
		}
	}
	return nil
}

// bucket looks through the records of one, each in its place and as it was sealed.
func (x *examination) bucket(e element) error {
	record := func(r element) error {
		if _, intact := unseal(e.key, r.key, r.value); !intact || r.isBucket {
			return damagef("the record %q in %q does not fit its checksum", r.key, e.key)
		}
		x.isOurs = x.isOurs || string(e.key) == schemaBucket && string(r.key) == formatKey
		return nil
	}
	switch {
	case !e.isBucket:
		return damage("a value lies outside of all buckets")
	case len(e.value) < bucketSize:
		return damagef("the bucket %q is cut off", e.key)
	}
	if root := binary.LittleEndian.Uint64(e.value); root != 0 {
		return x.tree(root, record)
	}
	// A small bucket's only page is in its value.
	if len(e.value) < bucketSize+headerSize {
		return damagef("the bucket %q is cut off", e.key)
	}
	p := newPage(0, e.value[bucketSize:])
	all, err := p.elements(nil, nil)
	if err != nil || p.flags != leafFlag {
		return damagef("the bucket %q has an unknown type", e.key)
	}
	return each(all, record)
}

// freelist takes the free pages, which the description of the file of a transaction lists.
func (x *examination) freelist(tx int) error {
	le := binary.LittleEndian
	for i := range uint64(firstPage) {
		var meta [headerSize + 64]byte
		if _, err := x.file.ReadAt(meta[:], int64(i*x.pageSize)); err != nil {
			return err
		}
		at := le.Uint64(meta[headerSize+32:])
		switch {
		case le.Uint64(meta[headerSize+48:]) != uint64(tx):
			continue
		case at == noFreelist:
			return damage("it lacks the list of free pages, so another program has written to it")
		}
		p, err := x.read(at)
		if err != nil {
			return err
		}
		ids, count := p.data[headerSize:], uint64(p.count)
		if count == 0xFFFF { // too many for the header: the first element counts them
			count, ids = le.Uint64(ids), ids[8:]
		}
		if p.flags != freelistFlag || count > uint64(len(ids)/8) {
			return damagef("page %d should list the free pages and does not", at)
		}
		last := uint64(0)
		for i := range count {
			id := le.Uint64(ids[i*8:])
			if err := x.take(id); err != nil || id <= last {
				return cmp.Or(err, damagef("free page %d is out of order", id))
			}
			last = id
		}
		return nil
	}
	return damage("it is not a database, or the beginning is destroyed")
}
