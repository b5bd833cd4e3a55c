package server

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestHost(t *testing.T) {
	for host, want := range map[string]struct{ tcp, unix bool }{
		"127.0.0.1:7731":              {true, true},
		"localhost:7731":              {true, true},
		"[::1]:7731":                  {true, true},
		"127.0.0.1":                   {false, true},
		"localhost":                   {false, true},
		"[::1]":                       {false, true},
		"127.0.0.1:7732":              {false, true},
		"127.0.0.1:07731":             {},
		"127.0.0.1:+7731":             {},
		"127.0.0.1:":                  {},
		"127.0.0.1:99999":             {},
		"127.0.0.1:7731:7731":         {},
		"":                            {},
		":7731":                       {},
		"::1:7731":                    {},
		"[::1]x:7731":                 {},
		"[0:0:0:0:0:0:0:1]:7731":      {},
		"[::ffff:127.0.0.1]:7731":     {},
		"[::1%25lo0]:7731":            {},
		"LOCALHOST:7731":              {},
		"Localhost:7731":              {},
		"localhost.:7731":             {},
		"127.0.0.1.:7731":             {},
		"localhost.evil.example:7731": {},
		"evil.example:7731":           {},
		"127.0.0.1.nip.io:7731":       {},
		"127.1:7731":                  {},
		"2130706433:7731":             {},
		"0x7f000001:7731":             {},
		"0177.0.0.1:7731":             {},
		"0.0.0.0:7731":                {},
		"127.0.0.2:7731":              {},
		"user@localhost:7731":         {},
		"localhost:7731@evil":         {},
		" localhost:7731":             {},
		"localhost:7731 ":             {},
		"localhost:7731\x00":          {},
		"xn--lcalhost-54a:7731":       {},
		"lоcalhost:7731":              {}, // a Cyrillic o
		"ｌocalhost:7731":              {}, // a full-width l
		"127。0。0。1:7731":              {}, // ideographic full stops
		"localhost:７７３１":              {},
	} {
		t.Run(host, func(t *testing.T) {
			is := is.New(t)
			for g, allowed := range map[*guard]bool{new(tcpGuard(7731)): want.tcp, new(unixGuard()): want.unix} {
				err := g.check(&http.Request{Host: host})
				is.Equal(err == nil, allowed)
				is.Equal(errors.Is(err, api.ReasonBadHost), !allowed)
			}
		})
	}
}

func TestOrigin(t *testing.T) {
	for name, c := range map[string]struct {
		host    string
		origins []string
		want    bool
	}{
		"absent":            {"127.0.0.1:7731", nil, true},
		"equal":             {"127.0.0.1:7731", []string{"http://127.0.0.1:7731"}, true},
		"equal IPv6":        {"[::1]:7731", []string{"http://[::1]:7731"}, true},
		"equal name":        {"localhost:7731", []string{"http://localhost:7731"}, true},
		"other spelling":    {"127.0.0.1:7731", []string{"http://localhost:7731"}, false},
		"other port":        {"127.0.0.1:7731", []string{"http://127.0.0.1:8000"}, false},
		"no port":           {"127.0.0.1:7731", []string{"http://127.0.0.1"}, false},
		"https":             {"127.0.0.1:7731", []string{"https://127.0.0.1:7731"}, false},
		"ws":                {"127.0.0.1:7731", []string{"ws://127.0.0.1:7731"}, false},
		"opaque":            {"127.0.0.1:7731", []string{"null"}, false},
		"empty":             {"127.0.0.1:7731", []string{""}, false},
		"a slash":           {"127.0.0.1:7731", []string{"http://127.0.0.1:7731/"}, false},
		"other case":        {"localhost:7731", []string{"HTTP://localhost:7731"}, false},
		"foreign":           {"127.0.0.1:7731", []string{"http://evil.example"}, false},
		"foreign with user": {"127.0.0.1:7731", []string{"http://127.0.0.1:7731@evil.example"}, false},
		"extension":         {"127.0.0.1:7731", []string{"chrome-extension://abc"}, false},
		"two":               {"127.0.0.1:7731", []string{"http://127.0.0.1:7731", "http://evil.example"}, false},
		"twice the same":    {"127.0.0.1:7731", []string{"http://127.0.0.1:7731", "http://127.0.0.1:7731"}, false},
		"a list":            {"127.0.0.1:7731", []string{"http://127.0.0.1:7731 http://evil.example"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			req := &http.Request{Host: c.host, Header: http.Header{"Origin": c.origins}}
			err := tcpGuard(7731).check(req)
			is.Equal(err == nil, c.want)
			is.Equal(errors.Is(err, api.ReasonBadOrigin), !c.want)
			is.Equal(unixGuard().check(req) == nil, c.origins == nil) // no browser speaks to a Unix socket
		})
	}
}

// FuzzGuard checks the guards against their other reading: what is allowed is
// one of a handful of strings.
func FuzzGuard(f *testing.F) {
	for _, host := range []string{"127.0.0.1:7731", "localhost:7731", "[::1]:7731", "localhost.:7731", "[::1]", "evil:7731"} {
		f.Add(host, "http://"+host, uint16(7731))
		f.Add(host, "null", uint16(80))
	}
	f.Fuzz(func(t *testing.T, host, origin string, port uint16) {
		is := is.New(t)
		tcp := tcpGuard(int(port))
		header := http.Header{"Origin": {origin}}
		if tcp.check(&http.Request{Host: host}) == nil {
			is.True(slices.Contains(tcp.hosts, host))
		}
		if tcp.check(&http.Request{Host: host, Header: header}) == nil {
			is.True(slices.Contains(tcp.hosts, strings.TrimPrefix(origin, "http://")))
			is.Equal(origin, "http://"+host)
		}
		is.True(unixGuard().check(&http.Request{Host: host, Header: header}) != nil)
	})
}
