package api

import (
	"fmt"
	"slices"
	"strconv"
)

// quotedMax bounds how much of a refused input an error repeats.
const quotedMax = 64

// malformed is the error of every parser here: what was read, what is wrong
// with it, and what to write instead.
func malformed(field, input, what, remedy string) *Error {
	if len(input) > quotedMax {
		input = input[:quotedMax] + "..."
	}
	return &Error{
		Code:    CodeInvalid,
		Message: fmt.Sprintf("%s %q: %s", field, input, what),
		Data:    ErrorData{Reason: ReasonMalformedID, Subject: field, Remedy: remedy},
	}
}

// parseCount reads a canonical decimal number between low and high.
func parseCount(field, s string, low, high int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || strconv.Itoa(n) != s || n < low || n > high {
		return 0, malformed(field, s, "not a plain whole number in range",
			fmt.Sprintf("write a number from %d to %d", low, high))
	}
	return n, nil
}

// unmarshalCanonical is the strict half of every id: it parses text and
// refuses any spelling but the one that the id itself would write.
func unmarshalCanonical[T fmt.Stringer](dst *T, text []byte, field string, parse func(string) (T, error)) error {
	v, err := parse(string(text))
	if err != nil {
		return err
	}
	if v.String() != string(text) {
		return malformed(field, string(text), "not in canonical form", "send "+v.String())
	}
	*dst = v
	return nil
}

// marshalCanonical is what the others write: an id that is not valid is refused.
func marshalCanonical[T interface {
	fmt.Stringer
	Valid() bool
}](v T, field, remedy string) ([]byte, error) {
	if !v.Valid() {
		return nil, malformed(field, v.String(), "is not valid", remedy)
	}
	return []byte(v.String()), nil
}

// Enum is a closed set of words on the wire. A reader keeps a word it does not
// know: it comes from a newer version.
type Enum interface {
	// Values lists the set, in the order in which people read it.
	Values() []string
}

// words is how an enum lists its constants.
func words[T ~string](all ...T) []string {
	out := make([]string, len(all))
	for i, w := range all {
		out[i] = string(w)
	}
	return out
}

// known reports whether a word belongs to its enum.
func known[T interface {
	~string
	Enum
}](w T) bool {
	return slices.Contains(w.Values(), string(w))
}
