package darwin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// maxValueDepth is how deep values nest: C cuts at twelve, and an entry of the
// registry adds three.
const maxValueDepth = 16

// errBuffer is bytes that C did not write.
var errBuffer = errors.New("malformed bytes from C")

// decode reads one value in the form that buffer.h describes, to its end: int64,
// float64, bool, string, []byte, []any, map[string]any, or nil for what has no
// form.
func decode(b []byte) (any, error) {
	d := decoder{rest: b}
	v := d.value(0)
	if d.failed || len(d.rest) > 0 {
		return nil, errBuffer
	}
	return v, nil
}

// decodeAs reads one value of a type.
func decodeAs[T any](b []byte) (T, error) {
	v, err := decode(b)
	if err != nil {
		return *new(T), err
	}
	t, ok := v.(T)
	if !ok {
		return t, fmt.Errorf("%w: %T", errBuffer, v)
	}
	return t, nil
}

type decoder struct {
	rest   []byte
	failed bool
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

// length is that of a text or data, or how many elements follow, each of which
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
