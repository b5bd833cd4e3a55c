package cpace

import (
	"errors"
	"testing"

	"github.com/matryer/is"
)

func input() Input {
	return Input{Code: []byte("7K3MQ2XA"), Channel: []byte("ci"), Session: []byte("sid"), Data: []byte("key")}
}

// exchange runs both sides to their results.
func exchange(t *testing.T, a, b Input) (ofA, ofB *Result) {
	t.Helper()
	is := is.New(t)
	runA, err := New(Initiator, a)
	is.NoErr(err)
	runB, err := New(Responder, b)
	is.NoErr(err)
	ofA, err = runA.Finish(runB.Message())
	is.NoErr(err)
	ofB, err = runB.Finish(runA.Message())
	is.NoErr(err)
	return ofA, ofB
}

func TestSameCode(t *testing.T) {
	is := is.New(t)
	a, b := exchange(t, input(), input())
	keyA, err := a.Check(b.Confirm())
	is.NoErr(err)
	keyB, err := b.Check(a.Confirm())
	is.NoErr(err)
	is.Equal(keyA, keyB)
	is.Equal(len(keyA), KeySize)
	c, d := exchange(t, input(), input())
	other, err := c.Check(d.Confirm())
	is.NoErr(err)
	is.True(string(other) != string(keyA)) // each run has a key of its own
}

func TestAnyDifferenceIsFound(t *testing.T) {
	for name, change := range map[string]func(*Input){
		"code":    func(i *Input) { i.Code = []byte("7K3MQ2XB") },
		"channel": func(i *Input) { i.Channel = []byte("other roles or ids") },
		"session": func(i *Input) { i.Session = []byte("another TLS connection") },
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			other := input()
			change(&other)
			a, b := exchange(t, input(), other)
			_, err := a.Check(b.Confirm())
			is.True(errors.Is(err, ErrNotConfirmed))
			_, err = b.Check(a.Confirm())
			is.True(errors.Is(err, ErrNotConfirmed))
		})
	}
}

func TestChangedDataIsFound(t *testing.T) {
	is := is.New(t)
	a, err := New(Initiator, input())
	is.NoErr(err)
	b, err := New(Responder, input())
	is.NoErr(err)
	onTheWay := b.Message()
	onTheWay.Data = []byte("the middleman's key")
	ofA, err := a.Finish(onTheWay)
	is.NoErr(err)
	ofB, err := b.Finish(a.Message())
	is.NoErr(err)
	_, err = ofA.Check(ofB.Confirm())
	is.True(errors.Is(err, ErrNotConfirmed))
}

// A mirror knows no code: it sends back what it got.
func TestMirror(t *testing.T) {
	is := is.New(t)
	a, err := New(Initiator, input())
	is.NoErr(err)
	result, err := a.Finish(a.Message())
	is.NoErr(err)
	_, err = result.Check(result.Confirm())
	is.True(errors.Is(err, ErrNotConfirmed))
}

func TestRolesMatter(t *testing.T) {
	is := is.New(t)
	one, two := input(), input()
	one.Data, two.Data = []byte("one"), []byte("two")
	a, err := New(Initiator, one)
	is.NoErr(err)
	b, err := New(Initiator, two)
	is.NoErr(err)
	ofA, err := a.Finish(b.Message())
	is.NoErr(err)
	ofB, err := b.Finish(a.Message())
	is.NoErr(err)
	_, err = ofA.Check(ofB.Confirm())
	is.True(errors.Is(err, ErrNotConfirmed))
}

func TestOnceOnly(t *testing.T) {
	is := is.New(t)
	a, err := New(Initiator, input())
	is.NoErr(err)
	b, err := New(Responder, input())
	is.NoErr(err)
	_, err = a.Finish(b.Message())
	is.NoErr(err)
	_, err = a.Finish(b.Message())
	is.True(err != nil)
}

func TestInputsAreLooked(t *testing.T) {
	is := is.New(t)
	for _, spoil := range []func(*Input){
		func(i *Input) { i.Code = nil }, func(i *Input) { i.Session = nil },
		func(i *Input) { i.Data = make([]byte, MaxDataBytes+1) },
	} {
		bad := input()
		spoil(&bad)
		_, err := New(Initiator, bad)
		is.True(err != nil)
	}
	_, err := New("both", input())
	is.True(err != nil)
}

// Whatever a stranger sends, it is refused or does not confirm.
func FuzzFinish(f *testing.F) {
	f.Add(make([]byte, ShareSize), []byte("data"), []byte("confirmation"))
	f.Add([]byte{}, []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, share, data, confirm []byte) {
		r, err := New(Responder, input())
		if err != nil {
			t.Fatal(err)
		}
		result, err := r.Finish(Message{Share: share, Data: data})
		if err != nil {
			return
		}
		if _, err := result.Check(confirm); err == nil {
			t.Fatal("a stranger was confirmed")
		}
	})
}
