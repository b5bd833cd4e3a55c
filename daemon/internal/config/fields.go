package config

import (
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/native/nearest"
)

// Packages are the parts of the daemon whose log can have a level of its own.
func Packages() []string {
	return []string{"audit", "cluster", "config", "daemon", "doctor", "endpoint", "event", "facts", "gate", "grant", "health", "home", "job", "ledger", "lifecycle", "logs", "methods",
		"metrics", "model", "native", "peer", "placement", "proc", "profile", "rank", "rdma", "relay", "server", "simulate", "stall", "storage", "store", "topology", "uninstall", "view"}
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

		number("endpoint.port", api.EndpointPort, 0, 65535, func(c *Config) *int { return &c.Endpoint.Port },
			"TCP port on which this Mac answers for all services of the cluster, as OpenAI's API. If it is taken the next free one is used; 0 is any free one.").restart(),
		networks("endpoint.networks", func(c *Config) *[]netip.Prefix { return &c.Endpoint.Networks },
			"Networks from which it takes connections, in the clear and by a key, beside this Mac itself.").restart(),
		hosts("endpoint.hosts", func(c *Config) *[]string { return &c.Endpoint.Hosts },
			"Names by which this Mac may be asked there, beside its addresses."),
		origins("endpoint.origins", func(c *Config) *[]string { return &c.Endpoint.Origins },
			"Web pages that may ask there, by their origin."),
		duration("endpoint.wait", api.DefaultEndpointWait, 0, time.Hour, func(c *Config) *time.Duration { return &c.Endpoint.Wait },
			"How long a request waits for a service that is starting."),

		number("peers.port", api.PeerPort, 0, 65535, func(c *Config) *int { return &c.Peers.Port },
			"TCP port on which other nodes connect. If it is taken the next free one is used; 0 is any free one.").restart(),
		addresses("peers.addresses", func(c *Config) *[]string { return &c.Peers.Addresses },
			"Nodes that cannot be discovered, for instance behind a router.").restart(),

		networks("network.trusted", func(c *Config) *[]netip.Prefix { return &c.Network.Trusted },
			"Networks other than Thunderbolt on which traffic of jobs may go unencrypted, as MLX's ring does."),

		level("log.level", func(c *Config) *slog.Level { return &c.Log.Level },
			"The lowest level of messages that is written to the log."),
	}
	for _, pkg := range Packages() {
		all = append(all, levelOf(pkg, "The same for one part of the daemon."))
	}
	return append(all,
		duration("times.lease", api.DefaultLease, time.Second, time.Hour, func(c *Config) *time.Duration { return &c.Times.Lease },
			"How long the ranks of a job live without their lease being renewed. At least three times lease_renewal.").restart(),
		duration("times.lease_renewal", api.DefaultLeaseRenewal, shortly, time.Hour, func(c *Config) *time.Duration { return &c.Times.LeaseRenewal },
			"How often leases are renewed."),
		duration("times.beat", api.DefaultBeat, shortly, time.Minute, func(c *Config) *time.Duration { return &c.Times.Beat },
			"How often the nodes of a job tell each other that they are alive."),
		duration("times.beat_lost", api.DefaultBeatLost, shortly, 10*time.Minute, func(c *Config) *time.Duration { return &c.Times.BeatLost },
			"How long such a node may be silent until it counts as lost. At least twice beat."),
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
			"How long ranks get between SIGTERM and SIGKILL when a person stops the job."),
		duration("times.failed_grace", api.DefaultFailedGrace, 0, time.Hour, func(c *Config) *time.Duration { return &c.Times.FailedGrace },
			"The same for the others when one rank failed."),
		duration("times.drain", api.DefaultDrain, 0, 10*time.Minute, func(c *Config) *time.Duration { return &c.Times.Drain },
			"How long the daemon waits for its clients and workers when it stops."),

		duration("measure.gpu_ttl", api.DefaultGPUTTL, time.Second, 365*day, func(c *Config) *time.Duration { return &c.Measure.GPUTTL },
			"How old a GPU's measurement may be when somebody looks; an older one is repeated."),
		duration("measure.socket_ttl", api.DefaultSocketTTL, time.Second, 365*day, func(c *Config) *time.Duration { return &c.Measure.SocketTTL },
			"The same for a path over sockets."),
		duration("measure.rdma_ttl", api.DefaultRDMATTL, time.Second, 365*day, func(c *Config) *time.Duration { return &c.Measure.RDMATTL },
			"The age from which RDMA's numbers are shown as old. They are not repeated automatically."),

		number("limits.clients", 2000, 1, 100_000, func(c *Config) *int { return &c.Limits.Clients },
			"The most connections of clients at once.").restart(),
		number("limits.outbox_bytes", 4<<20, 2*api.MaxMessageBytes, 1<<30, func(c *Config) *int { return &c.Limits.OutboxBytes },
			"The most data that waits for a client that reads slowly; beyond it changes are dropped, and the client is told.").restart(),
		number("limits.database_bytes", 1<<30, 1<<20, 64<<30, func(c *Config) *int { return &c.Limits.DatabaseBytes },
			"The size that the database may reach.").restart(),
		number("limits.log_bytes", 16<<20, 64<<10, 1<<30, func(c *Config) *int { return &c.Limits.LogBytes },
			"The size at which a new log file is begun; the previous one is kept.").restart(),

		location("models.hub_cache", func(c *Config) *string { return &c.Models.HubCache },
			"Folder of Hugging Face's cache, read and written as each account; its programs find it by HF_HUB_CACHE. Empty is each account's own."),
		location("models.python", func(c *Config) *string { return &c.Models.Python },
			"A Python that has huggingface_hub, by which models are got from Hugging Face. Empty is an environment that Fulmen makes in the cache folder of the account."),
		locations("models.folders", func(c *Config) *[]string { return &c.Models.Folders },
			"Folders of models, read as each account, beside those of Hugging Face, LM Studio and Ollama."),

		location("paths.state", func(c *Config) *string { return &c.Paths.State },
			"Folder of the node's key, the database and the jobs. Empty is the system's usual place.").restart(),
		location("paths.logs", func(c *Config) *string { return &c.Paths.Logs },
			"Folder of the daemon's log. Empty is the system's usual place.").restart(),
		location("paths.worker", func(c *Config) *string { return &c.Paths.Worker },
			"The program fulmen-rank, which measures. Empty is the one beside fulmend.").restart(),
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

	start any // the default, as get has it
	// get returns a value as TOML and JSON have it, set takes one: string, int64
	// or []any of strings. The error of set is one clause about the value.
	get func(*Config) any
	set func(*Config, any) error
}

// Default is the value where the file has none, as TOML.
func (f Field) Default() string { return render(f.start) }

// Table is the part of the key before the last dot.
func (f Field) Table() string { return f.Key[:strings.LastIndexByte(f.Key, '.')] }

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

// field is a key with a value of a type: read takes one, and show gives it back.
func field[T any](key, form, limits, doc string, start T, at func(*Config) *T, read func(any) (T, error), show func(T) any) Field {
	return Field{
		Key: key, Type: form, Range: limits, Doc: doc, start: show(start),
		get: func(c *Config) any { return show(*at(c)) },
		set: func(c *Config, v any) error {
			value, err := read(v)
			if err == nil {
				*at(c) = value
			}
			return err
		},
	}
}

func number(key string, start, low, high int, at func(*Config) *int, doc string) Field {
	limits := fmt.Sprintf("%d to %d", low, high)
	return field(key, "whole number", limits, doc, start, at, func(v any) (int, error) {
		n, ok := v.(int64)
		if !ok {
			return 0, wrongType(v, "a whole number", strconv.Itoa(start))
		}
		if n < int64(low) || n > int64(high) {
			return 0, fmt.Errorf("is %d, and must be %s", n, limits)
		}
		return int(n), nil
	}, func(n int) any { return int64(n) })
}

func duration(key string, start, low, high time.Duration, at func(*Config) *time.Duration, doc string) Field {
	limits := formatDuration(low) + " to " + formatDuration(high)
	return field(key, "duration", limits, doc, start, at, func(v any) (time.Duration, error) {
		s, ok := v.(string)
		if !ok {
			return 0, wrongType(v, "a duration with a unit, in quotes", strconv.Quote(formatDuration(start)))
		}
		d, err := time.ParseDuration(s)
		if err != nil {
			return 0, fmt.Errorf("is %s, which is not a duration; write a number with ms, s, m or h, such as %q", shorten(s), formatDuration(start))
		}
		if d < low || d > high {
			return 0, fmt.Errorf("is %s, and must be %s", shorten(s), limits)
		}
		return d, nil
	}, func(d time.Duration) any { return formatDuration(d) })
}

// levels are the words for those of slog, which are 4 apart from LevelDebug on.
var levels = []string{"debug", "info", "warn", "error"}

func readLevel(v any, limits string) (slog.Level, error) {
	s, ok := v.(string)
	if !ok {
		return 0, wrongType(v, "a word in quotes", `"info"`)
	}
	at := slices.Index(levels, s)
	if at < 0 {
		return 0, fmt.Errorf("is %s, and must be %s%s", shorten(s), limits, meant(s, levels))
	}
	return slog.LevelDebug + slog.Level(4*at), nil
}

func showLevel(l slog.Level) any { return strings.ToLower(l.String()) }

func level(key string, at func(*Config) *slog.Level, doc string) Field {
	limits := strings.Join(levels, ", ")
	return field(key, "word", limits, doc, slog.LevelInfo, at, func(v any) (slog.Level, error) { return readLevel(v, limits) }, showLevel)
}

// levelOf is the level of one package.
func levelOf(pkg, doc string) Field {
	limits := strings.Join(levels, ", ") + `, or "" for that of log.level`
	return Field{
		Key: "log.levels." + pkg, Type: "word", Range: limits, Doc: doc, start: "",
		get: func(c *Config) any {
			if l, ok := c.Log.Levels[pkg]; ok {
				return showLevel(l)
			}
			return ""
		},
		set: func(c *Config, v any) error {
			// The map may be shared with another configuration.
			own := maps.Clone(c.Log.Levels)
			if v == "" {
				delete(own, pkg)
			} else {
				l, err := readLevel(v, limits)
				if err != nil {
					return err
				}
				if own == nil {
					own = map[string]slog.Level{}
				}
				own[pkg] = l
			}
			c.Log.Levels = own
			return nil
		},
	}
}

func location(key string, at func(*Config) *string, doc string) Field {
	return field(key, "path", "absolute", doc, "", at, func(v any) (string, error) {
		s, ok := v.(string)
		if !ok {
			return "", wrongType(v, "a path in quotes", `"/opt/fulmen"`)
		}
		if s != "" && !isLocation(s) {
			return "", fmt.Errorf("is %s, which is not an absolute path", shorten(s))
		}
		return s, nil
	}, func(s string) any { return s })
}

func locations(key string, at func(*Config) *[]string, doc string) Field {
	return list(key, "list of absolute paths", doc, at, func(s string) (string, error) {
		if !isLocation(s) {
			return "", fmt.Errorf("has %s, which is not an absolute path", shorten(s))
		}
		return s, nil
	}, func(s string) string { return s })
}

// isLocation accepts an absolute path that can be shown.
func isLocation(s string) bool {
	return filepath.IsAbs(s) && len(s) <= maxText && strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) < 0
}

func addresses(key string, at func(*Config) *[]string, doc string) Field {
	return list(key, "list of HOST or HOST:PORT", doc, at, func(s string) (string, error) {
		if !isAddress(s) {
			return "", fmt.Errorf("has %s, which is not a host name or address, with or without :PORT", shorten(s))
		}
		return s, nil
	}, func(s string) string { return s })
}

func hosts(key string, at func(*Config) *[]string, doc string) Field {
	return list(key, "list of host names", doc, at, func(s string) (string, error) {
		if !isAddress(s) || strings.ContainsAny(s, ":[]") || s != strings.ToLower(s) {
			return "", fmt.Errorf("has %s, which is not a host name in small letters, without a port", shorten(s))
		}
		return s, nil
	}, func(s string) string { return s })
}

func origins(key string, at func(*Config) *[]string, doc string) Field {
	return list(key, "list of origins such as https://chat.example", doc, at, func(s string) (string, error) {
		u, err := url.Parse(s)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || s != u.Scheme+"://"+strings.ToLower(u.Host) || len(s) > maxText {
			return "", fmt.Errorf("has %s, which is not an origin; write it as https://chat.example, with a port where it has one", shorten(s))
		}
		return s, nil
	}, func(s string) string { return s })
}

func networks(key string, at func(*Config) *[]netip.Prefix, doc string) Field {
	return list(key, "list of networks such as 192.168.1.0/24", doc, at, func(s string) (netip.Prefix, error) {
		p, err := netip.ParsePrefix(s)
		switch {
		case err != nil:
			return p, fmt.Errorf("has %s, which is not a network; write it as 192.168.1.0/24", shorten(s))
		case p.Masked() != p:
			return p, fmt.Errorf("has %s, an address in the network %s", shorten(s), p.Masked())
		case p.Bits() == 0:
			return p, fmt.Errorf("has %s, which is every network; name those that you trust", shorten(s))
		}
		return p, nil
	}, netip.Prefix.String)
}

// list is a field with several texts.
func list[T any](key, form, doc string, at func(*Config) *[]T, read func(string) (T, error), show func(T) string) Field {
	limits := fmt.Sprintf("up to %d", maxList)
	return field(key, form, limits, doc, nil, at, func(v any) ([]T, error) {
		entries, ok := v.([]any)
		if own, is := v.([]string); is { // as show gives them
			for _, s := range own {
				entries = append(entries, s)
			}
		} else if !ok {
			return nil, wrongType(v, "a list", `["one", "two"]`)
		}
		if len(entries) > maxList {
			return nil, fmt.Errorf("has %d entries, and must have %s", len(entries), limits)
		}
		out := []T{}
		for _, e := range entries {
			s, ok := e.(string)
			if !ok {
				return nil, wrongType(e, "a list of texts in quotes", `["one", "two"]`)
			}
			one, err := read(s)
			if err != nil {
				return nil, err
			}
			out = append(out, one)
		}
		return out, nil
	}, func(all []T) any {
		out := []string{}
		for _, one := range all {
			out = append(out, show(one))
		}
		return out
	})
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
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"
	return host != "" && len(host) <= 253 && strings.Trim(host, ".-") == host && strings.Trim(host, letters) == ""
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
