package shim

import (
	"bufio"
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
// refused. Every byte after the line of its hello is the program's. It ends the
// input by closing its half of the connection; the shim then answers with a
// status, and the program reads the end. A connection that is simply gone,
// because its daemon is, ends nothing: the next one goes on. One that is
// admitted takes the place of the one before.
func InputSocket(socket string) string { return socket + inputSuffix }

const (
	inputSuffix = ".in"
	// helloWithin is how long a connection may take to say hello.
	helloWithin = 5 * time.Second
)

// input carries what daemons send into the program.
type input struct {
	shim *shim
	pipe *os.File

	mu      sync.Mutex
	current net.Conn
	writing sync.Mutex // one connection writes at a time
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
	if reply == nil || !say(conn, reply) {
		return
	}
	if _, greeted := reply.(shimproto.Greeting); !greeted {
		return
	}
	in.replace(conn)
	_ = conn.SetDeadline(time.Time{})
	in.writing.Lock()
	defer in.writing.Unlock()
	if _, err := io.Copy(in.pipe, from); err != nil {
		return
	}
	// Only a daemon that is still there has ended the input: nothing can be
	// written to one that is gone.
	if in.is(conn) && say(conn, in.status()) {
		_ = in.pipe.Close()
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

// replace makes the connection the one whose bytes count.
func (in *input) replace(conn net.Conn) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.current != nil {
		_ = in.current.Close()
	}
	in.current = conn
}

func (in *input) is(conn net.Conn) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.current == conn
}

// say writes one message and reports whether it arrived at a living connection.
func say(conn net.Conn, reply shimproto.Reply) bool {
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
