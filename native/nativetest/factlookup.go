package nativetest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"fulmen/native"
)

// gap is a fact that is not there: where the path ended, and why.
type gap struct {
	// at is the segment that was not found.
	at segment
	// last is true where nothing but the path's last segment is missing.
	last bool
	// element is true where the list is there and the element is not.
	element bool
	// matches is how many elements the filter found instead of one.
	matches int
	// reason is what the snapshot gives for the absence; "" for none.
	reason native.Reason
}

// String says what is not there.
func (g gap) String() string {
	switch {
	case g.element:
		return fmt.Sprintf("%d elements are %s", g.matches, g.at)
	case g.reason != "":
		return fmt.Sprintf("%s is absent: %s", g.at.name, g.reason)
	}
	return fmt.Sprintf("%s is absent without a reason", g.at.name)
}

// lookUp follows the path through a snapshot's JSON.
func (p factPath) lookUp(s native.Snapshot) (any, *gap, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var at any
	if err := decoder.Decode(&at); err != nil {
		return nil, nil, err
	}
	for i, s := range append([]segment{{name: string(p.area)}}, p.segments...) {
		var missing *gap
		if at, missing = follow(at, s); missing != nil {
			missing.last = i == len(p.segments)
			return nil, missing, nil
		}
	}
	return at, nil, nil
}

// follow goes down one segment.
func follow(from any, s segment) (any, *gap) {
	object, _ := from.(map[string]any)
	value, ok := object[s.name]
	if !ok {
		reasons, _ := object["unknown"].(map[string]any)
		reason, _ := reasons[s.name].(string)
		return nil, &gap{at: s, reason: native.Reason(reason)}
	}
	if s.filter == nil {
		return value, nil
	}
	elements, _ := value.([]any)
	var found []any
	for place, element := range elements {
		if s.filter.selects(place, element) {
			found = append(found, element)
		}
	}
	if len(found) != 1 {
		return nil, &gap{at: s, element: true, matches: len(found)}
	}
	return found[0], nil
}

func (f filter) selects(place int, element any) bool {
	if f.key == "" {
		return place == f.place
	}
	object, _ := element.(map[string]any)
	value, ok := object[f.key]
	return ok && fmt.Sprint(value) == f.value
}
