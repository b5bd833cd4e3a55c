package pages

import (
	"encoding/binary"
	"hash/fnv"
	"io"
	"math/bits"
)

const (
	magic         = 0xED0CDAED
	formatVersion = 2
	headerSize    = 16 // of every page: id 8, flags 2, count 2, overflow 4
	metaSize      = 64
	metaChecked   = 56 // what the checksum covers
	minPageSize   = 1 << 10
	maxPageSize   = 1 << 16
	firstPage     = 2 // before it are the two meta pages
	noFreelist    = ^uint64(0)
	maxTxID       = 1 << 62 // further than any file gets, and far from overflowing
)

// meta is one of the two descriptions of the file; the valid one with the
// higher transaction counts.
type meta struct {
	pageSize int64
	root     uint64
	freelist uint64
	end      uint64 // the first page number that is not in use
	txID     uint64
}

// parseMeta reads a meta page of any size; nil if it is none, or torn.
func parseMeta(page []byte) *meta {
	if len(page) < headerSize+metaSize {
		return nil
	}
	b := page[headerSize:]
	le := binary.LittleEndian
	sum := fnv.New64a()
	sum.Write(b[:metaChecked])
	if le.Uint32(b) != magic || le.Uint32(b[4:]) != formatVersion || le.Uint64(b[metaChecked:]) != sum.Sum64() {
		return nil
	}
	return &meta{
		pageSize: int64(le.Uint32(b[8:])), root: le.Uint64(b[16:]),
		freelist: le.Uint64(b[32:]), end: le.Uint64(b[40:]), txID: le.Uint64(b[48:]),
	}
}

// findMeta finds the description that counts. Where the first page is torn, the
// second is looked for at every size that a page can have, as bbolt does.
func findMeta(r io.ReaderAt, size int64) (*meta, error) {
	read := func(at int64) (*meta, error) {
		if at+headerSize+metaSize > size {
			return nil, nil
		}
		b := make([]byte, headerSize+metaSize)
		_, err := r.ReadAt(b, at)
		return parseMeta(b), err
	}
	first, err := read(0)
	if err != nil {
		return nil, err
	}
	var second *meta
	if first != nil {
		if second, err = read(first.pageSize); err != nil {
			return nil, err
		}
	}
	for at := int64(minPageSize); first == nil && second == nil && at <= maxPageSize; at *= 2 {
		if second, err = read(at); err != nil {
			return nil, err
		}
		if second != nil && second.pageSize != at {
			return nil, damagef(1, "the description of the file lies where it does not belong")
		}
	}
	if first == nil && second == nil {
		return nil, damagef(0, "it is no database, or the beginning is destroyed")
	}
	if first != nil && second != nil && first.pageSize != second.pageSize {
		return nil, damagef(1, "its two descriptions contradict each other")
	}
	best := first
	if first == nil || second != nil && second.txID > first.txID {
		best = second
	}
	return best, best.check(size)
}

func (m *meta) check(size int64) error {
	switch {
	case m.pageSize < minPageSize || m.pageSize > maxPageSize || bits.OnesCount64(uint64(m.pageSize)) != 1:
		return damagef(0, "a page size of %d bytes is none", m.pageSize)
	case m.txID >= maxTxID:
		return damagef(0, "its transaction number is impossible")
	case m.end > uint64(size/m.pageSize):
		return damagef(0, "the end is missing: %d of %d bytes", size, m.end*uint64(m.pageSize))
	case m.freelist == noFreelist:
		return damagef(0, "the list of free pages was not written, as another program would leave it")
	}
	return nil
}
