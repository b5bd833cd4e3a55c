package rankio_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer/rankio"
)

func messages() []rankio.Message {
	return []rankio.Message{
		rankio.Piece{Stream: api.StreamOut, Offset: 7, Skipped: 3, Data: []byte("hello")},
		rankio.Piece{Stream: api.StreamErr, Offset: 1 << 40, Data: bytes.Repeat([]byte{'x'}, rankio.MaxPiece)},
		rankio.End{OutBytes: 12, ErrBytes: 0, Ended: true},
		rankio.End{},
		rankio.Given{Offset: 5, Data: []byte{0, 3}},
		rankio.Given{Offset: 7, Data: []byte{}, End: true},
		rankio.Taken{Bytes: 9, Ended: true},
		rankio.Beat{},
		rankio.Refused{Error: api.NewError(api.ReasonNoSuchRank, "j4k2m9xq7/1/0")},
	}
}

func stream(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := rankio.NewWriter(&b)
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
	r := rankio.NewReader(bytes.NewReader(append(later, stream(t)...)))
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
	is.NoErr(rankio.NewWriter(&b).Send(messages()[0]))
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
			_, err := rankio.NewReader(bytes.NewReader([]byte(wire))).Next()
			is.True(err != nil && !errors.Is(err, io.ErrUnexpectedEOF))
		})
	}
	is := is.New(t)
	whole := stream(t)
	_, err := rankio.NewReader(bytes.NewReader(whole[:9])).Next()
	is.Equal(err, io.ErrUnexpectedEOF)
}

func FuzzReader(f *testing.F) {
	for _, m := range messages() {
		var b bytes.Buffer
		if p, ok := m.(rankio.Piece); ok && len(p.Data) == rankio.MaxPiece {
			continue // small inputs find more
		}
		if err := rankio.NewWriter(&b).Send(m); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte("t\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x00\x01\x01"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		r := rankio.NewReader(bytes.NewReader(wire))
		for {
			m, err := r.Next()
			if err != nil {
				return
			}
			if _, refused := m.(rankio.Refused); refused {
				continue // an empty list in it becomes an absent one
			}
			var b bytes.Buffer
			if err := rankio.NewWriter(&b).Send(m); err != nil {
				t.Fatal(err)
			}
			back, err := rankio.NewReader(&b).Next()
			if err != nil || !reflect.DeepEqual(back, m) {
				t.Fatalf("%#v reads back as %#v, %v", m, back, err)
			}
		}
	})
}
