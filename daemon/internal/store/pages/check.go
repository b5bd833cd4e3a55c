package pages

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// Record is called for every key and value of every bucket, in order. The
// slices are its own for the time of the call. An error ends the check.
type Record func(bucket, key, value []byte) error

// Check reads a file of size bytes and returns a [Damage] if bbolt must not be
// let near it; any other error is one of reading, or of record. It reads every
// page in use once and holds no more than a path from the root to a leaf.
func Check(r io.ReaderAt, size int64, record Record) error {
	m, err := findMeta(r, size)
	if err != nil {
		return err
	}
	c := checker{file: r, meta: m, used: make([]uint64, m.end/64+1), record: record}
	if err := c.root(); err != nil {
		return err
	}
	return c.freelist()
}

// maxDepth is far above what a tree can need: pages have two elements or more.
const maxDepth = 48

type checker struct {
	file   io.ReaderAt
	meta   *meta
	used   []uint64 // a bit a page
	record Record
}

// tree is one bucket's, while it is walked.
type tree struct {
	leafDepth int // 0: no leaf has been seen
	leaf      func(page uint64, e element) error
}

// take marks a page as in use and refuses one that is already.
func (c *checker) take(id uint64) error {
	if c.used[id/64]&(1<<(id%64)) != 0 {
		return damagef(id, "it is used twice")
	}
	c.used[id/64] |= 1 << (id % 64)
	return nil
}

// read gets a page, with what overflows, after it has been taken.
func (c *checker) read(id uint64) (page, error) {
	if id < firstPage || id >= c.meta.end {
		return page{}, damagef(id, "there is no such page")
	}
	var header [headerSize]byte
	if _, err := c.file.ReadAt(header[:], int64(id)*c.meta.pageSize); err != nil {
		return page{}, err
	}
	if binary.LittleEndian.Uint64(header[:]) != id {
		return page{}, damagef(id, "another page lies in its place")
	}
	overflow := uint64(binary.LittleEndian.Uint32(header[12:]))
	if id+overflow >= c.meta.end {
		return page{}, damagef(id, "it reaches beyond the end")
	}
	for i := range overflow + 1 {
		if err := c.take(id + i); err != nil {
			return page{}, err
		}
	}
	data := make([]byte, int64(overflow+1)*c.meta.pageSize)
	if _, err := c.file.ReadAt(data, int64(id)*c.meta.pageSize); err != nil {
		return page{}, err
	}
	return newPage(id, data), nil
}

// root walks the tree of buckets and each of them.
func (c *checker) root() error {
	t := tree{leaf: func(page uint64, e element) error {
		if !e.bucket {
			return damagef(page, "a value lies outside of all buckets")
		}
		return c.bucket(page, e)
	}}
	return c.walk(&t, c.meta.root, 1, nil, nil)
}

func (c *checker) bucket(in uint64, e element) error {
	if len(e.value) < bucketSize {
		return damagef(in, "the bucket %q is cut off", e.key)
	}
	t := tree{leaf: func(page uint64, r element) error {
		if r.bucket {
			return damagef(page, "the bucket %q has another inside", e.key)
		}
		return c.record(e.key, r.key, r.value)
	}}
	if root := binary.LittleEndian.Uint64(e.value); root != 0 {
		return c.walk(&t, root, 1, nil, nil)
	}
	// A small bucket's only page is in its value.
	inside := e.value[bucketSize:]
	if len(inside) < headerSize {
		return damagef(in, "the bucket %q is cut off", e.key)
	}
	p := newPage(in, inside)
	if p.flags != leafFlag {
		return damagef(in, "the bucket %q is of no kind", e.key)
	}
	return c.visit(&t, p, 1, nil, nil)
}

// walk checks the tree under a page. Its keys are from low on, and less than
// high; nil is no bound.
func (c *checker) walk(t *tree, id uint64, depth int, low, high []byte) error {
	p, err := c.read(id)
	if err != nil {
		return err
	}
	if p.flags != leafFlag && p.flags != branchFlag {
		return damagef(id, "it should be part of a tree and is not")
	}
	return c.visit(t, p, depth, low, high)
}

func (c *checker) visit(t *tree, p page, depth int, low, high []byte) error {
	all, err := p.elements()
	if err != nil {
		return err
	}
	if len(all) > 0 && (low != nil && bytes.Compare(all[0].key, low) < 0 ||
		high != nil && bytes.Compare(all[len(all)-1].key, high) >= 0) {
		return damagef(p.id, "its keys belong elsewhere")
	}
	if p.flags == leafFlag {
		if t.leafDepth == 0 {
			t.leafDepth = depth
		}
		if t.leafDepth != depth {
			return damagef(p.id, "the tree has leaves at different depths")
		}
		for _, e := range all {
			if err := t.leaf(p.id, e); err != nil {
				return err
			}
		}
		return nil
	}
	if len(all) == 0 || depth == maxDepth {
		return damagef(p.id, "it leads nowhere")
	}
	for i, e := range all {
		next := high
		if i+1 < len(all) {
			next = all[i+1].key
		}
		if err := c.walk(t, e.child, depth+1, e.key, next); err != nil {
			return err
		}
	}
	return nil
}

// freelist checks that the free pages are in the file, in order, and not in use.
func (c *checker) freelist() error {
	p, err := c.read(c.meta.freelist)
	if err != nil {
		return err
	}
	if p.flags != freelistFlag {
		return damagef(p.id, "it should list the free pages and does not")
	}
	ids, count := p.data[headerSize:], uint64(p.count)
	if count == 0xFFFF { // too many for the header: the first element counts them
		count, ids = binary.LittleEndian.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids)/8) {
		return damagef(p.id, "%d free pages do not fit", count)
	}
	last := uint64(0)
	for i := range count {
		id := binary.LittleEndian.Uint64(ids[i*8:])
		if id < firstPage || id >= c.meta.end || id <= last {
			return damagef(p.id, "free page %d is out of order or no page", id)
		}
		if err := c.take(id); err != nil {
			return err
		}
		last = id
	}
	return nil
}

// Damage says where a file does not keep to the format. It says nothing about
// reading having failed: that is another error.
type Damage struct {
	// Page is the number of the page; 0 and 1 stand for the file as a whole.
	Page uint64
	// Problem is what is wrong with it.
	Problem string
}

// Error is one clause for a person.
func (d *Damage) Error() string {
	if d.Page < firstPage {
		return d.Problem
	}
	return fmt.Sprintf("page %d: %s", d.Page, d.Problem)
}

func damagef(page uint64, format string, args ...any) error {
	return &Damage{Page: page, Problem: fmt.Sprintf(format, args...)}
}
