package systemprofiler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"fulmen/native"
	"fulmen/native/recording/notes"
)

// DataType is the name of system_profiler's chapter about Thunderbolt.
const DataType = "SPThunderboltDataType"

// MaxBytes is the most that [Parse] reads, a hundred times what a Mac with every
// port in use has to say.
const MaxBytes = 4 << 20

const (
	// maxDepth bounds how deep devices nest; Thunderbolt allows six routers in
	// a row.
	maxDepth = 16
	// maxList bounds every list, far above what a desk holds.
	maxList = 256
)

// ErrNotJSON is matched by the error of [Parse] for a text that is not JSON, such
// as the command's output without -json.
var ErrNotJSON = errors.New("not JSON; record with: system_profiler -json " + DataType)

// Result is what a recording says.
type Result struct {
	// Thunderbolt has a port for each receptacle, by number. Places are unknown
	// here always, interfaces until [Result.WithPorts].
	Thunderbolt native.Thunderbolt
	// Notes are lines for people about what was odd and how it was read. What
	// others wrote is quoted in them, and never more than 40 characters of it.
	Notes []string
}

// Parse reads the JSON. A value of the wrong kind makes its field unknown, with
// the reason source_malformed and a note, and loses nothing beside it. An error
// is for a text that is not system_profiler's Thunderbolt chapter at all, or
// larger than [MaxBytes].
func Parse(data []byte) (Result, error) {
	if len(data) > MaxBytes {
		return Result{}, fmt.Errorf("%d bytes, more than the %d that are read", len(data), MaxBytes)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var top map[string]any
	if err := decoder.Decode(&top); err != nil {
		return Result{}, fmt.Errorf("%w (%w)", ErrNotJSON, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return Result{}, errors.New("something follows the JSON object")
	}
	chapter, ok := top[DataType].([]any)
	if !ok {
		return Result{}, fmt.Errorf("no list %s, but %.80q", DataType, strings.Join(slices.Sorted(maps.Keys(top)), ", "))
	}
	p := parser{notes: &notes.Notes{}}
	for _, key := range slices.Sorted(maps.Keys(top)) {
		if key != DataType {
			p.notes.Add("%.40q beside %s is ignored", key, DataType)
		}
	}
	for i, entry := range p.bounded("the list of buses", chapter) {
		p.bus(i, entry)
	}
	slices.SortStableFunc(p.ports, func(a, b native.Port) int { return a.Receptacle - b.Receptacle })
	return Result{Thunderbolt: native.Thunderbolt{Ports: p.uniquePorts()}, Notes: p.notes.List()}, nil
}

type parser struct {
	notes *notes.Notes
	ports []native.Port
}

// uniquePorts keeps the first port of each receptacle.
func (p *parser) uniquePorts() []native.Port {
	unique := []native.Port{}
	for _, port := range p.ports {
		if n := len(unique); n > 0 && unique[n-1].Receptacle == port.Receptacle {
			p.notes.Add("receptacle %d is told twice; the one with domain %q is ignored", port.Receptacle, port.DomainUUID)
			continue
		}
		unique = append(unique, port)
	}
	return unique
}

// bounded cuts a list that is longer than any real one.
func (p *parser) bounded(what string, list []any) []any {
	if len(list) <= maxList {
		return list
	}
	p.notes.Add("%s has %d entries; those after %d are ignored", what, len(list), maxList)
	return list[:maxList]
}
