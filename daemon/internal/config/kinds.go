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

	"fulmen/native/nearest"
)

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
