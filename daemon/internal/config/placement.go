package config

import (
	"regexp"
	"slices"
	"strings"

	"fulmen/native/tomltext"
)

// placements are the texts that have the value for the path, the most natural
// place first. Some of them may not be TOML, or mean something else: whoever
// takes one reads it.
func placements(s string, l tomltext.Layout, path []string, value string) []string {
	for _, e := range l.Entries {
		if slices.Equal(e.Path, path) {
			return []string{s[:e.Value.Start] + value + s[e.Value.End:]}
		}
	}
	var out []string
	// In the table itself, or in one that it lies in.
	for depth := len(path) - 1; depth >= 1; depth-- {
		table, line := path[:depth], strings.Join(path[depth:], ".")+" = "+value
		for _, e := range l.Entries {
			if e.Table && slices.Equal(e.Path, table) {
				out = append(out, inBraces(s, e.Value, line))
			}
		}
		for i, h := range l.Headers {
			if !h.Array && slices.Equal(h.Path, table) {
				out = append(out, inSection(s, l, i, path[depth:], line)...)
			}
		}
		for _, e := range slices.Backward(l.Entries) {
			if !e.Inline && e.Context < depth && len(e.Path) > depth && slices.Equal(e.Path[:depth], table) {
				line := strings.Join(path[e.Context:], ".") + " = " + value
				out = append(out, insertLine(s, lineEnd(s, e.Value.End), indentation(s, e.Key.Start)+line))
			}
		}
	}
	end := newline(s)
	tail := "[" + strings.Join(path[:len(path)-1], ".") + "]" + end + path[len(path)-1] + " = " + value + end
	switch {
	case s == "" || s == "\ufeff":
		return append(out, s+tail)
	case !strings.HasSuffix(s, "\n"):
		s += end
	}
	return append(out, s+end+tail)
}

// inBraces adds a key to an inline table.
func inBraces(s string, braces tomltext.Span, line string) string {
	start := braces.Start + 1
	if strings.TrimSpace(s[start:braces.End-1]) == "" {
		return s[:start] + " " + line + " " + s[braces.End-1:]
	}
	return s[:start] + " " + line + "," + s[start:]
}

// inSection adds a line below a header: after the comment that shows the key, as
// the example has it, else after the last key, else first of all.
func inSection(s string, l tomltext.Layout, header int, name []string, line string) []string {
	begin := lineEnd(s, l.Headers[header].Span.End)
	end := len(s)
	if header+1 < len(l.Headers) {
		end = l.Headers[header+1].Span.Start
	}
	var out []string
	shown := regexp.MustCompile(`(?m)^[ \t]*#[ \t]*` + regexp.QuoteMeta(strings.Join(name, ".")) + `[ \t]*=.*$`)
	if begin < end {
		if at := shown.FindStringIndex(s[begin:end]); at != nil {
			out = append(out, insertLine(s, lineEnd(s, begin+at[0]), line))
		}
	}
	for _, e := range slices.Backward(l.Entries) {
		if !e.Inline && e.Key.Start >= begin && e.Key.Start < end {
			out = append(out, insertLine(s, lineEnd(s, e.Value.End), indentation(s, e.Key.Start)+line))
			break
		}
	}
	return append(out, insertLine(s, begin, line))
}

// removals are the texts without the key; nil if it is not there.
func removals(s string, l tomltext.Layout, path []string) []string {
	at := slices.IndexFunc(l.Entries, func(e tomltext.Entry) bool { return slices.Equal(e.Path, path) })
	if at < 0 {
		return nil
	}
	e := l.Entries[at]
	if !e.Inline {
		start, end := lineStart(s, e.Key.Start), lineEnd(s, e.Value.End)
		// A comment behind the value stays, on a line of its own.
		if rest := strings.TrimLeft(s[e.Value.End:end], " \t"); strings.HasPrefix(rest, "#") {
			return []string{s[:e.Key.Start] + rest + s[end:]}
		}
		return []string{s[:start] + s[end:]}
	}
	var out []string
	if after := strings.IndexByte(s[e.Value.End:], ','); after >= 0 {
		next := e.Value.End + after + 1
		out = append(out, s[:e.Key.Start]+strings.TrimLeft(s[next:], " \t"))
	}
	if before := strings.LastIndexByte(s[:e.Key.Start], ','); before >= 0 {
		out = append(out, s[:before]+s[e.Value.End:])
	}
	return append(out, s[:e.Key.Start]+s[e.Value.End:])
}

// insertLine puts a line in front of the one that begins at a byte.
func insertLine(s string, at int, line string) string {
	end := newline(s)
	if at > 0 && s[at-1] != '\n' { // the last line has no end
		return s[:at] + end + line + s[at:]
	}
	return s[:at] + line + end + s[at:]
}

// newline is how the lines of a text end.
func newline(s string) string {
	if strings.Contains(s, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// lineStart is where the line of a byte begins.
func lineStart(s string, at int) int {
	start := strings.LastIndexByte(s[:at], '\n') + 1
	if start == 0 && strings.HasPrefix(s, "\ufeff") {
		return len("\ufeff")
	}
	return start
}

// lineEnd is where the next line begins.
func lineEnd(s string, at int) int {
	if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(s)
}

// indentation is what stands in front of a key.
func indentation(s string, at int) string { return s[lineStart(s, at):at] }
