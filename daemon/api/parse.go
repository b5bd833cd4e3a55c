package api

import (
	"fmt"
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
