package tomltext

import (
	"strings"

	"github.com/BurntSushi/toml"
)

// key reads a name, dotted or not, and the blanks behind it.
func (s *scanner) key() ([]string, error) {
	var path []string
	for {
		s.blank()
		start := s.at
		switch c := s.peek(); c {
		case '"', '\'':
			if err := s.quoted(string(c)); err != nil {
				return nil, err
			}
		default:
			for s.at < len(s.text) && strings.IndexByte(" \t.=]\r\n#", s.text[s.at]) < 0 {
				s.at++
			}
		}
		part, err := plain(s.text[start:s.at])
		if err != nil {
			return nil, err
		}
		if path = append(path, part); len(path) > MaxDepth {
			return nil, ErrTooDeep
		}
		s.blank()
		if !s.take(".") {
			return path, nil
		}
	}
}

// plain is a part of a key without quotes and escapes.
func plain(raw string) (string, error) {
	if raw == "" {
		return "", ErrUnreadable
	}
	if raw[0] != '"' && raw[0] != '\'' {
		return raw, nil
	}
	var v struct{ X string }
	if _, err := toml.Decode("X = "+raw, &v); err != nil {
		return "", ErrUnreadable
	}
	return v.X, nil
}

// quoted passes a string of one line or several, beginning at its quote.
func (s *scanner) quoted(quote string) error {
	closing := quote
	if s.take(strings.Repeat(quote, 3)) {
		closing = strings.Repeat(quote, 3)
	} else {
		s.at++
	}
	for s.at < len(s.text) {
		switch {
		case quote == `"` && s.text[s.at] == '\\':
			s.at = min(s.at+2, len(s.text))
		case s.take(closing):
			if len(closing) == 3 { // up to two quotes may stand right before the closing ones
				for i := 0; i < 2 && s.take(quote); i++ {
				}
			}
			return nil
		default:
			s.at++
		}
	}
	return ErrUnreadable
}

// value passes a value that Lines calls so, beginning at its first byte. The keys of
// an inline table become entries under path; those in an array have lines only, for
// no path can name them.
func (s *scanner) value(path []string, name string) error {
	if s.depth++; s.depth > MaxDepth {
		return ErrTooDeep
	}
	defer func() { s.depth-- }()
	switch c := s.peek(); c {
	case '"', '\'':
		return s.quoted(string(c))
	case '[':
		i := -1
		return s.list("]", func() error {
			i++
			element := s.lines.element(name, i)
			s.lines.note(element, s.lines.lineOf(s.text, s.at))
			known := len(s.layout.Entries)
			err := s.value(nil, element)
			s.layout.Entries = s.layout.Entries[:known]
			return err
		})
	case '{':
		return s.list("}", func() error { return s.entry(path, name, true) })
	}
	start := s.at
	for s.at < len(s.text) && strings.IndexByte(",]}#\r\n", s.text[s.at]) < 0 {
		s.at++
	}
	s.at = start + len(strings.TrimRight(s.text[start:s.at], " \t"))
	if s.at == start {
		return ErrUnreadable
	}
	return nil
}

// list passes what stands between brackets, separated by commas.
func (s *scanner) list(closing string, item func() error) error {
	s.at++
	for {
		s.skip()
		if s.take(closing) {
			return nil
		}
		if err := item(); err != nil {
			return err
		}
		s.skip()
		if s.take(closing) {
			return nil
		}
		if !s.take(",") {
			return ErrUnreadable
		}
	}
}
