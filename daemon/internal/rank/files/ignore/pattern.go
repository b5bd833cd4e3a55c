package ignore

import "strings"

// pattern is one line of a .gitignore file.
type pattern struct {
	negated    bool      // takes back what an earlier one excluded
	folderOnly bool      // ended in a slash
	nameOnly   bool      // has no slash: it matches the last element wherever it is
	segments   []segment // what lies between its slashes
}

// segment is a pattern for one element of a path, or for any number of them.
type segment struct {
	any    bool // ** alone
	tokens []token
}

// token matches one byte, or with star any number.
type token struct {
	star bool
	set  set
}

// set is the bytes that a token matches.
type set [4]uint64

func (s *set) add(b byte)      { s[b>>6] |= 1 << (b & 63) }
func (s *set) has(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }

func (s *set) addRange(low, high byte) {
	for b := int(low); b <= int(high); b++ {
		s.add(byte(b))
	}
}

// element gives the set without the slash, which ends an element.
func (s set) element() set {
	s['/'>>6] &^= 1 << ('/' & 63)
	return s
}

func anyByte() set {
	return set{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}.element()
}

// parse reads one line without its end. It reports false for a line that holds no
// pattern, or one that matches nothing.
func parse(line string) (pattern, bool) {
	if line == "" || line[0] == '#' {
		return pattern{}, false
	}
	line = trimSpaces(line)
	var p pattern
	if rest, ok := strings.CutPrefix(line, "!"); ok {
		p.negated, line = true, rest
	}
	if rest, ok := strings.CutSuffix(line, "/"); ok {
		p.folderOnly, line = true, rest
	}
	if line == "" {
		return pattern{}, false
	}
	p.nameOnly = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	for text := line; ; {
		s, rest, more, ok := parseSegment(text)
		if !ok {
			return pattern{}, false
		}
		if p.nameOnly {
			s.any = false // in a name, ** is *
		}
		p.segments = append(p.segments, s)
		if !more {
			return p, true
		}
		text = rest
	}
}

// trimSpaces takes off the spaces at the end that no backslash protects.
func trimSpaces(line string) string {
	end := len(line)
	for end > 0 && line[end-1] == ' ' {
		end--
	}
	if end == len(line) {
		return line
	}
	slashes := 0
	for slashes < end && line[end-1-slashes] == '\\' {
		slashes++
	}
	return line[:end+slashes%2]
}

// parseSegment reads up to the next slash, which is not part of it. ok is false
// where the text can match nothing.
func parseSegment(text string) (s segment, rest string, more, ok bool) {
	stars := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '/':
			s.any = stars >= 2 && stars == i
			return s, text[i+1:], true, true
		case '*':
			stars++
			if n := len(s.tokens); n == 0 || !s.tokens[n-1].star {
				s.tokens = append(s.tokens, token{star: true})
			}
		case '?':
			s.tokens = append(s.tokens, token{set: anyByte()})
		case '[':
			bytes, next, ok := parseSet(text, i)
			if !ok {
				return s, "", false, false
			}
			s.tokens = append(s.tokens, token{set: bytes})
			i = next
		case '\\':
			i++
			if i == len(text) {
				return s, "", false, false
			}
			if text[i] == '/' { // the same as without the backslash
				i--
				s.any = stars >= 2 && stars == i
				return s, text[i+2:], true, true
			}
			s.tokens = append(s.tokens, literal(text[i]))
		default:
			s.tokens = append(s.tokens, literal(c))
		}
	}
	s.any = stars >= 2 && stars == len(text)
	return s, "", false, true
}

func literal(b byte) token {
	var t token
	t.set.add(b)
	return t
}
