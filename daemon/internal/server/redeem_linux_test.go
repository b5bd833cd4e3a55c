package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/server/servertest"
	"fulmen/native/nativetest"
)

// redeems shows a secret over a connection, with a token where there is one, and
// gives the answer.
func redeems(t *testing.T, a *servertest.API, secret, token string, connect func(address string) net.Conn) message {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
		return connect(address), nil
	}}}
	header := http.Header{}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	ctx, stop := context.WithTimeout(t.Context(), timeout)
	defer stop()
	ws, _, err := websocket.Dial(ctx, a.URL, &websocket.DialOptions{HTTPClient: client, HTTPHeader: header})
	is.New(t).NoErr(err)
	defer ws.CloseNow()
	w := &wire{t: t, ws: ws}
	w.send(`{"jsonrpc":"2.0","id":1,"method":"daemon.redeem_secret","params":{"secret":"` + secret + `"}}`)
	return w.read()
}

func offered(t *testing.T, a *servertest.API) string {
	t.Helper()
	var link api.DaemonBrowserSecretResult
	dialSocket(t, a).ok("daemon.browser_secret", `{}`, &link)
	_, secret, _ := strings.Cut(link.URL, "#secret=")
	return secret
}

// Another account that has learned the secret gets nothing for it, whatever it
// shows it over, and the account that it was made for still does.
func TestNobodyElseRedeemsASecret(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	secret := offered(t, a)
	nonMember := func(address string) net.Conn { return nativetest.DialAs(t, int(me)+54321, address) }
	theirs, _, err := a.Tokens.Create(me+54321, "theirs", 0)
	is.NoErr(err)
	for _, token := range []string{"", theirs} { // as the first message, and later
		refusal := redeems(t, a, secret, token, nonMember).Error
		is.True(refusal != nil)
		is.Equal(refusal.Data.Reason, api.ReasonOtherAccount)
	}
	answer := redeems(t, a, secret, "", func(address string) net.Conn {
		conn, err := net.Dial("tcp", address)
		is.NoErr(err)
		return conn
	})
	is.True(answer.Error == nil)
	var got api.DaemonCreateTokenResult
	is.NoErr(json.Unmarshal(answer.Result, &got))
	record, err := a.Tokens.Check(got.Token)
	is.NoErr(err)
	is.Equal(record.UID, me)
}

// Where the system does not tell who it is, nobody redeems over TCP.
func TestWithoutAnOwnerNobodyRedeems(t *testing.T) {
	for name, owner := range map[string]func(netip.AddrPort, netip.AddrPort) (uint32, error){
		"nobody to ask": nil,
		"no answer":     func(netip.AddrPort, netip.AddrPort) (uint32, error) { return me, errors.New("no table") },
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			a := servertest.Start(t, func(c *server.Config) { c.Owner = owner })
			refusal := redeems(t, a, offered(t, a), "", func(address string) net.Conn {
				conn, err := net.Dial("tcp", address)
				is.NoErr(err)
				return conn
			}).Error
			is.True(refusal != nil)
			is.Equal(refusal.Data.Reason, api.ReasonCallerUnknown)
			dialSocket(t, a).ok("daemon.redeem_secret", `{"secret":"`+offered(t, a)+`"}`, nil) // the socket tells
		})
	}
}
