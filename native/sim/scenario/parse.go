package scenario

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"fulmen/native"
	"fulmen/native/tomltext"
)

const (
	maxText   = 256 << 10 // bytes of a file; sixteen Macs need a tenth
	maxEvents = 1000
)

// Parse reads a scenario. The name is the file's, with or without folder and
// ending; the scenario is called by what is between them. The error joins
// everything that is wrong with the text, each with file and line, twenty of
// them at most.
func Parse(name string, text []byte) (Scenario, error) {
	p := &problems{file: name}
	if len(text) > maxText {
		return Scenario{}, fmt.Errorf("%s: %d bytes; a scenario has at most %d", name, len(text), maxText)
	}
	layout, err := tomltext.Scan(string(text)) // what is no TOML the decoder says better
	if errors.Is(err, tomltext.ErrTooDeep) {
		return Scenario{}, fmt.Errorf("%s:%d: nested deeper than %d levels", name, layout.Last, tomltext.MaxDepth)
	}
	p.lines = layout.Lines
	var values map[string]any
	if _, err := toml.Decode(string(text), &values); err != nil {
		var syntax toml.ParseError
		if errors.As(err, &syntax) {
			return Scenario{}, fmt.Errorf("%s:%d: %s", name, syntax.Position.Line, syntax.Message)
		}
		return Scenario{}, fmt.Errorf("%s: %w", name, err)
	}
	s := readScenario(newTable("", "", values, p), strings.TrimSuffix(filepath.Base(name), ".toml"))
	s.check(p)
	if err := p.err(); err != nil {
		return Scenario{}, err
	}
	return s, nil
}

// readScenario reads all tables. What cannot be read stays zero, noted, and in
// its place, so that the n-th of a kind in the scenario is the n-th in the file.
func readScenario(t *table, name string) Scenario {
	s := Scenario{Name: name, Title: t.text("title")}
	known := models()
	for _, m := range t.tables("mac", "mac") {
		s.Macs = append(s.Macs, readMac(m, name, known))
	}
	for _, h := range t.tables("hub", "hub") {
		s.Hubs = append(s.Hubs, readHub(h))
	}
	for _, n := range t.tables("network", "network") {
		network := Network{
			Name:     readName(n, "lan"),
			Type:     oneOf(n, "type", native.InterfaceEthernet, networkTypes()...),
			Isolated: n.isTrue("isolated"),
		}
		n.done()
		s.Networks = append(s.Networks, network)
	}
	for _, c := range t.tables("cable", "cable") {
		s.Cables = append(s.Cables, readCable(c))
	}
	for _, g := range t.tables("gpu", "gpu") {
		s.Measurements.GPUs = append(s.Measurements.GPUs, readGPU(g))
	}
	for _, l := range t.tables("link", "link") {
		s.Measurements.Links = append(s.Measurements.Links, readLink(l))
	}
	events := t.tables("at", "at")
	if len(events) > maxEvents {
		t.fail("at", "%d events; a time line has at most %d", len(events), maxEvents)
		events = events[:maxEvents]
	}
	for _, e := range events {
		s.TimeLine = append(s.TimeLine, readEvent(e))
	}
	t.done()
	return s
}

func networkTypes() []native.InterfaceType {
	return []native.InterfaceType{native.InterfaceEthernet, native.InterfaceWiFi, native.InterfaceVPN}
}

func readHub(t *table) Hub {
	hub := Hub{
		Name:       readName(t, "dock"),
		Vendor:     t.text("vendor"),
		Product:    t.text("product"),
		Capability: requiredOneOf(t, "capability", native.TB3, native.TB4, native.TB5),
		Downstream: 1,
	}
	if n := t.whole("downstream", 0, maxReceptacle); n != nil {
		hub.Downstream = int(*n)
	}
	t.done()
	return hub
}

func readCable(t *table) Cable {
	cable := Cable{Speed: parsed(t, "speed", native.ParseLinkSpeed)}
	ends := t.texts("ends")
	if len(ends) != 2 {
		t.fail("ends", `%d ends; a cable has two, such as ends = ["studio-1.tb1", "dock.up"]`, len(ends))
	}
	for i, text := range ends[:min(2, len(ends))] {
		end, err := ParseEnd(text)
		if err != nil {
			t.fail("ends", "%s", err)
		}
		cable.Ends[i] = end
	}
	t.done()
	return cable
}

func readEvent(t *table) Event {
	event := Event{
		After: parsed(t, "after", time.ParseDuration),
		Op:    parsed(t, "do", ParseOp),
	}
	if t.required("after", `"5s"`); event.After < 0 {
		t.fail("after", "after = %s is before the beginning", event.After)
	}
	t.required("do", `"unplug studio-1.tb1"`)
	t.done()
	return event
}
