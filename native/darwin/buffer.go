package darwin

import (
	"encoding/binary"
	"errors"
	"math"
)

// maxValueDepth is how deep values nest: C cuts at twelve, and an entry of the
// registry adds three.
const maxValueDepth = 16

// errBuffer is bytes that C did not write.
var errBuffer = errors.New("malformed data from macOS")

// decoder reads what is written in the form that buffer.h describes.
type decoder struct {
	rest   []byte
	failed bool
}

// done reports whether everything was read, and was as it should be.
func (d *decoder) done() bool { return !d.failed && len(d.rest) == 0 }

// array begins an array, and says how many values follow.
func (d *decoder) array() int {
	if b := d.take(1); b == nil || b[0] != 'a' {
		d.failed = true
		return 0
	}
	return d.length()
}

// take gives the next n bytes, or nil once something has failed.
func (d *decoder) take(n int) []byte {
	if d.failed || n > len(d.rest) {
		d.failed = true
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) bits() uint64 {
	if b := d.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// length is the length of a text or data, or how many elements follow, each of which
// takes a byte at least.
func (d *decoder) length() int {
	b := d.take(4)
	if b == nil {
		return 0
	}
	n := binary.LittleEndian.Uint32(b)
	if uint64(n) > uint64(len(d.rest)) {
		d.failed = true
		return 0
	}
	return int(n)
}

// value is int64, float64, bool, string, []byte, []any, map[string]any, or nil for what has
// no form.
func (d *decoder) value(depth int) any {
	tag := d.take(1)
	if tag == nil || depth > maxValueDepth {
		d.failed = true
		return nil
	}
	switch tag[0] {
	case 'n':
		return nil
	case 't', 'f':
		return tag[0] == 't'
	case 'i':
		return int64(d.bits())
	case 'r':
		return math.Float64frombits(d.bits())
	case 's':
		return string(d.take(d.length()))
	case 'd':
		return append([]byte{}, d.take(d.length())...)
	case 'a':
		list := make([]any, 0, d.length())
		for range cap(list) {
			if list = append(list, d.value(depth+1)); d.failed {
				return nil
			}
		}
		return list
	case 'm':
		return d.pairs(d.length(), depth)
	}
	d.failed = true
	return nil
}

func (d *decoder) pairs(n, depth int) any {
	pairs := make(map[string]any, n)
	for range n {
		key, ok := d.value(depth + 1).(string)
		value := d.value(depth + 1)
		if !ok || d.failed {
			d.failed = true
			return nil
		}
		pairs[key] = value
	}
	return pairs
}
