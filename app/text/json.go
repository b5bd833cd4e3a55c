package text

import (
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON writes a value for programs: indented, one newline at its end, and with
// every character that a terminal could act upon as an escape of JSON.
func JSON(w io.Writer, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(escape(raw), '\n'))
	return err
}

// JSONLine is JSON on a single line.
func JSONLine(w io.Writer, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(escape(raw), '\n'))
	return err
}

// escape replaces characters that do not print. In JSON everything but ASCII is
// inside strings, where an escape means the same.
func escape(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRune(raw[i:])
		switch {
		case r < 0x7f || unicode.IsPrint(r):
			out = append(out, raw[i:i+size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += size
	}
	return out
}
