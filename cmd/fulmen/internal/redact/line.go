package redact

import (
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// attribute is a value of a line of the log with its name.
type attribute struct{ key, value string }

// Line replaces what is not harmless in a line that a [slog.TextHandler] wrote for the
// daemon. Its message and its package are constants of the program, and so are the
// names of its values. Any other line is replaced as a whole.
func (r *Redactor) Line(line string) string {
	all, ok := attributes(line)
	if !ok || len(all) < 3 || !isHead(all[:3]) {
		return r.Text(line)
	}
	words := make([]string, len(all))
	for i, a := range all {
		if i > 3 || i == 3 && a.key != "package" {
			a.value = r.text(place{name: "log." + a.key}, a.value)
		}
		words[i] = a.key + "=" + quoted(a.value)
	}
	return strings.Join(words, " ")
}

// isHead reports whether a line begins as every line of the log.
func isHead(all []attribute) bool {
	_, err := time.Parse(time.RFC3339Nano, all[0].value)
	return all[0].key == "time" && err == nil && all[1].key == slog.LevelKey && new(slog.Level).UnmarshalText([]byte(all[1].value)) == nil &&
		all[2].key == slog.MessageKey
}

// keyForm is what the names of values look like.
var keyForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}(\.[a-z][a-z0-9_]{0,31})*$`)

// attributes reads a line, or says that it is none.
func attributes(line string) ([]attribute, bool) {
	var all []attribute
	for line != "" {
		key, rest, ok := strings.Cut(line, "=")
		if !ok || !keyForm.MatchString(key) {
			return nil, false
		}
		a := attribute{key: key}
		if strings.HasPrefix(rest, `"`) {
			prefix, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, false
			}
			if a.value, err = strconv.Unquote(prefix); err != nil {
				return nil, false
			}
			rest = rest[len(prefix):]
			if rest != "" && rest[0] != ' ' {
				return nil, false
			}
			line = strings.TrimPrefix(rest, " ")
		} else {
			a.value, line, _ = strings.Cut(rest, " ")
		}
		all = append(all, a)
	}
	return all, true
}

// quoted is a value as slog writes it.
func quoted(s string) string {
	if s == "" || strings.ContainsAny(s, " =\"\\") || strconv.Quote(s) != `"`+s+`"` {
		return strconv.Quote(s)
	}
	return s
}
