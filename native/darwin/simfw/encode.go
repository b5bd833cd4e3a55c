//go:build darwinsim && linux && cgo

package simfw

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Encode writes a property list as native/darwin/buffer.h has it. Types that a
// property list does not have are a mistake of the caller's and panic.
func Encode(v any) []byte { return appendValue(nil, v) }

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		if v {
			return append(b, 't')
		}
		return append(b, 'f')
	case int:
		return appendWhole(b, int64(v))
	case int64:
		return appendWhole(b, v)
	case uint32:
		return appendWhole(b, int64(v))
	case uint64:
		return appendWhole(b, int64(v))
	case float64:
		return binary.LittleEndian.AppendUint64(append(b, 'r'), math.Float64bits(v))
	case string:
		return append(appendLength(b, 's', len(v)), v...)
	case []byte:
		return append(appendLength(b, 'd', len(v)), v...)
	case []string:
		b = appendLength(b, 'a', len(v))
		for _, element := range v {
			b = appendValue(b, element)
		}
		return b
	case []any:
		b = appendLength(b, 'a', len(v))
		for _, element := range v {
			b = appendValue(b, element)
		}
		return b
	case map[string]any:
		b = appendLength(b, 'm', len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			b = appendValue(appendValue(b, key), v[key])
		}
		return b
	}
	panic(fmt.Sprintf("%T is in no property list", v))
}

func appendWhole(b []byte, v int64) []byte {
	return binary.LittleEndian.AppendUint64(append(b, 'i'), uint64(v))
}

func appendLength(b []byte, tag byte, n int) []byte {
	return binary.LittleEndian.AppendUint32(append(b, tag), uint32(n))
}
