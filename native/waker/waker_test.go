package waker_test

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/native/waker"
)

func TestWake(t *testing.T) {
	is := is.New(t)
	w := waker.New()
	is.Equal(len(w), 0)
	w.Wake()
	w.Wake() // waits for nobody, and counts as one
	<-w
	is.Equal(len(w), 0)
	w.Wake() // after it was received there may be more
	<-w
	waker.Waker(nil).Wake()
}
