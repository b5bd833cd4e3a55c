package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes a text harmless on a terminal: control characters, escape
// sequences, marks that turn the direction of writing, and bytes that are no
// UTF-8 are shown as escapes such as \x1b and \u202e. A line break is one too,
// so that a name cannot forge a line of a table.
func Clean(s string) string { return clean(s, false) }

// CleanLines is Clean for a text of several lines, whose line breaks and tabs
// stay.
func CleanLines(s string) string { return clean(s, true) }

func clean(s string, lines bool) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case lines && (r == '\n' || r == '\t'), unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += size
	}
	return b.String()
}
