package transport

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"
)

// callsAtOnce bounds the calls of one member that are worked on.
const callsAtOnce = 16

// callServer answers a member's calls on one connection.
type callServer struct {
	conn    *records
	handle  func(ctx context.Context, method string, params json.RawMessage) (any, error)
	writing chan struct{} // as a callClient's
	// begin says whether a call of so many bytes may be worked on, and what to do when
	// it is over; nil = any may.
	begin func(method string, size int) (end func(), err error)
	// pause waits while a connection is not read; false = it is over.
	pause func(time.Duration) bool
}

func newCallServer(conn *records, handle func(ctx context.Context, method string, params json.RawMessage) (any, error)) *callServer {
	return &callServer{conn: conn, handle: handle, writing: make(chan struct{}, 1)}
}

// stop ends the connection, by which the server ends itself.
func (s *callServer) stop() { s.conn.close() }

// serve answers calls until the connection or ctx ends, and returns when none is
// worked on any more.
func (s *callServer) serve(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer s.conn.close()
	slots := make(chan struct{}, callsAtOnce)
	for {
		text, err := s.conn.receive()
		if err != nil {
			return
		}
		m, err := parseRPC(text)
		if err != nil || m.Method == "" {
			return // no member sends that
		}
		end := func() {}
		if s.begin != nil {
			if end, err = s.begin(m.Method, len(text)); err != nil {
				if m.ID != nil {
					_ = s.send(answerRPC(m.ID, nil, err))
				}
				if !s.pause(deafFor) {
					return
				}
				continue
			}
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			end()
			return
		}
		running.Go(func() {
			defer func() { <-slots }()
			defer end()
			result, err := s.handle(ctx, m.Method, m.Params)
			if m.ID != nil {
				_ = s.send(answerRPC(m.ID, result, err)) // who does not hear it has gone
			}
		})
	}
}

// notify sends what the member has asked for.
func (s *callServer) notify(method string, params json.RawMessage) error {
	text, err := requestRPC(nil, method, params)
	if err != nil {
		return err
	}
	return s.send(text)
}

func (s *callServer) send(message []byte) error {
	s.writing <- struct{}{}
	defer func() { <-s.writing }()
	err := s.conn.send(message)
	if err != nil && !errors.Is(err, errTooLarge) {
		s.conn.close()
	}
	return err
}
