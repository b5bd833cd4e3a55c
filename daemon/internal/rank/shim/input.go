package shim

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"fulmen/daemon/internal/rank/shimproto"
)

// InputSocket is the path of the socket that takes the standard input of a rank
// whose shim listens on the one given; it is there when the spec says
// [shimproto.StdinSocket].
//
// A daemon connects, says hello as on the other socket, and is greeted or
// refused. Every byte after the line of its hello is the program's; a
// [shimproto.InputTaken] after the greeting, and whenever more was handed to the
// program, says how far that has come over all connections, so that the next
// daemon goes on exactly there. A program that does not read makes the daemon
// wait; what a program that closed its input is given is taken and dropped. A
// daemon ends the input by closing its half of the connection; the shim then
// answers with a status, and the program reads the end. On a terminal that is
// the character which the terminal takes for the end. A connection that is
// simply gone, because its daemon is, ends nothing: the next one goes on. One
// that is admitted takes the place of the one before, of which nothing more is
// taken.
func InputSocket(socket string) string { return socket + inputSuffix }

const (
	inputSuffix = ".in"
	// helloWithin is how long a connection may take to say hello.
	helloWithin = 5 * time.Second
)

// inputChunk is how much of the input is handed over at once.
const inputChunk = 64 << 10

// input carries what daemons send into the program.
type input struct {
	shim     *shim
	pipe     *os.File
	terminal *terminal // nil where there is none

	mu      sync.Mutex
	current net.Conn

	writing     sync.Mutex // one connection writes at a time
	taken       int64      // bytes handed over; the rest belongs to writing too
	last        byte       // of them
	inputClosed bool       // the program reads no more
}

// accept serves whoever connects until the listener is closed.
func (in *input) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			in.serve(conn)
		}()
	}
}

func (in *input) serve(conn net.Conn) {
	_ = conn.SetDeadline(time.Now().Add(helloWithin))
	from := bufio.NewReaderSize(conn, shimproto.MaxLine+2)
	line, err := from.ReadSlice('\n')
	if err != nil {
		return
	}
	reply := in.admit(line[:len(line)-1])
	if reply == nil || !report(conn, reply) {
		return
	}
	if _, greeted := reply.(shimproto.Greeting); !greeted {
		return
	}
	in.replace(conn)
	_ = conn.SetDeadline(time.Time{})
	in.writing.Lock()
	defer in.writing.Unlock()
	if !in.begin(conn) {
		return
	}
	received := report(conn, shimproto.InputTaken{Bytes: in.taken})
	buffer := make([]byte, inputChunk)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if !in.hand(buffer[:n]) {
				return
			}
			// A daemon that is gone is told nothing, but what it left here counts.
			received = received && report(conn, shimproto.InputTaken{Bytes: in.taken})
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return
		}
	}
	// Only a daemon that is still there has ended the input: nothing can be
	// written to one that is gone.
	if in.is(conn) && report(conn, in.status()) {
		in.end()
	}
}

// hand gives bytes to the program and reports whether the connection may go on.
func (in *input) hand(p []byte) bool {
	in.last = p[len(p)-1]
	if in.inputClosed {
		in.taken += int64(len(p))
		return true
	}
	n, err := in.pipe.Write(p)
	in.taken += int64(n)
	switch {
	case err == nil:
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, os.ErrClosed):
		return false // another connection is waiting, or all is over
	default:
		in.inputClosed = true
		in.taken += int64(len(p) - n)
	}
	return true
}

func (in *input) end() {
	if in.terminal == nil {
		_ = in.pipe.Close()
	} else if err := in.terminal.end(in.last); err != nil {
		in.inputClosed = true
	}
}

// admit answers the first line; nil when the shim is over.
func (in *input) admit(line []byte) shimproto.Reply {
	request, err := shimproto.DecodeRequest(line)
	answer := make(chan shimproto.Reply, 1)
	in.shim.do(func() {
		s := in.shim
		if err != nil {
			answer <- *s.fence.RefuseLine(line, err)
			return
		}
		if refusal := s.fence.Admit(request, false); refusal != nil {
			answer <- *refusal
			return
		}
		answer <- s.greeting(request.(shimproto.Hello)) // nothing else is admitted first
	})
	return in.wait(answer)
}

func (in *input) status() shimproto.Reply {
	answer := make(chan shimproto.Reply, 1)
	in.shim.do(func() { answer <- in.shim.status(0) })
	return in.wait(answer)
}

func (in *input) wait(answer <-chan shimproto.Reply) shimproto.Reply {
	select {
	case reply := <-answer:
		return reply
	case <-in.shim.over:
		return nil
	}
}

// replace makes the connection the one whose bytes count, and interrupts a write
// of the one before.
func (in *input) replace(conn net.Conn) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.current != nil {
		_ = in.current.Close()
		_ = in.pipe.SetWriteDeadline(time.Unix(1, 0))
	}
	in.current = conn
}

// begin undoes the interruption, unless the next connection is there already.
func (in *input) begin(conn net.Conn) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.current != conn {
		return false
	}
	_ = in.pipe.SetWriteDeadline(time.Time{})
	return true
}

func (in *input) is(conn net.Conn) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.current == conn
}

// report writes one message and reports whether it arrived at a living connection.
func report(conn net.Conn, reply shimproto.Reply) bool {
	if reply == nil {
		return false
	}
	line, err := shimproto.Encode(reply)
	if err != nil {
		return false
	}
	if conn.SetWriteDeadline(time.Now().Add(sendWithin)) != nil {
		return false
	}
	_, err = conn.Write(append(line, '\n'))
	return err == nil
}
