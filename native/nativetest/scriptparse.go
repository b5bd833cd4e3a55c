package nativetest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

const (
	maxScriptBytes = 64 << 10
	maxScriptLine  = 500 // bytes
)

// ParseScript reads a script. The cluster that it names is asked of cluster.
// Errors are prefixed with file and line. A script without a step that could
// fail is an error.
func ParseScript(file string, text []byte, cluster func(name string) (scenario.Scenario, error)) (Script, error) {
	if len(text) > maxScriptBytes {
		return Script{}, fmt.Errorf("%s: longer than %d bytes", file, maxScriptBytes)
	}
	p := scriptParser{script: Script{Name: fileName(file)}, cluster: cluster}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if err := p.line(number, strings.TrimSpace(line)); err != nil {
			return Script{}, fmt.Errorf("%s:%d: %w", file, number, err)
		}
	}
	if err := p.end(); err != nil {
		return Script{}, fmt.Errorf("%s:%d: %w", file, number, err)
	}
	return p.script, nil
}

type scriptParser struct {
	script  Script
	cluster func(string) (scenario.Scenario, error)
	// open is a nohint that still wants its change and its hint.
	open *step
}

func (p *scriptParser) line(number int, line string) error {
	if len(line) > maxScriptLine {
		return fmt.Errorf("longer than %d bytes", maxScriptLine)
	}
	if comment, ok := strings.CutPrefix(line, "#"); ok {
		if p.script.Title == "" {
			p.script.Title = strings.TrimSpace(comment)
		}
		return nil
	}
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil
	}
	switch words[0] {
	case "cluster":
		return p.setCluster(words[1:])
	case "needs":
		return p.setNeeds(words[1:])
	}
	if len(p.script.Cluster.Macs) == 0 || len(p.script.Needs) == 0 {
		return errors.New("a script begins with its cluster and its needs")
	}
	s, err := p.step(line, words)
	if err != nil {
		return err
	}
	s.line, s.text = number, line
	if err := p.order(s); err != nil {
		return err
	}
	p.script.steps = append(p.script.steps, s)
	return nil
}

func (p *scriptParser) setCluster(words []string) error {
	if len(words) != 1 || len(p.script.Cluster.Macs) > 0 {
		return errors.New("want one cluster, once")
	}
	var err error
	if p.script.Cluster, err = p.cluster(words[0]); err != nil {
		return err
	}
	if len(p.script.Cluster.Macs) == 0 {
		return fmt.Errorf("cluster %.40q has no Macs", words[0])
	}
	return nil
}

func (p *scriptParser) setNeeds(words []string) error {
	if len(words) == 0 || len(p.script.Needs) > 0 {
		return errors.New("want the needs on one line, once")
	}
	for _, word := range words {
		need, err := ParseNeed(word)
		if err != nil {
			return err
		}
		if slices.Contains(p.script.Needs, need) {
			return fmt.Errorf("need %s is named twice", need)
		}
		p.script.Needs = append(p.script.Needs, need)
	}
	return nil
}

// order holds what steps demand of those before them: hints belong to a change,
// and a nohint is followed by a change and by a hint of it on the same Mac.
func (p *scriptParser) order(s step) error {
	changed := slices.ContainsFunc(p.script.steps, func(s step) bool { return s.verb == "op" })
	switch s.verb {
	case "hint", "nohint", "notice":
		if !changed {
			return fmt.Errorf("%s before any change", s.verb)
		}
	}
	if p.open == nil {
		if s.verb == "nohint" {
			p.open = &s
		}
		return nil
	}
	previous := p.script.steps[len(p.script.steps)-1]
	switch {
	case previous.verb == "nohint" && s.verb == "op":
		return nil
	case previous.verb == "op" && s.verb == "hint" && s.mac == p.open.mac && disjoint(s.areas, p.open.areas):
		p.open = nil
		return nil
	}
	return errors.New("a nohint is judged by a change on the next line and a hint of other areas of the same Mac on the one after")
}

func (p *scriptParser) end() error {
	if p.open != nil {
		return errors.New("a nohint without the change and the hint that judge it")
	}
	if !slices.ContainsFunc(p.script.steps, func(s step) bool { return s.verb != "op" }) {
		return errors.New("a script that expects nothing cannot fail")
	}
	return nil
}

func (p *scriptParser) step(line string, words []string) (step, error) {
	s := step{verb: words[0]}
	var err error
	switch words[0] {
	case "hint", "nohint":
		s.mac, s.areas, err = p.areas(words)
	case "notice":
		s.mac, s.event, err = p.notice(words)
	case "expect", "count", "present", "gone", "absent", "same", "differ":
		s.claim, err = p.claim(line, words)
	default:
		s.verb = "op"
		if s.op, err = scenario.ParseOp(line); err == nil {
			err = p.knownOwners(s.op)
		}
	}
	return s, err
}

func (p *scriptParser) areas(words []string) (string, []native.Area, error) {
	if len(words) < 3 {
		return "", nil, fmt.Errorf("want: %s MAC and one AREA or more", words[0])
	}
	var areas []native.Area
	for _, word := range words[2:] {
		area, err := native.ParseArea(word)
		if err != nil {
			return "", nil, err
		}
		areas = append(areas, area)
	}
	return words[1], areas, p.known(words[1])
}

func (p *scriptParser) notice(words []string) (string, native.PowerEvent, error) {
	events := []native.PowerEvent{native.PowerWillSleep, native.PowerWillPowerOff, native.PowerAwake}
	if len(words) != 3 || !slices.Contains(events, native.PowerEvent(words[2])) {
		return "", "", fmt.Errorf("want: notice MAC EVENT, the event one of %v", events)
	}
	return words[1], native.PowerEvent(words[2]), p.known(words[1])
}

func (p *scriptParser) known(mac string) error {
	if !slices.Contains(p.script.Macs(), mac) {
		return fmt.Errorf("no Mac %.40q in the cluster", mac)
	}
	return nil
}

// knownOwners refuses a change of what the cluster does not have.
func (p *scriptParser) knownOwners(op scenario.Op) error {
	var owners []string
	if op.Owner != "" {
		owners = append(owners, op.Owner)
	}
	for _, end := range op.Ends {
		owners = append(owners, end.Owner)
	}
	all := p.script.Macs()
	for _, hub := range p.script.Cluster.Hubs {
		all = append(all, hub.Name)
	}
	for _, network := range p.script.Cluster.Networks {
		all = append(all, network.Name)
	}
	for _, owner := range owners {
		if !slices.Contains(all, owner) {
			return fmt.Errorf("no Mac, hub or network %.40q in the cluster", owner)
		}
	}
	return nil
}

// fact reads MAC AREA PATH; a missing path is the area itself.
func (p *scriptParser) fact(words []string) (factPath, error) {
	if len(words) < 2 {
		return factPath{}, errors.New("want: MAC AREA PATH")
	}
	if err := p.known(words[0]); err != nil {
		return factPath{}, err
	}
	area, err := native.ParseArea(words[1])
	if err != nil {
		return factPath{}, err
	}
	return parseFactPath(words[0], area, strings.Join(words[2:], " "))
}

func disjoint(a, b []native.Area) bool {
	return !slices.ContainsFunc(a, func(area native.Area) bool { return slices.Contains(b, area) })
}

// number reads a count, without a sign.
func number(word string) (float64, error) {
	n, err := strconv.ParseUint(word, 10, 16)
	return float64(n), err
}
