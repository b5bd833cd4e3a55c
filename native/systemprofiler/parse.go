package systemprofiler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"fulmen/native"
	"fulmen/native/networksetup"
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
var ErrNotJSON = errors.New("it is not JSON; record it with: system_profiler -json " + DataType)

// Result is what a recording says.
type Result struct {
	// Thunderbolt has a port for each receptacle, by number. Places and interfaces
	// are unknown here always.
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
		return Result{}, fmt.Errorf("it has %d bytes; at most %d can be read", len(data), MaxBytes)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var top map[string]any
	if err := decoder.Decode(&top); err != nil {
		return Result{}, fmt.Errorf("%w (%w)", ErrNotJSON, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return Result{}, errors.New("it goes on after the JSON object")
	}
	chapter, ok := top[DataType].([]any)
	if !ok {
		return Result{}, fmt.Errorf("it has no list %s, only %.80q", DataType, strings.Join(slices.Sorted(maps.Keys(top)), ", "))
	}
	p := parser{notes: &networksetup.Notes{}}
	for _, key := range slices.Sorted(maps.Keys(top)) {
		if key != DataType {
			p.notes.Add("%.40q beside %s is ignored", key, DataType)
		}
	}
	for i, entry := range p.bounded("the list of buses", chapter) {
		p.bus(i, entry)
	}
	slices.SortStableFunc(p.ports, func(a, b native.Port) int { return a.PortNumber - b.PortNumber })
	return Result{Thunderbolt: native.Thunderbolt{Ports: p.uniquePorts()}, Notes: p.notes.List()}, nil
}

type parser struct {
	notes *networksetup.Notes
	ports []native.Port
}

// uniquePorts keeps the first port of each receptacle.
func (p *parser) uniquePorts() []native.Port {
	unique := []native.Port{}
	for _, port := range p.ports {
		if n := len(unique); n > 0 && unique[n-1].PortNumber == port.PortNumber {
			p.notes.Add("port %d is listed twice; the one with domain %q is ignored", port.PortNumber, port.DomainUUID)
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

// below is what hangs on a port: routers and computers at any depth.
type below struct {
	hubs  []native.Hub
	peers []native.Peer
	// direct counts what is plugged into the port itself, and firstMode is the
	// mode of it where there is one such device.
	direct    int
	firstMode string
	// odd is true when something was listed that could not be read; why is set
	// when the list itself could not.
	odd bool
	why native.Reason
}

// nothing is what hangs on a port where nothing hangs.
func nothing() below { return below{hubs: []native.Hub{}, peers: []native.Peer{}} }

func (b below) empty() bool { return len(b.hubs)+len(b.peers) == 0 && !b.odd && b.why == "" }

// walk collects what hangs on one port.
type walk struct {
	*parser
	below
	unnamed int // routers without a route of their own so far
}

// items reads what a bus lists.
func (p *parser) items(bus object) below {
	w := &walk{parser: p, below: nothing()}
	list, why := bus.list("_items")
	if why != "" {
		return below{why: why}
	}
	w.direct = len(list)
	w.list(bus, list, "", downstream{}, 0)
	return w.below
}

// list reads the devices below one router, whose route is "" for the host.
func (w *walk) list(o object, items []any, parent string, side downstream, depth int) {
	if depth == maxDepth && len(items) > 0 {
		o.notes.Add("%s: what is nested deeper than %d devices is ignored", o.at, maxDepth)
		return
	}
	side = side.without(o, items)
	for i, entry := range w.bounded(o.at+"'s devices", items) {
		item, ok := o.below(fmt.Sprint(i), entry)
		if !ok {
			w.odd = true
			continue
		}
		if name, ok := item.fields["_name"].(string); ok {
			item.at = fmt.Sprintf("%s > %.40q", o.at, name)
		}
		item.noteOthers(true, "_items", "_name", "device_id_key", "device_name_key", "device_revision_key", "domain_uuid_key", "mode_key",
			upstreamAmbiguous, upstream, "route_string_key", "services_title", "switch_uid_key", "switch_version_key", "vendor_id_key", "vendor_name_key")
		switch {
		case len(w.hubs)+len(w.peers) >= maxList:
			o.notes.Add("%s: more than %d devices below one port; the rest is ignored", o.at, maxList)
			return
		case item.has("domain_uuid_key") || item.has("services_title"):
			w.peer(item, parent, side)
		case isRouter(item):
			w.hub(item, parent, side, depth)
		default:
			w.odd = true
			item.notes.Add("%s: it is neither a computer nor a hub and is ignored", item.at)
		}
	}
}

// isRouter: a hub, dock or disk has a place in the tree of routers; the peer's
// computer has none.
func isRouter(o object) bool {
	return slices.ContainsFunc([]string{"route_string_key", "switch_uid_key", "mode_key", upstreamAmbiguous, upstream, "_items"}, o.has) || len(tagsOf(o)) > 0
}

// maxText is the longest text that counts as a name; longer ones are malformed.
const maxText = 256

// object is a JSON object, with the place where it lies for the notes.
type object struct {
	at     string
	fields map[string]any
	notes  *networksetup.Notes
}

// below is the object at a key or index; false, with a note, when it is none.
func (o object) below(name string, value any) (object, bool) {
	fields, ok := value.(map[string]any)
	at := o.at + " > " + name
	if !ok {
		o.notes.Add("%s is %s and not an object, and is ignored", at, kindOf(value))
	}
	return object{at: at, fields: fields, notes: o.notes}, ok
}

// has reports whether a key is there and not null.
func (o object) has(key string) bool { return o.fields[key] != nil }

// malformed notes a value that makes no sense and gives its reason.
func (o object) malformed(key, why string) native.Reason {
	o.notes.Add("%s: %s %s", o.at, key, why)
	return native.ReasonSourceMalformed.With(key + " " + why)
}

// text reads a string. The reason is empty when there is one.
func (o object) text(key string) (string, native.Reason) {
	if !o.has(key) {
		return "", missing(key)
	}
	text, ok := o.fields[key].(string)
	switch {
	case !ok:
		return "", o.malformed(key, "is "+kindOf(o.fields[key])+" and not a text")
	case strings.TrimSpace(text) == "":
		return "", o.malformed(key, "is empty")
	case len(text) > maxText:
		return "", o.malformed(key, fmt.Sprintf("is a text of %d bytes", len(text)))
	}
	return strings.TrimSpace(text), ""
}

// number reads a whole number of 32 bits, as a number or as a text such as "1"
// and "0xFA57".
func (o object) number(key string) (uint32, native.Reason) {
	if !o.has(key) {
		return 0, missing(key)
	}
	var digits string
	switch value := o.fields[key].(type) {
	case json.Number:
		digits = value.String()
	case string:
		digits = value
	default:
		return 0, o.malformed(key, "is "+kindOf(value)+" and not a number")
	}
	n, err := strconv.ParseUint(digits, 0, 32)
	if err != nil {
		return 0, o.malformed(key, fmt.Sprintf("is %.40q and not a whole number of 32 bits", digits))
	}
	return uint32(n), ""
}

// uuid reads a UUID, in capitals as macOS prints it.
func (o object) uuid(key string) (string, native.Reason) {
	text, why := o.text(key)
	if why != "" {
		return "", why
	}
	if !native.IsUUID(text) || strings.Trim(text, "0-") == "" {
		return "", o.malformed(key, fmt.Sprintf("is %.40q and not a UUID", text))
	}
	return strings.ToUpper(text), ""
}

// list reads a list; nil and no reason when the key is not there.
func (o object) list(key string) ([]any, native.Reason) {
	if !o.has(key) {
		return nil, ""
	}
	list, ok := o.fields[key].([]any)
	if !ok {
		return nil, o.malformed(key, "is "+kindOf(o.fields[key])+" and not a list")
	}
	return list, ""
}

// noteOthers notes the keys that are not known; where there may be tags of receptacles,
// those are.
func (o object) noteOthers(mayHaveTags bool, known ...string) {
	for _, key := range slices.Sorted(maps.Keys(o.fields)) {
		if !slices.Contains(known, key) && !(mayHaveTags && portNumberTag().MatchString(key)) {
			o.notes.Add("%s: the key %.40q is not known and is ignored", o.at, key)
		}
	}
}

func missing(key string) native.Reason { return native.ReasonNoOS.With(key + " is missing") }

func kindOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(value)
	case json.Number:
		return fmt.Sprintf("the number %.40s", value)
	case string:
		return fmt.Sprintf("the text %.40q", value)
	case []any:
		return "a list"
	}
	return "an object"
}
