package look

import (
	"strings"
	"sync"
	"unicode"
)

// head keeps the beginning of what is written to it and takes the rest.
type head struct {
	limit int
	mu    sync.Mutex // what still runs may write while it is read
	text  strings.Builder
}

// Write takes everything.
func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.Write(p[:min(len(p), h.limit-h.text.Len())])
	return len(p), nil
}

// String is what was kept.
func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// Printable leaves lines of what a program wrote, without what would steer a terminal.
func Printable(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r", "\n"), "\n")
	for i, line := range lines {
		lines[i] = Line(line, len(line))
	}
	return strings.Join(lines, "\n")
}

// Line makes one line of at most limit bytes of what a program wrote.
func Line(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return strings.TrimSpace(text)
}
