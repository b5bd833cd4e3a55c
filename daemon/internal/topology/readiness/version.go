package readiness

import (
	"strconv"
	"strings"
)

// settingsVersion is the first major version of macOS that is reported to have the
// switch in System Settings; earlier ones have it in Recovery only.
const settingsVersion = 27

// versionOf reads a version such as 26.5.1; nil where it is none.
func versionOf(text string) []int {
	if text == "" {
		return nil
	}
	var out []int
	for _, part := range strings.Split(text, ".") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// hasSettings reports whether the Mac's system has the switch in System Settings.
func (e *End) hasSettings() bool {
	if e.Identity == nil {
		return false
	}
	v := versionOf(e.Identity.OSVersion)
	return len(v) > 0 && v[0] >= settingsVersion
}
