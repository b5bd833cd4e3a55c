package remote

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/nativetest"
	"fulmen/native/sim"
	"fulmen/native/sim/scenario"
)

func TestErrorsCross(t *testing.T) {
	refusal := native.Unsupported(native.FeatureKeepAwake, native.ReasonNoOS)
	for name, err := range map[string]error{
		"a sentinel":       native.ErrStale,
		"a system error":   syscall.ECONNREFUSED,
		"a refusal":        refusal,
		"an action":        &native.ActionError{Action: native.FeatureNetworkService, Subject: "en1", Err: fmt.Errorf("it is %w", native.ErrExists)},
		"one with a cause": fmt.Errorf("plug a.tb1 b.tb1: %w", native.ErrNotFound),
		"a wrapped one":    fmt.Errorf("so: %w", refusal),
		"of no meaning":    errors.New("simply no"),
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			data, encodeErr := encode(message{ID: 1, Error: failed(err)})
			is.NoErr(encodeErr)
			m, readErr := read(bytes.NewReader(data))
			is.NoErr(readErr)
			got := m.Error.err()
			is.Equal(got.Error(), err.Error())
			for _, s := range append(sentinels(), sentinel{"unsupported", native.ErrUnsupported}) {
				is.Equal(errors.Is(got, s.err), errors.Is(err, s.err))
			}
			var a, b *native.ActionError
			is.Equal(errors.As(got, &a), errors.As(err, &b))
			var c, d *native.UnsupportedError
			is.True(errors.As(got, &c) == errors.As(err, &d) && (c == nil || *c == *d))
			if _, plain := err.(syscall.Errno); plain {
				is.Equal(got, err) // the sockets give it the system's form
			}
		})
	}
}

func framed(text string) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(text)))) + text
}

// Whoever says something else than the protocol is hung up on, and told why
// where that is possible; the world goes on.
func TestNonsenseIsRefused(t *testing.T) {
	const hello = `{"id":1,"method":"hello","params":{"protocol":1,"mac":"studio-1"}}`
	for name, reported := range map[string]string{
		"another protocol":  framed(`{"id":1,"method":"hello","params":{"protocol":2}}`),
		"no hello":          framed(`{"id":1,"method":"snapshot","params":{"areas":[]}}`),
		"two":               framed(hello) + framed(hello),
		"an unknown Mac":    framed(`{"id":1,"method":"hello","params":{"protocol":1,"mac":"eve"}}`),
		"an unknown field":  framed(`{"id":1,"method":"hello","params":{"protocol":1},"and":1}`),
		"an unknown method": framed(hello) + framed(`{"id":2,"method":"format"}`),
		"a Mac's without":   framed(`{"id":1,"method":"hello","params":{"protocol":1}}`) + framed(`{"id":2,"method":"watch","params":{}}`),
		"an answer":         framed(hello) + framed(`{"id":2,"result":{}}`),
		"a number again":    framed(hello) + framed(`{"id":2,"method":"watch","params":{}}`) + framed(`{"id":2,"method":"watch","params":{}}`),
		"no JSON":           framed("GET / HTTP/1.1"),
		"too long":          "\x00\x10\x00\x01",
		"cut off":           "\x00\x00\x00\x09{",
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			s, err := scenario.Load("two-studios")
			is.NoErr(err)
			world, err := sim.New(s, nativetest.NewClock(time.Now()))
			is.NoErr(err)
			defer world.Close()
			near, far := net.Pipe()
			ended := make(chan struct{})
			go func() {
				newSession(t.Context(), world, far).run()
				close(ended)
			}()
			go func() {
				_, _ = io.WriteString(near, reported)
				if name == "cut off" {
					_ = near.Close()
				}
			}()
			last, _ := io.ReadAll(near)
			<-ended
			is.True(name == "cut off" || strings.Contains(string(last), `"error":{"message":`))
			p, err := world.Platform("studio-1")
			is.NoErr(err)
			is.NoErr(p.Close())
		})
	}
}

// Who asks without end and reads nothing is not remembered without end.
func TestDeafProcessIsLeft(t *testing.T) {
	is := is.New(t)
	s, err := scenario.Load("two-studios")
	is.NoErr(err)
	world, err := sim.New(s, nativetest.NewClock(time.Now()))
	is.NoErr(err)
	defer world.Close()
	_, far := net.Pipe()
	session := newSession(context.Background(), world, far)
	for range maxQueued + 1 {
		is.NoErr(session.ctx.Err())
		session.queueCall(7, native.Hint{Area: native.AreaMemory})
	}
	is.True(session.ctx.Err() != nil)
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{
		`{"id":1,"method":"hello","params":{"protocol":1}}`, `{"id":2,"result":{}}`, `{"id":3,"event":"cut"}`,
		`{"id":4,"error":{"message":"no","is":["stale"],"cause":{"message":"deep"}}}`, `{"id":0,"result":1}`, `[]`,
	} {
		f.Add([]byte(framed(text)))
	}
	f.Add([]byte("\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := read(bytes.NewReader(data))
		if err != nil {
			return
		}
		if m.Error != nil && m.Error.err().Error() == "" {
			t.Fatal("an error without a text")
		}
		again, err := encode(m)
		if err != nil {
			t.Fatal(err)
		}
		back, err := read(bytes.NewReader(again))
		if err != nil {
			t.Fatal(err)
		}
		first, _ := json.Marshal(m)
		second, _ := json.Marshal(back)
		if !reflect.DeepEqual(first, second) {
			t.Fatalf("%s became %s", first, second)
		}
	})
}
