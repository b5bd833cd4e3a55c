package shimproto

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// encodeObject writes v as one JSON object: first the member t, where it is not
// empty, then v's own, then the extra ones in order of their names.
func encodeObject(t string, v any, extra map[string]json.RawMessage) ([]byte, error) {
	own, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var parts [][]byte
	if t != "" {
		parts = append(parts, []byte(`"t":"`+t+`"`))
	}
	if inner := own[1 : len(own)-1]; len(inner) > 0 {
		parts = append(parts, inner)
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		parts = append(parts, append(append(key, ':'), extra[name]...))
	}
	return append(append([]byte{'{'}, bytes.Join(parts, []byte{','})...), '}'), nil
}
