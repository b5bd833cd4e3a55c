package look

import (
	"io"
	"strings"
	"sync"
	"unicode"
)

// Head keeps the beginning of what is written to it, passes everything on, and never
// refuses: who writes is not to be held up.
type Head struct {
	// Limit is how much is kept, in bytes.
	Limit int
	// Also gets everything, as long as it takes it; nil for nobody.
	Also io.Writer

	mu   sync.Mutex // what still runs may write while it is read
	text strings.Builder
}

// Write takes everything.
func (h *Head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.Write(p[:min(len(p), h.Limit-h.text.Len())])
	if h.Also != nil {
		if _, err := h.Also.Write(p); err != nil {
			h.Also = nil
		}
	}
	return len(p), nil
}

// String is what was kept.
func (h *Head) String() string {
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
