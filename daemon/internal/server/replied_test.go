package server_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/server/servertest"
)

// stops is an API whose daemon.stop has something done once it is answered.
func stops(t *testing.T, handle func(*server.Caller)) *servertest.API {
	return servertest.Start(t, func(c *server.Config) {
		c.Handlers = server.Handlers{"daemon.stop": server.Handle(func(_ context.Context, c *server.Caller, _ api.DaemonStopParams) (api.Empty, error) {
			handle(c)
			return api.Empty{}, nil
		})}
		c.InAdminGroup = func(uint32) (bool, error) { return true, nil }
		c.Limits.WriteDeadline = time.Hour // who reads late is not sent away
	})
}

// The reply to what ends the server is never lost, not even of one who reads late and
// has much to read before.
func TestTheReplyLeavesFirst(t *testing.T) {
	is := is.New(t)
	var a *servertest.API
	ended := make(chan error)
	a = stops(t, func(c *server.Caller) {
		c.Replied(func() {
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			defer cancel()
			ended <- a.Server.Shutdown(ctx)
		})
	})
	for range 5 {
		late, other := dialSocket(t, a), dialSocket(t, a)
		late.ok("state.watch", `{}`, nil)
		other.ok("state.watch", `{}`, nil)
		value := blob{strings.Repeat("x", 100<<10)}
		for seq := range uint64(20) { // several times what the socket's buffers hold
			a.Facts.Put(servertest.Document(t, api.KindMemory, "", seq+1, value))
			for other.changed().Put[0].Seq != seq+1 {
			}
		}
		late.ok("daemon.stop", `{}`, nil)
		late.closed()
		other.closed()
		is.NoErr(<-ended)
		a.Stop(t)
		a.Resume(t)
	}
}

// Who does not wait for the reply holds nobody up.
func TestNobodyWaitsForTheReply(t *testing.T) {
	done := make(chan bool)
	t.Run("no id", func(t *testing.T) {
		a := stops(t, func(c *server.Caller) { c.Replied(func() { done <- true }) })
		dialSocket(t, a).send(`{"jsonrpc":"2.0","method":"daemon.stop"}`)
		<-done
	})
	for name, isFirst := range map[string]bool{"gone after it was asked for": true, "gone before": false} {
		t.Run(name, func(t *testing.T) {
			asked, goOn := make(chan bool), make(chan bool)
			a := stops(t, func(c *server.Caller) {
				if isFirst {
					c.Replied(func() { done <- true })
				}
				asked <- true
				<-goOn
				if !isFirst {
					c.Replied(func() { done <- true })
				}
			})
			w := dialSocket(t, a)
			w.send(`{"jsonrpc":"2.0","id":1,"method":"daemon.stop"}`)
			<-asked
			_ = w.ws.CloseNow()
			goOn <- true
			<-done
		})
	}
}
