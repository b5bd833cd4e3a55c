package ignore

import (
	"fmt"
	"strings"
)

// classes are the named sets of bytes that git knows, as the C locale has them.
const classes = " alnum alpha blank cntrl digit graph lower print punct space upper xdigit "

// parseSet reads the set that begins at the bracket text[at], and gives it as a regular
// expression, with where its last byte is. It never has the slash, which ends an element.
// A set without end, or of an unknown class, matches nothing.
func parseSet(text string, at int) (expression string, last int, ok bool) {
	var out strings.Builder
	out.WriteByte('[')
	add := func(low, high byte) {
		if low <= high {
			fmt.Fprintf(&out, `\x%02x-\x%02x`, low, high)
		}
	}
	i := at + 1
	if i < len(text) && (text[i] == '!' || text[i] == '^') {
		out.WriteString(`^` + slash)
		i++
	}
	var before byte // the byte that a range would begin with; 0: none
	for first := true; ; first = false {
		if i >= len(text) {
			return "", 0, false
		}
		c := text[i]
		isRange := c == '-' && before != 0 && i+1 < len(text) && text[i+1] != ']'
		if isRange {
			i++
			c = text[i]
		}
		switch {
		case c == '\\':
			if i++; i >= len(text) {
				return "", 0, false
			}
			c = text[i]
		case isRange:
		case c == ']' && !first:
			return out.String() + "]", i, true
		case c == '[' && i+1 < len(text) && text[i+1] == ':':
			end := strings.IndexByte(text[i+2:], ']')
			if end < 0 {
				return "", 0, false
			}
			name, isClass := strings.CutSuffix(text[i+2:i+2+end], ":")
			if !isClass { // a bracket like any other byte
				break
			}
			if !strings.Contains(classes, " "+name+" ") {
				return "", 0, false
			}
			out.WriteString("[:" + name + ":]")
			i += 2 + end + 1
			before = 0
			continue
		}
		if isRange {
			add(before, c)
			before = 0
		} else {
			add(c, c)
			before = c
		}
		i++
	}
}
