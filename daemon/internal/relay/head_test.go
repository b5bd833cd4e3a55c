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
	f.Fuzz(func(t *testing.T, said []byte) {
		head, err := readHead(bytes.NewReader(said))
		slow, slowErr := readHead(iotest.OneByteReader(bytes.NewReader(said)))
		if (err == nil) != (slowErr == nil) || !bytes.HasPrefix(head, slow) || len(head) > maxHead {
			t.Fatalf("%q %v, %q %v", head, err, slow, slowErr)
		}
		if err == nil && bears(head, key) != bears(slow, key) {
			t.Fatal("what comes behind the head counts")
		}
		if err == nil && bears(head, key) && !bytes.Contains(head, []byte(key)) {
			t.Fatal("admitted without the key")
		}
	})
}

// FuzzFrames has the other node say anything.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{0, 0, 0, 2, 'h', 'i', 0, 0, 0, 0})
	f.Add([]byte{255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, said []byte) {
		near, far := net.Pipe()
		heard := make(chan []byte, 1)
		go func() {
			all, _ := io.ReadAll(near)
			heard <- all
		}()
		err := deframe(halfCloser{far}, bytes.NewReader(said))
		far.Close()
		if all := <-heard; len(all) > len(said) {
			t.Fatal("more than was said")
		}
		if err == nil && !bytes.Contains(said, make([]byte, headBytes)) {
			t.Fatal("an end that nobody said")
		}
		var framed bytes.Buffer
		if err := enframe(&framed, bytes.NewReader(said)); err != nil {
			t.Fatal(err)
		}
		near, far = net.Pipe()
		go func() {
			all, _ := io.ReadAll(near)
			heard <- all
		}()
		if err := deframe(halfCloser{far}, &framed); err != nil {
			t.Fatal(err)
		}
		if all := <-heard; !bytes.Equal(all, said) {
			t.Fatalf("%q became %q", said, all)
		}
	})
}

// halfCloser is a connection that can be closed in one direction, which is all of it.
type halfCloser struct{ net.Conn }

func (h halfCloser) CloseWrite() error { return h.Close() }
