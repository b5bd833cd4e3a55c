package ignore

import (
	"regexp"
	"strings"
)

// pattern is one line of a .gitignore file.
type pattern struct {
	negated    bool // takes back what an earlier one excluded
	folderOnly bool // ended in a slash
	nameOnly   bool // has no slash: it matches the last element wherever it is
	is         *regexp.Regexp
}

// matches judges a path, relative to the folder of the pattern's file.
func (p pattern) matches(path string, folder bool) bool {
	if p.folderOnly && !folder {
		return false
	}
	if p.nameOnly {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	return p.is.MatchString(byBytes(path))
}

// slash is what parts elements where a path is matched: no set of bytes has it.
const slash = `\x{100}`

// byBytes gives text of which each character is a byte of the one given, or a slash.
func byBytes(text string) string {
	var out strings.Builder
	for i := range len(text) {
		if text[i] == '/' {
			out.WriteRune(0x100)
		} else {
			out.WriteRune(rune(text[i]))
		}
	}
	return out.String()
}

// parse reads one line without its end. It reports false for a line that holds no
// pattern, or one that matches nothing.
func parse(line string) (pattern, bool) {
	if line == "" || line[0] == '#' {
		return pattern{}, false
	}
	line = trimSpaces(line)
	var p pattern
	line, p.negated = strings.CutPrefix(line, "!")
	line, p.folderOnly = strings.CutSuffix(line, "/")
	if line == "" {
		return pattern{}, false
	}
	p.nameOnly = !strings.Contains(line, "/")
	var out strings.Builder
	for text, more := strings.TrimPrefix(line, "/"), true; more; {
		var element string
		var ok bool
		element, text, more, ok = parseElement(text)
		switch {
		case !ok:
			return pattern{}, false
		case element != anyElements:
			out.WriteString(element)
		case p.nameOnly: // in a name, ** is *
			out.WriteString(anyBytes)
		case more:
			out.WriteString(`(?:.*` + slash + `)?`)
			continue
		default: // all that is below, not the folder itself
			out.WriteString(`.+`)
		}
		if more {
			out.WriteString(slash)
		}
	}
	var err error
	p.is, err = regexp.Compile(`(?s)^` + out.String() + `$`)
	return p, err == nil
}

// trimSpaces takes off the spaces at the end that no backslash protects.
func trimSpaces(line string) string {
	end := len(strings.TrimRight(line, " "))
	if end == len(line) {
		return line
	}
	slashes := end - len(strings.TrimRight(line[:end], `\`))
	return line[:end+slashes%2]
}

const (
	anyElements = `**`
	anyBytes    = `[^` + slash + `]*`
)

// parseElement reads up to the next slash, which is not part of it, and gives a
// regular expression, or anyElements. ok is false where the text can match nothing.
func parseElement(text string) (expression, rest string, more, ok bool) {
	var out strings.Builder
	end := len(text)
	for i := 0; i < end; i++ {
		switch c := text[i]; {
		case c == '/' || strings.HasPrefix(text[i:], `\/`): // the same with and without the backslash
			rest, more = text[i+strings.IndexByte(text[i:], '/')+1:], true
			end = i
		case c == '*':
			out.WriteString(anyBytes)
		case c == '?':
			out.WriteString(`[^` + slash + `]`)
		case c == '[':
			set, last, ok := parseSet(text, i)
			if !ok {
				return "", "", false, false
			}
			out.WriteString(set)
			i = last
		case c == '\\':
			if i++; i == len(text) {
				return "", "", false, false
			}
			out.WriteString(literal(text[i]))
		default:
			out.WriteString(literal(c))
		}
	}
	if end >= 2 && strings.Trim(text[:end], "*") == "" {
		return anyElements, rest, more, true
	}
	return out.String(), rest, more, true
}

func literal(b byte) string { return regexp.QuoteMeta(string(rune(b))) }
