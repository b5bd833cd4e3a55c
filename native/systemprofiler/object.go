package systemprofiler

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"fulmen/native"
	"fulmen/native/recording/notes"
)

// maxText is the longest text that counts as a name; longer ones are malformed.
const maxText = 256

// object is a JSON object, with the place where it lies for the notes.
type object struct {
	at     string
	fields map[string]any
	notes  *notes.Notes
}

// below is the object at a key or index; false, with a note, when it is none.
func (o object) below(name string, value any) (object, bool) {
	fields, ok := value.(map[string]any)
	at := o.at + " > " + name
	if !ok {
		o.notes.Add("%s is %s and not an object: ignored", at, kindOf(value))
	}
	return object{at: at, fields: fields, notes: o.notes}, ok
}

// has reports whether a key is there and not null.
func (o object) has(key string) bool { return o.fields[key] != nil }

// malformed notes a value that makes no sense and gives its reason.
func (o object) malformed(key, why string) native.Reason {
	o.notes.Add("%s: %s %s", o.at, key, why)
	return native.ReasonSourceMalformed.With(key + " " + why)
}

// text reads a string. The reason is empty when there is one.
func (o object) text(key string) (string, native.Reason) {
	if !o.has(key) {
		return "", missing(key)
	}
	text, ok := o.fields[key].(string)
	switch {
	case !ok:
		return "", o.malformed(key, "is "+kindOf(o.fields[key])+" and not a text")
	case strings.TrimSpace(text) == "":
		return "", o.malformed(key, "is empty")
	case len(text) > maxText:
		return "", o.malformed(key, fmt.Sprintf("is a text of %d bytes", len(text)))
	}
	return strings.TrimSpace(text), ""
}

// number reads a whole number of 32 bits, as a number or as a text such as "1"
// and "0xFA57".
func (o object) number(key string) (uint32, native.Reason) {
	if !o.has(key) {
		return 0, missing(key)
	}
	var digits string
	switch value := o.fields[key].(type) {
	case json.Number:
		digits = value.String()
	case string:
		digits = value
	default:
		return 0, o.malformed(key, "is "+kindOf(value)+" and not a number")
	}
	n, err := strconv.ParseUint(digits, 0, 32)
	if err != nil {
		return 0, o.malformed(key, fmt.Sprintf("is %.40q and not a whole number of 32 bits", digits))
	}
	return uint32(n), ""
}

// uuid reads a UUID, in capitals as macOS prints it.
func (o object) uuid(key string) (string, native.Reason) {
	text, why := o.text(key)
	if why != "" {
		return "", why
	}
	if !isUUID(text) {
		return "", o.malformed(key, fmt.Sprintf("is %.40q and not a UUID", text))
	}
	return strings.ToUpper(text), ""
}

// isUUID accepts 8-4-4-4-12 hexadecimal digits that are not all zero.
func isUUID(text string) bool {
	if len(text) != 36 {
		return false
	}
	zero := true
	for i, r := range []byte(text) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (r == '-') || !dash && !strings.ContainsRune("0123456789abcdefABCDEF", rune(r)) {
			return false
		}
		zero = zero && (dash || r == '0')
	}
	return !zero
}

// list reads a list; nil and no reason when the key is not there.
func (o object) list(key string) ([]any, native.Reason) {
	if !o.has(key) {
		return nil, ""
	}
	list, ok := o.fields[key].([]any)
	if !ok {
		return nil, o.malformed(key, "is "+kindOf(o.fields[key])+" and not a list")
	}
	return list, ""
}

// noteOthers notes the keys that are not known.
func (o object) noteOthers(known func(key string) bool) {
	for _, key := range slices.Sorted(maps.Keys(o.fields)) {
		if !known(key) {
			o.notes.Add("%s: the key %.40q is not known and is ignored", o.at, key)
		}
	}
}

func missing(key string) native.Reason { return native.ReasonNoOS.With(key + " is not there") }

// put sets a field or says why it stays unset.
func put[T any](field *T, unknown *native.Reasons, name string, value T, why native.Reason) {
	if why != "" {
		unknown.Add(name, why)
		return
	}
	*field = value
}

func kindOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(value)
	case json.Number:
		return fmt.Sprintf("the number %.40s", value)
	case string:
		return fmt.Sprintf("the text %.40q", value)
	case []any:
		return "a list"
	}
	return "an object"
}
