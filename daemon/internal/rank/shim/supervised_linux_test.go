package shim_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/internal/rank/shimproto"
	"fulmen/native"
	"fulmen/native/linux"
)

// TestUnderTheSupervisor holds a rank as a daemon does: the supervisor starts
// the shim, a second daemon finds it again, and removal leaves nothing.
func TestUnderTheSupervisor(t *testing.T) {
	for name, test := range map[string]struct{ killed, givenSocket bool }{
		"removed while it runs":               {false, false},
		"removed after the shim was killed":   {true, false},
		"removed, with a socket it was given": {false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			spec := specOf(t, `setsid sleep 1000 & echo $!; sleep 1000 & echo $! $$; wait`)
			is.NoErr(shimproto.WriteSpec(spec.Folder, spec))
			h := &held{t: t, spec: spec}
			open := func() native.Supervisor {
				platform, err := linux.New(linux.Options{Units: filepath.Join(spec.Folder, "units")})
				is.NoErr(err)
				t.Cleanup(func() { platform.Close() })
				return platform.Supervisor
			}
			unit := native.Unit{
				Label: "org.fulmen.test." + filepath.Base(spec.Folder), Program: os.Args[0], Args: []string{"shim", spec.Folder},
				Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: "/", Socket: spec.Socket, TakesSocket: test.givenSocket, ErrorLog: filepath.Join(spec.Folder, "shim.log"),
			}
			is.NoErr(open().Start(t.Context(), unit))
			t.Cleanup(func() { _ = open().Remove(context.Background(), unit.Label) })

			again := open() // a restarted daemon's
			d, greeting := h.attach(3)
			pids := append(h.pids(3), d.running(3).PID, greeting.PID)
			units, err := again.List(t.Context(), unit.Label)
			is.NoErr(err)
			is.Equal(units[0].PID, greeting.PID)
			conn, err := again.Attach(t.Context(), unit.Label)
			is.NoErr(err)
			is.NoErr(conn.Close())
			if test.killed {
				is.NoErr(syscall.Kill(greeting.PID, syscall.SIGKILL))
			}
			is.NoErr(d.conn.Close())
			is.NoErr(again.Remove(t.Context(), unit.Label))
			gone(t, pids...)
			r, err := shimproto.ReadExit(spec.Folder)
			if test.killed {
				is.True(os.IsNotExist(err))
			} else {
				is.NoErr(err) // the shim had the time to note it
				is.Equal(r.Signal, "SIGKILL")
			}
			_, err = again.Attach(t.Context(), unit.Label)
			is.True(errors.Is(err, native.ErrNotFound))
		})
	}
}
