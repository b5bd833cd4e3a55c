package account

import "strings"

// shellOf finds an account's shell in text that has the form of passwd(5).
func shellOf(text, name string) string {
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimRight(line, "\r\n"), ":")
		if len(fields) == 7 && fields[0] == name {
			return fields[6]
		}
	}
	return ""
}

// shellOfRecord finds the shell in what dscl prints of an account: the key and
// its value on one line, or the value on the next where it has a space.
func shellOfRecord(text string) string {
	_, value, _ := strings.Cut(text, "UserShell:")
	value, _, _ = strings.Cut(strings.TrimSpace(value), "\n")
	return strings.TrimSpace(value)
}
