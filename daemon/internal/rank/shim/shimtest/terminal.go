package shimtest

import (
	"testing"

	"github.com/creack/pty"
)

// NeedTerminals skips a test where the system gives no pseudo-terminals, as in a
// container without devpts.
func NeedTerminals(t testing.TB) {
	t.Helper()
	keys, screen, err := pty.Open()
	if err != nil {
		t.Skipf("there are no pseudo-terminals here: %v", err)
	}
	keys.Close()
	screen.Close()
}
