package peer_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
)

func messages() []peer.Message {
	return []peer.Message{
		peer.Piece{Stream: api.StreamOut, Offset: 7, Skipped: 3, Data: []byte("hello")},
		peer.Piece{Stream: api.StreamErr, Offset: 1 << 40, Data: bytes.Repeat([]byte{'x'}, peer.MaxPiece)},
		peer.End{OutBytes: 12, ErrBytes: 0, Ended: true},
		peer.End{},
		peer.Given{Offset: 5, Data: []byte{0, 3}},
		peer.Given{Offset: 7, Data: []byte{}, End: true},
		peer.Taken{Bytes: 9, Ended: true},
		peer.Beat{},
		peer.Refused{Error: api.NewError(api.ReasonNoSuchRank, "j4k2m9xq7/1/0")},
	}
}

func stream(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := peer.NewWriter(&b)
	for _, m := range messages() {
		if err := w.Send(m); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func TestMessages(t *testing.T) {
	is := is.New(t)
	later := []byte{'?', 0, 0, 0, 2, 1, 2} // of a later version
	r := peer.NewReader(bytes.NewReader(append(later, stream(t)...)))
	for _, want := range messages() {
		got, err := r.Next()
		is.NoErr(err)
		is.True(reflect.DeepEqual(got, want))
	}
	_, err := r.Next()
	is.Equal(err, io.EOF)
}

func TestAWireIsWrittenDown(t *testing.T) {
	is := is.New(t)
	var b bytes.Buffer
	is.NoErr(peer.NewWriter(&b).Send(messages()[0]))
	is.Equal(b.String(), "o\x00\x00\x00\x15\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x03hello")
}

func TestWhatMakesNoSense(t *testing.T) {
	for name, wire := range map[string]string{
		"too long":          "o\x00\x02\x00\x00",
		"short of numbers":  "o\x00\x00\x00\x01\x00",
		"a negative number": "t\x00\x00\x00\x09\xff\x00\x00\x00\x00\x00\x00\x00\x00",
		"an end without":    "z\x00\x00\x00\x00",
		"no error":          "x\x00\x00\x00\x04null",
		"taken and more":    "t\x00\x00\x00\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, err := peer.NewReader(bytes.NewReader([]byte(wire))).Next()
			is.True(err != nil && !errors.Is(err, io.ErrUnexpectedEOF))
		})
	}
	is := is.New(t)
	whole := stream(t)
	_, err := peer.NewReader(bytes.NewReader(whole[:9])).Next()
	is.Equal(err, io.ErrUnexpectedEOF)
}

func FuzzReader(f *testing.F) {
	for _, m := range messages() {
		var b bytes.Buffer
		if p, ok := m.(peer.Piece); ok && len(p.Data) == peer.MaxPiece {
			continue // small inputs find more
		}
		if err := peer.NewWriter(&b).Send(m); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte("t\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x00\x01\x01"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		r := peer.NewReader(bytes.NewReader(wire))
		for {
			m, err := r.Next()
			if err != nil {
				return
			}
			if _, refused := m.(peer.Refused); refused {
				continue // an empty list in it becomes an absent one
			}
			var b bytes.Buffer
			if err := peer.NewWriter(&b).Send(m); err != nil {
				t.Fatal(err)
			}
			back, err := peer.NewReader(&b).Next()
			if err != nil || !reflect.DeepEqual(back, m) {
				t.Fatalf("%#v reads back as %#v, %v", m, back, err)
			}
		}
	})
}
