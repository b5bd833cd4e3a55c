package servertest

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/server/token"
	"fulmen/native"
	"fulmen/native/procsockets"
)

// Version is what the server says its version is.
const Version = "1.2.3"

// API is a running server.
type API struct {
	// Server is the server.
	Server *server.Server
	// Facts are its documents.
	Facts *Facts
	// Tokens are its tokens.
	Tokens *token.Book
	// URL is the WebSocket's address over TCP.
	URL string
	// Port is the TCP port.
	Port int
	// Socket is the path of the Unix socket.
	Socket string

	config  server.Config
	serving sync.WaitGroup
}

// Start runs a server on a free port and a Unix socket until the test ends. The
// test may change the configuration before. The caller's own uid is no
// administrator unless the test says so, except as root.
func Start(t testing.TB, change func(*server.Config)) *API {
	t.Helper()
	clock, err := native.SystemClock()
	check(t, err)
	log := slog.New(slog.DiscardHandler)
	tokens, err := token.Open(&Tokens{}, clock, log)
	check(t, err)
	facts := NewFacts()
	config := server.Config{Facts: facts, Tokens: tokens, Owner: procsockets.Processes{}.Owner, Clock: clock, Log: log, Mode: api.ModeSystem, Version: Version}
	if change != nil {
		change(&config)
	}
	a := &API{Facts: facts, Tokens: config.Tokens, Socket: filepath.Join(shortFolder(t), api.SocketFile), config: config}
	a.Resume(t)
	t.Cleanup(func() { a.Stop(t) })
	return a
}

// Resume starts the server, after Stop once more: on the same Unix socket, and
// on another port.
func (a *API) Resume(t testing.TB) {
	t.Helper()
	a.Server = server.New(a.config)
	tcp, err := server.ListenTCP(0)
	check(t, err)
	a.Port = tcp.Addr().(*net.TCPAddr).Port
	a.URL = "ws://" + tcp.Addr().String() + api.PathAPI
	local, err := server.ListenUnix(a.Socket)
	check(t, err)
	running := a.Server
	for _, l := range []net.Listener{tcp, local} {
		a.serving.Go(func() {
			if err := running.Serve(l); err != server.ErrClosed {
				t.Errorf("serve %s: %v", l.Addr(), err)
			}
		})
		for running.URL() == "" { // what is asked by the Unix socket may need it
			runtime.Gosched()
		}
	}
}

// Stop shuts the server down and waits until it is.
func (a *API) Stop(t testing.TB) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	if err := a.Server.Shutdown(ctx); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	a.serving.Wait()
}

// Token makes a token of this process's user.
func (a *API) Token(t testing.TB) string {
	t.Helper()
	text, _, err := a.Tokens.Create(uint32(os.Getuid()), t.Name(), 0)
	check(t, err)
	return text
}

// shortFolder is a folder whose path leaves room for a socket: that of
// t.TempDir has the test's name in it, and sun_path ends at 104 bytes on macOS.
func shortFolder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fulmen")
	check(t, err)
	t.Cleanup(func() { check(t, os.RemoveAll(dir)) })
	return dir
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
