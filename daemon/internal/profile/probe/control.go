package probe

import (
	"bufio"
	"encoding/json"
	"net"
	"sync"
	"sync/atomic"

	"fulmen/native/frame"
)

// control is the connection on which both ends talk of a measurement.
type control struct {
	conn net.Conn
	in   *bufio.Reader
	seen *atomic.Int64 // grows with everything that arrives
	out  sync.Mutex
}

func newControl(conn net.Conn, seen *atomic.Int64) *control {
	return &control{conn: conn, in: bufio.NewReaderSize(conn, controlBuffer), seen: seen}
}

// controlBuffer holds all the counts that may have come while nobody read.
const controlBuffer = 64 << 10

// say sends a word.
func (c *control) say(w word) error {
	data, err := json.Marshal(w)
	if err != nil {
		return err
	}
	return c.send(data)
}

func (c *control) send(data []byte) error {
	c.out.Lock()
	defer c.out.Unlock()
	_, err := c.conn.Write(frame.Encode(data))
	return err
}

// hear waits for a word.
func (c *control) hear() (word, error) {
	var w word
	data, err := c.receive()
	if err == nil {
		err = w.read(data)
	}
	return w, err
}

func (c *control) receive() ([]byte, error) {
	data, err := frame.Read(c.in, frameLimit)
	if err == nil {
		c.seen.Add(1)
	}
	return data, err
}

// sendEcho and hearEcho are the messages of round trips.
func (c *control) sendEcho(e echo) error { return c.send(e.bytes()) }

func (c *control) hearEcho() (echo, error) {
	var e echo
	data, err := c.receive()
	if err == nil {
		err = e.read(data)
	}
	return e, err
}
