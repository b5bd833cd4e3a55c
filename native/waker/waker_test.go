package waker_test

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/native/waker"
)

func TestListeners(t *testing.T) {
	is := is.New(t)
	var l waker.Listeners[func() int]
	reported := func() (all []int) {
		for _, f := range l.All() {
			all = append(all, f())
		}
		return all
	}
	is.Equal(reported(), nil)
	stop := l.Add(func() int { return 1 })
	l.Add(func() int { return 2 })
	is.Equal(reported(), []int{1, 2})
	stop()
	stop()
	is.Equal(reported(), []int{2})
}

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

func TestGroup(t *testing.T) {
	is := is.New(t)
	var g waker.Group
	g.Wake()
	one, stop := g.Add()
	other, _ := g.Add()
	g.Wake()
	<-one
	<-other
	stop()
	g.Wake()
	is.Equal(len(one), 0)
	is.Equal(len(other), 1)
}
