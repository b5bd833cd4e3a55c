package server_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/server/servertest"
)

func withPages(c *server.Config) {
	c.Schema = []byte(`{"$id":"fulmen"}`)
	c.Assets = fstest.MapFS{
		"index.html":     {Data: []byte("<title>Fulmen</title>")},
		"assets/app.js":  {Data: []byte("1")},
		"secret.txt":     {Data: []byte("no")},
		"assets/a/b.css": {Data: []byte("b{}")},
	}
	c.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1\n") })
}

// ask sends a request as bytes, so that nothing tidies it up on the way.
func ask(t *testing.T, network, addr, request string) *http.Response {
	t.Helper()
	is := is.New(t)
	conn, err := net.Dial(network, addr)
	is.NoErr(err)
	t.Cleanup(func() { _ = conn.Close() }) // the server may have closed it
	_, err = io.WriteString(conn, strings.ReplaceAll(request, "\n", "\r\n")+"\r\n\r\n")
	is.NoErr(err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	is.NoErr(err)
	return resp
}

func TestPaths(t *testing.T) {
	a := servertest.Start(t, withPages)
	token := a.Token(t)
	host := fmt.Sprintf("127.0.0.1:%d", a.Port)
	for name, c := range map[string]struct {
		line, headers string
		want          int
	}{
		"page":                {"GET / HTTP/1.1", "", 200},
		"page, head":          {"HEAD / HTTP/1.1", "", 200},
		"asset":               {"GET /assets/app.js HTTP/1.1", "", 200},
		"deep asset":          {"GET /assets/a/b.css HTTP/1.1", "", 200},
		"schema":              {"GET /schema HTTP/1.1", "", 200},
		"metrics, stranger":   {"GET /metrics HTTP/1.1", "", 401},
		"metrics, wrong":      {"GET /metrics HTTP/1.1", "Authorization: Bearer x\n", 401},
		"metrics, token":      {"GET /metrics HTTP/1.1", "Authorization: Bearer " + token + "\n", 200},
		"metrics, cookie":     {"GET /metrics HTTP/1.1", "Cookie: token=" + token + "\n", 401},
		"metrics, parameter":  {"GET /metrics?token=" + token + " HTTP/1.1", "", 401},
		"API without upgrade": {"GET /v1 HTTP/1.1", "Authorization: Bearer " + token + "\n", 426},
		"listing":             {"GET /assets/ HTTP/1.1", "", 404},
		"folder":              {"GET /assets/a HTTP/1.1", "", 404},
		"beside":              {"GET /secret.txt HTTP/1.1", "", 404},
		"above":               {"GET /assets/../secret.txt HTTP/1.1", "", 404},
		"above, encoded":      {"GET /assets/%2e%2e/secret.txt HTTP/1.1", "", 404},
		"above, twice":        {"GET /assets/..%2fsecret.txt HTTP/1.1", "", 404},
		"index by name":       {"GET /index.html HTTP/1.1", "", 404},
		"two slashes":         {"GET //v1 HTTP/1.1", "", 404},
		"slash after":         {"GET /v1/ HTTP/1.1", "", 404},
		"debug":               {"GET /debug/pprof/ HTTP/1.1", "", 404},
		"favicon":             {"GET /favicon.ico HTTP/1.1", "", 404},
		"post":                {"POST / HTTP/1.1", "Content-Length: 0\n", 405},
		"post to the API":     {"POST /v1 HTTP/1.1", "Content-Length: 0\n", 405},
		"preflight":           {"OPTIONS /v1 HTTP/1.1", "Access-Control-Request-Method: GET\n", 405},
		"foreign origin":      {"GET /schema HTTP/1.1", "Origin: http://evil.example\n", 403},
		"own origin":          {"GET /schema HTTP/1.1", "Origin: http://" + host + "\n", 200},
		"absolute foreign":    {"GET http://evil.example/schema HTTP/1.1", "", 403},
		"connect":             {"CONNECT " + host + " HTTP/1.1", "", 405},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			resp := ask(t, "tcp", host, c.line+"\nHost: "+host+"\n"+c.headers+"Connection: close")
			is.Equal(resp.StatusCode, c.want)
			for header := range resp.Header {
				is.True(!strings.HasPrefix(header, "Access-Control-")) // no CORS
			}
			is.Equal(resp.Header.Get("Set-Cookie"), "")
			if c.want == 200 {
				is.Equal(resp.Header.Get("X-Content-Type-Options"), "nosniff")
				is.Equal(resp.Header.Get("X-Frame-Options"), "DENY")
				is.Equal(resp.Header.Get("Cross-Origin-Resource-Policy"), "same-origin")
				is.True(strings.Contains(resp.Header.Get("Content-Security-Policy"), "default-src 'none'"))
			}
		})
	}
	t.Run("metrics on the Unix socket", func(t *testing.T) {
		is := is.New(t)
		is.Equal(ask(t, "unix", a.Socket, "GET /metrics HTTP/1.1\nHost: localhost").StatusCode, 200)
		is.Equal(ask(t, "unix", a.Socket, "GET /metrics HTTP/1.1\nHost: evil.example").StatusCode, 403)
		is.Equal(ask(t, "unix", a.Socket, "GET /metrics HTTP/1.1\nHost: localhost:9000\nOrigin: http://localhost:9000").StatusCode, 403)
	})
}

func TestWithoutPages(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	host := fmt.Sprintf("127.0.0.1:%d", a.Port)
	for path, want := range map[string]int{"/": 200, "/schema": 404, "/metrics": 404, "/assets/app.js": 404} {
		resp := ask(t, "tcp", host, "GET "+path+" HTTP/1.1\nHost: "+host+"\nConnection: close")
		is.Equal(resp.StatusCode, want)
		if want == 404 {
			var e api.Error
			is.NoErr(json.NewDecoder(resp.Body).Decode(&e))
			is.True(errors.Is(&e, api.ReasonNoSuchPath))
		}
	}
}

// The guard has tables of its own; here it is shown to stand before the API.
func TestHostAndOriginOverSockets(t *testing.T) {
	a := servertest.Start(t, nil)
	token := a.Token(t)
	port := fmt.Sprint(a.Port)
	for name, c := range map[string]struct {
		host, origin string
		want         bool
	}{
		"address":          {"127.0.0.1:" + port, "", true},
		"name":             {"localhost:" + port, "", true},
		"IPv6":             {"[::1]:" + port, "", true},
		"no port":          {"127.0.0.1", "", false},
		"other port":       {"127.0.0.1:1", "", false},
		"trailing dot":     {"localhost.:" + port, "", false},
		"rebound name":     {"evil.example:" + port, "", false},
		"IDN":              {"xn--lcalhost-54a:" + port, "", false},
		"own page":         {"127.0.0.1:" + port, "http://127.0.0.1:" + port, true},
		"page by name":     {"127.0.0.1:" + port, "http://localhost:" + port, false},
		"foreign page":     {"127.0.0.1:" + port, "https://evil.example", false},
		"sandboxed page":   {"127.0.0.1:" + port, "null", false},
		"page on our host": {"127.0.0.1:" + port, "http://127.0.0.1:3000", false},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			header := http.Header{"Authorization": {"Bearer " + token}, "Host": {c.host}}
			if c.origin != "" {
				header.Set("Origin", c.origin)
			}
			w, resp, err := dial(t, a.URL, "", header)
			is.Equal(err == nil, c.want)
			if c.want {
				w.ok("state.get", `{}`, nil)
				is.Equal(resp.Header.Get("Fulmen-Version"), servertest.Version)
			} else {
				is.Equal(resp.StatusCode, http.StatusForbidden)
			}
		})
	}
}

func TestIPv6Listener(t *testing.T) {
	is := is.New(t)
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 loopback here")
	}
	a := servertest.Start(t, nil)
	go func() { _ = a.Server.Serve(l) }() // ends with the server
	w, _, err := dial(t, "ws://"+l.Addr().String()+api.PathAPI, "", http.Header{"Authorization": {"Bearer " + a.Token(t)}})
	is.NoErr(err)
	w.ok("state.get", `{}`, nil)
}
