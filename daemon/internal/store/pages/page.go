package pages

import (
	"bytes"
	"encoding/binary"
)

const (
	branchFlag   = 0x01
	leafFlag     = 0x02
	freelistFlag = 0x10
	bucketFlag   = 0x01 // of an element: its value is a bucket
	elementSize  = 16   // of leaf and branch alike
	bucketSize   = 16   // root 8, sequence 8
	maxKeySize   = 32768
)

// page is one page with what overflows into the following ones, or the page
// inside the value of a small bucket.
type page struct {
	id    uint64 // for messages
	flags uint16
	count int
	data  []byte
}

// element is a key with a value (leaf) or with the number of a page (branch).
type element struct {
	key    []byte
	value  []byte
	child  uint64
	bucket bool
}

func newPage(id uint64, data []byte) page {
	le := binary.LittleEndian
	return page{id: id, flags: le.Uint16(data[8:]), count: int(le.Uint16(data[10:])), data: data}
}

// elements reads a leaf or a branch; keys must ascend.
func (p page) elements() ([]element, error) {
	end := uint64(headerSize + p.count*elementSize)
	size := uint64(len(p.data))
	if end > size {
		return nil, damagef(p.id, "%d elements do not fit", p.count)
	}
	out := make([]element, p.count)
	le := binary.LittleEndian
	for i := range out {
		at := uint64(headerSize + i*elementSize)
		b := p.data[at:]
		e := &out[i]
		var position, keySize, valueSize uint64
		if p.flags == leafFlag {
			flags := le.Uint32(b)
			position, keySize, valueSize = uint64(le.Uint32(b[4:])), uint64(le.Uint32(b[8:])), uint64(le.Uint32(b[12:]))
			if flags > bucketFlag {
				return nil, damagef(p.id, "element %d is of no kind", i)
			}
			e.bucket = flags == bucketFlag
		} else {
			position, keySize, e.child = uint64(le.Uint32(b)), uint64(le.Uint32(b[4:])), le.Uint64(b[8:])
		}
		begin := at + position
		if keySize == 0 || keySize > maxKeySize || begin < end || begin+keySize+valueSize > size {
			return nil, damagef(p.id, "element %d lies outside", i)
		}
		e.key = p.data[begin : begin+keySize]
		e.value = p.data[begin+keySize : begin+keySize+valueSize]
		if i > 0 && bytes.Compare(out[i-1].key, e.key) >= 0 {
			return nil, damagef(p.id, "element %d is out of order", i)
		}
	}
	return out, nil
}
