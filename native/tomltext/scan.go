package tomltext

import (
	"errors"
	"strings"
)

// Span is a range of bytes, the end not included.
type Span struct{ Start, End int }

// Entry is a key with its value.
type Entry struct {
	// Path is the key's full name, with that of its table.
	Path []string
	// Context is how many elements of Path come from the header or the inline
	// table that it stands under.
	Context int
	// Key and Value are where they stand.
	Key, Value Span
	// Inline says that it stands in an inline table.
	Inline bool
	// Table says that the value is an inline table.
	Table bool
}

// Header is the line that begins a table.
type Header struct {
	// Path is the table's name.
	Path []string
	// Span is from the first bracket to the last.
	Span Span
	// Array says that it is one of an array of tables.
	Array bool
}

// Layout is where things stand, each list in the order of the text.
type Layout struct {
	Entries []Entry
	Headers []Header
	// Lines are the lines of all of them, and of what stands in lists.
	Lines Lines
	// Last is the line where the scan ended.
	Last int
}

// ErrUnreadable is the error for text that no parser would have accepted.
var ErrUnreadable = errors.New("the text is not valid TOML")

// ErrTooDeep is the error for names of more than MaxDepth parts, and for values
// inside each other as often. Parsers take minutes over what is hostile in this way.
var ErrTooDeep = errors.New("the text has tables or lists too deep inside each other")

// MaxDepth is how deep is too deep.
const MaxDepth = 32

// Scan finds the keys, values and headers of a TOML text; with an error, those in
// front of it. The time that it takes grows with the length of the text alone.
func Scan(text string) (Layout, error) {
	s := scanner{text: text, lines: lines{known: Lines{}, elements: map[string]int{}, line: 1}}
	err := s.all()
	s.layout.Lines, s.layout.Last = s.lines.known, s.lines.lineOf(text, max(s.at, s.lines.counted))
	return s.layout, err
}

type scanner struct {
	text   string
	at     int
	depth  int
	layout Layout
	lines  lines
}

func (s *scanner) all() error {
	if strings.HasPrefix(s.text, "\ufeff") {
		s.at = len("\ufeff")
	}
	var context []string
	table := ""
	for {
		s.skip()
		if s.at >= len(s.text) {
			return nil
		}
		if s.peek() == '[' {
			header, err := s.header()
			if err != nil {
				return err
			}
			s.layout.Headers = append(s.layout.Headers, header)
			context, table = header.Path, s.lines.header(header.Path, header.Array, s.lines.lineOf(s.text, header.Span.Start))
			continue
		}
		if err := s.entry(context, table, false); err != nil {
			return err
		}
	}
}

func (s *scanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

func (s *scanner) take(token string) bool {
	if strings.HasPrefix(s.text[s.at:], token) {
		s.at += len(token)
		return true
	}
	return false
}

// blank passes spaces and tabs.
func (s *scanner) blank() {
	for s.at < len(s.text) && strings.IndexByte(" \t", s.text[s.at]) >= 0 {
		s.at++
	}
}

// skip passes blanks, ends of lines and comments.
func (s *scanner) skip() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		case '#':
			s.at += lineLength(s.text[s.at:])
		default:
			return
		}
	}
}

// lineLength is the length of the first line without its end.
func lineLength(text string) int {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return i
	}
	return len(text)
}

func (s *scanner) header() (Header, error) {
	start := s.at
	if strings.HasPrefix(s.text[s.at:], strings.Repeat("[", MaxDepth+1)) {
		return Header{}, ErrTooDeep
	}
	array := s.take("[[")
	if !array {
		s.at++
	}
	path, err := s.key()
	if err != nil {
		return Header{}, err
	}
	closing := "]"
	if array {
		closing = "]]"
	}
	if !s.take(closing) {
		return Header{}, ErrUnreadable
	}
	return Header{Path: path, Span: Span{start, s.at}, Array: array}, nil
}

// entry reads a key with its value, in a table that Lines calls so.
func (s *scanner) entry(context []string, table string, inline bool) error {
	start := s.at
	path, err := s.key()
	if err != nil {
		return err
	}
	end := s.at
	for strings.IndexByte(" \t", s.text[end-1]) >= 0 {
		end--
	}
	if !s.take("=") {
		return ErrUnreadable
	}
	line := s.lines.lineOf(s.text, start)
	for _, key := range path {
		table = s.lines.key(table, key)
		s.lines.note(table, line)
	}
	s.blank()
	index := len(s.layout.Entries)
	full := append(append([]string{}, context...), path...)
	s.layout.Entries = append(s.layout.Entries, Entry{
		Path: full, Context: len(context), Key: Span{start, end}, Inline: inline, Table: s.peek() == '{',
	})
	from := s.at
	if err := s.value(full, table); err != nil {
		return err
	}
	s.layout.Entries[index].Value = Span{from, s.at}
	return nil
}
