package e2e

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func TestLogs(t *testing.T) {
	is := is.New(t)
	r := start(t, newHome(t))
	c := r.dial()
	logs := call[api.DaemonLogsResult](t, c, "daemon.logs", api.DaemonLogsParams{Package: "daemon"})
	is.True(len(logs.Lines) > 0)
	for _, line := range logs.Lines {
		is.Equal(line.Package, "daemon")
	}
	ready := slices.IndexFunc(logs.Lines, func(l api.LogLine) bool { return l.Text == "ready" })
	is.True(ready >= 0)
	is.Equal(logs.Lines[ready].Fields["socket"], r.address.Socket)

	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	_, changes, err := client.Stream[api.DaemonLogsResult, api.DaemonLogged](ctx, c, "daemon.logs", api.DaemonLogsParams{Follow: true, TailLines: 1})
	is.NoErr(err)
	call[api.Empty](t, c, "daemon.set_config", api.DaemonSetConfigParams{Set: map[string]json.RawMessage{"measure.gpu_ttl": json.RawMessage(`"3h"`)}})
	for change, err := range changes {
		is.NoErr(err)
		if change.Lines[0].Text == "configuration changed" {
			return
		}
	}
	t.Fatal("the line was not followed")
}

func TestLogLevels(t *testing.T) {
	is := is.New(t)
	r := start(t, newHome(t))
	c := r.dial()
	_, err := client.Call[api.DaemonLogsResult](context.Background(), c, "daemon.logs", api.DaemonLogsParams{Level: "loud"})
	is.True(err != nil)
	call[api.Empty](t, c, "daemon.set_config", api.DaemonSetConfigParams{Set: map[string]json.RawMessage{"log.level": json.RawMessage(`"error"`)}})
	call[api.Empty](t, c, "daemon.set_config", api.DaemonSetConfigParams{Set: map[string]json.RawMessage{"measure.gpu_ttl": json.RawMessage(`"3h"`)}})
	// Live, without a restart. Other lines may come meanwhile: the daemon has only just started.
	lines := call[api.DaemonLogsResult](t, c, "daemon.logs", nil).Lines
	is.True(!slices.ContainsFunc(lines, func(l api.LogLine) bool { return l.Text == "configuration changed" }))
}
