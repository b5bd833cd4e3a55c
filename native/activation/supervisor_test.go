package activation

import (
	"net"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/matryer/is"
)

// listens is a socket as systemd has one, which gives what it was told.
func listens(t *testing.T, name string) (received func() string) {
	t.Helper()
	is := is.New(t)
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	is.NoErr(err)
	t.Cleanup(func() { conn.Close() })
	return func() string {
		t.Helper()
		buffer := make([]byte, 4096)
		is.NoErr(conn.SetReadDeadline(time.Now().Add(time.Minute)))
		n, err := conn.Read(buffer)
		is.NoErr(err)
		return string(buffer[:n])
	}
}

func TestSupervisorHears(t *testing.T) {
	names := map[string]string{"a file": filepath.Join(t.TempDir(), "notify")}
	if runtime.GOOS == "linux" {
		names["an abstract name"] = "@fulmen-test-" + filepath.Base(t.TempDir()) + strconv.Itoa(time.Now().Nanosecond())
	}
	for what, name := range names {
		t.Run(what, func(t *testing.T) {
			is := is.New(t)
			received := listens(t, name)
			t.Setenv(envNotify, name)
			t.Setenv(envWatchdog, "30000000")
			s, err := TakeSupervisor()
			is.NoErr(err)
			is.Equal(s.Watchdog(), 30*time.Second)
			is.NoErr(s.Ready("serves\nall"))
			is.Equal(received(), "READY=1\nSTATUS=serves all")
			is.NoErr(s.Alive())
			is.Equal(received(), "WATCHDOG=1")
			is.NoErr(s.Stopping())
			is.Equal(received(), "STOPPING=1")
			again, err := TakeSupervisor() // nor does a program that this one starts
			is.NoErr(err)
			is.Equal(again, nil)
		})
	}
}

func TestSupervisorOf(t *testing.T) {
	for name, tt := range map[string]struct {
		socket, watchdog, whose string
		isThere, isWrong        bool
		want                    time.Duration
	}{
		"nobody":               {watchdog: "1"},
		"no watchdog":          {socket: "/run/n", isThere: true},
		"a watchdog":           {socket: "/run/n", watchdog: "1500000", whose: "7", isThere: true, want: 1500 * time.Millisecond},
		"another's watchdog":   {socket: "/run/n", watchdog: "1500000", whose: "8", isThere: true},
		"no path":              {socket: "run/n", isWrong: true},
		"a socket of a VM's":   {socket: "vsock:2:1", isWrong: true},
		"no number":            {socket: "/run/n", watchdog: "x", isWrong: true},
		"less than nothing":    {socket: "/run/n", watchdog: "-1", isWrong: true},
		"longer than a daemon": {socket: "/run/n", watchdog: "9223372036854775807", isWrong: true},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			s, err := supervisor(func(key string) string {
				return map[string]string{envNotify: tt.socket, envWatchdog: tt.watchdog, envWatchdogFor: tt.whose}[key]
			}, 7)
			is.Equal(err != nil, tt.isWrong)
			is.Equal(s != nil, tt.isThere)
			is.Equal(s.Watchdog(), tt.want)
		})
	}
}

func TestNobodyIsToldNothing(t *testing.T) {
	is := is.New(t)
	var s *Supervisor
	is.NoErr(s.Ready(""))
	is.NoErr(s.Stopping())
	is.NoErr(s.Alive())
	gone := &Supervisor{address: &net.UnixAddr{Name: filepath.Join(t.TempDir(), "gone"), Net: "unixgram"}}
	is.True(gone.Ready("") != nil)
}
