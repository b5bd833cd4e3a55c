package node

import (
	"testing"

	"github.com/matryer/is"
)

// TestDenials: it is told once, and taken back when neither part is refused any more.
func TestDenials(t *testing.T) {
	is := is.New(t)
	var reported []string
	d := denials{notify: func(detail string) { reported = append(reported, detail) }}
	d.dialled("")
	d.searched("")
	is.Equal(len(reported), 0)
	d.dialled("[fe80::1%en5]:7732")
	d.dialled("[fe80::1%en5]:7732")
	is.Equal(reported, []string{"no route to [fe80::1%en5]:7732"})
	d.searched("DNS-SD error -65570")
	d.dialled("")
	is.Equal(len(reported), 1)
	d.searched("")
	is.Equal(reported[1:], []string{""})
}
