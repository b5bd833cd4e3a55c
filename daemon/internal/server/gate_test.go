package server

import (
	"net/http"
	"testing"

	"github.com/matryer/is"
)

// Whoever holds the most connections open without a word loses the oldest of
// them, and nobody else loses one.
func TestAnAccountPushesOutItsOwn(t *testing.T) {
	is := is.New(t)
	g := &gate{most: 4}
	honest := &link{gate: g, uid: 501}
	is.True(g.enter(honest) == nil) // the oldest of all
	var flood []*link
	for i := range 100 {
		l := &link{gate: g, uid: 502}
		flood = append(flood, l)
		gone := g.enter(l)
		if i < 3 {
			is.True(gone == nil)
		} else {
			is.True(gone == flood[i-3])
		}
	}
	late := &link{gate: g, uid: 503}
	is.True(g.enter(late) == flood[97])
	g.release(honest)
	is.Equal(g.half, []*link{flood[98], flood[99], late})
}

// MethodOf is the method that a request calls.
func MethodOf(r *http.Request) string {
	if c := callOf(r); c != nil {
		return c.method
	}
	return ""
}
