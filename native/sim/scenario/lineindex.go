package scenario

import (
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// lineIndex maps the path of every table, key and array element of a TOML text
// to its line, from 1: "mac[1].port[0].place". The decoder tells no positions
// once it has decoded, and an error without a line helps nobody.
type lineIndex map[string]int

// at returns the line of the path, or of the nearest table around it.
func (l lineIndex) at(path string) int {
	for {
		if line, ok := l[path]; ok || path == "" {
			return line
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
}

// indexLines scans a text that the decoder has accepted. On any other text its
// answer is merely incomplete.
// A nesting deeper than maxDepth ends the scan; tooDeep is then its line, else 0.
func indexLines(text string) (index lineIndex, tooDeep int) {
	s := lineScanner{text: text, line: 1, index: lineIndex{}, count: map[string]int{}}
	table := ""
	for s.skip(" \t\r\n"); s.pos < len(s.text); s.skip(" \t\r\n") {
		if s.take("[") {
			table = s.header()
		} else if !s.keyValue(table) {
			break
		}
	}
	return s.index, s.tooDeep
}

// maxDepth bounds nesting, since paths grow with it; the format needs five.
const maxDepth = 32

type lineScanner struct {
	text    string
	pos     int
	line    int
	depth   int // of arrays and inline tables
	tooDeep int
	index   lineIndex
	count   map[string]int // elements of arrays of tables, by path
}

// giveUp ends the scan because of the nesting at this line.
func (s *lineScanner) giveUp() {
	s.tooDeep, s.pos = s.line, len(s.text)
}

// header reads the rest of "[table]" or "[[array of tables]]".
func (s *lineScanner) header() (path string) {
	line := s.line
	ofArray := s.take("[")
	keys := s.keys()
	for i, key := range keys {
		path = join(path, key)
		if ofArray && i == len(keys)-1 {
			s.note(path, line)
			s.count[path]++
		}
		if n := s.count[path]; n > 0 {
			path += "[" + strconv.Itoa(n-1) + "]"
		}
		s.note(path, line)
	}
	s.take("]")
	s.take("]")
	return path
}

// keyValue reads one "key = value" of the table.
func (s *lineScanner) keyValue(table string) bool {
	line := s.line
	keys := s.keys()
	s.skip(" \t")
	if len(keys) == 0 || !s.take("=") {
		return false
	}
	for _, key := range keys {
		table = join(table, key)
		s.note(table, line)
	}
	s.skip(" \t")
	s.value(table)
	return true
}

func (s *lineScanner) value(path string) {
	if s.depth++; s.depth > maxDepth {
		s.giveUp()
	}
	defer func() { s.depth-- }()
	switch {
	case s.take("["):
		for i := 0; ; i++ {
			if s.skip(" \t\r\n,"); s.pos >= len(s.text) || s.take("]") {
				return
			}
			element := path + "[" + strconv.Itoa(i) + "]"
			s.note(element, s.line)
			s.value(element)
		}
	case s.take("{"):
		for {
			if s.skip(" \t\r\n,"); s.pos >= len(s.text) || s.take("}") {
				return
			}
			if !s.keyValue(path) {
				return
			}
		}
	case s.peek(`"`) || s.peek("'"):
		s.quoted()
	default:
		start := s.pos
		for s.pos < len(s.text) && !strings.ContainsRune(",]}#\r\n", rune(s.text[s.pos])) {
			s.pos++
		}
		if s.pos == start {
			s.pos = len(s.text) // not TOML: stop rather than stand still
		}
	}
}

// keys reads a dotted key.
func (s *lineScanner) keys() (keys []string) {
	for {
		s.skip(" \t")
		start := s.pos
		if s.peek(`"`) || s.peek("'") {
			s.quoted()
			keys = append(keys, unquoteKey(s.text[start:s.pos]))
		} else {
			for s.pos < len(s.text) && !strings.ContainsRune(" \t\r\n.=[]{}#\"',", rune(s.text[s.pos])) {
				s.pos++
			}
			if s.pos == start {
				return keys
			}
			keys = append(keys, s.text[start:s.pos])
		}
		s.skip(" \t")
		if len(keys) > maxDepth {
			s.giveUp()
			return nil
		}
		if !s.take(".") {
			return keys
		}
	}
}

// quoted passes over a string of any of the four kinds.
func (s *lineScanner) quoted() {
	quote := s.text[s.pos : s.pos+1]
	basic := quote == `"`
	if long := strings.Repeat(quote, 3); strings.HasPrefix(s.text[s.pos:], long) {
		quote = long
	}
	s.pos += len(quote)
	for s.pos < len(s.text) {
		switch {
		case basic && s.peek(`\`):
			s.advance(2)
		case s.peek(quote):
			s.pos += len(quote)
			// Up to two quotes may stand right before the closing three.
			for len(quote) == 3 && s.peek(quote[:1]) {
				s.pos++
			}
			return
		default:
			s.advance(1)
		}
	}
}

func (s *lineScanner) advance(n int) {
	for ; n > 0 && s.pos < len(s.text); n-- {
		if s.text[s.pos] == '\n' {
			s.line++
		}
		s.pos++
	}
}

// skip passes over the given characters, and over comments where lines may end.
func (s *lineScanner) skip(characters string) {
	for s.pos < len(s.text) {
		switch {
		case strings.IndexByte(characters, s.text[s.pos]) >= 0:
			s.advance(1)
		case s.text[s.pos] == '#' && strings.Contains(characters, "\n"):
			for s.pos < len(s.text) && s.text[s.pos] != '\n' {
				s.pos++
			}
		default:
			return
		}
	}
}

func (s *lineScanner) peek(text string) bool { return strings.HasPrefix(s.text[s.pos:], text) }

func (s *lineScanner) take(text string) bool {
	if !s.peek(text) {
		return false
	}
	s.pos += len(text)
	return true
}

func (s *lineScanner) note(path string, line int) {
	if _, ok := s.index[path]; !ok {
		s.index[path] = line
	}
}

// join appends a key to a path; keys that would read as part of one are quoted.
func join(path, key string) string {
	if key == "" || strings.ContainsAny(key, ".[]\" ") {
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// unquoteKey leaves the escapes of a quoted key to the decoder.
func unquoteKey(quoted string) string {
	var holder struct{ Key string }
	if _, err := toml.Decode("Key = "+quoted, &holder); err != nil {
		return quoted
	}
	return holder.Key
}
