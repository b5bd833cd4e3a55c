package server

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/matryer/is"
)

// latest is a source that keeps the last value it was given.
type latest struct {
	mu    sync.Mutex
	value string
}

func (l *latest) set(s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.value = s
}

func (l *latest) Next() ([]byte, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.value
	l.value = ""
	if s == "" {
		return nil, false
	}
	return []byte(s), false
}

// counter says its numbers one by one.
type counter struct{ left int }

func (c *counter) Next() ([]byte, bool) {
	c.left--
	return []byte(strconv.Itoa(c.left)), c.left > 0
}

func pop(t *testing.T, b *outbox) string {
	t.Helper()
	message, err := b.Pop(t.Context())
	is.New(t).NoErr(err)
	return string(message)
}

func TestOrderAndMerging(t *testing.T) {
	is := is.New(t)
	b, a := newOutbox(100), &latest{}
	slot := &slot{source: a}
	is.NoErr(b.Push([]byte("one")))
	a.set("old")
	b.Ready(slot)
	is.NoErr(b.Push([]byte("two")))
	a.set("new")
	b.Ready(slot) // has its place already
	is.Equal(pop(t, b), "one")
	is.Equal(pop(t, b), "new")
	is.Equal(pop(t, b), "two")
	_, ok := b.take()
	is.True(!ok)
}

func TestSourcesTakeTurns(t *testing.T) {
	is := is.New(t)
	b := newOutbox(100)
	b.Ready(&slot{source: &counter{left: 3}})
	is.NoErr(b.Push([]byte("x")))
	is.Equal(pop(t, b), "2")
	is.Equal(pop(t, b), "x")
	is.Equal(pop(t, b), "1")
	is.Equal(pop(t, b), "0")
}

func TestBound(t *testing.T) {
	is := is.New(t)
	b := newOutbox(10)
	is.NoErr(b.Push(make([]byte, 20))) // alone it is taken, or it could never be sent
	is.True(errors.Is(b.Push([]byte("x")), errFull))
	pop(t, b)
	is.NoErr(b.Push(make([]byte, 6)))
	is.NoErr(b.Push(make([]byte, 4)))
	is.True(errors.Is(b.Push([]byte("x")), errFull))
}

func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		b := newOutbox(10)
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan string, 1)
		go func() {
			message, err := b.Pop(ctx)
			if err != nil {
				got <- err.Error()
				return
			}
			got <- string(message)
		}()
		synctest.Wait()
		is.NoErr(b.Push([]byte("late")))
		is.Equal(<-got, "late")

		is.NoErr(b.Push([]byte("12345678")))
		room := make(chan error, 1)
		go func() { room <- b.WaitRoom(ctx, 5) }()
		synctest.Wait()
		is.Equal(len(room), 0)
		pop(t, b)
		is.NoErr(<-room)

		go func() { _, err := b.Pop(ctx); room <- err }()
		synctest.Wait()
		cancel()
		is.Equal(<-room, context.Canceled)
	})
}
