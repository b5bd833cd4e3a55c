package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/server/servertest"
)

// calls asks a server over TCP or its Unix socket as curl does.
type calls struct {
	*servertest.API
	t    *testing.T
	unix bool
}

func (c calls) do(method, path, body string, headers ...string) *http.Response {
	c.t.Helper()
	is := is.New(c.t)
	request, err := http.NewRequestWithContext(c.t.Context(), method, fmt.Sprintf("http://127.0.0.1:%d%s", c.Port, path), strings.NewReader(body))
	is.NoErr(err)
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	transport := &http.Transport{DisableKeepAlives: true}
	if c.unix {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", c.Socket)
		}
	}
	response, err := transport.RoundTrip(request)
	is.NoErr(err)
	c.t.Cleanup(func() { response.Body.Close() })
	return response
}

func (c calls) text(r *http.Response) string {
	c.t.Helper()
	body, err := io.ReadAll(r.Body)
	is.New(c.t).NoErr(err)
	return string(body)
}

const asJSON = "application/json"

// Every method can be called by POST, with the same rights, limits and errors as over the
// WebSocket; what is wrong is told as problem+json.
func TestCallsByHTTP(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, func(c *server.Config) {
		c.Handlers = server.Handlers{"event.list": server.Handle(func(_ context.Context, _ *server.Caller, p api.EventSelect) (api.EventListResult, error) {
			if p.Since.Year() == 2007 {
				return api.EventListResult{}, api.NewError(api.ReasonNoSuchNode, "mini")
			}
			return api.EventListResult{Events: []api.Event{}}, nil
		})}
	})
	bearer := "Bearer " + a.Token(t)
	tcp, local := calls{a, t, false}, calls{a, t, true}
	got := tcp.do("POST", "/v1/event.list", `{"since": "2003-01-01T00:00:00.000Z"}`, "Authorization", bearer, "Content-Type", asJSON)
	is.Equal(got.StatusCode, 200)
	is.Equal(got.Header.Get("Content-Type"), asJSON)
	is.True(strings.HasPrefix(tcp.text(got), `{"events":[]`))
	is.Equal(local.do("POST", "/v1/event.list", "").StatusCode, 200) // the kernel says who calls

	for name, c := range map[string]struct {
		path, body string
		headers    []string
		status     int
		reason     api.Reason
	}{
		"nobody":           {"/v1/event.list", "", nil, 401, api.ReasonNoToken},
		"another token":    {"/v1/event.list", "", []string{"Authorization", "Bearer x"}, 401, api.ReasonBadToken},
		"no such method":   {"/v1/event.lits", "", []string{"Authorization", bearer}, 404, api.ReasonUnknownMethod},
		"a form":           {"/v1/event.list", "limit=3", []string{"Authorization", bearer, "Content-Type", "application/x-www-form-urlencoded"}, 400, api.ReasonBadValue},
		"no JSON":          {"/v1/event.list", "{", []string{"Authorization", bearer, "Content-Type", asJSON}, 400, api.ReasonMalformedMessage},
		"no such field":    {"/v1/event.list", `{"most": 3}`, []string{"Authorization", bearer, "Content-Type", asJSON}, 400, api.ReasonUnknownField},
		"too much":         {"/v1/event.list", strings.Repeat(" ", api.MaxMessageBytes+1), []string{"Authorization", bearer, "Content-Type", asJSON}, 429, api.ReasonMessageTooLarge},
		"an error":         {"/v1/event.list", `{"since": "2007-01-01T00:00:00.000Z"}`, []string{"Authorization", bearer, "Content-Type", asJSON}, 404, api.ReasonNoSuchNode},
		"a page elsewhere": {"/v1/event.list", "", []string{"Authorization", bearer, "Origin", "http://evil.example"}, 403, api.ReasonBadOrigin},
		"admin's":          {"/v1/daemon.stop", "", []string{"Authorization", bearer}, 403, api.ReasonAdminRequired},
		"a stream alone":   {"/v1/state.watch", "", []string{"Authorization", bearer}, 400, api.ReasonMissingField},
	} {
		got := tcp.do("POST", c.path, c.body, c.headers...)
		var p struct {
			Status int
			Title  string
			Detail string
			Reason api.Reason
		}
		text := tcp.text(got)
		if err := json.Unmarshal([]byte(text), &p); err != nil || got.StatusCode != c.status || p.Reason != c.reason {
			t.Errorf("%s: %d, %s", name, got.StatusCode, text)
		}
		if p.Status != c.status || p.Title != http.StatusText(c.status) || p.Detail == "" || got.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s is no problem: %s", name, text)
		}
	}
	is.Equal(tcp.do("PUT", "/v1/event.list", "").StatusCode, 405)
	is.Equal(tcp.do("POST", "/schema", "").StatusCode, 405)
}

// Instances have addresses of their own.
func TestInstancesByHTTP(t *testing.T) {
	is := is.New(t)
	var asked []string
	a := servertest.Start(t, func(c *server.Config) {
		c.Handlers = server.Handlers{
			"instance.apply": server.Handle(func(_ context.Context, _ *server.Caller, p api.InstanceApplyParams) (api.InstanceApplyResult, error) {
				asked = append(asked, "apply "+p.Instance.Model.Model)
				return api.InstanceApplyResult{}, nil
			}),
			"instance.list": server.Handle(func(context.Context, *server.Caller, api.Empty) (api.InstanceListResult, error) {
				asked = append(asked, "list")
				return api.InstanceListResult{Instances: []api.Instance{}}, nil
			}),
			"instance.delete": server.Handle(func(_ context.Context, _ *server.Caller, p api.InstanceSelect) (api.Empty, error) {
				asked = append(asked, "delete "+p.Name)
				return api.Empty{}, nil
			}),
		}
	})
	c := calls{a, t, true}
	is.Equal(c.do("POST", "/v1/instances", `{"instance":{"model":{"model":"org/m"}}}`, "Content-Type", asJSON).StatusCode, 200)
	is.Equal(c.text(c.do("GET", "/v1/instances", "")), `{"instances":[],"endpoint":""}`+"\n")
	is.Equal(c.do("DELETE", "/v1/instances/a%20b", "").StatusCode, 200)
	is.Equal(asked, []string{"apply org/m", "list", "delete a b"})
	is.Equal(c.do("DELETE", "/v1/instances", "").StatusCode, 405)
}

// event reads the next of a stream.
func event(t *testing.T, from *bufio.Reader) (name, id, data string) {
	t.Helper()
	for {
		line, err := from.ReadString('\n')
		is.New(t).NoErr(err)
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch field {
		case "event":
			name = value
		case "id":
			id = value
		case "data":
			data = value
		case "":
			return name, id, data
		}
	}
}

// A stream begins with the result, goes on with what changes, and ends with the client's
// connection, or by itself after its last word.
func TestStreamsByHTTP(t *testing.T) {
	is := is.New(t)
	ended := make(chan struct{})
	a := servertest.Start(t, func(c *server.Config) {
		c.Handlers = server.Handlers{"model.verify": server.Handle(func(_ context.Context, c *server.Caller, _ api.ModelSelect) (api.ModelVerifyStarted, error) {
			n := 0
			sub, err := server.Deliver(c, "", func(context.Context) (int, error) { n++; return n, nil }, func() { close(ended) },
				func(sub api.Subscription, number uint64, n int) any {
					return api.ModelVerified{Sub: sub, N: number, Terminal: n == 3}
				}, func(n int) bool { return n == 3 })
			return api.ModelVerifyStarted{Sub: sub}, err
		})}
	})
	c := calls{a, t, true}
	got := c.do("GET", "/v1/watch?kind=memory&kind=thunderbolt", "")
	is.Equal(got.StatusCode, 200)
	is.Equal(got.Header.Get("Content-Type"), "text/event-stream")
	lines := bufio.NewReader(got.Body)
	name, _, data := event(t, lines)
	is.Equal(name, "result")
	is.True(strings.HasPrefix(data, `{"sub":"s1","docs":[]`))
	a.Facts.Put(memory(t, 4))
	name, id, data := event(t, lines)
	is.Equal(name, "state.changed")
	is.True(strings.HasSuffix(id, ".2")) // after the snapshot
	is.True(strings.Contains(data, `"kind":"memory"`))
	got.Body.Close()

	got = c.do("POST", "/v1/model.verify", `{"model":"m"}`, "Accept", "text/event-stream", "Content-Type", asJSON)
	text := c.text(got) // up to the end
	is.Equal(strings.Count(text, "event: "), 4)
	is.True(strings.Contains(text, "id: 3\n"))
	<-ended
	is.Equal(c.do("GET", "/v1/watch?kind=nothing", "").StatusCode, 400)
	is.Equal(c.do("GET", "/v1/watch?sort=memory", "").StatusCode, 400)
}
