package shimproto

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"
)

// ample is longer than any test takes; a test that waits for it has failed.
const ample = 2 * time.Minute

// pair is a daemon's and a shim's end of one real Unix socket; raw is the
// daemon's stream beneath its messages.
func pair(t *testing.T) (daemon *DaemonConn, shim *ShimConn, raw net.Conn) {
	t.Helper()
	is := is.New(t)
	folder, err := os.MkdirTemp("", "shim") // shorter than t.TempDir: sun_path is 104 bytes
	is.NoErr(err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	listener, err := net.Listen("unix", filepath.Join(folder, "s"))
	is.NoErr(err)
	defer listener.Close()
	raw, err = net.Dial("unix", listener.Addr().String())
	is.NoErr(err)
	accepted, err := listener.Accept()
	is.NoErr(err)
	daemon, shim = NewDaemonConn(raw), NewShimConn(accepted)
	t.Cleanup(func() { daemon.Close(); shim.Close() })
	return daemon, shim, raw
}

func TestConversation(t *testing.T) {
	is := is.New(t)
	daemon, shim, _ := pair(t)
	for name, want := range requests() {
		is.NoErr(daemon.Send(want, ample))
		got, err := shim.Receive(ample)
		is.NoErr(err)
		same(t, got, want)
		if name == "hello" {
			answer := replies()["greeting"]
			is.NoErr(shim.Send(answer, ample))
			got, err := daemon.Receive(ample)
			is.NoErr(err)
			same(t, got, answer)
		}
	}
	is.NoErr(daemon.Close())
	_, err := shim.Receive(ample)
	is.True(errors.Is(err, io.EOF)) // between two messages
}

func TestALineThatMakesNoSenseIsRefusedAndTheNextIsRead(t *testing.T) {
	is := is.New(t)
	_, shim, raw := pair(t)
	fence := NewFence(ref, 3, OwnVersions())
	renew, err := Encode(requests()["renew"])
	is.NoErr(err)
	_, err = raw.Write([]byte("{\"t\":\"renew\",\"id\":9}\n{\"t\":\"dance\",\"id\":10}\n\n" + string(renew) + "\n"))
	is.NoErr(err)
	for _, want := range []struct {
		re      uint64
		reason  RefusalReason
		message string
	}{
		{9, RefuseMalformed, "field epoch: missing"},
		{10, RefuseUnknown, `unknown message type "dance"`},
		{0, RefuseMalformed, "message: is not a JSON object"}, // the empty line
	} {
		_, err := shim.Receive(ample)
		var bad *ReadError
		is.True(errors.As(err, &bad))
		same(t, *fence.RefuseLine(bad.Line, bad), Refusal{Re: want.re, Epoch: 3, Reason: want.reason, Message: want.message})
	}
	got, err := shim.Receive(ample)
	is.NoErr(err)
	same(t, got, requests()["renew"])
}

func TestBytesInPieces(t *testing.T) {
	is := is.New(t)
	_, shim, raw := pair(t)
	hello, err := Encode(requests()["hello"])
	is.NoErr(err)

	_, err = shim.Receive(time.Millisecond)
	is.True(errors.Is(err, os.ErrDeadlineExceeded))
	_, err = raw.Write(hello[:len(hello)/2])
	is.NoErr(err)
	go func() { _, _ = raw.Write(append(hello[len(hello)/2:], '\n')) }()
	got, err := shim.Receive(0)
	is.NoErr(err)
	same(t, got, requests()["hello"])

	_, err = raw.Write(hello)
	is.NoErr(err)
	is.NoErr(raw.Close())
	_, err = shim.Receive(ample)
	is.True(errors.Is(err, io.ErrUnexpectedEOF)) // inside a message
}

func TestLongLines(t *testing.T) {
	renew, err := Encode(requests()["renew"])
	is.New(t).NoErr(err)
	padded := func(length int) []byte {
		return []byte(strings.TrimSuffix(string(renew), "}") + `,"pad":"` + strings.Repeat("x", length-len(renew)-len(`,"pad":""`)) + `"}`)
	}
	t.Run("as long as allowed", func(t *testing.T) {
		is := is.New(t)
		_, shim, raw := pair(t)
		line := padded(MaxLine)
		is.Equal(len(line), MaxLine)
		go raw.Write(append(line, '\n'))
		got, err := shim.Receive(ample)
		is.NoErr(err)
		same(t, got, requests()["renew"])
	})
	t.Run("one byte more", func(t *testing.T) {
		is := is.New(t)
		_, shim, raw := pair(t)
		go raw.Write(append(padded(MaxLine+1), '\n'))
		_, err := shim.Receive(ample)
		is.True(errors.Is(err, ErrTooLong))
		_, err = shim.Receive(ample)
		is.True(errors.Is(err, net.ErrClosed)) // nothing after it is trusted
	})
	t.Run("no end", func(t *testing.T) {
		is := is.New(t)
		_, shim, raw := pair(t)
		go func() {
			for chunk := make([]byte, 4096); ; {
				if _, err := raw.Write(chunk); err != nil {
					return
				}
			}
		}()
		_, err := shim.Receive(ample)
		is.True(errors.Is(err, ErrTooLong))
	})
}

func TestAReaderThatDoesNotRead(t *testing.T) {
	is := is.New(t)
	daemon, _, _ := pair(t)
	stop := Stop{RequestHeader: header(1), Cause: Cause{Reason: "a", Message: strings.Repeat("x", MaxLine/2)}}
	var err error
	for range 1000 { // more than any socket buffers
		if err = daemon.Send(stop, 20*time.Millisecond); err != nil {
			break
		}
	}
	is.True(errors.Is(err, os.ErrDeadlineExceeded))
	is.True(errors.Is(daemon.Send(stop, ample), net.ErrClosed)) // half a line may be out
}

func TestManySenders(t *testing.T) {
	is := is.New(t)
	daemon, shim, _ := pair(t)
	const senders, each = 4, 50
	var group sync.WaitGroup
	for s := range senders {
		group.Go(func() {
			for i := range each {
				m := Query{RequestHeader{ID: uint64(s*each + i + 1), Epoch: 1}}
				if err := daemon.Send(m, ample); err != nil {
					t.Error(err)
				}
			}
		})
	}
	seen := map[uint64]bool{}
	for range senders * each {
		m, err := shim.Receive(ample)
		is.NoErr(err)
		seen[m.Header().ID] = true
	}
	group.Wait()
	is.Equal(len(seen), senders*each) // every line whole, every message once
}

// deadlines remembers until when its connection may be written to.
type deadlines struct {
	net.Conn
	write time.Time
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.write = at
	return d.Conn.SetWriteDeadline(at)
}

// What follows a hello on the socket of a rank's input, perhaps hours later, is
// not bound by the hello's time.
func TestTheTimeToSendIsOneMessages(t *testing.T) {
	is := is.New(t)
	_, shim, raw := pair(t)
	watched := &deadlines{Conn: raw}
	is.NoErr(NewDaemonConn(watched).Send(requests()["hello"], ample))
	_, err := shim.Receive(ample)
	is.NoErr(err)
	is.True(watched.write.IsZero())
}
