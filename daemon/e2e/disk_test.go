package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/native/nativetest"
)

// A disk that fills up while the daemon runs: what cannot be kept is refused in
// plain words, the rest goes on, and so does everything once there is room.
func TestFullDisk(t *testing.T) {
	is := is.New(t)
	folder := nativetest.SmallDisk(t, 1<<20)
	is.NoErr(os.WriteFile(filepath.Join(folder, api.ConfigFile), []byte("[api]\nport = 0\n"), 0o600))
	r := start(t, folder)
	c := r.dial()

	ballast := filepath.Join(folder, "ballast")
	file, err := os.Create(ballast)
	is.NoErr(err)
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	is.NoErr(file.Close())

	var refusal error
	for n := 0; n < 40 && refusal == nil; n++ { // the database has some room left inside
		_, refusal = client.Call[api.DaemonCreateTokenResult](context.Background(), c, "daemon.create_token", api.DaemonCreateTokenParams{Name: fmt.Sprintf("token-%d", n)})
	}
	is.True(errors.Is(refusal, api.ReasonDiskFull))
	call[api.DaemonInfoResult](t, c, "daemon.info", nil) // the daemon is well
	isFull := func(c api.NodeCondition) bool { return c.Code == api.ReasonDiskFull }
	reported := func() bool {
		return slices.ContainsFunc(call[api.NodeConditionsResult](t, c, "node.conditions", nil).Conditions, isFull)
	}
	eventually(t, "the full disk is a condition", timeout, reported)
	until(t, c, api.KindMemory, "memory", func(api.Document) bool { return true })

	is.NoErr(os.Remove(ballast))
	call[api.DaemonCreateTokenResult](t, c, "daemon.create_token", api.DaemonCreateTokenParams{Name: "again"})
	eventually(t, "nothing is wrong with the disk any more", timeout, func() bool { return !reported() })
	is.NoErr(r.end())
	again := call[api.DaemonTokensResult](t, start(t, folder).dial(), "daemon.tokens", nil)
	is.True(len(again.Tokens) > 0) // what was acknowledged is there
}

func TestReadOnlyFolder(t *testing.T) {
	is := is.New(t)
	folder := nativetest.SmallDisk(t, 1<<20)
	nativetest.MakeReadOnly(t, folder)
	_, err := tryStart(t, folder)
	is.True(errors.Is(err, api.ReasonStateReadOnly))
}
