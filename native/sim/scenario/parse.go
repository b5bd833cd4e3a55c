package scenario

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

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
	s.spread()
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
	if n := t.whole("downstream", 0, maxPortNumber); n != nil {
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

// Event is a change at a time of the time line.
type Event struct {
	After time.Duration // since the simulation began
	Op    Op
}

// Verb is what a change does.
type Verb string

// The verbs. Each line of a time line, of a live change and of a conformance
// script is one of them with its words:
//
//	plug A.tb2 B.tb1 [80G | 120/40G]
//	unplug A.tb2
//	retrain A.tb2 40G
//	sleep A | wake A | restart A
//	idle A
//	set A.KEY VALUE
//
// Idle is sleep that comes by itself: it is refused while the Mac is kept awake.
// A KEY is one of: rdma (off, on, on_after_restart), memory.used (a size),
// memory.pressure, thermal, power (ac, battery, ups), battery (0 to 1),
// gpu_use (0 to 1), watts, celsius,
// low_power (yes, no), lid (open, closed), name (text), os (VERSION/BUILD),
// INTERFACE.link (up, down), INTERFACE.address (PREFIX [ORIGIN], or none),
// INTERFACE.bridge (a bridge's name, or none), INTERFACE.present (yes, no),
// AREA.told (yes, no: a source that falls silent). A network takes NETWORK.link
// and NETWORK.isolated (yes, no).
const (
	VerbPlug    Verb = "plug"
	VerbUnplug  Verb = "unplug"
	VerbRetrain Verb = "retrain"
	VerbSleep   Verb = "sleep"
	VerbIdle    Verb = "idle"
	VerbWake    Verb = "wake"
	VerbRestart Verb = "restart"
	VerbSet     Verb = "set"
)

// Op is one change, parsed and, by itself, sane; whether the cluster has what it
// names is known when it is applied.
type Op struct {
	Verb Verb
	// Ends are the receptacles: two of plug, one of unplug and retrain.
	Ends []End
	// Speed is the speed of plug and retrain; zero: the best that both ends can.
	Speed native.LinkSpeed
	// Owner is the Mac or network of the other verbs.
	Owner string
	// Key and Value are those of set, the value as it was written.
	Key, Value string
}

// maxLine bounds a line, so that a wrong file does not end in a long message.
const maxLine = 1000

// form says how a verb's line is written.
type form struct {
	verb       Verb
	line       string
	ends       int
	needsSpeed bool
}

var forms = []form{
	{VerbPlug, "plug A.tb2 B.tb1 [80G | 120/40G]", 2, false},
	{VerbUnplug, "unplug A.tb2", 1, false},
	{VerbRetrain, "retrain A.tb2 40G", 1, true},
	{VerbSleep, "sleep A", 0, false},
	{VerbIdle, "idle A", 0, false},
	{VerbWake, "wake A", 0, false},
	{VerbRestart, "restart A", 0, false},
	{VerbSet, "set A.KEY VALUE", 0, false},
}

// ParseOp reads one line of a time line, a live change or a script, as [Verb]
// lists them. Words are separated by spaces or tabs.
func ParseOp(line string) (Op, error) {
	line = strings.Trim(line, " \t")
	if len(line) > maxLine || !utf8.ValidString(line) || strings.ContainsFunc(strings.ReplaceAll(line, "\t", " "), unicode.IsControl) {
		return Op{}, fmt.Errorf("line %.60q: at most %d characters of text on one line", line, maxLine)
	}
	verb, rest := cutWord(line)
	op := Op{Verb: Verb(verb)}
	i := slices.IndexFunc(forms, func(f form) bool { return f.verb == op.Verb })
	if i < 0 {
		var verbs []string
		for _, f := range forms {
			verbs = append(verbs, string(f.verb))
		}
		return Op{}, fmt.Errorf("line %.60q: unknown verb %.40q%s; it is one of %s",
			line, verb, didYouMean(verb, verbs), strings.Join(verbs, ", "))
	}
	var err error
	switch {
	case forms[i].ends > 0:
		err = op.parseEnds(rest, forms[i].ends, forms[i].needsSpeed)
	case op.Verb == VerbSet:
		err = op.parseSet(rest)
	default:
		op.Owner = rest
		err = checkName(rest)
	}
	if err != nil {
		return Op{}, fmt.Errorf("line %.60q: %w; expected: %s", line, err, forms[i].line)
	}
	return op, nil
}

// parseEnds reads that many ends and, where the verb has one, a speed.
func (o *Op) parseEnds(rest string, ends int, needsSpeed bool) error {
	for range ends {
		var word string
		if word, rest = cutWord(rest); word == "" {
			return fmt.Errorf("%d end(s) named, %d needed", len(o.Ends), ends)
		}
		end, err := ParseEnd(word)
		if err != nil {
			return err
		}
		o.Ends = append(o.Ends, end)
	}
	if ends == 2 && o.Ends[0] == o.Ends[1] {
		return fmt.Errorf("both ends are %s", o.Ends[0])
	}
	switch {
	case rest == "" && needsSpeed:
		return fmt.Errorf("the speed is missing")
	case rest == "":
		return nil
	case o.Verb == VerbUnplug:
		return fmt.Errorf("%.40q is one word too many", rest)
	}
	speed, err := native.ParseLinkSpeed(rest)
	if err != nil {
		return err
	}
	if speed.UpTo {
		return fmt.Errorf("speed %.40q is a limit; a cable negotiates one value", rest)
	}
	o.Speed = speed
	return nil
}

func (o *Op) parseSet(rest string) error {
	target, value := cutWord(rest)
	owner, key, _ := strings.Cut(target, ".")
	if err := checkName(owner); err != nil {
		return err
	}
	if key == "" {
		return fmt.Errorf("no key after %q; it is one of %s", owner, keyNames())
	}
	if value == "" {
		return fmt.Errorf("the value of %s is missing", target)
	}
	if strings.Contains(value, "\t") {
		return fmt.Errorf("a tab in the value of %s", target)
	}
	o.Owner, o.Key, o.Value = owner, key, value
	return checkValue(key, value)
}

// String writes the op as [ParseOp] reads it.
func (o Op) String() string {
	words := []string{string(o.Verb)}
	for _, end := range o.Ends {
		words = append(words, end.String())
	}
	switch {
	case o.Verb == VerbSet:
		words = append(words, o.Owner+"."+o.Key, o.Value)
	case o.Owner != "":
		words = append(words, o.Owner)
	}
	if o.Speed != (native.LinkSpeed{}) {
		words = append(words, strings.NewReplacer(" Gb/s", "G", " Mb/s", "M").Replace(o.Speed.String()))
	}
	return strings.Join(words, " ")
}

// cutWord splits off the first word; what remains is trimmed.
func cutWord(text string) (word, rest string) {
	i := strings.IndexAny(text, " \t")
	if i < 0 {
		return text, ""
	}
	return text[:i], strings.Trim(text[i:], " \t")
}

// The keys of what a Mac does at the moment, in its file and of set.
const (
	keyBattery = "battery"
	keyGPUUse  = "gpu_use"
	keyWatts   = "watts"
	keyCelsius = "celsius"
)

// mostOf is the largest value of such a key: more than any Mac can.
func mostOf(key string) float64 {
	switch key {
	case keyBattery, keyGPUUse:
		return 1
	case keyCelsius:
		return 120
	}
	return 1000
}

// readLoad reads one of them; nil where the file does not say.
func readLoad(t *table, key string) *float64 {
	value, ok := t.lookup(key)
	if !ok {
		return nil
	}
	number, isNumber := value.(float64)
	if whole, isWhole := value.(int64); isWhole {
		number, isNumber = float64(whole), true
	}
	if !isNumber || !(number >= 0 && number <= mostOf(key)) {
		t.fail(key, "%s = %s is not a number from 0 to %g", key, show(value), mostOf(key))
		return nil
	}
	return &number
}
