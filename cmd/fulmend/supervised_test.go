package main

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// Whoever wants to hear how the daemon fares, as systemd does, hears it in every
// state, in this order.
func TestSupervisorIsTold(t *testing.T) {
	is := is.New(t)
	home := newHome(t, "")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(home, "notify"), Net: "unixgram"})
	is.NoErr(err)
	t.Cleanup(func() { conn.Close() })
	t.Setenv("NOTIFY_SOCKET", filepath.Join(home, "notify"))
	t.Setenv("WATCHDOG_USEC", "3600000000") // an hour: what is told beside the first word does not come between
	receives := func(want string) {
		t.Helper()
		buffer := make([]byte, 4096)
		is.NoErr(conn.SetReadDeadline(time.Now().Add(timeout)))
		n, err := conn.Read(buffer)
		is.NoErr(err)
		if got := string(buffer[:n]); !strings.HasPrefix(got, want) {
			t.Fatalf("heard %q and not %q", got, want)
		}
	}
	k := keep(t, home, listenUnix(t, home), listenTCP(t))
	c := dial(t, k.socket)
	receives("READY=1\nSTATUS=serves ws://127.0.0.1:")
	receives("WATCHDOG=1")
	call[api.Empty](t, c, "daemon.restart", nil)
	receives("STOPPING=1")
	is.Equal(k.ended(), api.ExitRestart)
	receives("READY=1\nSTATUS=serves ")
	receives("WATCHDOG=1")
	call[api.Empty](t, dial(t, k.socket), "daemon.stop", nil)
	receives("STOPPING=1")
	is.Equal(k.ended(), api.ExitOK)

	c = dial(t, k.socket) // wakes one that only says that it is stopped: else whoever started it would wait
	receives("READY=1\nSTATUS=stopped by a person")
	receives("WATCHDOG=1")
	call[api.Empty](t, c, "daemon.start", nil)
	receives("READY=1\nSTATUS=serves ")
	receives("WATCHDOG=1")
}
