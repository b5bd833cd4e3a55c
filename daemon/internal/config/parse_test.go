package config

import (
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestDefaults(t *testing.T) {
	is := is.New(t)
	p, err := Parse("")
	is.NoErr(err)
	c := p.Config
	is.Equal(c, Default())
	is.Equal(c.API.Port, api.APIPort)
	is.Equal(c.Peers.Port, api.PeerPort)
	is.Equal(c.Times, Times{
		Lease: api.DefaultLease, LeaseRenewal: api.DefaultLeaseRenewal, Beat: api.DefaultBeat, BeatLost: api.DefaultBeatLost,
		Preflight: api.DefaultPreflight, GPUWait: api.DefaultGPUWait, Preparing: api.DefaultPreparing, Starting: api.DefaultStarting, Handshake: api.DefaultHandshake,
		Grace: api.DefaultGrace, FailedGrace: api.DefaultFailedGrace, Drain: api.DefaultDrain,
	})
	is.Equal(c.Measure, Measure{api.DefaultGPUTTL, api.DefaultSocketTTL, api.DefaultRDMATTL})
	is.Equal(c.Log.LevelOf("store"), slog.LevelInfo)
	is.Equal(len(p.Set), 0)
}

func TestParse(t *testing.T) {
	is := is.New(t)
	p, err := Parse(`
times = { lease = "1m30s", "beat" = "0.25s" }
log.level = 'warn'
log.levels.store = "debug"
[peers]
port = 0
addresses = [
  "mac-studio-2.local", # the other one
  "10.0.0.7:7732", "[fe80::1%en5]:99", "fd00::2",
]
[network]
trusted = ["192.168.1.0/24", "fd00::/8"]
`)
	is.NoErr(err)
	c := p.Config
	is.Equal(c.Times.Lease, 90*time.Second)
	is.Equal(c.Times.Beat, 250*time.Millisecond)
	is.Equal(c.Log.LevelOf("store"), slog.LevelDebug)
	is.Equal(c.Log.LevelOf("rank"), slog.LevelWarn)
	is.Equal(c.Peers.Port, 0)
	is.Equal(len(c.Peers.Addresses), 4)
	is.Equal(c.Network.Trusted, []netip.Prefix{netip.MustParsePrefix("192.168.1.0/24"), netip.MustParsePrefix("fd00::/8")})
	is.Equal(c.Times.Grace, api.DefaultGrace) // what is not said is as usual
	is.True(p.Set["times.lease"] && !p.Set["times.grace"])
}

func TestParseRefuses(t *testing.T) {
	tests := map[string]struct {
		text    string
		reason  api.Reason
		reports string // the whole message
	}{
		"misspelt": {"\n[times]\n  leese = \"1s\"\n", api.ReasonConfigUnknownKey,
			`c.toml:3:3: There is no key "times.leese"; did you mean "times.lease"?`},
		"wrong table": {"[api]\nlease = \"30s\"\n", api.ReasonConfigUnknownKey,
			`c.toml:2:1: There is no key "api.lease"; did you mean "times.lease"?`},
		"no table": {"port = 1\n", api.ReasonConfigUnknownKey,
			`c.toml:1:1: There is no key "port"; did you mean "api.port"?`},
		"unknown table": {"[tims]\nlease = \"30s\"\n", api.ReasonConfigUnknownKey,
			`c.toml:1:1: There is no key "tims"; did you mean "times"?`},
		"nothing like it": {"xyzzy = 1", api.ReasonConfigUnknownKey, `c.toml:1:1: There is no key "xyzzy".`},
		"quoted":          {`"times.lease" = "30s"`, api.ReasonConfigUnknownKey, `c.toml:1:1: There is no key "\"times.lease\""; did you mean "times.lease"?`},
		"package":         {"log.levels.stoer = \"info\"", api.ReasonConfigUnknownKey, `c.toml:1:1: There is no key "log.levels.stoer"; did you mean "log.levels.store"?`},
		"a table's value": {"times = 5", api.ReasonConfigInvalid, `c.toml:1:9: times is a whole number, and must be a table with keys.`},
		"several tables":  {"[[times]]\n", api.ReasonConfigInvalid, `c.toml:1:1: times is a table, and must be a table with keys.`},
		"number": {"[times]\nlease = 30", api.ReasonConfigInvalid,
			`c.toml:2:9: times.lease is a whole number, and must be a duration with a unit, in quotes, such as "30s".`},
		"unit": {"[times]\nlease = \"30\"", api.ReasonConfigInvalid,
			`c.toml:2:9: times.lease is "30", which is not a duration; write a number with ms, s, m or h, such as "30s".`},
		"too short":  {"[times]\nlease = \"10ms\"", api.ReasonConfigInvalid, `c.toml:2:9: times.lease is "10ms", and must be 1s to 1h.`},
		"negative":   {"[times]\ngrace = \"-1s\"", api.ReasonConfigInvalid, `c.toml:2:9: times.grace is "-1s", and must be 0s to 1h.`},
		"too high":   {"[api]\nport = 65536", api.ReasonConfigInvalid, `c.toml:2:8: api.port is 65536, and must be 0 to 65535.`},
		"fraction":   {"[api]\nport = 1.5", api.ReasonConfigInvalid, `c.toml:2:8: api.port is a number, and must be a whole number, such as 7731.`},
		"port":       {"[peers]\naddresses = [\"a:0\"]", api.ReasonConfigInvalid, `c.toml:2:13: peers.addresses has "a:0", which is not a host name or address, with or without :PORT.`},
		"a host":     {"[network]\ntrusted = [\"10.0.0.7/8\"]", api.ReasonConfigInvalid, `c.toml:2:11: network.trusted has "10.0.0.7/8", an address in the network 10.0.0.0/8.`},
		"everything": {"[network]\ntrusted = [\"0.0.0.0/0\"]", api.ReasonConfigInvalid, `c.toml:2:11: network.trusted has "0.0.0.0/0", which is every network; name those that you trust.`},
		"relative":   {"[paths]\nstate = \"here\"", api.ReasonConfigInvalid, `c.toml:2:9: paths.state is "here", which is not an absolute path.`},
		"level":      {"[log]\nlevel = \"wran\"", api.ReasonConfigInvalid, `c.toml:2:9: log.level is "wran", and must be debug, info, warn, error; did you mean "warn"?`},
		"relation": {"[times]\ngrace = \"1s\"\nlease = \"2s\"", api.ReasonConfigInvalid,
			`c.toml:3:9: times.lease_renewal is 5s and times.lease is 2s: a lease must last at least three renewals, so that two may be lost.`},
		"same port": {"[peers]\nport = 7731", api.ReasonConfigInvalid, `c.toml:2:8: api.port and peers.port are both 7731.`},
		"twice":     {"[api]\nport = 1\nport = 2", api.ReasonConfigInvalid, "c.toml:3:1: Key 'api.port' has already been defined."},
		"no TOML":   {"[api]\nport = = 2", api.ReasonConfigInvalid, "c.toml:2:8: Expected value but found '=' instead."},
		"binary":    {"a\n\xff", api.ReasonConfigInvalid, "c.toml:2:1: The file is not text in UTF-8."},
		"endless":   {strings.Repeat("#\n", MaxBytes), api.ReasonConfigInvalid, "c.toml: The file has 131072 bytes, more than the 65536 that are read."},
		"several": {"[times]\ngrace = 1\n[api]\nprot = 1\n", api.ReasonConfigInvalid,
			`c.toml:2:9: times.grace is a whole number, and must be a duration with a unit, in quotes, such as "10s". (and 1 more)`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, err := Parse(tt.text)
			p, ok := errors.AsType[*ParseError](err)
			is.True(ok)
			e := p.In("c.toml")
			is.Equal(e.Message, tt.reports)
			is.True(errors.Is(e, tt.reason))
			is.Equal(e.Code, api.CodeInvalid)
			is.Equal(len(e.Data.Causes), len(p.Problems))
			is.True(e.Data.Remedy != "")
		})
	}
}

// TestParseEnds has texts over which the parser alone takes minutes.
func TestParseEnds(t *testing.T) {
	for name, text := range map[string]string{
		"lists":  "a = " + strings.Repeat("[", 60000),
		"tables": "a = " + strings.Repeat("{a=", 20000),
		"dots":   strings.Repeat("a.", 30000) + "a = 1",
		"header": "[" + strings.Repeat("a.", 30000) + "a]",
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, err := Parse(text)
			is.True(strings.Contains(err.Error(), "too deep"))
		})
	}
	is := is.New(t)
	_, _, err := Edit("", []Change{{"peers.addresses", strings.Repeat("{a=", 20000)}})
	is.True(errors.Is(err, api.ReasonConfigInvalid))
}

func TestEveryFieldTakesItsOwnValue(t *testing.T) {
	for _, f := range Fields() {
		t.Run(f.Key, func(t *testing.T) {
			is := is.New(t)
			c := Default()
			is.NoErr(f.set(&c, f.get(&c)))
			is.Equal(c, Default())
			is.Equal(render(f.get(&c)), f.Default())
			is.True(f.set(&c, true) != nil)       // not of any kind
			is.True(f.set(&c, "\x00") != nil)     // no text is this
			is.True(f.set(&c, int64(-1)) != nil)  // no number is negative
			is.Equal(c, Default())                // what is refused changes nothing
			is.True(f.Doc != "" && f.Range != "") // documented
			is.True(strings.HasSuffix(f.Doc, "."))
			_, err := Parse("[" + f.Table() + "]\n" + f.Name() + " = " + f.Default())
			is.NoErr(err)
		})
	}
}

func TestIsAddress(t *testing.T) {
	for s, want := range map[string]bool{
		"a": true, "a.local": true, "a-b.c_d:1": true, "10.0.0.1": true, "10.0.0.1:65535": true, "::1": true, "[::1]:7": true,
		"fe80::1%en0": true, "[fe80::1%en0]:7": true,
		"": false, ":1": false, "a:": false, "a:0": false, "a:65536": false, "a:01": false, "a b": false, "-a": false, "a.": false,
		"http://a": false, "[::1]": false, "[::1:7": false, "[10.0.0.1]:7": false, "a\n": false, "ä": false,
	} {
		t.Run(s, func(t *testing.T) { is.New(t).Equal(isAddress(s), want) })
	}
}

// FuzzParse: whatever the text is, it is taken or refused with a place in it.
func FuzzParse(f *testing.F) {
	f.Add(example())
	for _, s := range []string{"", "[api]\nport = 1", "times = { lease = \"1h\" }", "a = [[[[", "\ufeff", "x = 1e400", "[log.levels]\nstore = \"debug\"", "[[times]]", "a.b.c.d = {}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := Parse(s)
		if err == nil {
			for _, field := range Fields() {
				c := Default()
				if err := field.set(&c, field.get(&p.Config)); err != nil {
					t.Fatalf("%s has a value that it would refuse: %v", field.Key, err)
				}
			}
			return
		}
		refused, ok := errors.AsType[*ParseError](err)
		if !ok || len(refused.Problems) == 0 {
			t.Fatalf("refused without a fault: %v", err)
		}
		for _, problem := range refused.Problems {
			if lines := strings.Count(s, "\n") + 1; problem.Place.Line > lines || problem.Message == "" {
				t.Fatalf("a fault at %v of %d lines: %q", problem.Place, lines, problem.Message)
			}
		}
	})
}
