package node

import (
	"testing"

	"github.com/matryer/is"
)

// TestDenials: it is told once, and taken back when neither part is refused any more.
func TestDenials(t *testing.T) {
	is := is.New(t)
	var told []string
	d := denials{tell: func(detail string) { told = append(told, detail) }}
	d.dialled("")
	d.searched("")
	is.Equal(len(told), 0)
	d.dialled("[fe80::1%en5]:7732")
	d.dialled("[fe80::1%en5]:7732")
	is.Equal(told, []string{"no route to [fe80::1%en5]:7732"})
	d.searched("DNS-SD error -65570")
	d.dialled("")
	is.Equal(len(told), 1)
	d.searched("")
	is.Equal(told[1:], []string{""})
}
