package relay

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"fulmen/native"
)

const (
	// headWithin is how long the head of the first request may take.
	headWithin = 10 * time.Second
	// maxHead bounds it, in bytes.
	maxHead = 32 << 10
	// partWithin is how long a refused caller may take to hear why.
	partWithin = 2 * time.Second
)

// admit reads the first request's head from a connection of the network and gives
// it back where it bears the job's key. To anything else it says 401. What the
// connection carries after that is not looked at.
func (p *published) admit(conn net.Conn) (head []byte, ok bool) {
	if !p.unproven.add(conn, maxUnproven) {
		reset(conn)
		return nil, false
	}
	defer p.unproven.remove(conn)
	stop := within(p.relay.cfg.Clock, conn, headWithin)
	head, request, err := readHead(conn)
	if !stop() {
		return nil, false
	}
	if err == nil && bears(request, p.key) {
		return head, true
	}
	defer within(p.relay.cfg.Clock, conn, partWithin)()
	refuse(conn)
	return nil, false
}

// readHead reads a request's head, and gives all that it has read: more than the head
// may have come with it.
func readHead(from io.Reader) (read []byte, request *http.Request, err error) {
	var all bytes.Buffer
	request, err = http.ReadRequest(bufio.NewReader(io.TeeReader(io.LimitReader(from, maxHead), &all)))
	return all.Bytes(), request, err
}

// bears reports whether a request has the key, as one header
// "Authorization: Bearer KEY". How long it takes tells nothing of the key.
func bears(request *http.Request, key string) bool {
	values := request.Header.Values("Authorization")
	if len(values) != 1 {
		return false
	}
	scheme, given, found := strings.Cut(values[0], " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return false
	}
	got, want := sha256.Sum256([]byte(strings.TrimSpace(given))), sha256.Sum256([]byte(key))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

const refusalText = "This port is published by Fulmen behind a key.\n" +
	"Send it as the header \"Authorization: Bearer KEY\"; `fulmen job show` tells it to the job's owner.\n"

// refuse says 401 and waits until the caller has heard it: to close at once, with
// something unread, would take the answer back.
func refuse(conn net.Conn) {
	_, err := fmt.Fprintf(conn, "HTTP/1.1 401 Unauthorized\r\nContent-Type: text/plain; charset=utf-8\r\n"+
		"WWW-Authenticate: Bearer\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(refusalText), refusalText)
	half, ok := conn.(interface{ CloseWrite() error })
	if err != nil || !ok || half.CloseWrite() != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, conn, 1<<20)
}

// temporary reports whether a listener may go on after an error.
func temporary(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ECONNABORTED) || errors.Is(err, syscall.ENOBUFS)
}

// pauseFor is how long a listener rests that has no descriptor for a connection.
const pauseFor = 100 * time.Millisecond

// pause rests; false where the job is over.
func (p *published) pause() bool {
	native.Pause(context.Background(), p.relay.cfg.Clock, pauseFor)
	p.conns.mu.Lock()
	defer p.conns.mu.Unlock()
	return !p.conns.closed
}

// within closes a connection when its time is over; stop reports whether it was not.
func within(clock native.Clock, conn net.Conn, d time.Duration) (stop func() bool) {
	return clock.AfterFunc(d, func() { conn.Close() }).Stop
}

// conns are connections that end together.
type conns struct {
	mu     sync.Mutex
	open   map[net.Conn]struct{}
	closed bool
}

// add takes a connection, unless there are too many or all is over.
func (c *conns) add(conn net.Conn, most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(c.open) >= most {
		return false
	}
	if c.open == nil {
		c.open = map[net.Conn]struct{}{}
	}
	c.open[conn] = struct{}{}
	return true
}

func (c *conns) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

func (c *conns) remove(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, conn)
}

// shut closes all, and takes none any more.
func (c *conns) shut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for conn := range c.open {
		reset(conn)
	}
}

// reset closes a connection as a program that was killed would.
func reset(conn net.Conn) {
	if tcp, ok := conn.(interface{ SetLinger(int) error }); ok {
		_ = tcp.SetLinger(0)
	}
	conn.Close()
}
