package networksetup_test

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/native/networksetup"
)

func TestNotes(t *testing.T) {
	is := is.New(t)
	var n networksetup.Notes
	is.Equal(n.List(), nil)
	n.Add("one %q", "x")
	n.Add("one %q", "x")
	is.Equal(n.List(), []string{`one "x"`})
	for i := range networksetup.MostNotes + 2 {
		n.Add("line %d", i)
	}
	is.Equal(len(n.List()), networksetup.MostNotes+1)
	is.Equal(n.List()[networksetup.MostNotes], "and 3 more")
}
