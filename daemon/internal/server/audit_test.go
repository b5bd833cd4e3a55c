package server_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/server/servertest"
)

// Every call of the table is told, with what came of it, and before its reply: also
// those that are refused because of the caller's class, and that fail by a panic.
func TestAudit(t *testing.T) {
	is := is.New(t)
	reported := make(chan string, 20) // who asks has the reply only after
	a := servertest.Start(t, func(c *server.Config) {
		c.Audit = func(_ context.Context, c *server.Caller, m api.MethodInfo, params json.RawMessage) func(error) {
			reported <- "before " + m.Name + " " + string(params)
			if m.Name == "daemon.info" {
				return nil
			}
			return func(err error) {
				if err != nil {
					reported <- "after " + string(api.AsError(err).Data.Reason)
				} else {
					reported <- "after"
				}
			}
		}
		c.Handlers = server.Handlers{
			"node.rename": server.Handle(func(_ context.Context, _ *server.Caller, p api.NodeRename) (api.Empty, error) {
				if p.Name == "panic" {
					panic(p.Name)
				}
				return api.Empty{}, nil
			}),
			"daemon.info": server.Handle(func(context.Context, *server.Caller, api.Empty) (api.DaemonInfoResult, error) {
				return api.DaemonInfoResult{}, nil
			}),
		}
		c.InAdminGroup = func(uint32) (bool, error) { return true, nil }
	})
	var got []string
	receive := func(reply message) {
		_ = reply
		for len(reported) > 0 {
			got = append(got, <-reported)
		}
	}
	socket, token := dialSocket(t, a), dialToken(t, a, a.Token(t))
	receive(socket.call("node.rename", `{"name":"a"}`))
	receive(socket.call("node.rename", `{"name":"panic"}`))
	receive(socket.call("node.rename", `{"nam":"a"}`))
	receive(token.call("node.rename", `{"name":"a"}`))
	receive(token.call("daemon.info", `{}`))
	receive(socket.call("no.method", `{}`))
	is.Equal(got, slices.Concat(
		[]string{`before node.rename {"name":"a"}`, "after"},
		[]string{`before node.rename {"name":"panic"}`, "after " + string(api.ReasonInternal)},
		[]string{`before node.rename {"nam":"a"}`, "after " + string(api.ReasonUnknownField)},
		[]string{`before node.rename {"name":"a"}`, "after " + string(api.ReasonAdminRequired)},
		[]string{`before daemon.info {}`},
	))
}
