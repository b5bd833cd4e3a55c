package ignore

import "strings"

// classes are the named sets of bytes, as the C locale has them.
func classOf(name string) (set, bool) {
	var s set
	ranges := map[string]string{
		"alnum": "09AZaz", "alpha": "AZaz", "blank": "  \t\t", "cntrl": "\x00\x1f\x7f\x7f", "digit": "09",
		"graph": "!~", "lower": "az", "print": " ~", "punct": "!/:@[`{~", "space": "\t\r  ", "upper": "AZ", "xdigit": "09AFaf",
	}
	r, ok := ranges[name]
	for i := 0; i+1 < len(r); i += 2 {
		s.addRange(r[i], r[i+1])
	}
	return s, ok
}

// parseSet reads the set that begins at the bracket text[at], and tells where its
// last byte is. A set without end, or of an unknown class, matches nothing.
func parseSet(text string, at int) (s set, last int, ok bool) {
	i := at + 1
	negated := i < len(text) && (text[i] == '!' || text[i] == '^')
	if negated {
		i++
	}
	var before byte // the byte that a range would begin with; 0: none
	for first := true; ; first = false {
		if i >= len(text) {
			return s, 0, false
		}
		c := text[i]
		switch {
		case c == ']' && !first:
			if negated {
				for b := range s {
					s[b] = ^s[b]
				}
			}
			return s.element(), i, true
		case c == '\\':
			i++
			if i >= len(text) {
				return s, 0, false
			}
			c = text[i]
			s.add(c)
			before = c
		case c == '-' && before != 0 && i+1 < len(text) && text[i+1] != ']':
			i++
			if c = text[i]; c == '\\' {
				i++
				if i >= len(text) {
					return s, 0, false
				}
				c = text[i]
			}
			s.addRange(before, c)
			before = 0
		case c == '[' && i+1 < len(text) && text[i+1] == ':':
			end := strings.IndexByte(text[i+2:], ']')
			if end < 0 {
				return s, 0, false
			}
			name, isClass := strings.CutSuffix(text[i+2:i+2+end], ":")
			if !isClass { // a bracket like any other byte
				s.add(c)
				before = c
				break
			}
			class, known := classOf(name)
			if !known {
				return s, 0, false
			}
			for b := range s {
				s[b] |= class[b]
			}
			i += 2 + end
			before = 0
		default:
			s.add(c)
			before = c
		}
		i++
	}
}
