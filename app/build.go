package app

import (
	"fmt"
	"strings"

	"fulmen/daemon/api"
)

// Build makes the menu of a state. The same state gives the same menu.
func Build(s State) Menu {
	m := Menu{Icon: IconOff}
	switch top, stops := s.obstacle(); {
	case stops:
		m.Items, m.Badge = top, 1
		m.Tooltip = "Fulmen: " + top[0].Title
		m.Items = append(m.Items, s.footWithoutDaemon()...)
	default:
		m = s.running()
		if len(top) > 0 {
			m.Items = append(append(top, separator("head")), m.Items...)
			m.Badge++
		}
	}
	return m
}

// running is the menu over a daemon that answers.
func (s *State) running() Menu {
	m := Menu{Icon: IconNormal, Title: s.title(), Badge: s.waiting()}
	switch {
	case s.hasWarning():
		m.Icon = IconWarning
	case s.isWorking():
		m.Icon = IconWorking
	}
	m.Tooltip = "Fulmen: " + s.summary()
	m.Items = append(m.Items, Item{ID: "summary", Title: s.summary(), Do: &Do{Open: "dashboard:/"}})
	for _, section := range []struct {
		name  string
		items []Item
	}{{"trouble", s.trouble()}, {"work", s.work()}, {"macs", append(s.macs(), s.cables()...)}, {"foot", s.foot()}} {
		if len(section.items) > 0 {
			m.Items = append(append(m.Items, separator(section.name)), section.items...)
		}
	}
	return m
}

// summary is the first line: 4 Macs | 96.2 TFLOPS | 612 of 1536 GB | 412 W.
func (s *State) summary() string {
	t := s.Totals
	var parts []string
	switch {
	case t.Members <= 1:
		parts = append(parts, "This Mac")
	case t.Nodes < t.Members:
		parts = append(parts, fmt.Sprintf("%d of %d Macs", t.Nodes, t.Members))
	default:
		parts = append(parts, fmt.Sprintf("%d Macs", t.Nodes))
	}
	if t.FP16TFLOPS != nil {
		parts = append(parts, tflops(*t.FP16TFLOPS))
	}
	if t.MemoryTotalBytes != nil {
		parts = append(parts, memory(t.MemoryUsedBytes, t.MemoryTotalBytes))
	}
	if t.PowerWatts != nil {
		parts = append(parts, watts(*t.PowerWatts))
	}
	if s.Simulated {
		parts = append(parts, "SIMULATED")
	}
	return strings.Join(parts, " | ")
}

// title is what the person chose to have beside the icon; nothing where it is
// not known.
func (s *State) title() string {
	switch s.Preferences.Title {
	case TitleGPU:
		if n := s.self(); n != nil && n.System != nil && n.System.GPUUseRatio != nil {
			return percent(*n.System.GPUUseRatio)
		}
	case TitlePower:
		if s.Totals.PowerWatts != nil {
			return watts(*s.Totals.PowerWatts)
		}
	case TitleMemory:
		if s.Totals.MemoryUsedBytes != nil {
			return gigabytes(*s.Totals.MemoryUsedBytes)
		}
	case TitleNothing:
	}
	return ""
}

// isWorking reports whether a job runs anywhere.
func (s *State) isWorking() bool {
	for _, j := range s.Jobs {
		if !j.Phase.Ended() && j.Phase != api.JobQueued && j.Phase != api.JobPlacing && j.Phase != api.JobBackoff {
			return true
		}
	}
	return false
}

// waiting counts what waits for the person.
func (s *State) waiting() int {
	count := len(s.asking())
	for _, c := range s.shown() {
		if c.Severity == api.SeverityError {
			count++
		}
	}
	return count
}
