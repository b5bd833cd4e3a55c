package linux

import (
	"bytes"
	"strings"
)

// parseShellVariables reads the form of os-release(5) and machine-info(5):
// lines NAME=value, the value quoted or not as a shell would have it, without
// expansions. What is no such line is left out; of two with one name the last
// counts, as in a shell.
func parseShellVariables(data []byte) map[string]string {
	values := map[string]string{}
	for line := range bytes.Lines(data) {
		name, value, ok := strings.Cut(strings.TrimSpace(string(line)), "=")
		if !ok || !isShellName(name) {
			continue
		}
		values[name] = strings.ToValidUTF8(unquoteShell(value), "\uFFFD")
	}
	return values
}

func isShellName(name string) bool {
	for i, r := range name {
		letter := r == '_' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// unquoteShell removes quotes and backslashes. In single quotes a backslash is
// itself; in double quotes it escapes only the four characters that would have
// a meaning there.
func unquoteShell(value string) string {
	var out strings.Builder
	quote := byte(0)
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote && quote != 0:
			quote = 0
		case c == '\\' && quote != '\'' && i+1 < len(value):
			i++
			if quote == '"' && !strings.ContainsRune("\"\\$`", rune(value[i])) {
				out.WriteByte('\\')
			}
			out.WriteByte(value[i])
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}
