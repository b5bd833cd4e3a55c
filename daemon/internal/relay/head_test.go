package relay

import (
	"bytes"
	"io"
	"net"
	"testing"
	"testing/iotest"
)

// FuzzHead compares what is read at once with what comes byte by byte, and lets
// nobody in who does not say the key.
func FuzzHead(f *testing.F) {
	const key = "abcdefghijklmnopqrstuvwxyz"
	f.Add([]byte("GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + key + "\r\n\r\nrest"))
	f.Add([]byte("GET / HTTP/1.1\r\nAuthorization: Bearer\r\n\r\n"))
	f.Add([]byte("\r\n\r\n"))
	f.Fuzz(func(t *testing.T, reported []byte) {
		head, request, err := readHead(bytes.NewReader(reported))
		slow, slowRequest, slowErr := readHead(iotest.OneByteReader(bytes.NewReader(reported)))
		if (err == nil) != (slowErr == nil) || !bytes.HasPrefix(head, slow) || len(head) > maxHead {
			t.Fatalf("%q %v, %q %v", head, err, slow, slowErr)
		}
		if err != nil {
			return
		}
		if bears(request, key) != bears(slowRequest, key) {
			t.Fatal("what comes behind the head counts")
		}
		if bears(request, key) && !bytes.Contains(slow, []byte(key)) {
			t.Fatal("admitted without the key")
		}
	})
}

// FuzzFrames has the other node say anything.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{0, 0, 0, 2, 'h', 'i', 0, 0, 0, 0})
	f.Add([]byte{255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, reported []byte) {
		near, far := net.Pipe()
		received := make(chan []byte, 1)
		go func() {
			all, _ := io.ReadAll(near)
			received <- all
		}()
		err := deframe(halfCloser{far}, bytes.NewReader(reported))
		far.Close()
		if all := <-received; len(all) > len(reported) {
			t.Fatal("more than was said")
		}
		if err == nil && !bytes.Contains(reported, make([]byte, headBytes)) {
			t.Fatal("an end that nobody said")
		}
		var framed bytes.Buffer
		if err := enframe(&framed, bytes.NewReader(reported)); err != nil {
			t.Fatal(err)
		}
		near, far = net.Pipe()
		go func() {
			all, _ := io.ReadAll(near)
			received <- all
		}()
		if err := deframe(halfCloser{far}, &framed); err != nil {
			t.Fatal(err)
		}
		if all := <-received; !bytes.Equal(all, reported) {
			t.Fatalf("%q became %q", reported, all)
		}
	})
}

// halfCloser is a connection that can be closed in one direction, which is all of it.
type halfCloser struct{ net.Conn }

func (h halfCloser) CloseWrite() error { return h.Close() }
