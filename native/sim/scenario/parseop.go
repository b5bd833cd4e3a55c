package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"fulmen/native"
)

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
//	set A.KEY VALUE
//
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
	// Speed is that of plug and retrain; zero: the best that both ends can.
	Speed native.LinkSpeed
	// Owner is the Mac or network of the other verbs.
	Owner string
	// Key and Value are those of set, the value as it was written.
	Key, Value string
}

// maxLine bounds a line, so that a wrong file does not end in a long message.
const maxLine = 1000

// forms says how each verb's line is written.
var forms = []struct {
	verb Verb
	form string
}{
	{VerbPlug, "plug A.tb2 B.tb1 [80G | 120/40G]"},
	{VerbUnplug, "unplug A.tb2"},
	{VerbRetrain, "retrain A.tb2 40G"},
	{VerbSleep, "sleep A"},
	{VerbWake, "wake A"},
	{VerbRestart, "restart A"},
	{VerbSet, "set A.KEY VALUE"},
}

// ParseOp reads one line of a time line, a live change or a script, as [Verb]
// lists them. Words are separated by spaces or tabs.
func ParseOp(line string) (Op, error) {
	line = strings.Trim(line, " \t")
	if len(line) > maxLine || !utf8.ValidString(line) || strings.ContainsFunc(strings.ReplaceAll(line, "\t", " "), unicode.IsControl) {
		return Op{}, fmt.Errorf("line %.60q: at most %d characters of text on one line, please", line, maxLine)
	}
	verb, rest := cutWord(line)
	op := Op{Verb: Verb(verb)}
	i := slices.IndexFunc(forms, func(f struct {
		verb Verb
		form string
	}) bool {
		return f.verb == op.Verb
	})
	if i < 0 {
		var verbs []string
		for _, f := range forms {
			verbs = append(verbs, string(f.verb))
		}
		return Op{}, fmt.Errorf("line %.60q: unknown verb %.40q%s; it is one of %s",
			line, verb, didYouMean(verb, verbs), strings.Join(verbs, ", "))
	}
	var err error
	switch op.Verb {
	case VerbPlug:
		err = op.parseEnds(rest, 2, false)
	case VerbUnplug:
		err = op.parseEnds(rest, 1, false)
	case VerbRetrain:
		err = op.parseEnds(rest, 1, true)
	case VerbSet:
		err = op.parseSet(rest)
	default:
		op.Owner = rest
		err = checkName(rest)
	}
	if err != nil {
		return Op{}, fmt.Errorf("line %.60q: %w; expected: %s", line, err, forms[i].form)
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
