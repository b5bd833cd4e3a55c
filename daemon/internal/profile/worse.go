package profile

import (
	"fmt"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/profile/history"
)

// judgeAll raises and clears the conditions of this node's paths, as their
// documents have it.
func (p *Profiler) judgeAll(paths []Path) {
	p.mu.Lock()
	gone := map[string]bool{}
	for subject := range p.raised {
		gone[subject] = true
	}
	known := map[string]api.LinkProfile{}
	for _, path := range paths {
		known[path.Name()] = p.paths[path.Name()]
		delete(gone, path.conditionSubject())
	}
	p.mu.Unlock()
	for _, path := range paths {
		p.judge(path, known[path.Name()])
	}
	for subject := range gone {
		p.worse(subject, "")
	}
}

// judge raises or clears the condition of a path that got worse.
func (p *Profiler) judge(path Path, value api.LinkProfile) {
	if !path.isWired() {
		return
	}
	detail := ""
	if drops := history.Drops(value); len(drops) > 0 && !path.IsMuted && !isAnother(path, value) {
		detail = p.says(path, drops)
	}
	p.worse(path.conditionSubject(), detail)
}

// conditionSubject is what the condition of a path is about: the cable, where it is
// one. A cable that carries several addresses is named once.
func (p Path) conditionSubject() string {
	if p.Link.Valid() {
		return p.Link.String()
	}
	return p.Name()
}

// worse raises the condition, or clears it where there is nothing to say.
func (p *Profiler) worse(subject, detail string) {
	p.mu.Lock()
	was := p.raised[subject]
	if detail != "" {
		p.raised[subject] = true
	} else {
		delete(p.raised, subject)
	}
	p.mu.Unlock()
	if was || detail != "" {
		p.condition(api.ReasonLinkBelowHistory, subject, detail != "", detail)
	}
}

// says is what a path gives, between which ports, and what it gave.
func (p *Profiler) says(path Path, drops []history.Drop) string {
	here, there := p.cfg.Name(p.cfg.Node), p.cfg.Name(path.Peer)
	where := fmt.Sprintf("%s (%s) and %s", here, path.Interface, there)
	if near, ok := path.Link.End(p.cfg.Node); ok {
		far := path.Link.Low
		if far == near {
			far = path.Link.High
		}
		where = fmt.Sprintf("the cable between %s:%s and %s:%s", here, near.Receptacle, there, far.Receptacle)
	}
	var ways []string
	for _, d := range drops {
		to := there
		if d.IsDown {
			to = here
		}
		ways = append(ways, fmt.Sprintf("%.3g Gb/s to %s where it gave %.3g", float64(d.NowBitsPerS)/1e9, to, float64(d.UsualBitsPerS)/1e9))
	}
	return where + ": " + strings.Join(ways, ", ")
}
