package remote

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"fulmen/native/sim"
)

const (
	// maxSessions is how many processes may be connected; a daemon has two
	// connections.
	maxSessions = 256
	// helloWithin is how long a new connection may say nothing.
	helloWithin = 5 * time.Second
	// writeWithin is how long a message may wait to be taken.
	writeWithin = 5 * time.Second
	// partWithin is the same for the last words of a connection.
	partWithin = 200 * time.Millisecond
	// maxQueued is how many messages may wait for a process that does not read;
	// it has then lost the world.
	maxQueued = 4096
	// maxRunning is how many requests of one connection may be under way.
	maxRunning = 1024
)

// Serve hosts a world for the processes that connect, until ctx ends or the
// listener fails. It closes the listener and every connection before it returns,
// and leaves the world as it is.
func Serve(ctx context.Context, listener net.Listener, world *sim.World) error {
	ctx, cancel := context.WithCancel(ctx)
	var sessions sync.WaitGroup
	defer sessions.Wait()
	defer cancel()
	release := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer release()
	defer listener.Close()
	room := make(chan struct{}, maxSessions)
	for {
		conn, err := listener.Accept()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		select {
		case room <- struct{}{}:
			sessions.Go(func() {
				defer func() { <-room }()
				newSession(ctx, world, conn).run()
			})
		default:
			_ = conn.Close()
		}
	}
}
