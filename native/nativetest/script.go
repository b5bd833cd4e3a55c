package nativetest

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

//go:embed testdata/conform
var conformFiles embed.FS

// Script is a story that every backend can play: a cluster, what it needs of the
// backend, and changes with what must follow from each.
//
// Its file begins with "cluster NAME" and "needs NEED...". Every line after
// that is one step; # begins a comment line. Changes are in the language of
// [scenario.ParseOp]. The other steps are what must hold:
//
//	hint MAC AREA...                 each was hinted since the last change
//	nohint MAC AREA...               none is hinted before the hint of the next change
//	notice MAC EVENT                 that power notice came since the last change
//	expect MAC AREA PATH OP VALUE    OP is == != < <= > >= contains lacks; VALUE is JSON
//	count MAC AREA PATH N            a list has N elements
//	present MAC AREA PATH            the fact is there
//	gone MAC AREA PATH[...]          the list is there, the element is not
//	absent MAC AREA [PATH] [reason KEY]
//	same MAC AREA PATH MAC AREA PATH
//	differ MAC AREA PATH MAC AREA PATH
//
// PATH names a fact as the JSON of [native.Snapshot] does, an element of a list
// by a field of its own: ports[receptacle=2].negotiated.tx_bits_per_s. What is
// absent needs its reason, except where the contract calls it optional.
//
// Every step waits for what it wants to hear or read, and fails when the
// script's patience ends first. A nohint waits for nothing: it is judged by
// order, at the hint of the change that follows it.
type Script struct {
	// Name is the file's, without folder and ending.
	Name string
	// Title is its first comment line.
	Title string
	// Cluster is what the backend builds.
	Cluster scenario.Scenario
	// Needs are what the backend must have.
	Needs []Need

	steps []step
}

// step is one line after the head.
type step struct {
	line int
	text string
	// verb is "op" for a change, else the line's first word.
	verb string
	// op is the change.
	op scenario.Op
	// mac and areas belong to hint and nohint, mac and event to notice.
	mac   string
	areas []native.Area
	event native.PowerEvent
	// claim is the claim of the other verbs.
	claim claim
}

// Macs returns the names of the cluster's Macs in their order.
func (s Script) Macs() []string {
	names := make([]string, len(s.Cluster.Macs))
	for i, mac := range s.Cluster.Macs {
		names[i] = mac.Name
	}
	return names
}

// Scripts returns the shipped scripts, ordered by name. An error names its file
// and line.
func Scripts() ([]Script, error) {
	files, err := fs.Glob(conformFiles, "testdata/conform/*.script")
	if err != nil {
		return nil, err
	}
	scripts := make([]Script, len(files))
	for i, file := range files {
		text, err := conformFiles.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if scripts[i], err = ParseScript(path.Base(file), text, shippedCluster); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(scripts, func(a, b Script) int { return strings.Compare(a.Name, b.Name) })
	return scripts, nil
}

// shippedCluster reads one of the clusters beside the scripts.
func shippedCluster(name string) (scenario.Scenario, error) {
	text, err := conformFiles.ReadFile("testdata/conform/" + name + ".toml")
	if err != nil {
		return scenario.Scenario{}, fmt.Errorf("no cluster %.40q is shipped", name)
	}
	return scenario.Parse(name+".toml", text)
}

// fileName cuts the ending off.
func fileName(file string) string {
	name, _, _ := strings.Cut(file, ".")
	return name
}

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
			err = p.script.Cluster.Has(s.op)
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

// Play plays the script on a stage. Each step may wait for patience; the error
// names the line that did not hold and what was found instead.
func (s Script) Play(ctx context.Context, stage Stage, timeout time.Duration) (err error) {
	p := player{stage: stage, platforms: map[string]native.Platform{}}
	for _, mac := range s.Macs() {
		if p.platforms[mac], err = stage.Platform(mac); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	if p.listeners, err = newListeners(ctx, p.platforms); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	defer func() { err = errors.Join(err, p.listeners.stop()) }()
	for _, step := range s.steps {
		if err := p.within(ctx, timeout, step); err != nil {
			return fmt.Errorf("%s.script:%d: %s: %w", s.Name, step.line, step.text, err)
		}
	}
	return nil
}

// player is a script being played.
type player struct {
	stage     Stage
	platforms map[string]native.Platform
	listeners *listeners

	// mark is how much had been heard when the last change began.
	mark int
	// silent is a nohint that is to be judged, silentFrom its change's mark.
	silent     *step
	silentFrom int
}

func (p *player) within(ctx context.Context, timeout time.Duration, s step) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	switch s.verb {
	case "op":
		p.mark = p.listeners.now()
		return p.stage.Do(s.op)
	case "nohint":
		p.silent, p.silentFrom = &s, p.mark
		return nil
	case "hint":
		return p.hint(ctx, s)
	case "notice":
		return p.until(ctx, func() error {
			received, _ := p.listeners.since(p.mark)
			if slices.Contains(received, announcement{mac: s.mac, notice: s.event}) {
				return nil
			}
			return fmt.Errorf("no such notice; heard since the change: %s", describe(received))
		})
	}
	return p.until(ctx, func() error { return p.judge(ctx, s.claim) })
}

// hopeless is an error that no waiting mends.
type hopeless struct{ error }

// until tries as often as something is announced, until it holds, cannot hold or
// the context ends. Nothing that comes between a try and the waiting is missed.
func (p *player) until(ctx context.Context, try func() error) error {
	for {
		_, more := p.listeners.since(0)
		err := try()
		if _, ok := err.(hopeless); ok || err == nil {
			return err
		}
		select {
		case <-more:
		case <-ctx.Done():
			return err
		}
	}
}

func (p *player) hint(ctx context.Context, s step) error {
	err := p.until(ctx, func() error {
		received, _ := p.listeners.since(p.mark)
		for _, area := range s.areas {
			if !slices.Contains(received, announcement{mac: s.mac, area: area}) {
				return fmt.Errorf("no hint of %s; heard since the change: %s", area, describe(received))
			}
		}
		return nil
	})
	if err != nil || p.silent == nil {
		return err
	}
	// The hint of the later change is here: whatever the earlier change had to
	// say was said before it.
	silent := *p.silent
	p.silent = nil
	received, _ := p.listeners.since(p.silentFrom)
	for i, a := range received {
		switch {
		case a.mac != s.mac:
		case p.silentFrom+i >= p.mark && slices.Contains(s.areas, a.area):
			return nil
		case slices.Contains(silent.areas, a.area):
			return fmt.Errorf("line %d wants no hint of %s; heard since its change: %s", silent.line, a.area, describe(received))
		}
	}
	return nil
}

// judge reads what the claim is about, now. Facts that break the contract fail
// at once, whatever the claim says.
func (p *player) judge(ctx context.Context, c claim) error {
	snapshots := make([]native.Snapshot, len(c.facts))
	for i, fact := range c.facts {
		var err error
		snapshots[i], err = p.platforms[fact.mac].Facts.Snapshot(ctx, fact.area)
		if err != nil {
			return hopeless{err}
		}
		if problems := snapshots[i].Check([]native.Area{fact.area}); len(problems) > 0 {
			return hopeless{fmt.Errorf("%s: %s", fact.mac, strings.Join(problems, "; "))}
		}
	}
	return c.judge(snapshots)
}

// describe is what was heard, in words.
func describe(received []announcement) string {
	if len(received) == 0 {
		return "nothing"
	}
	words := make([]string, len(received))
	for i, a := range received {
		words[i] = a.mac + " " + string(a.area) + string(a.notice)
	}
	return strings.Join(words, ", ")
}
