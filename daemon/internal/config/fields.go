package config

import (
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/native/nearest"
)

// Packages are the parts of the daemon whose log can have a level of its own.
func Packages() []string {
	return []string{"audit", "cluster", "config", "daemon", "doctor", "event", "facts", "gate", "grant", "health", "home", "job", "ledger", "lifecycle", "logs", "methods",
		"metrics", "native", "peer", "placement", "proc", "profile", "rank", "rdma", "relay", "server", "simulate", "storage", "store", "topology", "uninstall", "view"}
}

// Fields are all keys, in the order of the documentation.
func Fields() []Field {
	const (
		day     = 24 * time.Hour
		shortly = 10 * time.Millisecond
	)
	all := []Field{
		number("api.port", api.APIPort, 0, 65535, func(c *Config) *int { return &c.API.Port },
			"TCP port of the local API, on 127.0.0.1. If it is taken the next free one is used; 0 is any free one. Scripts find the one in use in api.json.").restart(),

		number("peers.port", api.PeerPort, 0, 65535, func(c *Config) *int { return &c.Peers.Port },
			"TCP port on which other nodes connect. If it is taken the next free one is used; 0 is any free one.").restart(),
		addresses("peers.addresses", func(c *Config) *[]string { return &c.Peers.Addresses },
			"Nodes that cannot be discovered, for instance behind a router."),

		networks("network.trusted", func(c *Config) *prefixes { return (*prefixes)(&c.Network.Trusted) },
			"Networks other than Thunderbolt on which traffic of jobs may go unencrypted, as MLX's ring does."),

		level("log.level", func(c *Config) *levelOf { return &levelOf{config: c} },
			"The least that is written to the log."),
	}
	for _, pkg := range Packages() {
		all = append(all, level("log.levels."+pkg, func(c *Config) *levelOf { return &levelOf{c, pkg} },
			"The same for one part of the daemon."))
	}
	return append(all,
		duration("times.lease", api.DefaultLease, time.Second, time.Hour, func(c *Config) *time.Duration { return &c.Times.Lease },
			"How long the ranks of a job live without their lease being renewed. At least three times lease_renewal."),
		duration("times.lease_renewal", api.DefaultLeaseRenewal, shortly, time.Hour, func(c *Config) *time.Duration { return &c.Times.LeaseRenewal },
			"How often leases are renewed."),
		duration("times.beat", api.DefaultBeat, shortly, time.Minute, func(c *Config) *time.Duration { return &c.Times.Beat },
			"How often the nodes of one job beat each other."),
		duration("times.beat_lost", api.DefaultBeatLost, shortly, 10*time.Minute, func(c *Config) *time.Duration { return &c.Times.BeatLost },
			"The silence after which such a node is lost. At least twice beat."),
		duration("times.preflight", api.DefaultPreflight, shortly, time.Hour, func(c *Config) *time.Duration { return &c.Times.Preflight },
			"How long the check of all nodes may take before a job starts."),
		duration("times.gpu_wait", api.DefaultGPUWait, 0, day, func(c *Config) *time.Duration { return &c.Times.GPUWait },
			"How long a job waits for other programs that use the GPU; then it starts beside them, with a warning."),
		duration("times.preparing", api.DefaultPreparing, shortly, day, func(c *Config) *time.Duration { return &c.Times.Preparing },
			"How long copying a job's folder and preparing its Macs may take, until all of them are ready."),
		duration("times.starting", api.DefaultStarting, shortly, day, func(c *Config) *time.Duration { return &c.Times.Starting },
			"How long a job's processes may take to be started once all is prepared."),
		duration("times.handshake", api.DefaultHandshake, shortly, day, func(c *Config) *time.Duration { return &c.Times.Handshake },
			"How long the ranks may take to join each other."),
		duration("times.grace", api.DefaultGrace, 0, time.Hour, func(c *Config) *time.Duration { return &c.Times.Grace },
			"What ranks get between SIGTERM and SIGKILL when a person stops the job."),
		duration("times.failed_grace", api.DefaultFailedGrace, 0, time.Hour, func(c *Config) *time.Duration { return &c.Times.FailedGrace },
			"The same for the others when one rank failed."),
		duration("times.drain", api.DefaultDrain, 0, 10*time.Minute, func(c *Config) *time.Duration { return &c.Times.Drain },
			"What the daemon gives its clients and workers when it stops."),

		duration("measure.gpu_ttl", api.DefaultGPUTTL, time.Second, 365*day, func(c *Config) *time.Duration { return &c.Measure.GPUTTL },
			"How old a GPU's measurement may be when somebody looks; an older one is made again."),
		duration("measure.socket_ttl", api.DefaultSocketTTL, time.Second, 365*day, func(c *Config) *time.Duration { return &c.Measure.SocketTTL },
			"The same for a path over sockets."),
		duration("measure.rdma_ttl", api.DefaultRDMATTL, time.Second, 365*day, func(c *Config) *time.Duration { return &c.Measure.RDMATTL },
			"The age from which RDMA's numbers are shown as old. They are not made again by themselves."),

		number("limits.clients", 2000, 1, 100_000, func(c *Config) *int { return &c.Limits.Clients },
			"The most connections of clients at once."),
		number("limits.outbox_bytes", 4<<20, 2*api.MaxMessageBytes, 1<<30, func(c *Config) *int { return &c.Limits.OutboxBytes },
			"The most that waits for one subscription whose client reads slowly, before changes are dropped and it is told."),
		number("limits.database_bytes", 1<<30, 1<<20, 64<<30, func(c *Config) *int { return &c.Limits.DatabaseBytes },
			"The size that the database may reach.").restart(),
		number("limits.log_bytes", 16<<20, 64<<10, 1<<30, func(c *Config) *int { return &c.Limits.LogBytes },
			"The size at which the daemon's log is begun anew; the one before is kept."),

		location("paths.state", func(c *Config) *string { return &c.Paths.State },
			"Folder of the node's key, the database and the jobs. Empty is the system's usual place.").restart(),
		location("paths.logs", func(c *Config) *string { return &c.Paths.Logs },
			"Folder of the daemon's log. Empty is the system's usual place.").restart(),
		location("paths.worker", func(c *Config) *string { return &c.Paths.Worker },
			"The program fulmen-rank, which measures. Empty is the one beside fulmend."),
	)
}

// Field is one key of the configuration: what may be written, and what it does.
type Field struct {
	// Key is its name with its table, joined by dots.
	Key string
	// Type is what a value is, in a few words.
	Type string
	// Range is what values are allowed, in a few words.
	Range string
	// Restart says that a change takes effect after a restart of the daemon; all
	// others do at once.
	Restart bool
	// Doc is what it does, in one sentence or two.
	Doc string

	kind  kind
	start any // the default, as get has it
	// get returns a value as TOML and JSON have it, set takes one: string, int64
	// or []any of strings. The error of set is one clause about the value.
	get func(*Config) any
	set func(*Config, any) error
}

// kind is the form of a value.
type kind int

const (
	textKind kind = iota
	numberKind
	listKind
)

// Default is the value where the file has none, as TOML.
func (f Field) Default() string { return render(f.start) }

// Table is the part of the key before the last dot.
func (f Field) Table() string { return f.Key[:strings.LastIndexByte(f.Key, '.')] }

// Name is the part of the key after the last dot.
func (f Field) Name() string { return f.Key[strings.LastIndexByte(f.Key, '.')+1:] }

// restart marks a field.
func (f Field) restart() Field {
	f.Restart = true
	return f
}

// Lookup finds a key.
func Lookup(key string) (Field, bool) {
	for _, f := range Fields() {
		if f.Key == key {
			return f, true
		}
	}
	return Field{}, false
}

// Keys are the names of all keys, in the order of the documentation.
func Keys() []string {
	var out []string
	for _, f := range Fields() {
		out = append(out, f.Key)
	}
	return out
}

// Default is the configuration of an empty file.
func Default() Config {
	var c Config
	for _, f := range Fields() {
		if err := f.set(&c, f.start); err != nil {
			panic("config: the default of " + f.Key + " " + err.Error())
		}
	}
	return c
}

const (
	maxList = 256  // entries of a list
	maxText = 1024 // bytes of a path or an address
)

func number(key string, start, low, high int, at func(*Config) *int, doc string) Field {
	limits := fmt.Sprintf("%d to %d", low, high)
	return Field{
		Key: key, Type: "whole number", Range: limits, Doc: doc, kind: numberKind, start: int64(start),
		get: func(c *Config) any { return int64(*at(c)) },
		set: func(c *Config, v any) error {
			n, ok := v.(int64)
			if !ok {
				return wrongType(v, "a whole number", strconv.Itoa(start))
			}
			if n < int64(low) || n > int64(high) {
				return fmt.Errorf("is %d, and must be %s", n, limits)
			}
			*at(c) = int(n)
			return nil
		},
	}
}

func duration(key string, start, low, high time.Duration, at func(*Config) *time.Duration, doc string) Field {
	limits := formatDuration(low) + " to " + formatDuration(high)
	return Field{
		Key: key, Type: "duration", Range: limits, Doc: doc, start: formatDuration(start),
		get: func(c *Config) any { return formatDuration(*at(c)) },
		set: func(c *Config, v any) error {
			s, ok := v.(string)
			if !ok {
				return wrongType(v, "a duration with a unit, in quotes", strconv.Quote(formatDuration(start)))
			}
			d, err := time.ParseDuration(s)
			if err != nil {
				return fmt.Errorf("is %s, which is no duration; write a number with ms, s, m or h, such as %q", shorten(s), formatDuration(start))
			}
			if d < low || d > high {
				return fmt.Errorf("is %s, and must be %s", shorten(s), limits)
			}
			*at(c) = d
			return nil
		},
	}
}

// levelOf is the level of the log, or of one package.
type levelOf struct {
	config *Config
	pkg    string
}

func level(key string, at func(*Config) *levelOf, doc string) Field {
	words := []string{"debug", "info", "warn", "error"}
	single := strings.HasPrefix(key, "log.levels.")
	start, limits := "info", strings.Join(words, ", ")
	if single {
		start, limits = "", limits+`, or "" for that of log.level`
	}
	return Field{
		Key: key, Type: "word", Range: limits, Doc: doc, start: start,
		get: func(c *Config) any {
			to := at(c)
			if to.pkg == "" {
				return strings.ToLower(c.Log.Level.String())
			}
			if l, ok := c.Log.Levels[to.pkg]; ok {
				return strings.ToLower(l.String())
			}
			return ""
		},
		set: func(c *Config, v any) error {
			s, ok := v.(string)
			if !ok {
				return wrongType(v, "a word in quotes", `"info"`)
			}
			to := at(c)
			// The map may be shared with another configuration.
			levels := maps.Clone(c.Log.Levels)
			if single && s == "" {
				delete(levels, to.pkg)
				c.Log.Levels = levels
				return nil
			}
			for i, w := range words {
				l := []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError}[i]
				switch {
				case w != s:
				case !single:
					c.Log.Level = l
					return nil
				default:
					if levels == nil {
						levels = map[string]slog.Level{}
					}
					levels[to.pkg] = l
					c.Log.Levels = levels
					return nil
				}
			}
			return fmt.Errorf("is %s, and must be %s%s", shorten(s), limits, meant(s, words))
		},
	}
}

func location(key string, at func(*Config) *string, doc string) Field {
	return Field{
		Key: key, Type: "path", Range: "absolute", Doc: doc, start: "",
		get: func(c *Config) any { return *at(c) },
		set: func(c *Config, v any) error {
			s, ok := v.(string)
			if !ok {
				return wrongType(v, "a path in quotes", `"/opt/fulmen"`)
			}
			if s != "" && (!filepath.IsAbs(s) || len(s) > maxText || strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) >= 0) {
				return fmt.Errorf("is %s, which is no absolute path", shorten(s))
			}
			*at(c) = s
			return nil
		},
	}
}

func addresses(key string, at func(*Config) *[]string, doc string) Field {
	return list(key, "list of HOST or HOST:PORT", doc, func(c *Config) any { return *at(c) }, func(c *Config, all []string) error {
		for _, s := range all {
			if !isAddress(s) {
				return fmt.Errorf("has %s, which is no host name or address, with or without :PORT", shorten(s))
			}
		}
		*at(c) = all
		return nil
	})
}

type prefixes []netip.Prefix

func networks(key string, at func(*Config) *prefixes, doc string) Field {
	return list(key, "list of networks such as 192.168.1.0/24", doc,
		func(c *Config) any {
			out := []string{}
			for _, p := range *at(c) {
				out = append(out, p.String())
			}
			return out
		},
		func(c *Config, all []string) error {
			var out prefixes
			for _, s := range all {
				p, err := netip.ParsePrefix(s)
				switch {
				case err != nil:
					return fmt.Errorf("has %s, which is no network; write it as 192.168.1.0/24", shorten(s))
				case p.Masked() != p:
					return fmt.Errorf("has %s, an address in the network %s", shorten(s), p.Masked())
				case p.Bits() == 0:
					return fmt.Errorf("has %s, which is every network; name those that you trust", shorten(s))
				}
				out = append(out, p)
			}
			*at(c) = out
			return nil
		})
}

// list is a field with several texts.
func list(key, form, doc string, get func(*Config) any, set func(*Config, []string) error) Field {
	return Field{
		Key: key, Type: form, Range: fmt.Sprintf("up to %d", maxList), Doc: doc, kind: listKind, start: []string{}, get: get,
		set: func(c *Config, v any) error {
			out := []string{}
			switch v := v.(type) {
			case []string:
				out = append(out, v...)
			case []any:
				for _, e := range v {
					s, ok := e.(string)
					if !ok {
						return wrongType(e, "a list of texts in quotes", `["one", "two"]`)
					}
					out = append(out, s)
				}
			default:
				return wrongType(v, "a list", `["one", "two"]`)
			}
			if len(out) > maxList {
				return fmt.Errorf("has %d entries, and must have %s", len(out), fmt.Sprintf("up to %d", maxList))
			}
			return set(c, out)
		},
	}
}

// isAddress accepts HOST, HOST:PORT, an IP address, and [IPV6]:PORT.
func isAddress(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return len(s) <= maxText
	}
	host := s
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		port, err := strconv.Atoi(s[i+1:])
		if err != nil || port < 1 || port > 65535 || strconv.Itoa(port) != s[i+1:] {
			return false
		}
		host = s[:i]
		if inside, ok := strings.CutPrefix(host, "["); ok {
			a, err := netip.ParseAddr(strings.TrimSuffix(inside, "]"))
			return err == nil && a.Is6() && strings.HasSuffix(host, "]")
		}
	}
	if host == "" || len(host) > 253 || strings.Trim(host, ".-") != host {
		return false
	}
	for i := range len(host) {
		c := host[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_' {
			return false
		}
	}
	return true
}

// formatDuration writes a duration without the parts that are zero: 1h, 5m, 500ms.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func wrongType(v any, want, example string) error {
	return fmt.Errorf("is %s, and must be %s, such as %s", article(v), want, example)
}

// article names the form of a value of TOML.
func article(v any) string {
	switch v.(type) {
	case string:
		return "a text"
	case int64:
		return "a whole number"
	case float64:
		return "a number"
	case bool:
		return "true or false"
	case map[string]any, []map[string]any:
		return "a table"
	case []any, []string:
		return "a list"
	case nil:
		return "nothing"
	}
	return "a date or time"
}

// shorten quotes what somebody wrote, of no more than a line.
func shorten(s string) string {
	if len(s) > 64 {
		s = s[:64] + "..."
	}
	return strconv.Quote(s)
}

// meant is the end of a message about a word that is not known.
func meant(word string, known []string) string {
	if near := nearest.Of(word, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
