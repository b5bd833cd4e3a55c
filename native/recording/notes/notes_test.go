package notes_test

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/native/recording/notes"
)

func TestNotes(t *testing.T) {
	is := is.New(t)
	var n notes.Notes
	is.Equal(n.List(), nil)
	n.Add("one %q", "x")
	n.Add("one %q", "x")
	is.Equal(n.List(), []string{`one "x"`})
	for i := range notes.Most + 2 {
		n.Add("line %d", i)
	}
	is.Equal(len(n.List()), notes.Most+1)
	is.Equal(n.List()[notes.Most], "and 3 more")
}
