package server_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/matryer/is"

	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/server/servertest"
)

func squeezed(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := io.WriteString(w, text)
	is.New(t).NoErr(err)
	is.New(t).NoErr(w.Close())
	return out.Bytes()
}

// A file that was compressed beforehand goes out as it lies there to whoever
// reads that, and as it was to others; what has its hash in its name is kept for
// ever, and the page never.
func TestAssetsAreCompressedAndCached(t *testing.T) {
	const script = "console.log('a script that is long enough to be worth it')"
	a := servertest.Start(t, func(c *server.Config) {
		c.Assets = fstest.MapFS{
			"index.html":                  {Data: []byte("<title>Fulmen</title>")},
			"assets/index-Bx3_9-Qz.js":    {Data: []byte(script)},
			"assets/index-Bx3_9-Qz.js.gz": {Data: squeezed(t, script)},
			"assets/index-abcdefgh.css":   {Data: []byte("b{}")},
			"assets/plain.svg":            {Data: []byte("<svg/>")},
		}
	})
	host := fmt.Sprintf("127.0.0.1:%d", a.Port)
	const forever, never = "public, max-age=31536000, immutable", "no-cache"
	for name, c := range map[string]struct {
		path, accepts, kind, cache, encoding, vary string
	}{
		"page":            {"/", "gzip", "text/html; charset=utf-8", never, "", ""},
		"script, gzip":    {"/assets/index-Bx3_9-Qz.js", "br, gzip;q=0.8", "text/javascript; charset=utf-8", forever, "gzip", "Accept-Encoding"},
		"script, nothing": {"/assets/index-Bx3_9-Qz.js", "", "text/javascript; charset=utf-8", forever, "", "Accept-Encoding"},
		"script, refused": {"/assets/index-Bx3_9-Qz.js", "gzip;q=0.00, deflate", "text/javascript; charset=utf-8", forever, "", "Accept-Encoding"},
		"style":           {"/assets/index-abcdefgh.css", "gzip", "text/css; charset=utf-8", forever, "", ""},
		"no hash":         {"/assets/plain.svg", "gzip", "image/svg+xml", never, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			request := "GET " + c.path + " HTTP/1.1\nHost: " + host + "\nConnection: close"
			if c.accepts != "" {
				request += "\nAccept-Encoding: " + c.accepts
			}
			resp := ask(t, "tcp", host, request)
			is.Equal(resp.StatusCode, 200)
			is.Equal(resp.Header.Get("Content-Type"), c.kind)
			is.Equal(resp.Header.Get("Cache-Control"), c.cache)
			is.Equal(resp.Header.Get("Content-Encoding"), c.encoding)
			is.Equal(resp.Header.Get("Vary"), c.vary)
			is.Equal(resp.Header.Get("Referrer-Policy"), "no-referrer")
			body, err := io.ReadAll(resp.Body)
			is.NoErr(err)
			if strings.HasSuffix(c.path, ".js") {
				if c.encoding == "gzip" {
					body = inflated(t, body)
				}
				is.Equal(string(body), script)
			}
		})
	}
	is.New(t).Equal(ask(t, "tcp", host, "GET /assets/index-Bx3_9-Qz.js.gz HTTP/1.1\nHost: "+host+"\nConnection: close").StatusCode, 404)
}

func inflated(t *testing.T, body []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(body))
	is.New(t).NoErr(err)
	whole, err := io.ReadAll(r)
	is.New(t).NoErr(err)
	return whole
}
