package view

import (
	"testing"
	"time"

	"github.com/matryer/is"
)

// TestRestIsInProportion: what is derived rests the longer the longer it takes, and
// never for long.
func TestRestIsInProportion(t *testing.T) {
	is := is.New(t)
	is.Equal(restAfter(0, graphSettle), graphSettle)
	is.Equal(restAfter(10*time.Millisecond, graphSettle), 190*time.Millisecond)
	is.Equal(restAfter(time.Minute, graphSettle), mostRest)
}
