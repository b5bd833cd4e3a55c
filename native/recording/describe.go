package recording

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"fulmen/native/darwin"
	"fulmen/native/networksetup"
	"fulmen/native/sim/scenario"
	"fulmen/native/systemprofiler"
)

// The kinds of files.
const (
	KindThunderbolt   = "system_profiler.thunderbolt"
	KindHardwarePorts = "networksetup.hardware_ports"
	KindServiceOrder  = "networksetup.service_order"
	KindMac           = "fulmen.mac"
	KindScenario      = "scenario"
)

// ErrUnknown is matched by the error of [Describe] for a file of no known kind,
// which lists what can be read.
var ErrUnknown = errors.New("the file is not of a known kind")

// format is one kind of file.
type format struct {
	kind string
	// how is what makes such a file.
	how string
	// looks is true where a file is of this kind or of none: its error is the
	// one to show.
	looks func(name string, data []byte) bool
	parse func(name string, data []byte) (facts any, notes []string, err error)
}

var (
	portLine    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*Hardware Port: `) })
	macFormat   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\{\s*"format":\s*"fulmen\.darwin/`) })
	serviceLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*\(Hardware Port: `) })
)

// formats are in the order in which a file that looks like none is tried.
func formats() []format {
	return []format{
		{
			kind: KindMac, how: "fulmen debug record, on a Mac",
			looks: func(_ string, data []byte) bool { return macFormat().Match(data) },
			parse: func(_ string, data []byte) (any, []string, error) {
				r, err := darwin.ParseRecording(data)
				if err != nil {
					return nil, nil, err
				}
				return r.Facts(), nil, nil
			},
		}, {
			kind: KindThunderbolt, how: "system_profiler -json " + systemprofiler.DataType,
			looks: func(_ string, data []byte) bool {
				return bytes.HasPrefix(data, []byte("{")) || bytes.HasPrefix(data, []byte("Thunderbolt"))
			},
			parse: func(_ string, data []byte) (any, []string, error) {
				r, err := systemprofiler.Parse(data)
				return r.Thunderbolt, r.Notes, err
			},
		}, {
			kind: KindServiceOrder, how: "networksetup -listnetworkserviceorder",
			looks: func(_ string, data []byte) bool { return serviceLine().Match(data) },
			parse: func(_ string, data []byte) (any, []string, error) {
				r, err := networksetup.ParseServiceOrder(data)
				return r, r.Notes, err
			},
		}, {
			kind: KindHardwarePorts, how: "networksetup -listallhardwareports",
			looks: func(_ string, data []byte) bool { return portLine().Match(data) },
			parse: func(_ string, data []byte) (any, []string, error) {
				r, err := networksetup.ParseHardwarePorts(data)
				return r, r.Notes, err
			},
		}, {
			kind: KindScenario, how: "a simulated cluster, in TOML",
			looks: func(name string, _ []byte) bool { return strings.HasSuffix(name, ".toml") },
			parse: func(name string, data []byte) (any, []string, error) {
				s, err := scenario.Parse(name, data)
				return summarise(s), nil, err
			},
		},
	}
}

// List is a line for each kind of file, with what makes it.
func List() string {
	var lines strings.Builder
	for _, f := range formats() {
		fmt.Fprintf(&lines, "  %-28s %s\n", f.kind, f.how)
	}
	return strings.TrimSuffix(lines.String(), "\n")
}

// Describe reads a file of any known kind. The facts are the kind's own, ready
// to be written as JSON; the notes say what was odd and how it was read. The
// name only helps to tell the kind and names the file in errors; it is not
// opened.
func Describe(name string, data []byte) (kind string, facts any, notes []string, err error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	for _, f := range formats() {
		if f.looks(name, data) {
			facts, notes, err := f.parse(name, data)
			if err != nil {
				return f.kind, nil, nil, fmt.Errorf("%s: %w", f.kind, err)
			}
			return f.kind, facts, notes, nil
		}
	}
	for _, f := range formats() {
		if facts, notes, err := f.parse(name, data); err == nil {
			return f.kind, facts, notes, nil
		}
	}
	return "", nil, nil, fmt.Errorf("%w; these can be read:\n%s", ErrUnknown, List())
}
